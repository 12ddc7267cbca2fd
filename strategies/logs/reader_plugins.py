"""Readers that other packages bring: entry points of the group `germline.readers`, loaded when first asked for.

A plug-in is foreign code, so whatever it raises is caught: it is named and passed over, never fatal.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from events.errors import FailedLogError, UnreadableLogError
from strategies.episodes.episode_records import within_bounds
from strategies.files.log_records import Malformed, ReadTally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode, EpisodeRecord
    from strategies.files.log_file import LogFile
    from strategies.logs.formats_table import LogReader

GROUP: Final = "germline.readers"
_NEEDED: Final = ("name", "sniff", "read")


_TALLY: Final = msgspec.msgpack.Decoder(ReadTally)


class BrokenReader(NamedTuple):
    """A plug-in that cannot be used, by the name of its entry point and of the package that brings it."""

    entry: str
    package: str
    reason: str


class PluggedReader:
    """A reader of another package; `reason` tells how it broke while it was asked, if it did."""

    def __init__(self, entry: str, package: str, reader: LogReader) -> None:
        self.entry = entry
        self.package = package
        self.name = str(reader.name)
        self.reason = ""
        self._reader = reader

    def sniff(self, head: bytes, source: str) -> bool:
        """Ask the reader; one that breaks does not take the file."""
        try:
            return bool(self._reader.sniff(head, source))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code
            self.reason = f"sniff: {error!r}"
            return False

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode | EpisodeRecord]:
        """Read a log; raises FailedLogError where the reader breaks. An episode out of bounds is malformed."""
        own = ReadTally()
        try:
            for given in self._reader.read(log, own):
                try:
                    episode = within_bounds(given)
                except (ValueError, TypeError, OverflowError) as error:
                    reason = f"an episode of the reader {self.name!r}: {error}"
                    tally.malformed.append(Malformed(log.source, 1, 0, reason))
                else:
                    yield episode
            _add(tally, own)
        except (UnreadableLogError, OSError):
            raise
        except (Exception, SystemExit) as error:
            self.reason = f"read: {error!r}"
            raise FailedLogError(
                f"{log.source}: the reader {self.name!r} broke: {error!r}",
                hint=f"it comes with the plug-in {self.entry!r}: tell its author, or choose another --format",
            ) from error


def _add(tally: ReadTally, own: ReadTally) -> None:
    """Add what a reader counted; raises ValueError, TypeError or OverflowError where that is no tally."""
    checked = _TALLY.decode(msgspec.msgpack.encode(own))
    tally.records += checked.records
    tally.malformed += checked.malformed
    for kind, number in checked.unknown.items():
        tally.unknown[kind] = tally.unknown.get(kind, 0) + number


@cache
def plugged_in(taken: frozenset[str]) -> tuple[tuple[PluggedReader, ...], tuple[BrokenReader, ...]]:
    """Give the readers that other packages bring, and those that cannot be used; `taken` are names of formats."""
    readers, broken, names = list[PluggedReader](), list[BrokenReader](), set(taken)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        made = _made(entry)
        if isinstance(made, PluggedReader) and made.name in names:
            made = BrokenReader(entry.name, made.package, f"a format {made.name!r} is known already")
        if isinstance(made, BrokenReader):
            broken.append(made)
        else:
            readers.append(made)
            names.add(made.name)
    return tuple(readers), tuple(broken)


def _made(entry: EntryPoint) -> PluggedReader | BrokenReader:
    package = entry.dist.name if entry.dist else ""
    try:
        reader = entry.load()()
        missing = [name for name in _NEEDED if not hasattr(reader, name)]
        if missing:
            return BrokenReader(entry.name, package, f"it has no {', '.join(missing)}")
        return PluggedReader(entry.name, package, reader)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code
        return BrokenReader(entry.name, package, repr(error))
