"""The surface of a research: the files that experiments may change, and how a suggestion changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import RefusedError, UsageError
from events.types.parts import FileEntry, NewSection, NewSkill
from registry.decide.birth import as_born
from registry.skill_md.disk import PERMISSIONS, FileContent, look, write_skill
from registry.skill_md.skill_files import require_path
from registry.state.capsule import CapsuleFile
from strategies.gate.file_findings import is_text
from strategies.gate.lint import TRUST_REGION_FLOOR
from strategies.models.tasks.research_case import SurfaceFile
from strategies.policy.canonical_json import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.sql_log import EventLog
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.models.tasks.research_case import SuggestedExperiment

MOST_SURFACE_CHARS: Final = 60_000
"""What the files that may change hold together at most: all of it is shown to the proposer (a guess)."""
_HOLDER: Final = "researched-file"
"""The name of the skill, kept nowhere, as whose only file one outside of any skill is held to the gate."""


class ResearchTarget(NamedTuple):
    """What is researched: a skill, or one file outside of any, by its path below the project (`name`).

    `patterns` say which of a skill's files may change, all of them where there are none; what is `locked` never
    may: files and folders that measure it. `file` lies at `place` below the folder of the metric.
    """

    name: str
    patterns: tuple[str, ...] = ()
    locked: tuple[Path, ...] = ()
    file: Path | None = None
    place: str = ""


@dataclass(frozen=True)
class Surface:
    """The files that may change as they are at one moment, and the skill that has them."""

    base: Capsule
    files: tuple[FileEntry, ...]
    texts: tuple[str, ...]

    @property
    def content(self) -> str:
        """The hash of all files of the skill."""
        return digest(["surface", *sorted((file.entry.path, file.entry.blob) for file in self.base.files)])

    def shown(self, trust_region: float) -> tuple[SurfaceFile, ...]:
        """Give the files as a proposer is shown them."""
        return tuple(
            SurfaceFile(
                path=entry.path, text=text, most_changed=min(int(trust_region * len(text)), TRUST_REGION_FLOOR)
            )
            for entry, text in zip(self.files, self.texts, strict=True)
        )


def surface_now(registry: Registry, target: ResearchTarget) -> Surface:
    """Read the surface as it is now; raises UsageError where it has no text, or too much of it."""
    base = _holder(registry.log, target) if target.file else registry.capsule(target.name)
    texts: dict[FileEntry, str] = {}
    for entry, _ in base.files:
        body = registry.log.get_blob(entry.blob) or b""
        named = not target.patterns or any(fnmatchcase(entry.path, pattern) for pattern in target.patterns)
        at = (Path(base.source) / entry.path).resolve()
        if named and is_text(body) and not any(at.is_relative_to(place) for place in target.locked):
            texts[entry] = body.decode()
    size = sum(map(len, texts.values()))
    if not 0 < size <= MOST_SURFACE_CHARS:
        raise UsageError(
            f"the files of {target.name} that may change hold {size:,} characters of text, "
            f"1 to {MOST_SURFACE_CHARS:,} can be researched",
            hint="--surface 'scripts/*.py' names some of a skill's files",
        )
    return Surface(base, tuple(texts), tuple(texts.values()))


def surface_before(log: EventLog, surface: Surface, before: Sequence[FileEntry]) -> Surface:
    """Give the surface as it was when an experiment was proposed."""
    was = {entry.path: entry for entry in before}
    files = tuple(CapsuleFile(was.get(file.entry.path, file.entry), file.origin) for file in surface.base.files)
    texts = tuple((log.get_blob(entry.blob) or b"").decode() for entry in before)
    return Surface(replace(surface.base, files=files), tuple(before), texts)


def _holder(log: EventLog, target: ResearchTarget) -> Capsule:
    """Give a file as the only one of a skill that is kept nowhere: so the gate holds it to the same rules."""
    front = ("---\n", f"name: {_HOLDER}\n", "description: Use when its file is measured.\n", "---\n")
    section = NewSection(title="File", lines=("# File\n", "\n", "It is measured.\n"))
    holder = as_born(_HOLDER, NewSkill(source="", front=front, sections=(section,)))
    require_path(target.place)
    entry = _entry(log, target.place, read_file(target).body, read_file(target).mode)
    return replace(holder, version=1, files=(CapsuleFile(entry, 0),))


def read_file(target: ResearchTarget) -> FileContent:
    """Read the file outside of any skill; raises UsageError where it cannot be read, or is a link."""
    assert target.file is not None  # noqa: S101 - only such targets are read from disk
    try:
        if target.file.is_symlink():
            raise UsageError(f"{target.name} is a link", hint="name the file that it leads to")
        return FileContent(target.file.read_bytes(), target.file.stat().st_mode & PERMISSIONS)
    except OSError as error:
        raise UsageError(f"cannot read {target.name}: {error.strerror}", hint="check its permissions") from error


def _entry(log: EventLog, path: str, body: bytes, mode: int) -> FileEntry:
    return FileEntry(path=path, blob=log.put_blob(body, kind="file"), mode=mode, size_bytes=len(body))


def write_file(
    log: EventLog, target: ResearchTarget, before: FileEntry, after: FileEntry, *, dry_run: bool = False
) -> None:
    """Bring the file outside of any skill from one content to another, whole or not at all.

    Raises: RefusedError where it is neither; StorageError, OvertakenError where somebody writes it just now.
    """
    assert target.file is not None  # noqa: S101 - as above
    folder, name = target.file.parent, target.file.name
    seen = look(folder, name)
    body = read_file(target).body
    if body not in {log.get_blob(before.blob), log.get_blob(after.blob)}:
        raise RefusedError(
            f"{target.name} was edited meanwhile, and is left as it is",
            hint=f"germline research {target.name} --status",
        )
    if not dry_run:
        write_skill(folder, {name: FileContent(log.get_blob(after.blob) or b"", after.mode)}, seen=seen)


def changed_files(
    log: EventLog, surface: Surface, suggested: SuggestedExperiment
) -> tuple[tuple[FileEntry, ...], str]:
    """Apply a suggestion: gives the files that change, or why it cannot be applied."""
    texts = {entry.path: text for entry, text in zip(surface.files, surface.texts, strict=True)}
    after = dict(texts)
    for edit in suggested.edits:
        if edit.path not in texts:
            return (), f"{edit.path} is outside the surface ({', '.join(texts)})"
        times = after[edit.path].count(edit.find) if edit.find else 0
        if times != 1:
            return (), f"the text to replace stands {times} times in {edit.path}, and once is needed"
        after[edit.path] = after[edit.path].replace(edit.find, edit.replace)
    changed = [entry for entry in surface.files if after[entry.path] != texts[entry.path]]
    entries = tuple(_entry(log, entry.path, after[entry.path].encode(), entry.mode) for entry in changed)
    return entries, "" if entries else "it changes nothing"
