"""Fields under which logs tell how an episode ended, and what their values mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTCOME_FIELDS: Final = (
    *("reward", "score", "success", "is_correct", "correct", "passed", "resolved", "is_resolved", "solved"),
)
"""The usual names, the most exact first: the first that is there counts."""

_GOOD: Final = frozenset(
    ("true", "yes", "ok", "pass", "passed", "success", "successful", "succeeded", "correct", "resolved", "solved")
)
_BAD: Final = frozenset(
    ("false", "no", "fail", "failed", "failure", "unsuccessful", "incorrect", "wrong", "error", "unresolved")
)


def outcome_in(fields: Mapping[str, object]) -> float | None:
    """Give the outcome that the first of the usual fields tells, None where none does."""
    values = (outcome_value(fields[name]) for name in OUTCOME_FIELDS if name in fields)
    return next((value for value in values if value is not None), None)


def outcome_value(value: object) -> float | None:
    """Read an outcome from 0 to 1: a number, true or false, or a word for either; None for anything else."""
    if isinstance(value, str):
        word = value.strip().lower()
        return 1.0 if word in _GOOD else 0.0 if word in _BAD else None
    if isinstance(value, (int, float)) and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    return None
