"""Words: claims, signals and actors as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.paint import one_line
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.claims import Claim
    from events.registry_events import SignalRaised

KIND_WIDTH: Final = 18
"""As wide as every kind of signal but the rare `test_failure_after_edit`, which sticks out."""

_SHOWN_BESIDE: Final = ("risk difference ", "paired delta ", "scope: ")
"""How the reasons of the gate begin that repeat the figures."""


def claim_words(claim: Claim) -> str:
    """Say what a claim asserts about the very next action."""
    if claim.kind == "after_error":
        wanted = f"is {claim.do}" if claim.do else f"is not {claim.avoid}"
        return f"after that error, the next action {wanted}"
    if claim.kind == "after":
        what = "identical " if claim.identical else "failing " if claim.failing else ""
        return f"after {_ordinal(claim.k)} {what}{claim.action}, the next action is not {claim.avoid}"
    from registry.snapshots import read_claim  # noqa: PLC0415 - what follows knows claims by their classes
    from strategies.claims.kinds import described  # noqa: PLC0415 - most claims are said without the miner

    return one_line(described(read_claim(claim.model_dump(mode="json"))))


def _ordinal(number: int) -> str:
    return {1: "the first", 2: "the second", 3: "the third"}.get(number, f"call {number} of")


def signal_name(signal: SignalRaised) -> str:
    """Name what recurs: the error, else the action; a run that called nothing has neither."""
    return one_line(signal.template or signal.action) or "(no action)"


def signal_words(signal: SignalRaised) -> str:
    """Say what recurs, how often, and where."""
    name = signal_name(signal)
    times = "once" if signal.count == 1 else f"{signal.count:,} times"
    runs = f" of {count(len(signal.runs), 'run')}" if signal.runs else ""
    return f'"{name}", {times} in {count(signal.episodes, "episode")}{runs}'


def since_words(signal: SignalRaised, counted: SignalRaised | None) -> str:
    """Say how often a signal showed since it was raised, "" where it did not."""
    more = counted.count - signal.count if counted else 0
    return f"; {more:,} more since" if more > 0 else ""


def further_reasons(reasons: Iterable[str]) -> list[str]:
    """Leave out of a verdict's reasons what stands beside it as effect and score."""
    return [reason for reason in reasons if not reason.startswith(_SHOWN_BESIDE)]


def scope_words(scope: Sequence[str]) -> str:
    """Name the run configurations that carry a figure."""
    return f"{'run' if len(scope) == 1 else 'runs'} {', '.join(scope)}"


def actor_words(actor: str) -> str:
    """Say who caused an event: a person, a miner without any model, or a model."""
    kind, _, name = actor.partition(":")
    if kind == "person":
        return f"by {name}"
    if kind == "miner":
        return "mined from logs, no model"
    return f"by model {name.partition('#')[0]}" if kind == "model" else f"by {actor}"
