"""Copies: a file whose every episode is that of another file, but for what its own name says."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from registry.evidence.log_paths import paths_of
from strategies.episodes.episode_records import plain, unnamed_task
from strategies.files.log_file import LogFile
from strategies.logs.formats.plain_text import PlainTextReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord


def without_copies(records: Sequence[EpisodeRecord], known: Sequence[EpisodeRecord] = ()) -> list[EpisodeRecord]:
    """Leave out the records of files that are copies of an earlier one, or of one that is known.

    Readers call a run after its file where the log does not name it, so a copy under another name has other ids.
    Of files with equal episodes those are copies whose text the other begins with, byte by byte. A file that is
    known by itself is none, so that a registry which holds both goes on with both.
    """
    ids, sources = {record.id for record in known}, {record.source for record in known}
    texts = {record.text_key for record in records}
    alike = {record.source for record in known if record.text_key and record.text_key in texts}
    near = [record for record in known if record.source in alike and record.text_key in texts]
    with_text: dict[str, set[str]] = defaultdict(set)
    for record in (*near, *records):
        with_text[record.text_key].add(record.source)
    holders: dict[object, set[str]] = defaultdict(set)
    for record in near:
        holders[_content(record)].add(record.source)
    files: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        files[record.source].append(record)
    kept: list[EpisodeRecord] = []
    for source, held in files.items():
        contents = [_content(record) for record in held if len(with_text[record.text_key]) > 1]
        one_is_new = len(contents) < len(held)  # its text stands in no other file
        others = set() if one_is_new else set.intersection(*(holders.get(content, set()) for content in contents))
        own = source in sources or any(record.id in ids for record in held) or _may_be_another_run(held)
        if own or not any(_begins_with(other, source) for other in sorted(others)):
            kept += held
            for content in contents:
                holders[content].add(source)
    return kept


def _begins_with(longer: str, shorter: str) -> bool:
    """Tell whether one log begins with all the text of another; False where one of them cannot be read."""
    files = [paths_of(source) for source in (longer, shorter)]
    if any(len(paths) != 1 or not paths[0].is_file() for paths in files):
        return False
    try:
        rest, chunks = b"", LogFile(files[0][0]).chunks()
        for chunk in LogFile(files[1][0]).chunks():
            while len(rest) < len(chunk) and (more := next(chunks, b"")):
                rest += more
            if not rest.startswith(chunk):
                return False
            rest = rest[len(chunk) :]
    except OSError:
        return False
    return True


def _may_be_another_run(held: Sequence[EpisodeRecord]) -> bool:
    """Tell plain text without times: the same output may well come twice."""
    times = (step.started_at for record in held for step in record.steps)
    return held[0].format == PlainTextReader.name and not any(times)


def _content(record: EpisodeRecord) -> object:
    """Give what an episode is without what its file's name says: as bytes, which can be compared."""
    stem = _stem(record.source)
    nameless = msgspec.structs.replace(
        record,
        id="",
        source="",
        run="" if record.run == stem else record.run,
        name="" if record.name.partition("#")[0] == stem else record.name,
        task="" if record.task == unnamed_task("", record.run, record.name) else record.task,
        trust="mine",
        owner="",
        folder="",
        usage=None,
        outcome=None,
        steps=tuple(msgspec.structs.replace(step, template="") for step in record.steps),
    )
    return msgspec.msgpack.encode(nameless)


@lru_cache(maxsize=1_024)
def _stem(source: str) -> str:
    return plain(LogFile(Path(source)).stem)
