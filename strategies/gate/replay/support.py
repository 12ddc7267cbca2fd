"""How surely like decisions support a claim: explore and sealed put together, beyond a common cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.stats.two_stage import combined_p

if TYPE_CHECKING:
    from events.types.score import Confounding, DecisionEffect

NOTICED_Z: Final = 1.645
"""From here on (p .05) the control is taken off the effect; below, it is noise."""


def is_noticed(cause: Confounding) -> bool:
    """Tell whether doing the same elsewhere goes with success too: who decided, not what was decided."""
    return cause.later >= NOTICED_Z * cause.later_error


def is_controlled(cause: Confounding) -> bool:
    """Tell whether doing the same elsewhere could be measured: no slope is 0 with an error of 1."""
    return (cause.later, cause.later_error) != (0.0, 1.0)


def support_p(cause: Confounding, *, controlled: bool = False) -> float:
    """Compute how likely decisions that change nothing would show this much.

    With `controlled`, this much more than doing the same elsewhere does. A trait that agents have, or a task, or a
    while, speaks from every action alike: the difference of the two is what the decision itself adds.
    """
    if not controlled:
        return combined_p(_z(cause.mined), cause.risk_difference / cause.error, cause.chosen_of)
    second = _z(cause.beyond)
    return 1.0 if second is None else combined_p(_z(cause.mined_beyond), second, cause.chosen_of)


def _z(effect: DecisionEffect | None) -> float | None:
    return None if effect is None else effect.value / effect.error
