"""Erasing evidence: a person's text goes for good, the event that says so stays."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from events.clock import rfc3339
from events.errors import NotFoundError, UsageError
from registry.documents import fields, read_back
from registry.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.log import Document, Receipt
    from registry.library import Library, Raised
    from registry.registry import Registry

_SHOWN_CHARS: Final = 12
"""How much of an id is written where several are named."""


class ErasedEvidence(NamedTuple):
    """A piece of evidence that was erased: when, and why; `record` names what it kept, "" where nobody said."""

    id: str
    at: str
    reason: str
    record: str = ""


class Reach(NamedTuple):
    """What goes when evidence is erased, and what is told about it.

    `names` are all pieces that keep the same records, for whichever signal; `evidence` those of them whose text
    is still kept. `alike` are other pieces that say the same. `templates` of their signals stand in events.
    """

    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    alike: tuple[str, ...]
    templates: tuple[str, ...]


def reach_of(library: Library, names: Sequence[str]) -> Reach:
    """Find everything that keeps the records of these pieces: a record may be evidence of several signals."""
    signals = library.signals()
    kept = kept_evidence(library, (name for raised in signals for name in raised.event.evidence))
    places = {_place(kept[name]) for name in names if name in kept}
    texts = {kept[name].text for name in names if name in kept}
    copies = [name for name, one in kept.items() if _place(one) in places]
    every = tuple(dict.fromkeys((*names, *copies)))
    return Reach(
        names=every,
        evidence=tuple(kept[name] for name in every if name in kept),
        alike=tuple(name for name, one in kept.items() if one.text in texts and name not in every),
        templates=tuple(
            dict.fromkeys(
                raised.event.template
                for raised in signals
                if raised.event.template and not set(every).isdisjoint(raised.event.evidence)
            )
        ),
    )


def kept_evidence(library: Library, names: Iterable[str]) -> dict[str, Evidence]:
    """Read the pieces of evidence that the registry still keeps, by id."""
    found = ((name, library.log.get_blob(name)) for name in dict.fromkeys(names))
    return {name: Evidence.from_bytes(body) for name, body in found if body is not None}


def _place(one: Evidence) -> tuple[str, int, int, int]:
    return one.file, one.byte_start, one.byte_end, one.line


def erasure_of(library: Library, name: str) -> ErasedEvidence | None:
    """Tell when and why a piece of evidence was erased, None where it was not."""
    document = library.log.document("erased", name)
    return _erasure_in(library, document) if document else None


def erased_records(library: Library) -> frozenset[str]:
    """Name the records of logs whose text was erased: it is not to be kept again."""
    found = (_erasure_in(library, document).record for document in library.log.documents("erased"))
    return frozenset(filter(None, found))


def _erasure_in(library: Library, document: Document) -> ErasedEvidence:
    return ErasedEvidence(document.key, *read_back(library.log, document, _told_in))


def _told_in(body: bytes) -> tuple[str, str, str]:
    """Read when evidence was erased, why, and which record it kept."""
    told = {"record": "", **fields(body, at=str, reason=str)}
    if rfc3339(datetime.fromisoformat(told["at"])) != told["at"] or not isinstance(told["record"], str):
        raise ValueError(body)
    return told["at"], told["reason"], told["record"]


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
        raise NotFoundError(
            f"no evidence {stated or '(empty)'} is known", hint="germline signals --json lists the ids"
        )
    if len(found) > 1:
        begun = ", ".join(name[:_SHOWN_CHARS] for name in found[:3])
        raise UsageError(
            f"{len(found)} pieces of evidence begin with {stated}: {begun} …", hint="write more of it"
        )
    return found[0]


def erase(
    registry: Registry, names: Sequence[str], reason: str, records: Mapping[str, str] | None = None
) -> Receipt:
    """Erase evidence, text and salt, all of it or none; what was erased before is passed over.

    What quotes it goes with it: prompts to models and what came back, transcripts and finished runs.
    `records` names the record of a log that a piece keeps, by the id of the piece. `EventLog.scrub` then clears
    the files. Shapes: names are whole ids. Raises: UsageError without a reason.
    """
    if not reason.strip():
        raise UsageError("erasing needs a reason: it is all that will be left", hint="--reason TEXT")
    from events.log import Receipt  # noqa: PLC0415 - `why` asks what was erased, and pays for no writing: 12 ms
    from events.registry_events import EvidenceErased  # noqa: PLC0415 - the same
    from registry.asked import blobs_quoting  # noqa: PLC0415 - the same
    from registry.commands import Record  # noqa: PLC0415 - the same

    with registry.log.transaction():
        left = [name for name in names if erasure_of(registry, name) is None]
        quoted = blobs_quoting(registry, left, (one.text for one in kept_evidence(registry, left).values()))
        for name in (*left, *quoted):
            registry.log.erase_blob(name)
        if not left:
            return Receipt(())
        told = (records or {}).get
        erased = (EvidenceErased(evidence=name, reason=reason, record=told(name, "")) for name in left)
        return registry.execute(Record(tuple(erased)))
