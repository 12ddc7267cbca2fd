"""Stretches: a long log is cut into parts that are checked side by side, and then fitted to each other.

A stretch can be checked alone, because each event carries the hash of the one before it: all that a stretch takes
on trust is where it begins, and at which versions the streams stood there. Both are compared when it is fitted to
the stretches before it. What does not hold is not told here, only that something does not (events.checking tells).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from events.checking import NAMES_EVIDENCE
from events.envelope import GENESIS
from events.log import Head

if TYPE_CHECKING:
    from collections.abc import Callable

    Breaks = Callable[[int, str, str, int, str, int, str, str, str, str, str, str, bytes], bool]
    """Takes the columns of an event, text as text, in the order of an envelope."""

_BRACE: Final = ord("{")
_NAME_ENDS: Final = b'","'
_NAMES_END: Final = b'"]'


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a part of the log that holds says of itself.

    `begins` holds the version of every stream that it takes up from before, `ends` that of all streams in it;
    `named` the lists of evidence in its signals, as they stand in the payloads.
    """

    behind: Head
    head: Head
    begins: dict[str, int]
    ends: dict[str, int]
    named: set[bytes]


@dataclass(slots=True)
class Fitted:
    """The stretches that were fitted to each other so far, from the beginning of the log."""

    head: Head = field(default_factory=partial(Head, 0, GENESIS))
    versions: dict[str, int] = field(default_factory=dict)
    named: set[bytes] = field(default_factory=set)

    def fit(self, stretch: Stretch) -> bool:
        """Go on over a stretch; tells whether it begins exactly where the ones before it end."""
        known = stretch.ends.keys() & self.versions.keys()
        if stretch.behind != self.head or stretch.begins != {stream: self.versions[stream] for stream in known}:
            return False
        self.head = stretch.head
        self.versions |= stretch.ends
        self.named |= stretch.named
        return True

    def evidence(self) -> set[str]:
        """Name all evidence that the signals name."""
        joined = _NAME_ENDS.join(self.named).decode(errors="backslashreplace")
        return set(joined.split(_NAME_ENDS.decode())) if joined else set()


def check_alone(behind: Head, hand_over: Callable[[Breaks], bool]) -> Stretch | None:
    """Check the events behind a head, as far as that can be done without those before it; None if any breaks.

    `hand_over` calls what it is given with each event in order, until that returns true, and returns whether it
    did. A database does so from within its own loop: half as dear as rows that are fetched (1.7 µs for 3.7, a
    column each, measured 2026-11-22). Raises: TypeError or ValueError for a column of another kind than declared.
    """
    last, link = behind.position, behind.hash
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    version_of = ends.get
    named: set[bytes] = set()
    blank = sha256().copy

    def breaks(  # noqa: PLR0913, PLR0917 - the columns of an event
        position: int,
        event_id: str,
        stream: str,
        version: int,
        kind: str,
        schema: int,
        at: str,
        actor: str,
        cause: str,
        turn: str,
        before: str,
        stored: str,
        payload: bytes,
    ) -> bool:
        nonlocal last, link
        header = (
            f"{before}{position}\x1f{event_id}\x1f{stream}\x1f{version}\x1f{kind}\x1f{schema}"
            f"\x1f{at}\x1f{actor}\x1f{cause}\x1f{turn}"
        )
        last += 1
        digest = blank()  # cheaper than to ask OpenSSL for another one
        digest.update(header.encode() + payload)
        if (
            digest.hexdigest() != stored
            or before != link
            or position != last
            or schema.__class__ is not int
            or "{" in turn
            or payload[0] != _BRACE
        ):
            return True
        reached = version_of(stream)
        if reached is None:
            if version != 1:
                begins[stream] = version - 1
        elif version != reached + 1:
            return True
        ends[stream], link = version, stored
        if kind == "SignalRaised" and (found := payload.find(NAMES_EVIDENCE)) > 0:
            start = found + len(NAMES_EVIDENCE)
            named.add(payload[start : payload.index(_NAMES_END, start)])
        return False

    return None if hand_over(breaks) else Stretch(behind, Head(last, link), begins, ends, named)
