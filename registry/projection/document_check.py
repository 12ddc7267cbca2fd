"""Documents against the events: everything is folded once more, kept nowhere, and compared with what is stored."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, cast

from events.errors import CorruptLogError, StorageError
from events.store.protocol import Problem, StoredDocument
from events.store.subscriptions import VIEW, taken_in
from registry.projection.projector import Projector
from registry.projection.snapshots import thaw
from registry.projection.stored_documents import FORMAT, PROJECTION, content_of, format_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog

    Place = tuple[str, str]
    """A view and a key."""

KIND: Final = "documents"
"""The kind of a problem with documents: the events hold, and folding them again mends it."""

_BATCH: Final = 32_000
_LOOKS: Final = 10
"""How often documents are read where others append meanwhile; only what came since is folded then (a guess)."""
_WRITTEN_OVER: Final = frozenset(
    {"capsule", "erased", "evaluator", "live", "registry", "scored", "signal", "version"}
)
"""The views whose documents stand for the last event of several; the others stand at the position of their own."""
_STATES: Final = frozenset({"live", "snapshot"})
_BY_VERSION: Final = frozenset({"scored", "version"})


def document_problems(log: EventLog) -> list[Problem]:
    """Name the stored documents that are not what the events fold into, of a log whose events hold.

    None where they are of another format, or of events that are not there: they are folded again before anything
    is read from them.
    """
    if format_in(log.document("registry", "")) != FORMAT or taken_in(log, PROJECTION) > log.head().position:
        return []
    folding = _Folding()
    for _ in range(_LOOKS):
        upto = taken_in(log, PROJECTION)
        try:
            folding.go_on(log.read(after=folding.position), upto)
        except (CorruptLogError, StorageError) as error:  # a whole chain of events that no germline wrote
            return [Problem(getattr(error, "position", 0), error.message)]
        wrong = _different(folding.sums, _sums_of(log.every_document()))
        if not wrong or taken_in(log, PROJECTION) == upto:
            break
    return _named(log, wrong, upto)


def require_documents(log: EventLog, *, of: str) -> None:
    """Raise CorruptLogError where documents are not what the events fold into; `of` names the registry."""
    if problems := document_problems(log):
        more = f", and {len(problems) - 1:,} more" if len(problems) > 1 else ""
        raise CorruptLogError(f"{of} does not hold: {problems[0].what}{more}", hint=refold(of))


def refold(of: str) -> str:
    """Give the command that folds the documents of a registry again."""
    return f"germline copy {of} NEW folds them again"


class _Folding:
    """A fold of the log that keeps sums of documents by view and key, and of `wanted` places their bodies."""

    def __init__(self, wanted: frozenset[Place] = frozenset()) -> None:
        self.position = 0
        self.sums: defaultdict[Place, int] = defaultdict(int)
        self.wanted: dict[tuple[str, str, int], bytes] = {}
        self._wanted = wanted
        self._last: dict[tuple[str, str, int], int] = {}
        self._about: StoredDocument | None = None
        self._projector = Projector(cast("EventLog", self))

    def document(self, view: str, key: str) -> StoredDocument | None:
        """Return what the registry says of itself: all that the projector reads back of what it kept."""
        return self._about if (view, key) == ("registry", "") else None

    def go_on(self, envelopes: Iterator[Envelope], upto: int) -> None:
        """Fold further events, up to a position."""
        events = islice(envelopes, max(upto - self.position, 0))
        for first in events:
            for document in self._projector(chain([first], islice(events, _BATCH))):
                self._add(document)
        self.position = max(upto, self.position)

    def _add(self, document: StoredDocument) -> None:
        view, key, seq, _ = document
        place = view, key
        if view == "registry":
            self._about = document
        if place in self._wanted:
            self.wanted[view, key, seq] = document.body
        number = _number(document)
        if view in _WRITTEN_OVER:
            self.sums[place] -= self._last.get((view, key, seq), 0)
            self._last[view, key, seq] = number
        self.sums[place] += number


def _number(document: StoredDocument) -> int:
    """Give a document as a number that nobody can foresee: the hash of bytes is keyed again in every process."""
    return hash(b"%d:%b" % (document.seq, document.body))


def _sums_of(documents: Iterable[StoredDocument]) -> dict[Place, int]:
    sums: defaultdict[Place, int] = defaultdict(int)
    for document in documents:
        sums[document[:2]] += _number(document)
    return sums


def _different(folded: Mapping[Place, int], stored: Mapping[Place, int]) -> frozenset[Place]:
    """Tell which sums differ, but for the offset of the projection itself."""
    return frozenset(place for place, _ in folded.items() ^ stored.items() if place[0] != VIEW)


def _named(log: EventLog, wrong: frozenset[Place], upto: int) -> list[Problem]:
    """Fold once more, and name each document that differs."""
    if not wrong:
        return []
    folding = _Folding(wrong)
    folding.go_on(log.read(), upto)
    stored = {document[:3]: document.body for view, key in wrong for document in log.documents(view, key)}
    places = sorted({place for place, _ in folding.wanted.items() ^ stored.items()})
    return [Problem(0, _said(StoredDocument(*place, folding.wanted.get(place, b""))), KIND) for place in places]


def _said(folded: StoredDocument) -> str:
    """Name a document by what the events make of it, nothing where they make none: which skill, which version."""
    view, key, seq, body = folded
    version = thaw(body).version if view in _STATES and body else seq if view in _BY_VERSION else 0
    of_version = f" at version {version}" if version else ""
    return f"{content_of(folded)}{of_version} beside the events is not what they say ({view} {key} {seq})"
