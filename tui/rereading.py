"""Evidence read again where it stands, however its log is packed, and how that place is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry import evidence as kept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from registry.evidence import Evidence


def place_words(file: str, line: int) -> str:
    """Say where in its file a record stands: in an archive of samples no line can be counted."""
    return f"message {line:,} of a packed sample" if in_packed_sample(file) else f"line {line:,}"


def in_packed_sample(file: str) -> bool:
    """Tell whether the records of a log are messages inside of packed samples, as in the archives of Inspect."""
    return file.endswith(".eval")


def still_there(
    evidence: Sequence[Evidence], checkpoints: Callable[[], Mapping[str, bytes]] = dict
) -> tuple[bool, ...]:
    """Tell, for each record, whether its bytes are in their log as they were, however that is called by now."""
    return tuple(map(bool, lying_in(evidence, checkpoints)))


def lying_in(evidence: Sequence[Evidence], checkpoints: Callable[[], Mapping[str, bytes]]) -> tuple[str, ...]:
    """Give the path where each record still stands as it was, "" where it is gone.

    `checkpoints` gives how far logs were read. They are asked for where a record is not at its place, and tell
    under which name its log lies by now.
    """
    there = _at_their_places(evidence)
    if all(there) or not (stored := checkpoints()):
        return tuple(one.file if found else "" for one, found in zip(evidence, there, strict=True))
    from strategies.logs.places import read_ranges  # noqa: PLC0415 - not for every `why`
    from strategies.whereabouts import evidence_as_it_lies  # noqa: PLC0415 - the same

    moved = evidence_as_it_lies(evidence, stored)
    found = kept.still_there(moved, read_ranges)
    now = (one.file if still else "" for one, still in zip(moved, found, strict=True))
    return tuple(one.file if still else at for one, still, at in zip(evidence, there, now, strict=True))


def _at_their_places(evidence: Sequence[Evidence]) -> tuple[bool, ...]:
    if not any(one.file.endswith(".zst") for one in evidence):
        return kept.still_there(evidence)
    from strategies.logs.places import read_ranges  # noqa: PLC0415 - zstd and msgspec are not for every `why`

    return kept.still_there(evidence, read_ranges)
