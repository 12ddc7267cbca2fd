"""Claims as data: a statement that logs can refute. What they mean is decided higher up."""

from typing import Annotated, Final, Literal

from pydantic import Field

from events.types.frozen import Frozen

ANY: Final = "*"
"""What a claim names in the place of a class of action: any action of the agent."""
LOOK: Final = "*:look"
CHANGE: Final = "*:change"
CHECK: Final = "*:check"
HAND_IN: Final = "*:hand-in"
"""Meanings that a claim may name in the place of a class: coarser classes, told by what an action is for.

No tool of a log begins with a star: none is the class of a call, nor in a claim of an earlier version.
"""


class AfterError(Frozen):
    """After the first failing step with this template, the next action is `do`, or is not `avoid`."""

    kind: Literal["after_error"] = "after_error"
    template: str
    do: str | None = None
    avoid: str | None = None


class Replace(Frozen):
    """After a command failed with this template, the next action is `do`, with the flag where one is named.

    `action` and `do` are classes, or commands of a shell without their subcommands.
    """

    kind: Literal["replace"] = "replace"
    action: str
    template: str
    do: str
    flag: str = ""


class After(Frozen):
    """After the k-th (failing, or identical) call of a class, the next action is not of class `avoid`."""

    kind: Literal["after"] = "after"
    action: str
    k: Annotated[int, Field(ge=1)] = 1
    failing: bool = False
    identical: bool = False
    avoid: str


class Before(Frozen):
    """An action of class `do` comes immediately before the first use of a class."""

    kind: Literal["before"] = "before"
    action: str
    do: str


class AfterCall(Frozen):
    """After the first (failing) call of a class, the next action is of class `do`."""

    kind: Literal["after_call"] = "after_call"
    action: str
    failing: bool = False
    do: str


class AnytimeBefore(Frozen):
    """An action of class `do` comes at any time before the first use of a class (`*:hand-in`: the end).

    Here and in `Instead` and `Never` the name of a command means all of its subcommands, that of a tool all of its
    commands.
    """

    kind: Literal["anytime_before"] = "anytime_before"
    action: str
    do: str


class StartWith(Frozen):
    """The first action of an episode is of class `do`."""

    kind: Literal["start_with"] = "start_with"
    do: str


class FinishWith(Frozen):
    """Where the agent itself ends the episode, the last action but one is of class `do`."""

    kind: Literal["finish_with"] = "finish_with"
    do: str


class Instead(Frozen):
    """Where either of two classes is used, the first of them is `do`."""

    kind: Literal["instead"] = "instead"
    do: str
    avoid: str


class Never(Frozen):
    """No action of a class is taken; it can be counted, and never compared: most had no reason to take it."""

    kind: Literal["never"] = "never"
    avoid: str


class OutputClaim(Frozen):
    """The final answer has this form."""

    kind: Literal["output"] = "output"
    pattern: str


class PluginClaim(Frozen):
    """A claim of a kind that another package brings; `name` is its entry point, `terms` what it is about.

    It stays readable as plain terms where that package is not installed.
    """

    kind: Literal["plugin"] = "plugin"
    name: str
    terms: tuple[tuple[str, str], ...] = ()


Claim = Annotated[
    AfterError
    | Replace
    | After
    | AfterCall
    | Before
    | AnytimeBefore
    | StartWith
    | FinishWith
    | Instead
    | Never
    | OutputClaim
    | PluginClaim,
    Field(discriminator="kind"),
]


class Trigger(Frozen):
    """A signal that a gene answers: its fingerprint, and the template and action it was frozen with."""

    fingerprint: str
    kind: str
    template: str = ""
    action: str = ""
