"""Publishing: the projection on disk, beside what a person may have made of it."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Literal

from events.errors import (
    ConflictError,
    CorruptLogError,
    OvertakenError,
    RefusedError,
    SkillFormatError,
    StorageError,
)
from registry.actions.trial_arms import as_edit_of_live, in_folder, other_arms
from registry.decide.retirement import require_live
from registry.projection import time_travel
from registry.projection.stored_documents import damaged
from registry.query.versions import event_of
from registry.skill_md.disk import PERMISSIONS, Drift, FileContent, drift, look, write_skill
from registry.skill_md.render import (
    expected_hashes,
    files_hash,
    label,
    skill_bytes,
    skill_text,
    stamped_version,
)
from registry.skill_md.skill_files import main_file, require_path, write_place
from registry.skill_md.text import stamp

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from events.store.protocol import Receipt
    from events.store.sql_log import EventLog
    from events.types.parts import NewSkill
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.disk import FileSnapshot
    from registry.skill_md.folder import SkillFolder
    from registry.state.capsule import Capsule

Standing = Literal["projected", "stale", "edited", "missing", "retired"]
"""What is on disk: the live version, an earlier one (a crash came between), a person's edit, or nothing.

Of a `retired` skill nothing is; where a crash came before its files were removed it is stale.
"""

_NAMES_FOLDER: Final = ("CapsuleImported", "CapsuleBorn", "CapsuleMoved")
_LOOKS: Final = 3
"""How often a folder is looked at because somebody wrote to it meanwhile (a guess: two are enough for a save)."""


def take_in(registry: Registry, folder: Path) -> Receipt:
    """Import a skill folder: its files are kept by content, then the events are appended."""
    from registry.decide.commands import ImportSkill  # noqa: PLC0415 - `status` looks at folders, and takes nothing in
    from registry.skill_md.folder import read_skill  # noqa: PLC0415 - the same

    skill = read_skill(folder.resolve())
    with registry.log.transaction():
        keep_files(registry.log, skill)
        return registry.execute(ImportSkill(skill))


def take_in_edits(
    registry: Registry, name: str, *, keep_claims: bool = False, held: Path | None = None, by: Sequence[str] = ()
) -> Receipt:
    """Adopt what a person made of the projected files, and project the stamp of the new version.

    `held` is the folder of an edit that was held back; the projected files must be unedited then. Sessions
    `by` wrote it. What is saved between the reading and the writing is not written over. Raises: RefusedError.
    """
    from registry.decide.commands import Adopt  # noqa: PLC0415 - `status` looks at folders, and takes nothing in

    seen = look_at(registry.capsule(name))
    if held:
        require_unedited(registry, name)
    skill = edited_folder(registry, name, held)
    with registry.log.transaction():
        keep_files(registry.log, skill)
        receipt = registry.execute(Adopt(skill, keep_claims, tuple(by)))
    try:
        write_out(registry, in_folder(registry, name), seen=seen)
    except OvertakenError:
        publish(registry, name)
    registry.witness()
    return receipt


def edited_folder(library: Library, name: str, held: Path | None = None) -> SkillFolder:
    """Read the folder that a capsule is projected to, or the one that holds an edit which was held back.

    Where a person edited other files, with the index of these.
    Raises: RefusedError where it now names another skill; UntrustedError where it may not be written to;
    StorageError where it is not the folder that the events name.
    """
    from registry.skill_md.folder import read_skill  # noqa: PLC0415 - `status` looks at folders, and reads none
    from registry.skill_md.instructions import read_instructions  # noqa: PLC0415 - the same
    from registry.skill_md.navigation_index import reindexed  # noqa: PLC0415 - the same

    capsule = library.capsule(name)
    own = own_folder(library, capsule)
    folder = held or own
    library.places.require(write_place(name, capsule.source), name)
    skill = read_instructions(folder / main_file(name), name) if capsule.is_instructions else read_skill(folder)
    if skill.name != name:
        raise RefusedError(
            f"{folder} now names itself {skill.name}; it was imported as {name}",
            hint=f"write `name: {name}` in its front matter again, or import it as a skill of its own",
        )
    if capsule.is_instructions:
        return skill
    return as_edit_of_live(library, capsule, reindexed(skill, (file.entry for file in capsule.files)))


def keep_files(log: EventLog, skill: SkillFolder) -> None:
    """Keep the content of a skill's files in the log's store, by content hash."""
    for file in skill.files:
        log.put_blob(file.content, kind="file")


def expected_files(log: EventLog, capsule: Capsule) -> dict[str, FileContent]:
    """Say what the folder of a capsule holds once it is projected, by path.

    Raises: CorruptLogError if the store lost a file's content; SkillFormatError if the stamp finds no place, or
    no file of a skill may have the path of one.
    """
    files = {main_file(capsule.name): FileContent(skill_bytes(capsule), capsule.mode & PERMISSIONS)}
    for file in capsule.files:
        require_path(file.entry.path)
        body = log.get_blob(file.entry.blob)
        if body is None:
            raise CorruptLogError(
                f"the content of {file.entry.path} ({file.entry.blob[:12]}) is not in the registry",
                position=file.origin,
                hint="germline verify",
            )
        files[file.entry.path] = FileContent(body, file.entry.mode & PERMISSIONS)
    return files


def differences(library: Library, name: str) -> list[Drift]:
    """List the files on disk that are not what the live version projects, or the arm of a trial."""
    capsule = in_folder(library, name)
    return [] if capsule.retired else _drift(capsule, capsule)


def is_edited(library: Library, name: str) -> bool:
    """Tell whether there is something to adopt: an edit, or a file that came beside what was projected."""
    if (state := standing(library, name)) != "projected":
        return state == "edited"
    return any(not change.minor for change in differences(library, name))


def _drift(past: Capsule, live: Capsule) -> list[Drift]:
    """List the files on disk that are not what a version projects; instructions are one among others."""
    return drift(Path(live.source), expected_hashes(past), main_file(live.name) if live.is_instructions else "")


def look_at(capsule: Capsule) -> dict[str, FileSnapshot]:
    """Note the state of every file where a capsule is projected, by path."""
    return look(Path(capsule.source), main_file(capsule.name) if capsule.is_instructions else "")


def standing(library: Library, name: str) -> Standing:
    """Tell what is on disk for a capsule, in its own folder."""
    capsule = in_folder(library, name)
    if capsule.retired:
        return "stale" if still_projected(capsule) else "retired"
    state = folder_standing(library, capsule)
    if state != "edited":
        return state
    now = in_folder(library, name)  # another process may have promoted, or written, since the first look
    return "edited" if edits_in_folder(now) else "projected"


def folder_standing(library: Library, capsule: Capsule) -> Standing:
    """Tell what is in the folder that a version is to be in.

    One that a crash between the append and the last write leaves is stale, not edited: rewriting it loses nothing.
    """
    name = capsule.name
    wrong = edits_in_folder(capsule)
    if not wrong:
        return "projected"
    if Drift(main_file(name), "missing") in wrong and all(edit.kind == "missing" for edit in wrong):
        return "missing"
    there = _version_on_disk(library, capsule)
    earlier = (_earlier(library, capsule, version) for version in (there, 1))
    known = chain(earlier, other_arms(library, name, there))
    if any(past and _is_half_written(past, capsule) for past in known) or _lacks_the_stamp_alone(capsule, wrong):
        return "stale"
    return "edited"


def edits_in_folder(capsule: Capsule) -> list[Drift]:
    """List what is not as a version projects it, in the folder that it is to be in; as `_edits`."""
    return _edits(capsule, capsule)


def still_projected(capsule: Capsule) -> list[str]:
    """List the files on disk that are exactly what a skill projects; none where its SKILL.md is a person's."""
    wrong = {edit.path: edit.kind for edit in _drift(capsule, capsule)}
    if wrong.get(main_file(capsule.name), "missing") != "missing":
        return []
    return [path for path in expected_hashes(capsule) if path not in wrong]


