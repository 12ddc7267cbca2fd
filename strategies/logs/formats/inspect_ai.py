"""Eval logs of Inspect, read by Inspect itself (the extra `inspect`): every sample and epoch is an episode.

A step of a `.json` log is placed at its message. An `.eval` log is an archive: a step is placed at the member
that holds its sample, in the bytes of the archive, and counts its message instead of a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import UnreadableLogError
from events.extras import install_hint
from strategies.files.log_records import UNREADABLE, Malformed
from strategies.files.zip_members import MEMBER
from strategies.logs.formats.inspect_sample import (
    FIELDS,
    HEADER,
    INSPECT,
    SAMPLE,
    InspectSampleOffsets,
    episode_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally
    from strategies.logs.formats.inspect_sample import InspectHeader

_SUFFIX: Final = ".eval"


class InspectReader:
    """Reads eval logs of Inspect."""

    name = INSPECT

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell an archive by its name, and a JSON log by what its first object holds."""
        if head.startswith(MEMBER):
            return source.endswith(_SUFFIX)
        return head.lstrip()[:1] == b"{" and all(name in head for name in (b'"eval"', b'"run_id"', b'"task_id"'))

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the samples in the order in which Inspect gives them."""
        header, samples = _read(log)
        places = InspectSampleOffsets(log)
        for written in samples:
            tally.records += 1
            try:
                sample = SAMPLE.decode(written)
                yield episode_of(sample, header, places.of(sample.id, sample.epoch), log.source, tally)
            except UNREADABLE as error:
                tally.malformed.append(Malformed(log.source, 1, 0, str(error)))


def _read(log: LogFile) -> tuple[InspectHeader, Iterator[str]]:
    """Let Inspect read the log; give its header, and each sample as JSON."""
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415 - an extra, and it takes a second to load
    except ImportError as error:
        raise UnreadableLogError(
            f"{log.source}: the package inspect_ai, which reads eval logs of Inspect, is not installed",
            hint=install_hint("inspect"),
        ) from error
    if log.packed:
        raise UnreadableLogError(f"{log.source}: Inspect reads no packed logs", hint="unpack it first")
    try:
        eval_log = read_eval_log(log.source)
        header = HEADER.decode(eval_log.eval.model_dump_json())
    except Exception as error:  # whatever a foreign parser raises on a broken file: nobody lists it
        raise UnreadableLogError(f"{log.source}: Inspect cannot read it ({error})") from error
    return header, (sample.model_dump_json(include=FIELDS) for sample in eval_log.samples or ())
