"""What the Skills and Why screens show, read from a library in one go; runs in the reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.clock import rfc3339
from registry.query.event_summaries import summary
from registry.query.provenance import blame, history_of, line_tiers, tier_counts
from registry.query.signals import raised_as_counted
from registry.skill_md.front_matter import description_of
from registry.skill_md.render import projected_lines
from strategies.episodes.episode import began
from strategies.monitor.spot_check import second_looks
from strategies.pool.known_episodes import all_episodes
from strategies.signals.open_signals import open_among
from tui.reads.sessions import errors_in, failed
from tui.text.words import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.store.envelope import Envelope
    from events.types.registry_events import SignalRaised
    from events.types.score import Delta
    from events.types.tiers import Tier
    from registry.query.library import Library
    from registry.query.provenance import SkillHistory, Why
    from registry.query.versions import VersionRow
    from registry.state.candidate import CandidateOutline
    from registry.state.capsule import Capsule
    from registry.state.line import ProjectedLine
    from registry.state.tiers import LineTier
    from tui.reads.markdown_tones import Tones
    from tui.reads.signal_facts import OpenFacts

TREND: Final = 40
"""Versions that a trend looks back on: more than any screen is wide enough for."""

_WEEK: Final = timedelta(days=7)

_STEPS: Final = {
    "CandidateProposed": "proposed",
    "ComparisonFrozen": "frozen",
    "CandidateScored": "measured",
    "CandidateReviewed": "reviewed",
    "CandidatePromoted": "promoted",
    "CandidateRejected": "rejected",
    "CandidateHeld": "held",
    "SeenLineJudged": "asked",
    "LineTierChanged": "tier",
}
"""What the chain of causes calls the events of a candidate."""


class Link(NamedTuple):
    """One link: what it is in a word or two, and its event; 0 for the evidence and for the line itself."""

    word: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A skill as the Skills screen shows it.

    `folder` is where it lies, seen from the current folder. `versions` are the last ones, oldest first; `learned`
    counts lines that carry a claim.
    """

    capsule: Capsule
    folder: str
    description: str
    lines: int
    learned: int
    tiers: Mapping[Tier, int]
    versions: tuple[VersionRow, ...]
    last: Envelope
    last_summary: str


@dataclass(frozen=True, slots=True)
class SkillWork:
    """What was tried for a skill, and what is open: signals that it was tried for and no live claim answers."""

    open: tuple[SignalRaised, ...] = ()
    candidates: tuple[CandidateOutline, ...] = ()

    @property
    def waiting(self) -> int:
        """How many candidates nobody decided on."""
        return sum(not candidate.is_decided for candidate in self.candidates)


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The work of all skills, by name, and the second looks that nobody took."""

    by_skill: Mapping[str, SkillWork]
    second_looks: int = 0

    def of(self, skill: str) -> SkillWork:
        """Return the work of one skill."""
        return self.by_skill.get(skill, SkillWork())

    def need(self, capsule: Capsule) -> tuple[bool, int, int, str]:
        """Give the key that sorts skills by what needs a person: candidates that wait, then open signals."""
        work = self.of(capsule.name)
        return capsule.retired, -work.waiting, -len(work.open), capsule.name


@dataclass(frozen=True, slots=True)
class Week:
    """The sessions that began since a time, RFC 3339: how many, how many of the `labelled` failed, failed steps.

    `open` counts the facts that nobody answered, of whatever time; `costliest` is what the first of them says.
    """

    since: str
    sessions: int
    labelled: int
    failed: int
    errors: int
    open: int
    costliest: str


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A line of a skill with where it comes from; `word` is the strategy, or what replaces one."""

    line: ProjectedLine
    at: str
    word: str
    tier: LineTier
    delta: Delta | None
    row: VersionRow


@dataclass(frozen=True, slots=True)
class BlamePage:
    """A skill at one version, line by line, with what its lines have in common."""

    capsule: Capsule
    history: SkillHistory
    lines: tuple[BlameLine, ...]

    @property
    def latest(self) -> int:
        """The number of its newest version."""
        return self.history.outline.version

    def number_of(self, gene: str, line: int) -> int:
        """Find the number of the line with an identity now, 0 where there is none."""
        return next((b.line.number for b in self.lines if (b.line.gene, b.line.id) == (gene, line)), 0)


def read_skills(library: Library) -> tuple[SkillCard, ...]:
    """Read every skill with its scores and its last event."""
    return tuple(_card(library, library.capsule(name)) for name in library.names())


