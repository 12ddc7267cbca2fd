"""Retirement: a skill that is projected no longer, and one that comes back; its history stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import RefusedError
from events.types.capsule_events import CapsuleRestored, CapsuleRetired

if TYPE_CHECKING:
    from registry.state.capsule import Capsule
    from registry.state.trial import SkillTrial


def retire_skill(capsule: Capsule, trial: SkillTrial | None, reason: str) -> CapsuleRetired:
    """Return the event after which a skill is projected no longer; `trial` is the one that runs.

    Raises: RefusedError for instructions, which are a file of the project, for what is retired, and on trial.
    """
    if capsule.is_instructions:
        raise RefusedError(
            f"{capsule.name} holds instructions of the project, and only skills are retired",
            hint=f"germline usage {capsule.name}   says which of its lines earn their place",
        )
    if capsule.retired:
        raise RefusedError(f"{capsule.name} is retired already", hint=f"germline skill restore {capsule.name}")
    if trial is not None:
        raise RefusedError(
            f"lines of {capsule.name} are on trial, which needs its files",
            hint=f"germline trial stop {capsule.name} --reason TEXT",
        )
    return CapsuleRetired(capsule=capsule.name, before=capsule.score, after=capsule.score, reason=reason)


def restore_skill(capsule: Capsule, reason: str) -> CapsuleRestored:
    """Return the event after which a retired skill is projected again; raises RefusedError for a live one."""
    if not capsule.retired:
        raise RefusedError(f"{capsule.name} is not retired", hint=f"germline show {capsule.name}")
    return CapsuleRestored(capsule=capsule.name, before=capsule.score, after=capsule.score, reason=reason)


def require_live(capsule: Capsule) -> Capsule:
    """Return a skill that may take another version; raises RefusedError for a retired one."""
    if capsule.retired:
        raise RefusedError(
            f"{capsule.name} is retired: it takes no other version",
            hint=f"germline skill restore {capsule.name} --reason TEXT",
        )
    return capsule
