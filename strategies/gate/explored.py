"""What explore says of a claim before it may be sent to the sealed logs: much of what is plausible ends here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.decide import Verdict
from strategies.gate.policy import WRITTEN_RULE
from strategies.gate.rules import Rule

if TYPE_CHECKING:
    from strategies.gate.contrast import Contrast

REFUTED: Final = "explore refutes it"
"""How the reason begins where explore speaks against a claim."""
UNSHOWN: Final = "explore does not show it"
"""How the reason begins where explore says too little: nothing was sent to the sealed logs either way."""


def refusal(figures: Contrast | None, tried: int) -> Verdict:
    """Say why a claim that does not survive explore is not sent any further.

    It is rejected where it was compared on both sides and does not go with better outcomes, else held.
    Units: tried is the number of claims that were compared beside it, itself counted.
    """
    if figures is None:
        return Verdict("hold", (f"{UNSHOWN}: no stratum holds both who obeyed and who did not",))
    said = (
        f"risk difference {figures.difference.value:+.3f} "
        f"[{figures.difference.low:+.3f}, {figures.difference.high:+.3f}], z {figures.z:+.1f}, "
        f"{figures.obeyed} obeyed and {figures.disobeyed} did not"
    )
    if min(figures.obeyed, figures.disobeyed) < WRITTEN_RULE.least_arm:
        return Verdict("hold", (f"{UNSHOWN}: {said}; {WRITTEN_RULE.least_arm} on either side are needed",))
    refuted = figures.difference.value <= 0 or figures.difference.high < WRITTEN_RULE.least_difference
    if refuted:
        return Verdict("reject", (f"{REFUTED}: {said}",))
    return Verdict("hold", (f"{UNSHOWN}: {said}; it does not survive among {tried} claims tried",))


def explore_rule(reason: str) -> Rule:
    """Ask that a claim survives explore, given the reason that was stored because it does not."""
    return Rule(
        "explore",
        reason,
        "it survives Benjamini-Yekutieli on explore, and helps",
        holds=False,
        missing=reason,
        otherwise="reject" if reason.startswith(REFUTED) else "hold",
        decisive=True,
    )
