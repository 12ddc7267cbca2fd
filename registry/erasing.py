"""Erasing evidence: a person's text goes for good, the event that says so stays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, UsageError
from events.log import Receipt
from events.registry_events import EvidenceErased
from registry.commands import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.library import Library, Raised
    from registry.registry import Registry

_SHOWN_CHARS: Final = 12
"""How much of an id is written where several are named."""


@dataclass(frozen=True, slots=True)
class ErasedEvidence:
    """A piece of evidence that was erased: when, and why."""

    id: str
    at: str
    reason: str


def erasure_of(library: Library, name: str) -> ErasedEvidence | None:
    """Tell when and why a piece of evidence was erased, None where it was not."""
    document = library.log.document("erased", name)
    return ErasedEvidence(name, **json.loads(document.body)) if document else None


def signals_with(library: Library, name: str) -> list[Raised]:
    """List the signals that refer to a piece of evidence."""
    return [raised for raised in library.signals() if name in raised.event.evidence]


def named_evidence(library: Library, stated: str) -> str:
    """Resolve the id of a piece of evidence, or the beginning of one; erased ones are known too.

    Raises: NotFoundError where there is none; UsageError where several begin so.
    """
    every = {name for raised in library.signals() for name in raised.event.evidence}
    found = sorted(name for name in every if stated and name.startswith(stated.lower()))
    if not found:
        raise NotFoundError(f"no evidence {stated or '(empty)'} is known", hint="germline why SKILL:LINE --json")
    if len(found) > 1:
        begun = ", ".join(name[:_SHOWN_CHARS] for name in found[:3])
        raise UsageError(
            f"{len(found)} pieces of evidence begin with {stated}: {begun} …", hint="write more of it"
        )
    return found[0]


def erase(registry: Registry, names: Sequence[str], reason: str) -> Receipt:
    """Erase evidence, text and salt, all of it or none; what was erased before is passed over.

    `EventLog.scrub` then clears the files. Shapes: names are whole ids. Raises: UsageError without a reason.
    """
    if not reason.strip():
        raise UsageError("erasing needs a reason: it is all that will be left", hint="--reason TEXT")
    with registry.log.transaction():
        left = [name for name in names if erasure_of(registry, name) is None]
        for name in left:
            registry.log.erase_blob(name)
        if not left:
            return Receipt(())
        return registry.execute(Record(tuple(EvidenceErased(evidence=name, reason=reason) for name in left)))
