"""Running a trial: begun, switched at the borders of its blocks, looked at, ended with what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, GermlineError, NotFoundError, RefusedError, SkillFormatError
from events.types.trial_events import (
    TrialAssigned,
    TrialEnded,
    TrialFactor,
    TrialFigures,
    TrialLooked,
)
from registry.actions.publish import publish, require_unedited, standing, write_out
from registry.actions.trial_arms import arm_of
from registry.decide.commands import PromoteProven, RevertVersion, RunTrial
from registry.query.trials import running_trial, shown_by, trials_of
from registry.skill_md.render import label
from registry.skill_md.skill_files import SKILL_FILE, contained
from strategies.episodes.episode import moment_s
from strategies.tiers.after_trial import tier_after_trial
from strategies.trials.analysis import newly_counted, results, shares
from strategies.trials.trial_sessions import assigned_sessions, counting_of, sessions_of_skill

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from registry.state.trial import SkillTrial
    from strategies.scope.log_globs import LogGlobs
    from strategies.trials.trial_terms import TrialPlan

ACTOR: Final = "germline"
FOLDER: Final = "versions"
"""Where sessions that are given a text of their own find it, beside the registry."""


def start_trial(registry: Registry, plan: TrialPlan, *, write: bool = True) -> SkillTrial:
    """Let a trial begin, and switch the folder to the first block where it goes by blocks.

    Raises: RefusedError where one runs, or a person edited the files.
    """
    skill = plan.started.capsule
    require_unedited(registry, skill)
    with registry.log.transaction():  # at once: who asks again after a crash hears that it runs
        registry.execute(RunTrial(plan.started))
        switch(registry, skill, write=False)
    if write:
        publish(registry, skill)
    return trials_of(registry, skill)[-1]


def current_trial(registry: Registry, skill: str, *, write: bool = True) -> SkillTrial | None:
    """Give the trial of a skill that runs, None where none does; one that was overtaken is ended.

    That is where somebody decided against the lines on trial meanwhile, or made another version live than those
    that are compared.
    """
    trial = running_trial(registry, skill)
    if trial is None:
        return None
    live = registry.outline(skill).version
    for factor in trial.started.factors:
        candidate = registry.candidate(factor.candidate) if factor.candidate else None
        reason = ""
        if candidate and (candidate.reverted or candidate.verdict == "reject"):
            reason = f"candidate {candidate.id[:12]} was {'taken back' if candidate.reverted else 'rejected'}"
        elif factor.given and live not in {factor.given, factor.denied}:
            reason = f"{skill} went to version {live}"
        if reason:
            end_trial(registry, trial, reason, write=write)
            return None
    return trial


def switch(registry: Registry, skill: str, *, write: bool = True) -> TrialAssigned | None:
    """Bring the folder of a skill to what the block of now was meant to hold; None where there is nothing to do.

    The event comes first, then the files: a crash between the two is mended when the registry is opened next, as
    that of any version. What a person edited is left as it is, and the event says so.
    """
    trial = current_trial(registry, skill, write=write)
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


class GivenArm(NamedTuple):
    """The text that a session was given: its arm, and the folder that holds it."""

    assigned: TrialAssigned
    arm: Capsule
    folder: Path


def assign(registry: Registry, trial: SkillTrial, session: str, *, write: bool = True) -> GivenArm:
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
    assigned = fresh
    if not registry.execute(RunTrial(fresh), actor=ACTOR).envelopes:  # it asked before, this moment perhaps
        known = running_trial(registry, trial.started.capsule) or trial
        assigned = known.assigned.get(session, fresh)
    arm = arm_of(registry, trial, assigned.given, unit=session)
    folder = contained(registry.log.beside.parent, f"{FOLDER}/{label(arm)}/{arm.name}/{SKILL_FILE}").parent
    if write:
        write_out(registry, arm, folder)
    return GivenArm(assigned, arm, folder)


def look(registry: Registry, skill: str, logs: LogGlobs | None, *, write: bool = True) -> SkillTrial | None:
    """Let the sessions that are over enter the figures of a skill's trial, and end it where they decide.

    Returns the trial as it is then, None where none runs.
    """
    trial = current_trial(registry, skill, write=write)
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


def _follow(registry: Registry, trial: SkillTrial, factor: TrialFactor, result: TrialFigures) -> None:
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
    change = tier_after_trial(candidate, trial.id, result) if candidate else None
    try:
        for follows in (command, change):
            if follows is not None:
                registry.execute(follows, actor=ACTOR)
    except GermlineError:  # a protected line is in the way, say: the figures stay, and a person decides
        return


def step_trials(
    registry: Registry, names: Iterable[str], logs: LogGlobs | None, *, looking: bool = True, write: bool = True
) -> list[SkillTrial]:
    """Switch folders that are due, count and end where `looking`; gives the trials that ran, as they are then."""
    stepped = []
    for name in names:
        if running_trial(registry, name):
            switch(registry, name, write=write)
            if looking:
                look(registry, name, logs, write=write)
            stepped.append(trials_of(registry, name)[-1])
    return stepped
