"""The sessions of a trial: those of its skill, or those that were assigned, with what each came to and loaded."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, RefusedError
from registry.actions.trial_arms import arm_of, mark_of
from registry.projection.live_versions import hash_of_said
from registry.skill_md.render import label
from strategies.episodes.episode import in_time, moment_s
from strategies.episodes.skill_use import BODY
from strategies.episodes.step_marks import CORRECTION
from strategies.gate.replay.recovery_endpoint import recovered
from strategies.pool.known_episodes import all_episodes
from strategies.scope.scope import scope_of
from strategies.signals.survey import truth
from strategies.trials.analysis import TrialSession

if TYPE_CHECKING:
    from events.types.claims import Claim
    from events.types.trial_events import TrialOutcome
    from registry.query.library import Library
    from registry.state.trial import Given, SkillTrial
    from strategies.episodes.episode import EpisodeRecord
    from strategies.scope.log_globs import LogGlobs

_QUIET_S: Final = 3_600
"""How long nothing happens before a session counts as over where no label says so (a guess)."""


class Counting(NamedTuple):
    """How sessions of a skill count: by which outcome, by whose claim it is judged, and whether they loaded it."""

    skill: str
    outcome: TrialOutcome
    claim: Claim | None = None
    loaded: bool = False


def counting_of(library: Library, trial: SkillTrial) -> Counting:
    """Give how the sessions of a trial count, as it was written down at its start."""
    started = trial.started
    return Counting(
        started.capsule, started.outcome, claim_of(library, started.factors[0].candidate), started.loaded
    )


def claim_of(library: Library, candidate: str) -> Claim | None:
    """Give the first claim of a candidate, None where it makes none."""
    known = library.candidates_of([candidate]).get(candidate)
    return next(iter(known.proposed.claims), None) if known else None


def sessions_of_skill(
    library: Library, counting: Counting, logs: LogGlobs | None, now_s: float
) -> list[TrialSession]:
    """List the sessions that count for a skill, in time."""
    records = _records_of_skill(library, counting, logs)
    return [_session(record, counting, now_s) for record in records if record.started_at]


def _records_of_skill(library: Library, counting: Counting, logs: LogGlobs | None) -> list[EpisodeRecord]:
    known = all_episodes(library)
    belonging = scope_of(library, known, logs).restricted(counting.skill, known)
    return in_time(record for record in belonging if not counting.loaded or counting.skill in dict(record.skills))


def assigned_sessions(library: Library, trial: SkillTrial, now_s: float) -> list[TrialSession]:
    """List the sessions that were assigned one by one, the first of each id, in time."""
    units = _records_of_units(library, trial)
    counting = counting_of(library, trial)
    return [_session(record, counting, now_s, unit) for unit, record in units.items()]


def _records_of_units(library: Library, trial: SkillTrial) -> dict[str, EpisodeRecord]:
    """Find the session of each assigned unit: by its id, else by the folder that it was given."""
    marks = {mark_of(trial, unit): unit for unit in trial.assigned}
    sessions: dict[str, EpisodeRecord] = {}
    for record in in_time(all_episodes(library)):
        loaded = dict(record.skills).get(trial.started.capsule, "")
        unit = record.name if record.name in trial.assigned else marks.get(loaded.rpartition("+")[2], "")
        if unit:
            sessions.setdefault(unit, record)
    return sessions


def _session(record: EpisodeRecord, counting: Counting, now_s: float, unit: str = "") -> TrialSession:
    began_s = moment_s(record.started_at) or 0.0
    ends = [moment_s(step.started_at) for step in record.steps[-1:]]
    ended_s = max(began_s, *(end + (record.steps[-1].duration_ms or 0.0) / 1_000 for end in ends if end), began_s)
    value = value_of(record, counting)
    if counting.outcome != "outcome" and now_s < ended_s + _QUIET_S:
        value = None  # it may go on
    return TrialSession(began_s, ended_s, value, (record.run, record.difficulty), record.task, unit)


def value_of(record: EpisodeRecord, counting: Counting) -> float | None:
    """Say what a session came to, in [0, 1], None where nothing is known of that."""
    if counting.outcome == "outcome":
        return truth(record)
    if counting.outcome == "recovered":
        return recovered(counting.claim, record) if counting.claim else None
    if counting.outcome == "corrections":
        return float(not any(CORRECTION in step.marks for step in record.steps))
    calls = [step for step in record.steps if step.kind == "call"]
    return 1 - sum(step.error for step in calls) / len(calls) if calls else None


class Compliance(NamedTuple):
    """How many sessions of a trial show which text they loaded, and how many of these the one that was meant."""

    shown: int
    as_meant: int


def compliance(library: Library, trial: SkillTrial, logs: LogGlobs | None) -> Compliance:
    """Compare what sessions loaded with what their arms meant; they count by the latter."""
    skill = trial.started.capsule
    if trial.by_block:
        records = [
            (trial.meant(block), record)
            for record in _records_of_skill(library, counting_of(library, trial), logs)
            if record.started_at and (block := trial.block_at(moment_s(record.started_at) or 0.0)) >= 0
        ]
    else:
        units = _records_of_units(library, trial)
        records = [(trial.assigned[unit].given, record) for unit, record in units.items()]
    texts = _texts(library, trial)
    pairs = [(meant, _loaded(dict(record.skills).get(skill, ""), texts)) for meant, record in records]
    shown = [(meant, loaded) for meant, loaded in pairs if loaded is not None]
    return Compliance(len(shown), sum(meant == loaded for meant, loaded in shown))


def _texts(library: Library, trial: SkillTrial) -> dict[str, Given]:
    """Give the arms by what a log may show of their text: the hash of the body, a version, or a mark."""
    texts: dict[str, Given] = {}
    skill, base = trial.started.capsule, str(trial.started.base_version)
    for version in (library.capsule(skill, base), library.capsule(skill)):
        for given in product((True, False), repeat=len(trial.started.factors)):
            with suppress(EditError, RefusedError):  # lines that the live version has no place for any more
                arm = arm_of(library, trial, given, base=version)
                shown = f"{BODY}{hash_of_said(arm)}", label(arm), label(arm).rpartition("@")[2]
                texts = dict.fromkeys(shown, given) | texts
    for unit, assigned in trial.assigned.items() if not trial.by_block else ():
        texts[mark_of(trial, unit)] = assigned.given
    return texts


def _loaded(logged: str, texts: dict[str, Given]) -> Given | None:
    return texts.get(logged, texts.get(logged.rpartition("+")[2]))