def read_work(library: Library, *, draw_every: int, seed: int) -> OpenWork:
    """Read what was tried for every skill, and what is open; takes as long as the registry is old."""
    capsules = [library.capsule(name) for name in library.names()]
    open_by_skill = _open_signals(library, capsules)
    proposed: dict[str, list[CandidateOutline]] = {}
    candidates = library.candidate_outlines()
    for candidate in candidates:
        proposed.setdefault(candidate.capsule, []).append(candidate)
    work = {
        capsule.name: SkillWork(tuple(open_by_skill.get(capsule.name, ())), tuple(proposed.get(capsule.name, ())))
        for capsule in capsules
    }
    looks = second_looks(candidates, every=draw_every, seed=seed)
    return OpenWork(work, len(looks))


def read_week(library: Library, facts: OpenFacts, now: str) -> Week:
    """Sum up the sessions of the seven days before a time, beside the facts that are open by now."""
    since = datetime.fromisoformat(now) - _WEEK
    sessions = [record for record in all_episodes(library) if (began(record) or 0.0) >= since.timestamp()]
    return Week(
        since=rfc3339(since),
        sessions=len(sessions),
        labelled=sum(record.outcome is not None for record in sessions),
        failed=sum(map(failed, sessions)),
        errors=sum(map(errors_in, sessions)),
        open=facts.number,
        costliest=facts.costliest,
    )


def _card(library: Library, capsule: Capsule) -> SkillCard:
    first = max(capsule.version - TREND + 1, 1)
    (mention,) = library.log.documents("mention", capsule.name, limit=1, newest_first=True)
    (last,) = library.log.at([mention.seq])
    claimed = {live.origin for gene in capsule.genes for live in gene.claims}
    lines = projected_lines(capsule)
    return SkillCard(
        capsule=capsule,
        folder=_from_here(capsule.source),
        description=description_of(capsule),
        lines=len(lines),
        tiers=tier_counts(library, capsule),
        learned=sum(line.origin in claimed and bool(line.text.strip()) for line in lines),
        versions=tuple(library.version_rows(capsule.name, range(first, capsule.version + 1)).values()),
        last=last,
        last_summary=summary(last),
    )


def _from_here(folder: str) -> str:
    """Name a folder as it would be typed here: without the current folder that it lies in."""
    here = Path.cwd()
    return str(Path(folder).relative_to(here)) if Path(folder).is_relative_to(here) else folder


def _open_signals(library: Library, capsules: Sequence[Capsule]) -> dict[str, list[SignalRaised]]:
    """List the signals that no live claim answers, by the skill they were tried for."""
    tried = {cycle.fingerprint: cycle.capsule for cycle in library.cycles()}
    names = {capsule.name for capsule in capsules}
    by_skill: dict[str, list[SignalRaised]] = {}
    raised = [signal.event for signal in raised_as_counted(library)]
    still_open = open_among(library, raised)
    for signal in raised:
        if signal.fingerprint in still_open and tried.get(signal.fingerprint) in names:
            by_skill.setdefault(tried[signal.fingerprint], []).append(signal)
    for signals in by_skill.values():
        signals.sort(key=lambda signal: (-signal.severity, signal.fingerprint))
    return by_skill


def read_blame(library: Library, skill: str, ref: str) -> BlamePage:
    """Read a skill at a version, each line with its origin; raises NotFoundError for an unknown one."""
    capsule = library.capsule(skill, ref)
    origins = blame(library, capsule)
    history = history_of(library, skill, (line.version or 1 for line, _ in origins))
    lines = []
    for (line, origin), tier in zip(origins, line_tiers(library, origins), strict=True):
        row = history.rows.get(line.version or 1) or library.version(skill, line.version)
        lines.append(BlameLine(line, origin.at, kind_of(origin) if line.id else "stamp", tier, row.delta, row))
    return BlamePage(capsule, history, tuple(lines))


def chain_of(why: Why) -> tuple[Link, ...]:
    """List what led to a line, step by step: evidence, signal, candidate, version, and the line at the end."""
    links = [Link("evidence")] if why.evidence or why.erased else []
    links += [Link("signal", why.signal.position)] if why.signal else []
    if why.candidate:
        steps = [step for step in why.candidate.steps if step[0] in _STEPS and step[1] <= why.row.position]
        links += [Link(_STEPS[kind], position) for kind, position in steps]
    links += [Link("edit", why.origin.position)] if why.origin.position != why.row.position else []
    return (*links, Link(f"version {why.row.version}", why.row.position), Link(f"line {why.line.number}"))


def read_tones(texts: Sequence[str]) -> tuple[Tones, ...]:
    """Read lines of a skill as Markdown: the tones of each."""
    from tui.reads.markdown_tones import markdown_tones  # noqa: PLC0415 - Pygments is for those who look at a skill

    return markdown_tones(texts)
