"""Navigation indexes: recorded with a skill of the registry; of a draft or a folder of skills, a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import GermlineError, NotFoundError, RefusedError, SkillFormatError
from registry.actions.publish import edited_folder, publish, require_unedited
from registry.decide.commands import Reindex
from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.folder import decode, read_skill
from registry.skill_md.navigation_index import (
    Uncovered,
    has_index,
    index_of,
    index_of_skill,
    indexed,
    with_index,
    without_index,
)
from registry.skill_md.skill_files import SKILL_FILE

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from registry.registry import Registry
    from registry.skill_md.folder import Encoding, SkillFolder
    from registry.skill_md.navigation_index import NavigationIndex

INDEX_FILE: Final = "INDEX.md"
"""What holds the index of a folder of skills."""
_MODE: Final = 0o644


@dataclass(frozen=True, slots=True)
class PlannedIndex:
    """An index as it would be made, and the text of its file before and after."""

    file: Path
    index: NavigationIndex
    before: str
    after: str
    encoding: Encoding

    @property
    def changes(self) -> bool:
        """Whether the file has another index than it should have."""
        return self.before != self.after

    @property
    def is_there(self) -> bool:
        """Whether the file has an index before."""
        return has_index(self.before)

    @property
    def puts_one(self) -> bool:
        """Whether the file has an index after."""
        return has_index(self.after)


def plan_in_skill(skill: SkillFolder, folder: Path, *, remove: bool) -> PlannedIndex:
    """Plan the index of one skill, in its SKILL.md; raises SkillFormatError where that is not UTF-8."""
    file, index = folder / SKILL_FILE, index_of_skill(skill)
    _require_utf8(file, skill.encoding)
    after = indexed(skill, None if remove else index).text
    return PlannedIndex(file, index, skill.text, after, skill.encoding)


def plan_in_folder(folder: Path, *, remove: bool) -> PlannedIndex:
    """Plan the index of a folder of skills, in an INDEX.md beside them; what else that file holds stays.

    Raises: NotFoundError where no folder below holds a skill; SkillFormatError for a file that is not UTF-8.
    """
    files, uncovered = dict[str, bytes](), []
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        try:
            skill = read_skill(place)
        except NotFoundError:
            uncovered.append(Uncovered(f"{place.name}/", f"no {SKILL_FILE}"))
            continue
        except GermlineError as error:
            uncovered.append(Uncovered(f"{place.name}/", error.message))
            continue
        files[f"{place.name}/{SKILL_FILE}"] = without_index(skill.text).encode()
        files.update({f"{place.name}/{file.entry.path}": file.content for file in skill.files})
    if not files:
        raise NotFoundError(
            f"{folder} holds no {SKILL_FILE}, and no folder in it does",
            hint="name a skill, or a folder of skills",
        )
    index = index_of(files)
    index = replace(index, uncovered=tuple(sorted([*index.uncovered, *uncovered])))
    file = folder / INDEX_FILE
    before, encoding = decode(file.read_bytes() if file.exists() else b"", file)
    _require_utf8(file, encoding)
    after = without_index(before) if remove else with_index(before, index)
    return PlannedIndex(file, index, before, after, encoding)


def _require_utf8(file: Path, encoding: Encoding) -> None:
    if encoding == "latin-1":
        raise SkillFormatError(f"{file} is not UTF-8", rule="encoding", hint="save it as UTF-8")


def plan_in_registry(registry: Registry, name: str, *, remove: bool) -> tuple[PlannedIndex, SkillFolder]:
    """Plan the index of a registered skill, as its live version has it.

    Raises: RefusedError for instructions, which have no other files, and where a person edited the skill's files.
    """
    capsule = registry.capsule(name)
    if capsule.is_instructions:
        raise RefusedError(f"{name} is one file, and an index leads to others", hint="germline index SKILL")
    require_unedited(registry, name)
    skill = edited_folder(registry, name)
    planned = plan_in_skill(skill, Path(capsule.source), remove=remove)
    return planned, indexed(skill, None if remove else planned.index)


def record_index(registry: Registry, skill: SkillFolder) -> Receipt:
    """Record a skill with its index as the next version, and write it to its folder."""
    receipt = registry.execute(Reindex(skill))
    publish(registry, skill.name)
    return receipt


def write_index(planned: PlannedIndex) -> None:
    """Write the file of an index that no registry knows; one that would be empty goes."""
    file = planned.file
    mode = file.stat().st_mode & 0o777 if file.exists() else _MODE
    content = FileContent(planned.after.encode(planned.encoding), mode)
    is_empty = not planned.after.strip()
    write_skill(file.parent, {} if is_empty else {file.name: content}, remove=(file.name,) if is_empty else ())
