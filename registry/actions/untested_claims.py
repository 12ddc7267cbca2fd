"""Claims that no log was asked about, which an earlier germline let live: they end, and their lines stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.actions.publish import publish
from registry.decide.commands import DropClaims
from registry.query.provenance import untested_claims
from registry.query.trials import running_trial

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.registry import Registry

REASON: Final = "claims that no log was asked about end; their lines stay"


def drop_untested(registry: Registry, names: Iterable[str]) -> list[str]:
    """End the untested claims of skills, each by a version of its own that is written to disk; name those.

    A skill on trial waits until that is over: a version that nobody compares would end it.
    """
    changed = []
    for name in names:
        claims = untested_claims(registry, registry.capsule(name))
        if claims and running_trial(registry, name) is None:
            registry.execute(DropClaims(name, claims, REASON), actor="germline")
            publish(registry, name)
            changed.append(name)
    return changed
