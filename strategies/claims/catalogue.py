"""Every kind of claim: one line of registration for each of ours, an entry point for those of others."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from events.errors import UsageError
from events.types.claims import (
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    Instead,
    Never,
    OutputClaim,
    PluginClaim,
    Replace,
    StartWith,
)
from strategies.claims.after import AFTER
from strategies.claims.after_call import AFTER_CALL
from strategies.claims.after_error import AFTER_ERROR
from strategies.claims.anytime_before import ANYTIME_BEFORE
from strategies.claims.before import BEFORE
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.finish_with import FINISH_WITH
from strategies.claims.instead import INSTEAD
from strategies.claims.never import NEVER
from strategies.claims.output import OUTPUT
from strategies.claims.replace import REPLACE
from strategies.claims.start_with import START_WITH
from strategies.episodes.action_class import in_short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.claims import Claim
    from events.types.frozen import Frozen


KINDS: Final[Mapping[type[Frozen], ClaimKind[Any]]] = {
    AfterError: AFTER_ERROR,
    Replace: REPLACE,
    After: AFTER,
    AfterCall: AFTER_CALL,
    Before: BEFORE,
    AnytimeBefore: ANYTIME_BEFORE,
    StartWith: START_WITH,
    FinishWith: FINISH_WITH,
    Instead: INSTEAD,
    Never: NEVER,
    OutputClaim: OUTPUT,
}

ENTRY_POINTS: Final = "germline.claims"
"""The entry point group in which other packages name a `Kind[PluginClaim]`."""


def kind_of(claim: Claim) -> ClaimKind[Any]:
    """Find what a claim means.

    Raises: UsageError for the claim of a package that is not installed; TypeError for what is no claim.
    """
    kind = KINDS.get(type(claim))
    if kind is not None:
        return kind
    if isinstance(claim, PluginClaim):
        return _plugin(claim.name)
    raise TypeError(f"no way to judge a claim of type {type(claim).__name__}")


def in_short_form(claim: Claim) -> Claim:
    """Give a claim with the spellings that classes of action have now: a line may have been learned before."""
    spelt = {name: in_short(getattr(claim, name, None) or "") for name in ("action", "do", "avoid")}
    changed = {name: now for name, now in spelt.items() if now and now != getattr(claim, name)}
    return claim.model_copy(update=changed) if changed else claim


def contradicts(claim: Claim, other: Claim) -> bool:
    """Tell whether two claims ask for actions that exclude each other at the same moment."""
    claim, other = in_short_form(claim), in_short_form(other)
    return bool(kind_of(claim).contradicts(claim, other) or kind_of(other).contradicts(other, claim))


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
def _plugin(name: str) -> ClaimKind[PluginClaim]:
    """Load a kind that another package brings."""
    for point in entry_points(group=ENTRY_POINTS, name=name):
        kind = point.load()
        if isinstance(kind, ClaimKind):
            return kind
        raise UsageError(f"the entry point {point.value} is no kind of claim", hint="see docs: germline.claims")
    raise UsageError(
        f"no installed package knows claims of kind {name!r}", hint="install the package that brought the claim"
    )


def questions(claims: Sequence[Claim]) -> tuple[tuple[int, ...], ...]:
    """Divide claims, by their index, into questions: each is one claim, or a pair with what to do first."""
    behind: dict[int, int] = {}
    for avoid, other in enumerate(claims):
        for do, claim in enumerate(claims):
            if _is_pair(claim, other):
                behind.setdefault(avoid, do)
    return tuple(
        (at, *(avoid for avoid, do in behind.items() if do == at)) for at in range(len(claims)) if at not in behind
    )


def _is_pair(claim: Claim, other: Claim) -> bool:
    if not isinstance(claim, AfterError) or not isinstance(other, AfterError) or claim.template != other.template:
        return False
    return claim.do is not None and other.do is None
