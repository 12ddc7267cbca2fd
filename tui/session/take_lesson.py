"""Lessons that a person decides on: where a line goes comes into the registry first, and then the line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.decide.commands import ImportSkill
from registry.skill_md.folder import SkillFolder
from registry.skill_md.instructions import read_instructions
from registry.skill_md.text import cut
from strategies.lessons.take import accept, refuse
from tui.session.changes import Change

if TYPE_CHECKING:
    from registry.registry import Registry
    from tui.reads.start import StartThing

_FIRST_LINES: Final = "# Instructions for agents\n\n"
"""What new instructions begin with."""
_MODE: Final = 0o644


def taking(thing: StartThing, line: str = "") -> Change:
    """Take the line of a thing, in these words if any are given, as seen."""
    words = line or thing.lesson.line

    def act(registry: Registry, reason: str) -> None:
        _import_home(registry, thing)
        accept(registry, thing.lesson, thing.home.name, words, reason)

    return Change(f"take a line into {thing.home.name}", "the line is taken", act, thing.home.name)


def refusing(thing: StartThing) -> Change:
    """Refuse the line of a thing for good."""

    def act(registry: Registry, reason: str) -> None:
        _import_home(registry, thing)
        refuse(registry, thing.lesson, thing.home.name, reason)

    return Change(f"refuse a line for {thing.home.name}", "the line is refused", act)


def _import_home(registry: Registry, thing: StartThing) -> None:
    """Import the instructions that a line goes to; where there are none, those that are written with it."""
    home = thing.home
    if not home.file or home.name in registry.names():
        return
    file = Path(home.file)
    skill = read_instructions(file, home.name) if file.exists() else _as_written(home.name, file)
    registry.execute(ImportSkill(skill))


def _as_written(name: str, file: Path) -> SkillFolder:
    """Give new instructions as they will be written: the file comes with its first line."""
    pieces = cut(_FIRST_LINES)
    return SkillFolder(
        name=name,
        source=str(file.parent.resolve()),
        encoding="utf-8",
        mode=_MODE,
        front=pieces.front,
        sections=pieces.sections,
        files=(),
        warnings=(),
    )
