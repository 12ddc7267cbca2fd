"""Running a trial: begun, switched at the borders of its blocks, looked at, and ended with what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, GermlineError, NotFoundError, RefusedError, SkillFormatError
from events.types.trial_events import (
    TrialAssigned,
    TrialEnded,
    TrialFactor,
    TrialLooked,
    TrialResult,
    TrialStarted,
)
from registry.actions.publish import publish, require_unedited, standing, write_out
from registry.actions.trial_arms import arm_of, removal
from registry.decide.commands import PromoteProven, RevertVersion, RunTrial
from registry.decide.promote import edited
from registry.query.trials import running_trial, shown_by, trials_of
from registry.skill_md.render import label
from registry.skill_md.skill_files import SKILL_FILE, contained
from strategies.episodes.episode import moment_s
from strategies.trials.analysis import newly_counted, results, shares
from strategies.trials.plan import LEAST_HISTORY, History, Power, history_of, power_of
from strategies.trials.trial_sessions import Counting, assigned_sessions, claim_of, counting_of, sessions_of_skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from events.types.trial_events import TrialOutcome
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from registry.state.trial import SkillTrial
    from strategies.scope.log_globs import LogGlobs

ACTOR: Final = "germline"
FOLDER: Final = "versions"
"""Where sessions that are given a text of their own find it, beside the registry."""
_MOST_FACTORS: Final = 4
"""Sixteen arms: with more, hardly a session would have the same text as another (a guess)."""
_SEED_DIGITS: Final = 16
_FEW: Final = 12


@dataclass(frozen=True, slots=True)
class TrialTerms:
    """What a person asks of a trial. `block_s` is 0 where sessions are assigned one by one."""

    candidates: tuple[str, ...] = ()
    arms: tuple[int, ...] = ()
    block_s: int = 0
    budget: int = 400
    gain: float = 0.1
    outcome: TrialOutcome | None = None
    adaptive: bool = False


class TrialPlan(NamedTuple):
    """A trial as it would begin, and what it could find."""

    started: TrialStarted
    history: History
    power: Power


def plan_trial(registry: Registry, skill: str, terms: TrialTerms, logs: LogGlobs | None) -> TrialPlan:
    """Write down all that decides a trial, before its first session.

    Raises: RefusedError where its arms cannot be composed, or sessions of before do not tell what to expect.
    """
    capsule = registry.capsule(skill)
    factors = _factors(registry, capsule, terms)
    now = registry.clock.now()
    counting = _counting(registry, skill, factors, terms, logs, moment_s(now) or 0.0)
    history = history_of(sessions_of_skill(registry, counting, logs, moment_s(now) or 0.0))
    if len(history.sessions) < LEAST_HISTORY:
        raise RefusedError(
            f"{len(history.sessions)} sessions of {skill} tell `{counting.outcome}`; what a trial could find is "
            f"said from {LEAST_HISTORY} on",
            hint="germline outcome … says how sessions ended; --outcome errors counts calls that fail",
        )
    seed = registry.clock.new_id().replace("-", "")[-_SEED_DIGITS:]
    started = TrialStarted(
        trial=registry.clock.new_id().replace("-", "")[-_FEW:],
        capsule=skill,
        base_version=capsule.version,
        factors=factors,
        unit="block" if terms.block_s else "session",
        block_s=terms.block_s,
        starts_at=now,
        budget=terms.budget,
        outcome=counting.outcome,
        gain=terms.gain,
        base_rate=history.base_rate,
        spread=history.spread,
        loaded=counting.loaded,
        adaptive=terms.adaptive and not terms.block_s,
        seed=seed,
    )
    draws = Random(seed)  # noqa: S311 - what is played through is no secret
    power = power_of(history, block_s=terms.block_s, budget=terms.budget, gain=terms.gain, draws=draws)
    return TrialPlan(started, history, power)


def start_trial(registry: Registry, plan: TrialPlan, *, write: bool = True) -> SkillTrial:
    """Let a trial begin, and switch the folder to the first block where it goes by blocks.

    Raises: RefusedError where one runs, or a person edited the files.
    """
    skill = plan.started.capsule
    require_unedited(registry, skill)
    registry.execute(RunTrial(plan.started))
    switch(registry, skill, write=write)
    return trials_of(registry, skill)[-1]


def switch(registry: Registry, skill: str, *, write: bool = True) -> TrialAssigned | None:
    """Bring the folder of a skill to what the block of now was meant to hold; None where there is nothing to do.

    The event comes first, then the files: a crash between the two is mended when the registry is opened next, as
    that of any version. What a person edited is left as it is, and the event says so.
    """
    trial = running_trial(registry, skill)
    if trial is None or not trial.by_block:
        return None
    block = trial.block_at(moment_s(registry.clock.now()) or 0.0)
    problem = "edited by hand" if standing(registry, skill) == "edited" else ""
    if block < 0 or (block, problem) == (trial.block, trial.problem):
        return None
    assigned = TrialAssigned(
        trial=trial.id,
        capsule=skill,
        unit=str(block),
        given=trial.arms(trial.meant(block)),
        shares=(0.5,) * len(trial.started.factors),
        problem=problem,
        missed=max(0, block - trial.block - 1),
    )
    try:
        arm_of(registry, trial, assigned.given)
    except (EditError, NotFoundError, RefusedError, SkillFormatError) as error:
        what = f"the lines on trial do not fit {label(registry.capsule(skill))}: {error.message}"
        end_trial(registry, trial, what, write=write)
        return None
    receipt = registry.execute(RunTrial(assigned), actor=ACTOR)
    if write and not problem:
        publish(registry, skill)
    return assigned if receipt.envelopes else None


class Given(NamedTuple):
    """The text that a session was given: its arm, and the folder that holds it."""

    assigned: TrialAssigned
    arm: Capsule
    folder: Path


def assign(registry: Registry, trial: SkillTrial, session: str, *, write: bool = True) -> Given:
    """Draw the arm of a session by its coins, and write its text to a folder of its own.

    A session that asks again is given the same again.
    """
    drawn = shares(trial)
    fresh = TrialAssigned(
        trial=trial.id,
        capsule=trial.started.capsule,
        unit=session,
        given=trial.arms(trial.drawn(session, drawn)),
        shares=drawn,
    )
    registry.execute(RunTrial(fresh), actor=ACTOR)
    known = running_trial(registry, trial.started.capsule) or trial
    assigned = known.assigned.get(session, fresh)
    arm = arm_of(registry, trial, assigned.given, unit=session)
    folder = contained(registry.log.beside.parent, f"{FOLDER}/{label(arm)}/{arm.name}/{SKILL_FILE}").parent
    if write:
        write_out(registry, arm, folder)
    return Given(assigned, arm, folder)


def look(registry: Registry, skill: str, logs: LogGlobs | None, *, write: bool = True) -> SkillTrial | None:
    """Let the sessions that are over enter the figures of a skill's trial, and end it where they decide.

    Returns the trial as it is then, None where none runs.
    """
    trial = running_trial(registry, skill)
    if trial is None:
        return None
    now_s = moment_s(registry.clock.now()) or 0.0
    before = moment_s(trial.started.starts_at) or 0.0
    every = sessions_of_skill(registry, counting_of(registry, trial), logs, now_s)
    history = [session for session in every if session.ended_s < before]
    sessions = every if trial.by_block else assigned_sessions(registry, trial, now_s)
    counted = newly_counted(trial, sessions, history, now_s)
    if counted:
        figures = results(trial.started, (*trial.counted, *counted), trial.results)
        looked = TrialLooked(trial=trial.id, capsule=skill, counted=counted, results=figures)
        registry.execute(RunTrial(looked), actor=ACTOR)
        trial = running_trial(registry, skill) or trial
    if trial.results and all(result.decision != "running" for result in trial.results):
        return end_trial(registry, trial, "every line is decided", write=write)
    return trial


def end_trial(
    registry: Registry, trial: SkillTrial, reason: str, *, actor: str = ACTOR, write: bool = True
) -> SkillTrial:
    """End a trial, and let follow what it shows: a proven candidate becomes a version, a harmful one goes.

    All in one transaction; the folder is brought to the live version afterwards.
    """
    skill = trial.started.capsule
    figures = tuple(
        result.model_copy(update={"decision": "stopped"}) if result.decision == "running" else result
        for result in trial.results
    )
    with registry.log.transaction():
        ended = TrialEnded(trial=trial.id, capsule=skill, results=figures, reason=reason)
        if registry.execute(RunTrial(ended), actor=actor).envelopes:
            for result, factor in zip(figures, trial.started.factors, strict=False):
                _follow(registry, trial, factor, result)
    if write and standing(registry, skill) != "edited":  # a person decides about their edit; nothing of it is lost
        publish(registry, skill)
    return next(after for after in trials_of(registry, skill) if after.id == trial.id)


def _follow(registry: Registry, trial: SkillTrial, factor: TrialFactor, result: TrialResult) -> None:
    """Carry out what a decision leads to, as far as the skill allows it by now; the figures stay either way."""
    skill = trial.started.capsule
    live = registry.capsule(skill).version
    candidate = registry.candidate(factor.candidate) if factor.candidate else None
    reason = f"{result.decision} by trial {trial.id}: {shown_by(result, trial.started.outcome)}"
    command: PromoteProven | RevertVersion | None = None
    if result.decision == "proven":
        if candidate and candidate.version is None:
            command = PromoteProven(candidate.id, skill, reason)
        elif factor.given and factor.given < live == factor.denied:
            command = RevertVersion(skill, factor.given, reason)
    elif result.decision == "harmful":
        if candidate and candidate.version == live:
            command = RevertVersion(skill, live - 1, reason)
        elif factor.given == live and factor.denied < live:
            command = RevertVersion(skill, factor.denied, reason)
    if command is not None:
        try:
            registry.execute(command, actor=ACTOR)
        except GermlineError:  # a protected line is in the way, say: the figures stay, and a person decides
            return


def _counting(
    library: Library,
    skill: str,
    factors: Sequence[TrialFactor],
    terms: TrialTerms,
    logs: LogGlobs | None,
    now_s: float,
) -> Counting:
    """Settle by which outcome sessions count, and whether they must have loaded the skill, before any is counted.

    Raises: RefusedError where `recovered` would count without a claim that says where.
    """
    claim = claim_of(library, factors[0].candidate)
    if terms.outcome == "recovered" and (claim is None or claim.kind != "after_error" or len(factors) > 1):
        raise RefusedError(
            "`recovered` counts by the one candidate's claim about an error, and there is none",
            hint=f"germline trial start {skill} --outcome errors",
        )
    counting = Counting(skill, terms.outcome or "outcome", claim)
    loading = counting._replace(loaded=True)
    told = [session for session in sessions_of_skill(library, loading, logs, now_s) if session.value is not None]
    return loading if len(told) >= LEAST_HISTORY and not factors[0].given else counting


def _factors(registry: Registry, capsule: Capsule, terms: TrialTerms) -> tuple[TrialFactor, ...]:
    """Read what is to be switched, and make sure that every arm can be composed.

    Raises: RefusedError where it cannot.
    """
    name = capsule.name
    if terms.arms:
        denied, given = terms.arms if len(terms.arms) > 1 else (capsule.version, terms.arms[0])
        for version in (denied, given):
            registry.version(name, version)
        if terms.candidates or denied == given or capsule.version not in {denied, given}:
            raise RefusedError(
                f"two versions are compared, one of them the live one, {label(capsule)}, and no candidate beside them",
                hint=f"germline trial start {name} --arms {capsule.version},VERSION",
            )
        return (TrialFactor(name=f"@{given} against @{denied}", given=given, denied=denied),)
    candidates = [_candidate(registry, capsule, candidate_id) for candidate_id in terms.candidates]
    if not 1 <= len(candidates) <= _MOST_FACTORS:
        raise RefusedError(
            f"a trial is of one to {_MOST_FACTORS} candidates, not of {len(candidates)}",
            hint=f"germline candidates {name}",
        )
    _require_apart(candidates)
    after = capsule
    for candidate in candidates:
        if candidate.version is not None:
            edits = removal(registry, capsule, candidate.id)
            after = edited(after, edits)
        else:
            proposed = candidate.proposed
            after = edited(after, proposed.edits, proposed.born, by=proposed.proposer)
    return tuple(
        TrialFactor(
            name=_name(candidate),
            candidate=candidate.id,
            live=candidate.version is not None,
        )
        for candidate in candidates
    )


def _candidate(library: Library, capsule: Capsule, candidate_id: str) -> Candidate:
    candidate = library.candidate(candidate_id)
    if candidate is None or candidate.proposed.capsule != capsule.name:
        raise NotFoundError(
            f"{capsule.name} has no candidate {candidate_id}", hint=f"germline candidates {capsule.name}"
        )
    if candidate.verdict == "reject" or candidate.reverted:
        raise RefusedError(
            f"candidate {candidate.id[:12]} was {'taken back' if candidate.reverted else 'rejected'}",
            hint=f"germline candidate show {candidate.id[:12]}",
        )
    if candidate.proposed.files or candidate.proposed.skill is not None:
        raise RefusedError(
            f"candidate {candidate.id[:12]} changes more than lines of SKILL.md, and a trial switches these alone",
            hint=f"germline candidate test {candidate.id[:12]}",
        )
    return candidate


def _require_apart(candidates: Sequence[Candidate]) -> None:
    """Refuse candidates whose edits touch the same line: their lines could not be switched one by one."""
    touched: dict[tuple[str, int], str] = {}
    for candidate in candidates:
        for edit in candidate.proposed.edits if candidate.version is None else ():
            for line in edit.target:
                other = touched.setdefault((edit.gene, line), candidate.id)
                if other != candidate.id:
                    raise RefusedError(
                        f"candidates {other[:12]} and {candidate.id[:12]} both change line {line} of {edit.gene}: "
                        "their lines cannot be switched one by one",
                        hint="try one after the other",
                    )


def _name(candidate: Candidate) -> str:
    lines = [line.strip() for line in candidate.proposed.new_lines if line.strip()]
    return next(iter(lines), candidate.id[:12])[:200]
