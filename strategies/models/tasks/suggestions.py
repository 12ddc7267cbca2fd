"""What a proposer answers: edits of single lines, each with the claim that logs can refute."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator

from events.types.claims import After, AfterError, Before, FinishWith, OutputClaim, StartWith
from events.types.frozen import Frozen
from strategies.models.answer_schema import without_misfits

SuggestedClaim = Annotated[
    AfterError | After | Before | StartWith | FinishWith | OutputClaim, Field(discriminator="kind")
]
"""The kinds of claims that a model may make: our own, whose words it is shown."""


class SuggestedEdit(Frozen):
    """One edit of one line, by the ids that the model was shown; `text` is "" for `delete`."""

    op: Literal["append", "insert_after", "replace", "delete"]
    gene: str
    target: tuple[int, ...]
    text: str
    claim: SuggestedClaim | None


class Suggestion(Frozen):
    """Edits that belong together, and why; the reason comes first, so that the rest follows from it.

    The reason is the model's own words, which may quote a log: it stays in the reply.
    """

    reason: str
    edits: tuple[SuggestedEdit, ...]

    @property
    def unclaimed(self) -> bool:
        """Whether it brings a line that nothing could refute."""
        return any(edit.op != "delete" and edit.claim is None for edit in self.edits)


class Reflection(Frozen):
    """What one look at some episodes came to, the most important first."""

    suggestions: tuple[Suggestion, ...]

    @field_validator("suggestions", mode="before")
    @classmethod
    def _without_misfits(cls, given: JsonValue) -> JsonValue:
        """Leave out suggestions that are none, such as one with a kind of claim of its own; not if all are."""
        return without_misfits(given, Suggestion)


class LateClaim(Frozen):
    """The claim of an edit that had none; both are counted from 1. Null where none can be made."""

    suggestion: Annotated[int, Field(ge=1)]
    edit: Annotated[int, Field(ge=1)]
    claim: SuggestedClaim | None


class LateClaims(Frozen):
    """What a model answers when it is asked for claims, once."""

    claims: tuple[LateClaim, ...]


def with_late_claims(reflection: Reflection, late: LateClaims) -> Reflection:
    """Put claims that were asked for into the edits that lacked one; what names no such edit is left out."""
    given = {(claim.suggestion - 1, claim.edit - 1): claim.claim for claim in late.claims}
    return Reflection(
        suggestions=tuple(
            suggestion.model_copy(
                update={
                    "edits": tuple(
                        edit if edit.claim else edit.model_copy(update={"claim": given.get((number, at))})
                        for at, edit in enumerate(suggestion.edits)
                    )
                }
            )
            for number, suggestion in enumerate(reflection.suggestions)
        )
    )
