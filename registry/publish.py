"""Publishing: the projection on disk, beside what a person may have made of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from events.errors import CorruptLogError, RefusedError, StorageError
from registry import travel
from registry.commands import Adopt, ImportSkill
from registry.rendering import label, skill_bytes, stamped_version
from registry.skill_disk import Drift, FileContent, drift, write_skill
from registry.skill_folder import read_skill
from registry.skill_paths import SKILL_FILE

if TYPE_CHECKING:
    from events.log import EventLog, Receipt
    from events.parts import NewSkill
    from registry.capsule import Capsule
    from registry.library import Library
    from registry.registry import Registry
    from registry.skill_folder import SkillFolder

Standing = Literal["projected", "stale", "edited", "missing"]
"""What stands on disk: the live version, an earlier one (a crash came between), a person's edit, or nothing."""


def take_in(registry: Registry, folder: Path) -> Receipt:
    """Import a skill folder: its files are kept by content, then the events are appended."""
    skill = read_skill(folder.resolve())
    with registry.log.transaction():
        keep_files(registry.log, skill)
        return registry.execute(ImportSkill(skill))


def take_in_edits(registry: Registry, name: str, *, keep_claims: bool = False) -> Receipt:
    """Adopt what a person made of the projected files, and project the stamp of the new version."""
    skill = edited_folder(registry, name)
    with registry.log.transaction():
        keep_files(registry.log, skill)
        receipt = registry.execute(Adopt(skill, keep_claims=keep_claims))
    write_out(registry, registry.capsule(name))
    registry.witness()
    return receipt


def edited_folder(library: Library, name: str) -> SkillFolder:
    """Read the folder that a capsule is projected to; raises RefusedError where it now names another skill."""
    capsule = library.capsule(name)
    skill = read_skill(Path(capsule.source))
    if skill.name != name:
        raise RefusedError(
            f"{capsule.source} now names itself {skill.name}; it was imported as {name}",
            hint=f"write `name: {name}` in its front matter again, or import it as a skill of its own",
        )
    return skill


def keep_files(log: EventLog, skill: SkillFolder) -> None:
    """Keep the content of a skill's files in the log's store, by content hash."""
    for file in skill.files:
        log.put_blob(file.content, kind="file")


def expected_files(log: EventLog, capsule: Capsule) -> dict[str, FileContent]:
    """Say what the folder of a capsule holds once it is projected, by path.

    Raises: CorruptLogError if the store lost a file's content; SkillFormatError if the stamp finds no place.
    """
    files = {SKILL_FILE: FileContent(skill_bytes(capsule), capsule.mode)}
    for file in capsule.files:
        body = log.get_blob(file.entry.blob)
        if body is None:
            raise CorruptLogError(
                f"the content of {file.entry.path} ({file.entry.blob[:12]}) is not in the registry",
                position=file.origin,
                hint="germline verify",
            )
        files[file.entry.path] = FileContent(body, file.entry.mode)
    return files


def expected_hashes(capsule: Capsule) -> dict[str, tuple[str, int]]:
    """Say the same by content hash and mode, without fetching the files."""
    hashes = {SKILL_FILE: (hashlib.sha256(skill_bytes(capsule)).hexdigest(), capsule.mode)}
    hashes.update({file.entry.path: (file.entry.blob, file.entry.mode) for file in capsule.files})
    return hashes


def differences(library: Library, name: str) -> list[Drift]:
    """List the files on disk that are not what the live version projects."""
    capsule = library.capsule(name)
    return drift(Path(capsule.source), expected_hashes(capsule))


def standing(library: Library, name: str) -> Standing:
    """Tell what stands on disk for a capsule.

    A folder that is exactly what an earlier version projected is stale, not edited: a crash came between the
    append and the write, and writing it anew loses nothing.
    """
    capsule = library.capsule(name)
    wrong = _edits(capsule, capsule)
    if not wrong:
        return "projected"
    if Drift(SKILL_FILE, "missing") in wrong and all(one.kind == "missing" for one in wrong):
        return "missing"
    known = (_earlier(library, capsule, version) for version in (_version_on_disk(capsule), 1))
    if any(past and not _edits(past, capsule) for past in known):
        return "stale"
    now = library.capsule(name)  # another process may have promoted, or written its version, since the first look
    return "edited" if _edits(now, now) else "projected"