def _edits(past: Capsule, live: Capsule) -> list[Drift]:
    """List the files of a version that are different on disk.

    New files beside them are not its business, unless the live version has files of that name to put there.
    """
    coming = expected_hashes(live)
    return [edit for edit in _drift(past, live) if edit.kind != "added" or edit.path in coming]


def _is_half_written(past: Capsule, live: Capsule) -> bool:
    """Tell whether an earlier version is on disk, its SKILL.md at least: what is written first may be live."""
    not_yet = {edit.path for edit in _drift(live, live)} | {main_file(live.name)}
    return not any(edit.path in not_yet for edit in _edits(past, live))


def _lacks_the_stamp_alone(live: Capsule, wrong: list[Drift]) -> bool:
    """Tell whether the live version is on disk, but for its stamp: as an adoption leaves it at first."""
    if not live.stamped or wrong != [Drift(main_file(live.name), "changed")]:
        return False
    from registry.skill_md.folder import read_skill  # noqa: PLC0415 - few folders come to that

    try:
        skill = read_skill(Path(live.source))
        place = stamp(skill.front, label(live))
    except (SkillFormatError, StorageError):  # no skill of ours: somebody wrote it
        return False
    front = (*skill.front[: place.at], *place.lines, *skill.front[place.at + place.replaces :])
    return "".join([*front, *(line for part in skill.sections for line in part.lines)]) == skill_text(live)


