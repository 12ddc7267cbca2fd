"""Claims as data: a statement that logs can refute. What they mean is decided higher up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from events.base import Frozen


class AfterError(Frozen):
    """After the first failing step with this template, the next action is `do`, or is not `avoid`."""

    kind: Literal["after_error"] = "after_error"
    template: str
    do: str | None = None
    avoid: str | None = None


class After(Frozen):
    """After the k-th (failing, or identical) call of a class, the next action is not of class `avoid`."""

    kind: Literal["after"] = "after"
    action: str
    k: Annotated[int, Field(ge=1)] = 1
    failing: bool = False
    identical: bool = False
    avoid: str


Claim = Annotated[AfterError | After, Field(discriminator="kind")]


class Trigger(Frozen):
    """A signal that a gene answers: its fingerprint, and the template and action it was frozen with."""

    fingerprint: str
    kind: str
    template: str = ""
    action: str = ""
