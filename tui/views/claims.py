"""Claims in words: when they apply, and what obeying them looks like in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.claims import After, AfterError, Before, FinishWith, Output, PluginClaim, StartWith
from strategies.claims.kinds import described
from tui.views.rows import clean

if TYPE_CHECKING:
    from events.claims import Claim

CLAIMS: Final = (After, AfterError, Before, FinishWith, Output, PluginClaim, StartWith)
"""The types of all claims."""

_ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def claim_text(claim: Claim, *, known: str = "") -> str:
    """Say a claim in one clause: `after "Table <*> …", the next action is sql:SHOW`.

    A template that is `known` from beside it is called "that error".
    """
    if isinstance(claim, After):
        kind = "failing " if claim.failing else "identical " if claim.identical else ""
        which = _ORDINALS.get(claim.k, f"{claim.k}th")
        return clean(f"after the {which} {kind}call of {claim.action}, the next action is not {claim.avoid}")
    if not isinstance(claim, AfterError):
        return clean(described(claim))
    ends = [f"is {claim.do}"] if claim.do else []
    ends += [f"is not {claim.avoid}"] if claim.avoid else []
    error = "that error" if claim.template == known else f'"{claim.template}"'
    return clean(f"after {error}, the next action {' and '.join(ends)}")
