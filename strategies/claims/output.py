"""The claim `output`: which form the final answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import OutputClaim
from strategies.claims.action_phrases import plain
from strategies.claims.applicability import Moment
from strategies.claims.claim_kind import ClaimKind

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord

_SAID: Final = {
    "number": "as a bare number",
    "json": "as JSON, and nothing else",
    "code": "in a code block",
    "list": "as a list",
    "table": "as a table",
    "link": "with a link to its source",
}
"""Words for the forms that answer_forms.py tells."""


def avoided_form_line(form: str) -> str:
    """Write which form no final answer should have; `text` is one without any other."""
    return f"Do not give the final answer {_SAID.get(form, 'in plain words alone')}."


def output(claim: OutputClaim, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `output`; texts are not kept, so the pattern names a form (answer_forms.py)."""
    if not record.answer_forms:
        return None
    return Moment(len(record.steps) - 1, claim.pattern in record.answer_forms)


def _contradicts(claim: OutputClaim, other: Claim) -> bool:
    """Two whole forms exclude each other; a link can stand in any of them."""
    whole = {"number", "json", "code", "list", "table"}
    return (
        isinstance(other, OutputClaim)
        and claim.pattern != other.pattern
        and {claim.pattern, other.pattern} <= whole
    )


def _sentence(claim: OutputClaim) -> str:
    return f"Give the final answer {_SAID.get(claim.pattern) or f'in this form: {plain(claim.pattern)}'}."


OUTPUT: Final = ClaimKind(moment=output, contradicts=_contradicts, sentence=_sentence)
