"""Trials: which of their events may follow what was written before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import RefusedError
from events.types.trial_events import TrialAssigned, TrialEnded, TrialLooked, TrialStarted

if TYPE_CHECKING:
    from registry.state.capsule import Capsule
    from registry.state.trial import SkillTrial


def after_trial_event(
    capsule: Capsule, trial: SkillTrial | None, event: TrialStarted | TrialAssigned | TrialLooked | TrialEnded
) -> bool:
    """Tell whether an event says anything new of a skill's running trial, None where none runs.

    Raises: RefusedError where it does not fit.
    """
    if isinstance(event, TrialStarted):
        _require_startable(capsule, trial)
        return True
    if trial is None or trial.id != event.trial:
        raise RefusedError(
            f"trial {event.trial} of {capsule.name} does not run", hint=f"germline trial status {capsule.name}"
        )
    if isinstance(event, TrialAssigned):
        before = trial.assigned.get(event.unit)
        if not trial.by_block:
            return before is None
        return (trial.block, trial.problem) != (int(event.unit), event.problem) or before is None
    if isinstance(event, TrialLooked):  # another process may have counted them meanwhile
        known = {unit.unit for unit in trial.counted}
        return bool(event.counted) and not any(unit.unit in known for unit in event.counted)
    return True


def _require_startable(capsule: Capsule, trial: SkillTrial | None) -> None:
    if trial is not None:
        raise RefusedError(
            f"a trial of {capsule.name} runs already, since {trial.at[:10]}",
            hint=f"germline trial status {capsule.name}    germline trial stop {capsule.name} --reason TEXT",
        )
    if capsule.is_instructions:
        raise RefusedError(
            f"{capsule.name} is a file under version control, which a trial would change behind people's backs",
            hint="put what is to be tried into a skill",
        )
