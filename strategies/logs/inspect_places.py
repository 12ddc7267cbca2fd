"""Where the samples of an Inspect log stand in its file."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.archived import HEADER_BYTES, begins_after
from strategies.logs.episode import Span
from strategies.logs.json_places import UNREADABLE, Document, Part

if TYPE_CHECKING:
    from strategies.logs.stream import LogFile


class _Key(msgspec.Struct):
    id: str | int
    epoch: int = 1


_KEY: Final = msgspec.json.Decoder(_Key)


class SamplePlaces:
    """Where one sample stands, and each of its messages where they can be told apart."""

    def __init__(self, whole: Span, messages: list[Span], *, packed: bool = False) -> None:
        self._whole = whole
        self._messages = messages
        self._packed = packed

    def message(self, number: int) -> Span:
        """Give the place of a message, counted from 0; that of the sample where it has none of its own.

        In a packed sample, where there is no line to tell, the message is counted in its stead, from 1.
        """
        if self._packed:
            return Span(self._whole.byte_start, self._whole.byte_end, number + 1)
        return self._messages[number] if number < len(self._messages) else self._whole


class Places:
    """Where all samples of a log stand."""

    def __init__(self, log: LogFile) -> None:
        self._body = log.whole()
        self._archive = zipfile.is_zipfile(io.BytesIO(self._body))
        self._samples = _members(self._body) if self._archive else {}
        self._document = Document(b"{}" if self._archive else self._body)
        self._parts = {} if self._archive else _parts(self._document)

    def of(self, sample: str | int, epoch: int) -> SamplePlaces:
        """Give the places of a sample; those of the whole file where the sample is not found in it."""
        everything = Span(0, len(self._body), 1)
        if self._archive:
            member = self._samples.get(f"samples/{sample}_epoch_{epoch}.json", everything)
            return SamplePlaces(member, [], packed=True)
        part = self._parts.get((sample, epoch))
        if part is None:
            return SamplePlaces(everything, [])
        try:
            messages = list(self._document.elements(self._document.child(part, "messages")))
        except UNREADABLE:
            messages = []
        return SamplePlaces(self._document.span(part), [self._document.span(message) for message in messages])


def _parts(document: Document) -> dict[tuple[str | int, int], Part]:
    found: dict[tuple[str | int, int], Part] = {}
    try:
        for part in document.elements(document.child(document.root, "samples")):
            key = _KEY.decode(part.raw)
            found[key.id, key.epoch] = part
    except UNREADABLE:
        return found  # Inspect repairs what msgspec does not read, such as NaN
    return found


def _members(body: bytes) -> dict[str, Span]:
    """Find the members of an archive: from its header to its last byte, packed as they are."""
    found: dict[str, Span] = {}
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for member in archive.infolist():
            start = member.header_offset
            before = begins_after(body[start : start + HEADER_BYTES])
            found[member.filename] = Span(start, start + before + member.compress_size, 1)
    return found
