"""The folder that a log is exported to, for git: a file of lines for each skill, and the files of skills by hash.

What is in it is a set of events that only grows: an export adds this registry's own, and leaves those of others.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from events.errors import CorruptLogError, NotFoundError, RefusedError, StorageError
from events.store.text_log import event_in, in_order, line_of
from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.skill_files import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog

DEFAULT_FOLDER: Final = "germline-log"
"""Where a log is exported to, in the project."""
_REGISTRY: Final = "registry.jsonl"
"""The events that are of no skill."""
_SKILLS: Final = "skills"
_FILES: Final = "files"
_ATTRIBUTES: Final = b"*.jsonl text eol=lf merge=union\nfiles/* -text\n"
"""Lets git keep the lines of both sides where two clones added to one file: lines are a set."""
_MODE: Final = 0o644
_MOST_BYTES: Final = 512 * 1024 * 1024
"""How much one folder may hold: some half a million events (a guess)."""
_WITH_FILES: Final = ("CapsuleImported", "CapsuleReverted", "FileChanged")


class LogExport(NamedTuple):
    """What an export wrote, or would write: events of this registry, those of others there, and the paths."""

    events: int
    others: int
    paths: tuple[str, ...]


def read_log_folder(folder: Path) -> dict[str, Envelope]:
    """Read the events of a folder, by their hash.

    Raises: NotFoundError where no log is there; CorruptLogError, with file and line, for what is no event or not
    what was hashed; RefusedError for a link, which may lead to anybody's file, or too much; StorageError.
    """
    if not (folder / _REGISTRY).is_file():
        raise NotFoundError(f"{folder} holds no exported log: there is no {_REGISTRY}", hint="germline export log")
    events: dict[str, Envelope] = {}
    left = _MOST_BYTES
    for file in (folder / _REGISTRY, *sorted((folder / _SKILLS).glob("*.jsonl"))):
        body = _content(folder, file, left)
        left -= len(body)
        for number, line in enumerate(body.split(b"\n"), start=1):
            if line.strip():
                envelope = _event(line.rstrip(b"\r"), file, number)
                events[envelope.hash] = envelope
    return events


def _event(line: bytes, file: Path, number: int) -> Envelope:
    try:
        return event_in(line)
    except (ValueError, RecursionError) as error:
        marks = line.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))
        why = "a mark of git where two sides conflict" if marks else f"no event of a log: {error}"
        hint = "keep the lines of both sides, and take the mark out" if marks else "git log -p, and take it back"
        raise CorruptLogError(f"{file}, line {number}: {why}", hint=hint) from error


def file_in_folder(folder: Path, name: str) -> bytes | None:
    """Read a file of a skill by the hash of its content, None where it is not there; raises as reading events."""
    file = folder / _FILES / name
    if not name.isalnum() or not file.is_file():
        return None
    body = _content(folder, file, MAX_FILE_BYTES)
    if sha256(body).hexdigest() != name:
        raise CorruptLogError(f"{file} does not hold what its name says", hint="git log -p, and take it back")
    return body


def _content(folder: Path, file: Path, most: int) -> bytes:
    place = folder.resolve()
    if file.is_symlink() or file.resolve() != place / file.relative_to(folder):
        raise RefusedError(f"{file} is a link, and a log holds none", hint="remove the link")
    try:
        with file.open("rb") as stream:
            body = stream.read(most + 1)
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}", hint="check its permissions") from error
    if len(body) > most:
        raise RefusedError(f"{file} is too large: {folder} may hold {_MOST_BYTES:,} bytes of events")
    return body


def files_named(events: Iterable[Envelope]) -> Iterator[str]:
    """Name the contents of files, by hash, that the versions of skills hold."""
    for envelope in events:
        if envelope.type in _WITH_FILES and envelope.is_known:
            fields = envelope.fields
            for entry in (*fields.get("files", ()), *filter(None, [fields.get("entry")])):
                yield entry["blob"]


def export_log(log: EventLog, folder: Path, *, write: bool) -> LogExport:
    """Bring a folder up to date with a log: the same events give the same bytes in every clone.

    Files appear whole or not at all; one that is cut off is completed by the next.
    Raises: as `read_log_folder`; StorageError where the disk refuses.
    """
    own = {envelope.hash: envelope for envelope in log.read()}
    there = read_log_folder(folder) if (folder / _REGISTRY).is_file() else {}
    files = dict(_texts({**there, **own}.values()))
    for name in dict.fromkeys(files_named(own.values())):
        if (body := log.get_blob(name)) is not None:
            files[f"{_FILES}/{name}"] = body
    files[".gitattributes"] = _ATTRIBUTES
    changed = {path: body for path, body in files.items() if not _is_there(folder / path, body)}
    if write and changed:
        try:
            write_skill(folder, {path: FileContent(body, _MODE) for path, body in changed.items()})
        except StorageError as error:
            raise StorageError(error.message, hint="make room or mend permissions, and run it again") from error
    return LogExport(len(own), len(there.keys() - own.keys()), tuple(sorted(changed)))


def _texts(events: Iterable[Envelope]) -> Iterator[tuple[str, bytes]]:
    """Give the files of lines, by path."""
    lines: dict[str, list[bytes]] = {}
    for envelope in in_order(events):
        lines.setdefault(_path_of(envelope), []).append(line_of(envelope))
    for path, own in lines.items():
        yield path, b"\n".join([*own, b""])


def _path_of(envelope: Envelope) -> str:
    """Name the file of an event: that of its skill, where it is on a stream of one."""
    skill = "" if envelope.stream == "registry" or not envelope.is_known else envelope.fields.get("capsule", "")
    return f"{_SKILLS}/{quote(skill, safe='')}.jsonl" if skill else _REGISTRY


def _is_there(place: Path, body: bytes) -> bool:
    return place.is_file() and not place.is_symlink() and place.read_bytes() == body