def _version_on_disk(library: Library, capsule: Capsule) -> int:
    """Read which version the files on disk say they are: 1 without a stamp, 0 without SKILL.md.

    Instructions bear no stamp: they are the latest version that promised these very bytes, 0 where none did.
    """
    try:
        body = (Path(capsule.source) / main_file(capsule.name)).read_bytes()
    except OSError:  # gone, or not ours to read: it says nothing
        return 0
    if not capsule.is_instructions:
        return stamped_version(body.decode("latin-1"), capsule.name) or 1  # the stamp is ASCII
    there = files_hash({main_file(capsule.name): (sha256(body).hexdigest(), capsule.mode & PERMISSIONS)})
    made = library.log.read(stream=f"capsule:{capsule.name}", types=("CapsuleVersioned",), newest_first=True)
    versions = (event_of("CapsuleVersioned", envelope) for envelope in made)
    return next((event.version for event in versions if event.projected_hash == there), 0)


def _earlier(library: Library, capsule: Capsule, version: int) -> Capsule | None:
    return (
        time_travel.at_version(library.log, capsule.name, version) if version not in {0, capsule.version} else None
    )


def moved_to(library: Library, capsule: Capsule) -> Path | None:
    """Find where the folder of a capsule went together with the registry; None where it did not.

    That is where the registry's own folder holds its text at the end of a path that is gone.
    """
    place = write_place(capsule.name, capsule.source)
    if os.path.lexists(place):
        return None
    inside = () if capsule.is_instructions else (main_file(capsule.name),)
    here = library.log.beside.parent.parent
    ends = (here.joinpath(*place.parts[at:]) for at in range(1, len(place.parts)))
    return next((end for end in ends if end.joinpath(*inside).is_file()), None)


def require_unedited(library: Library, name: str) -> None:
    """Raise RefusedError where writing the projection would be against a person.

    That is where they edited the files, and where they moved the folder: it is not written again at its old place.
    Raises UntrustedError where they did not confirm its place, which lies outside the project.
    """
    capsule = require_live(library.capsule(name))
    library.places.require(write_place(name, capsule.source), name)
    state = standing(library, name)
    if state == "missing" and (moved := moved_to(library, capsule)):
        raise RefusedError(
            f"{name} is no longer at {capsule.source}: {moved} has it", hint=f"germline import {quote(str(moved))}"
        )
    if state == "edited":
        raise _edited_by_hand(library, capsule)


