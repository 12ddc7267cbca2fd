"""After promotion: what comes of a version, and how one under which outcomes fell is taken back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Final

from events.errors import EditError, RefusedError, SkillFormatError
from registry.actions.publish import publish
from registry.decide.commands import RevertVersion
from registry.skill_md.skill_files import write_place
from strategies.episodes.origins import origin_of_other, short_name
from strategies.episodes.skill_version import lineages, under_versions
from strategies.pool.raise_signals import raise_found
from strategies.signals.regression import Regression, falls, fingerprint_of, outcomes_by_version
from strategies.signals.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.pool.intake_policy import IntakePolicy
    from strategies.signals.regression import Fall
    from strategies.signals.thresholds import Thresholds

ACTOR: Final = "germline"
_LEFT_OUT: Final = 5
"""Sources that are left out, one after the other: who has less of what failed does not make the fall (a guess)."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms versions are taken back.

    `forbidden` says why none may be, "" where they may. `write` is false for a rehearsal: nothing goes to disk.
    """

    policy: IntakePolicy
    forbidden: str = ""
    write: bool = True


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A live version under which outcomes fell, and what became of it.

    `version` is the one that repeats version `to`; where it is None, `held` says why there is none.
    """

    skill: str
    fall: Fall
    version: int | None = None
    held: str = ""

    @property
    def to(self) -> int:
        """The version to go back to."""
        return int(self.fall.before)

    @property
    def reason(self) -> str:
        """The figures in a sentence."""
        return f"regression: {self._shares}, in the same runs (p {self.fall.p:.1g})"

    @property
    def command(self) -> str:
        """What a person types to go back."""
        return f"germline revert {self.skill} --to {self.to} --reason {quote(self._shares)}"

    @property
    def _shares(self) -> str:
        now = f"{self.fall.won:,} of {self.fall.outcomes:,} won under @{self.fall.version}"
        return f"{now}, {self.fall.won_before:,} of {self.fall.outcomes_before:,} under @{self.fall.before}"


def take_back(
    registry: Registry, records: Sequence[EpisodeRecord], names: Iterable[str], terms: Terms
) -> tuple[TakenBack, ...]:
    """Find live versions under which outcomes fell, raise the signal where none was, and go back by an event.

    Only what came by promotion goes by itself, and only what more than one source shows: the rest is reported. The
    files are written again.
    """
    under, thresholds = under_versions(registry, records), terms.policy.thresholds
    ran, known = outcomes_by_version(under), lineages(registry)
    fallen = [
        TakenBack(name, fall, held=_of_one_source(fall, ran.get(name, {}), known[name], thresholds))
        for name in names
        for fall in falls(ran.get(name, {}), known[name], thresholds)
        if fall.version == known[name][-1][-1]
    ]
    if fallen:
        survey = Survey(records=under, lineages=known)
        named = {fingerprint_of(skill_fall.skill, skill_fall.fall.version) for skill_fall in fallen}
        signals = [signal for signal in Regression().detect(survey, thresholds) if signal.fingerprint in named]
        raise_found(registry, signals, records, terms.policy)
    return tuple(_taken_back(registry, skill_fall, terms) for skill_fall in fallen)


def _of_one_source(
    fall: Fall,
    ran: Mapping[str, Sequence[EpisodeRecord]],
    lineage: Sequence[Sequence[str]],
    thresholds: Thresholds,
) -> str:
    """Say without which file, or without whose logs, nothing fell, "" where it fell without any one of them.

    Those of the most episodes that did not win are left out, one after the other, and from the version before too
    where enough is left of it.
    """
    lost = Counter(map(_writer, fall.failed))
    for writer, _ in lost.most_common(_LEFT_OUT):
        left = {version: [use for use in ended if _writer(use) != writer] for version, ended in ran.items()}
        before = next(same for same in lineage if fall.before in same)
        if sum(len(left.get(version, ())) for version in before) < thresholds.regression_previous:
            left |= {version: list(ran.get(version, ())) for version in before}
        if not any(other.version == fall.version for other in falls(left, lineage, thresholds)):
            return f"{short_name(writer)} alone shows it, and any log can be forged: a person takes it back"
    return ""


def _writer(record: EpisodeRecord) -> str:
    return origin_of_other(record) or record.source


def _taken_back(registry: Registry, rollback: TakenBack, terms: Terms) -> TakenBack:
    held = terms.forbidden or rollback.held
    with registry.log.transaction():
        live = registry.capsule(rollback.skill)
        if live.version != int(rollback.fall.version):
            held = f"{rollback.skill} went to version {live.version} meanwhile"
        elif not held and live.cause != "promotion":
            held = "a person brought this version, so a person takes it back"
        if not held:
            try:
                if terms.write:
                    registry.places.require(write_place(rollback.skill, live.source), rollback.skill)
                registry.execute(RevertVersion(rollback.skill, rollback.to, rollback.reason), actor=ACTOR)
            except (EditError, RefusedError, SkillFormatError) as error:  # a protected line is in the way, say
                held = error.message
    if held:
        return TakenBack(rollback.skill, rollback.fall, held=held)
    if terms.write:
        publish(registry, rollback.skill)
    return TakenBack(rollback.skill, rollback.fall, version=registry.outline(rollback.skill).version)
