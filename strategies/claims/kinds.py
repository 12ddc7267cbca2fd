"""Every kind of claim: one line of registration for each of ours, an entry point for those of others."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from events.claims import After, AfterError, Before, FinishWith, Output, PluginClaim, StartWith
from events.errors import UsageError
from strategies.claims.after import AFTER
from strategies.claims.after_error import AFTER_ERROR
from strategies.claims.before import BEFORE
from strategies.claims.finish_with import FINISH_WITH
from strategies.claims.kind import Kind
from strategies.claims.output import OUTPUT
from strategies.claims.start_with import START_WITH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.base import Frozen
    from events.claims import Claim

KINDS: Final[Mapping[type[Frozen], Kind[Any]]] = {
    AfterError: AFTER_ERROR,
    After: AFTER,
    Before: BEFORE,
    StartWith: START_WITH,
    FinishWith: FINISH_WITH,
    Output: OUTPUT,
}

ENTRY_POINTS: Final = "germline.claims"
"""The entry point group in which other packages name a `Kind[PluginClaim]`."""


def kind_of(claim: Claim) -> Kind[Any]:
    """Find what a claim means.

    Raises: UsageError for the claim of a package that is not installed; TypeError for what is no claim.
    """
    kind = KINDS.get(type(claim))
    if kind is not None:
        return kind
    if isinstance(claim, PluginClaim):
        return _plugin(claim.name)
    raise TypeError(f"no way to judge a claim of type {type(claim).__name__}")


def contradicts(one: Claim, other: Claim) -> bool:
    """Tell whether two claims ask for actions that exclude each other at the same moment."""
    return bool(kind_of(one).contradicts(one, other) or kind_of(other).contradicts(other, one))


def sentence(claim: Claim) -> str:
    """Write a claim as a line for a skill, from the sentence pattern of its kind."""
    written: str = kind_of(claim).sentence(claim)
    return written


def described(claim: Claim) -> str:
    """Write a claim for people who look at it, whether or not the package that brought it is installed."""
    if isinstance(claim, PluginClaim) and not entry_points(group=ENTRY_POINTS, name=claim.name):
        return " ".join([claim.name, *(f"{term}={value}" for term, value in claim.terms)])
    return sentence(claim)


def broken_plugins() -> tuple[tuple[str, str], ...]:
    """Give the kinds of other packages that cannot be used: the name of each, and why."""
    broken = []
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            _plugin(point.name)
        except Exception as error:  # noqa: BLE001 - foreign code
            broken.append((point.name, str(error) or repr(error)))
    return tuple(broken)


@cache
def _plugin(name: str) -> Kind[PluginClaim]:
    """Load a kind that another package brings."""
    for point in entry_points(group=ENTRY_POINTS, name=name):
        kind = point.load()
        if isinstance(kind, Kind):
            return kind
        raise UsageError(f"the entry point {point.value} is no kind of claim", hint="see docs: germline.claims")
    raise UsageError(
        f"no installed package knows claims of kind {name!r}", hint="install the package that brought the claim"
    )