def _edited_by_hand(library: Library, capsule: Capsule) -> RefusedError:
    """Say that a person edited the files, and what can be done: only edits of the live version are adopted."""
    paths = ", ".join(edit.path for edit in _edits(capsule, capsule)[:3])
    what = f"{capsule.name} was edited by hand since it was projected: {paths}"
    discard = f"germline project {capsule.name} --discard"
    if capsule.stamped and _version_on_disk(library, capsule) != capsule.version:
        return RefusedError(
            f"{what}; that was not {label(capsule)}, which is live",
            hint=f"set your edit aside, run `{discard}`, and edit again",
        )
    return RefusedError(what, hint=f"germline adopt {capsule.name}   or   {discard}")


def require_free(library: Library, name: str, skill: NewSkill) -> None:
    """Raise RefusedError where something is already in the folder that a new skill would be written to.

    Raises UntrustedError where nobody confirmed that place, which lies outside the project.
    """
    folder = Path(library.place_here(skill.source))
    library.places.require(folder, name)
    if os.path.lexists(folder):
        raise RefusedError(
            f"the new skill would be written to {folder}, and something is there already",
            hint=f"move it away and approve again, or take it in: germline import {quote(str(folder))}",
        )


def publish(registry: Registry, name: str, *, discard: bool = False) -> tuple[str, ...]:
    """Write the live version of a skill to where it came from; returns the paths that changed.

    What is out in the world is witnessed: a checkpoint outside the database says which log it came from.
    Raises: RefusedError where a person edited the files, up to the moment of writing, unless `discard`.
    """
    try:
        written = write_out(registry, in_folder(registry, name)) if discard else write_unedited(registry, name)
    except StorageError as error:
        recorded = f"{label(registry.capsule(name))} is recorded, but its files are not written"
        raise StorageError(f"{recorded}: {error.message}", hint=error.hint) from error
    registry.witness()
    return written


def write_unedited(library: Library, name: str) -> tuple[str, ...]:
    """Write the live version over what was looked at, and look again where somebody was faster.

    Another process may have written a version, even a later one, and a person may have saved an edit.
    """
    for _ in range(_LOOKS):
        seen = look_at(library.capsule(name))
        require_unedited(library, name)
        with suppress(OvertakenError):
            return write_out(library, in_folder(library, name), seen=seen)
    raise ConflictError(
        f"the files of {name} changed whenever they were to be written", hint=f"germline project {name}"
    )


def write_out(
    library: Library,
    capsule: Capsule,
    folder: Path | None = None,
    *,
    seen: Mapping[str, FileSnapshot] | None = None,
    remove: Collection[str] = (),
) -> tuple[str, ...]:
    """Write a version to a folder (its own where none is named), atomically file by file.

    In its own folder the files are removed that the version on disk had and this one has not, and those to
    `remove`. Raises: OvertakenError where a file changed since it was `seen`; StorageError where its own folder is
    not the one that the events name; UntrustedError where that lies outside the project and nobody confirmed it.
    """
    target = folder or own_folder(library, capsule).resolve()
    if folder is None:
        require_live(capsule)
        library.places.require(write_place(capsule.name, capsule.source), capsule.name)
        return write_version(library, replace(capsule, source=str(target)), seen=seen, remove=remove)
    return write_skill(target, expected_files(library.log, capsule), seen=seen)


def write_version(
    library: Library,
    capsule: Capsule,
    *,
    seen: Mapping[str, FileSnapshot] | None = None,
    remove: Collection[str] = (),
) -> tuple[str, ...]:
    """Write a version to the folder that it is to be in; files that only the one there had go, and `remove`."""
    files = expected_files(library.log, capsule)
    past = _earlier(library, capsule, _version_on_disk(library, capsule))
    gone = {file.entry.path for file in past.files} - files.keys() if past else set()
    return write_skill(Path(capsule.source), files, remove=tuple(sorted(gone.union(remove))), seen=seen)


def own_folder(library: Library, capsule: Capsule) -> Path:
    """Return where a skill is projected to, as the last event says that named a folder."""
    named = library.log.read(stream=f"capsule:{capsule.name}", types=_NAMES_FOLDER, newest_first=True, limit=1)
    if [library.place_here(getattr(envelope.event, "source", "")) for envelope in named] != [capsule.source]:
        raise damaged(library.log, f"the folder of {capsule.name}")
    return Path(capsule.source)
