"""Which proposers answer which kind of signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.propose.fatal_forms import fatal_forms
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.recovery import recovery
from strategies.propose.subtract import subtract
from strategies.propose.transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.propose.proposal import Proposer

_HARDEN: Final[tuple[Proposer, ...]] = (guard, subtract)
_INNOVATE: Final[tuple[Proposer, ...]] = (transfer, fatal_forms, habit)

PROPOSERS: Final[Mapping[str, tuple[Proposer, ...]]] = {
    "error_template": (recovery,),
    "retry_loop": (guard,),
    "tool_failure": (guard,),
    "test_failure_after_edit": (guard,),
    "user_correction": (guard,),
    "regression": (subtract,),
    "burn_rate": (subtract, guard),
    "repeated_call": _HARDEN,
    "user_interrupt": _HARDEN,
    "permission_denied": _HARDEN,
    "latency_spike": _HARDEN,
    "context_overflow": _HARDEN,
    "timeout": _HARDEN,
    "rate_limited": _HARDEN,
    "abandoned": _HARDEN,
    "revert": _HARDEN,
    "missing_capability": _INNOVATE,
    "success_streak": _INNOVATE,
    "stagnation": _INNOVATE,
    "uncovered_failure": _INNOVATE,
}
"""Which proposers answer which kind of signal, in the order in which they try."""
