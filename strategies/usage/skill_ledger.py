"""The ledger of skills: how often each was loaded, how that ended, what it costs, and which do too badly."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.capsule_events import RetirementProposed
from events.types.score import Delta
from registry.decide.commands import RecordSkillFact
from registry.query.signals import erased_records
from registry.query.versions import event_of
from registry.skill_md.front_matter import description_of
from registry.skill_md.render import skill_text
from strategies.gate.replay.contrast import contrast, judged, outcome_of, settings_of
from strategies.logs.transcripts import read_transcripts
from strategies.signals.proportion import wilson
from strategies.usage.line_usage import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.capsule_events import SkillTested
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.policy.presets import Preset
    from strategies.scope.scope import Scope

ACTOR: Final = "germline"


class FileUses(NamedTuple):
    """A file beside SKILL.md: in how many sessions it was opened or run, and when last, "" for never."""

    path: str
    sessions: int
    last_used: str


@dataclass(frozen=True)
class SkillLedger:
    """What became of a skill.

    `sessions` count for it; `loads` of them loaded it, in any version. `uses` are the loads with an outcome of
    what the live version says, or of a version that logs do not tell: the share `success` succeeded, from `low` to
    `high`. `effect` is how much more sessions that loaded it succeeded than others of the same run, difficulty and
    task: what drives an agent to load a skill may drive the outcome as well. Units: `tokens` are estimated for one
    load, `offered_tokens` for the description that every session reads; `success` is None without any use.
    """

    capsule: Capsule
    sessions: int
    loads: int
    uses: int
    success: float | None
    low: float
    high: float
    effect: Delta | None
    last_used: str
    tokens: int
    offered_tokens: int
    heuristic: bool = False
    files: tuple[FileUses, ...] = ()

    def fails(self, preset: Preset) -> bool:
        """Tell whether it surely succeeds less often than the preset asks of a skill that is to stay.

        One that sessions surely do better with stays, however hard their tasks are; guessed outcomes tell nothing.
        """
        helps = self.effect is not None and self.effect.low > 0
        enough = self.uses >= preset.retire_after and not self.heuristic
        return enough and self.high < preset.retire_below and not helps


def ledger_of(library: Library, name: str, scope: Scope, *, with_files: bool = False) -> SkillLedger:
    """Sum up one skill; `with_files` reads the sessions that loaded it again, for the files that they opened."""
    capsule = library.capsule(name)
    counting = scope.restricted(name, scope.records)
    loaded = [record for record in counting if name in dict(record.skills)]
    now = {*map(str, library.outline(name).lineage()[-1]), ""}
    others = [record for record in counting if name not in dict(record.skills)]
    compared = judged([*(record for record in loaded if dict(record.skills)[name] in now), *others])
    ran = [record for record in compared.records if name in dict(record.skills)]
    outcomes = [outcome_of(record) for record in ran]
    low, high = wilson(sum(outcomes), len(outcomes))
    text = skill_text(capsule)
    return SkillLedger(
        capsule=capsule,
        sessions=len(counting),
        loads=len(loaded),
        uses=len(ran),
        success=fmean(outcomes) if outcomes else None,
        low=low,
        high=high,
        effect=_effect(name, compared.records),
        last_used=max((record.started_at or "" for record in loaded), default=""),
        tokens=tokens_of(text),
        offered_tokens=tokens_of(f"{name}: {description_of(capsule)}"),
        heuristic=compared.heuristic,
        files=_file_uses(library, capsule, loaded) if with_files else (),
    )


def _effect(name: str, records: Sequence[EpisodeRecord]) -> Delta | None:
    cases = [
        (stratum, task, name in dict(record.skills), outcome)
        for record, (stratum, task, outcome) in zip(records, settings_of(records), strict=True)
    ]
    figures = contrast(cases)
    if figures is None:
        return None
    difference = figures.difference
    return Delta(value=difference.value, low=difference.low, high=difference.high, tasks=figures.tasks)


def _file_uses(library: Library, capsule: Capsule, loaded: Sequence[EpisodeRecord]) -> tuple[FileUses, ...]:
    """Count the sessions whose calls name a file of the skill; a session that is gone or erased tells nothing."""
    used: dict[str, list[str]] = {file.entry.path: [] for file in capsule.files}
    transcripts = read_transcripts(loaded, erased_records(library)) if used else ()
    for record, transcript in zip(loaded, transcripts, strict=False):
        calls = [step for step in transcript.steps if step.kind == "call"] if transcript else []
        for path, times in used.items():
            if any(f"{capsule.name}/{path}" in f"{step.text} {step.target}" for step in calls):
                times.append(record.started_at or "")
    return tuple(FileUses(path, len(times), max(times, default="")) for path, times in used.items())


def propose_retirements(
    registry: Registry, rows: Iterable[SkillLedger], preset: Preset
) -> tuple[RetirementProposed, ...]:
    """Ask a person, by an event, about each skill that fails: once for a version, again after twice the uses."""
    proposed = []
    for row in rows:
        before = _asked_before(registry, row.capsule)
        if row.fails(preset) and row.uses >= 2 * max((event.uses for event in before), default=0):
            event = _proposal(row, preset)
            registry.execute(RecordSkillFact(event), actor=ACTOR)
            proposed.append(event)
    return tuple(proposed)


def _asked_before(library: Library, capsule: Capsule) -> list[RetirementProposed]:
    asked = library.log.read(stream=f"capsule:{capsule.name}", types=("RetirementProposed",))
    events = [event_of("RetirementProposed", envelope) for envelope in asked]
    return [event for event in events if event.version == capsule.version and event.cause == "sessions"]


def _proposal(row: SkillLedger, preset: Preset) -> RetirementProposed:
    return RetirementProposed(
        capsule=row.capsule.name,
        version=row.capsule.version,
        cause="sessions",
        uses=row.uses,
        success=row.success or 0.0,
        low=row.low,
        high=row.high,
        effect=row.effect,
        bound=preset.retire_below,
        least_uses=preset.retire_after,
        preset=preset.name,
        loads=row.loads,
        tokens=row.tokens,
    )


def propose_after_harm(
    registry: Registry, tested: SkillTested, row: SkillLedger, preset: Preset
) -> RetirementProposed:
    """Ask a person, by an event, about a skill that runs showed to harm."""
    figures, score = tested.rollouts, tested.after
    event = _proposal(row, preset).model_copy(
        update={
            "cause": "runs",
            "uses": figures.pairs - figures.void,
            "success": getattr(score, "value", 0.0),
            "low": getattr(score, "low", 0.0),
            "high": getattr(score, "high", 1.0),
            "effect": Delta(value=figures.difference, low=figures.low, high=figures.high, tasks=figures.tasks),
        }
    )
    registry.execute(RecordSkillFact(event), actor=ACTOR)
    return event
