"""What was made of skill files since they were written: every difference, and the sessions that wrote it."""

from __future__ import annotations

import re
from os.path import normpath, relpath
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.actions.hold_edits import hold_back
from registry.actions.publish import differences
from registry.query.signals import erased_records
from registry.skill_md.skill_files import main_file
from strategies.episodes.action_class import SHELL_TOOLS, command_of
from strategies.episodes.episode import moment_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.disk import Drift
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord, Step

_MOST_READ: Final = 50
"""Sessions that are read again, the newest first (a guess: an edit is looked for soon)."""
_FILE: Final = re.compile(r'"(?:file_path|path|notebook_path|target_file)" ?: ?"((?:[^"\\]|\\.)*)"')
"""The file of an editor's call: its argument may be cut short in the middle, so it is no JSON to decode."""
_PATCHED: Final = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.MULTILINE)


class FileWriter(NamedTuple):
    """A call of a session that wrote to a file of a skill; `at` is when, "" where the log does not say."""

    path: str
    session: str
    tool: str
    at: str


class DiskEdit(NamedTuple):
    """What differs from the live version of a skill on disk, and who wrote it.

    `held` is the folder that it was put aside to, None where the files were left as they are.
    """

    skill: str
    version: int
    changes: tuple[Drift, ...]
    writers: tuple[FileWriter, ...] = ()
    held: Path | None = None


def disk_edits(library: Library) -> list[DiskEdit]:
    """List the skills whose files are not what germline wrote, with the sessions that wrote there.

    The files are compared byte for byte. What tools leave behind, as `__pycache__`, is not looked at.
    """
    changed = ((library.capsule(name), tuple(differences(library, name))) for name in library.names())
    edited = [(capsule, changes) for capsule, changes in changed if changes]
    writers = writers_of(library, [capsule for capsule, _ in edited]) if edited else {}
    return [DiskEdit(capsule.name, capsule.version, changes, writers[capsule.name]) for capsule, changes in edited]


def held_back(registry: Registry, edits: Iterable[DiskEdit]) -> list[DiskEdit]:
    """Keep edits aside, and write what the registry holds in their place."""
    return [edit._replace(held=hold_back(registry, edit.skill)) for edit in edits]


def sessions_of(writers: Iterable[FileWriter]) -> tuple[str, ...]:
    """List the sessions of these calls, each once."""
    return tuple(dict.fromkeys(writer.session for writer in writers))


def writers_of(library: Library, capsules: Sequence[Capsule]) -> dict[str, tuple[FileWriter, ...]]:
    """Find the calls of agents that wrote to the files of skills since their live versions, the newest first.

    A call of an editor names its file. A command counts where it changes files and names one of them.
    """
    from strategies.logs.transcripts import read_transcripts  # noqa: PLC0415 - a hook that finds nothing pays for none
    from strategies.pool.known_episodes import all_episodes  # noqa: PLC0415 - as above

    since_s = min(moment_s(capsule.at) or 0.0 for capsule in capsules)
    records = [record for record in all_episodes(library) if _may_have_written(record, since_s)]
    newest = sorted(records, key=_last_s, reverse=True)[:_MOST_READ]
    written: dict[str, list[FileWriter]] = {capsule.name: [] for capsule in capsules}
    for record, transcript in zip(newest, read_transcripts(newest, erased_records(library)), strict=True):
        for step in reversed(transcript.steps if transcript else ()):
            for capsule in capsules:
                if path := _written_in(capsule, record, step):
                    writer = FileWriter(path, record.id, step.tool, step.started_at or "")
                    written[capsule.name].append(writer)
    return {name: tuple(writers) for name, writers in written.items()}


def _may_have_written(record: EpisodeRecord, since_s: float) -> bool:
    return _last_s(record) >= since_s and any(step.writes for step in record.steps)


def _last_s(record: EpisodeRecord) -> float:
    """Tell when a session was last active; one without a time may be of today."""
    times = [moment_s(step.started_at) for step in record.steps if step.started_at]
    return max((time for time in (*times, moment_s(record.started_at)) if time is not None), default=float("inf"))


def _written_in(capsule: Capsule, record: EpisodeRecord, step: Step) -> str:
    """Name the file of a skill that a call wrote to, as a path in its folder; "" for any other call."""
    if step.kind != "call" or step.error or not step.writes or _is_before(step.started_at, capsule.at):
        return ""
    folder = Path(capsule.source)
    if step.tool.lower() in SHELL_TOOLS:
        return _named_in(command_of(step.tool, step.text), capsule, record.folder)
    named = (step.target, *(match[1] for match in _FILE.finditer(step.text)), *_PATCHED.findall(step.text))
    for file in filter(None, named):
        path = Path(normpath(Path(record.folder or folder) / file))
        if path.is_relative_to(folder) and (not capsule.is_instructions or path.name == main_file(capsule.name)):
            return str(path.relative_to(folder))
    return ""


def _is_before(moment: str | None, version: str) -> bool:
    return (moment_s(moment) or float("inf")) < (moment_s(version) or 0.0)


def _named_in(command: str, capsule: Capsule, ran_in: str) -> str:
    """Name the file of a skill that a command names, by its path from the root or from where it ran."""
    own = main_file(capsule.name)
    files = (own, *(file.entry.path for file in capsule.files))
    folder = capsule.source
    places = [folder, *([relpath(folder, ran_in)] if ran_in else [])]
    for place in places:
        for path in files:
            if f"{place}/{path}" in command or (place == "." and path in command):
                return path
        if not capsule.is_instructions and f"{place}/" in command:
            return command.partition(f"{place}/")[2].partition(" ")[0].strip("\"';|&)") or own
    return ""