def _edits(past: Capsule, live: Capsule) -> list[Drift]:
    """List the files of a version that stand otherwise on disk.

    New files beside them are not its business, unless the live version has files of that name to put there.
    """
    expected, coming = expected_hashes(past), expected_hashes(live)
    found = drift(Path(live.source), expected)
    return [one for one in found if one.kind != "added" or one.path in coming]


def _version_on_disk(capsule: Capsule) -> int:
    """Read which version the files on disk say they are: 1 without a stamp, 0 without SKILL.md."""
    try:
        text = (Path(capsule.source) / SKILL_FILE).read_bytes().decode("latin-1")  # the stamp is ASCII
    except OSError:  # gone, or not ours to read: it says nothing
        return 0
    return stamped_version(text, capsule.name) or 1


def _earlier(library: Library, capsule: Capsule, version: int) -> Capsule | None:
    return travel.at_version(library.log, capsule.name, version) if version < capsule.version else None


def moved_to(library: Library, capsule: Capsule) -> Path | None:
    """Find where the folder of a capsule went together with the registry; None where it did not.

    That is where the registry's own folder holds a SKILL.md at the end of the path that stands nowhere any more.
    """
    folder = Path(capsule.source)
    if os.path.lexists(folder):
        return None
    here = library.log.beside.parent.parent
    ends = (here.joinpath(*folder.parts[at:]) for at in range(1, len(folder.parts)))
    return next((one for one in ends if (one / SKILL_FILE).is_file()), None)


def require_unedited(library: Library, name: str) -> None:
    """Raise RefusedError where writing the projection would be against a person.

    That is where they edited the files, and where they moved the folder: it is not made anew at its old place.
    """
    capsule = library.capsule(name)
    stands = standing(library, name)
    if stands == "missing" and (found := moved_to(library, capsule)):
        raise RefusedError(
            f"{name} is no longer at {capsule.source}: {found} has it", hint=f"germline import {quote(str(found))}"
        )
    if stands == "edited":
        paths = ", ".join(one.path for one in _edits(capsule, capsule)[:3])
        raise RefusedError(
            f"{name} was edited by hand since it was projected: {paths}",
            hint=f"germline adopt {name}   or   germline project {name} --discard",
        )


def require_free(skill: NewSkill) -> None:
    """Raise RefusedError where something stands already in the folder that a new skill would be written to."""
    folder = Path(skill.source)
    if os.path.lexists(folder):
        raise RefusedError(
            f"the new skill would be written to {folder}, and something is there already",
            hint=f"move it away and approve again, or take it in: germline import {quote(str(folder))}",
        )


def publish(registry: Registry, name: str, *, discard: bool = False) -> tuple[str, ...]:
    """Write the live version of a skill to where it came from; returns the paths that changed.

    What is out in the world is witnessed: a checkpoint outside the database says which log it came from.
    Raises: RefusedError where a person edited the files, unless `discard`.
    """
    if not discard:
        require_unedited(registry, name)
    capsule = registry.capsule(name)
    try:
        written = write_out(registry, capsule)
    except StorageError as error:
        recorded = f"{label(capsule)} is recorded, but its files are not written"
        raise StorageError(f"{recorded}: {error.message}", hint=error.hint) from error
    registry.witness()
    return written


def write_out(library: Library, capsule: Capsule, folder: Path | None = None) -> tuple[str, ...]:
    """Write a version to a folder (its own where none is named), atomically file by file.

    In its own folder the files are removed that the version on disk had and this one has not.
    """
    files = expected_files(library.log, capsule)
    past = None if folder else _earlier(library, capsule, _version_on_disk(capsule))
    gone = {file.entry.path for file in past.files} - files.keys() if past else set()
    return write_skill(folder or Path(capsule.source), files, remove=tuple(sorted(gone)))


def repair(registry: Registry) -> list[str]:
    """Write anew every skill whose folder a crash left at an earlier version; returns their names."""
    stale = [name for name in registry.names() if standing(registry, name) == "stale"]
    for name in stale:
        write_out(registry, registry.capsule(name))
    return stale
