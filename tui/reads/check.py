"""What a check looks at: files against the registry, lines that nothing supports, and what is due to go."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Literal

from events.types.frozen import Frozen
from registry.actions.hold_edits import held_edits
from registry.query.provenance import blame, line_tiers
from registry.skill_md.skill_files import main_file
from strategies.knowledge.stale_sources import stale_sources
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.evolve.loop import Plan
    from strategies.monitor.disk_edits import DiskEdit

CheckRule = Literal["verify", "drift", "held", "knowledge", "unproven", "expired", "harm"]
"""What a check looks for; what each asks for is in `tui/cli/printers/check.py`."""


class CheckFinding(Frozen):
    """What a check says no to (`error`), or only names; `path` is from here, `line` 0 where it is about the whole.

    `mend` is the command to type next.
    """

    rule: CheckRule
    level: Literal["error", "warning"]
    skill: str
    path: str
    line: int
    what: str
    mend: str


_WORDS: Final = {
    "changed": "is not what germline wrote",
    "missing": "is gone",
    "added": "was added beside what germline wrote",
    "mode": "has other permissions",
}
_UNSUPPORTED: Final = {"seen", "by hand", "none"}
"""The tiers of lines that no comparison speaks for; an imported line is a person's, from before germline."""
_ID: Final = 12


def drift_findings(library: Library) -> Iterator[CheckFinding]:
    """Name every file that differs, with the sessions that wrote it, and every edit that was held back."""
    from strategies.monitor.disk_edits import disk_edits  # noqa: PLC0415 - `status` shares the documents, and needs none

    for edit in disk_edits(library):
        for change in edit.changes:
            by = {writer.session[:_ID] for writer in edit.writers if writer.path == change.path}
            wrote = f", written by session {', '.join(sorted(by))}" if by else ""
            what = f"is no file of a skill: {change.refused}" if change.refused else _WORDS[change.kind]
            yield CheckFinding(
                rule="drift",
                level="warning" if change.minor else "error",
                skill=edit.skill,
                path=_from_here(library.capsule(edit.skill), change.path),
                line=0,
                what=f"{change.path} {what}{wrote}",
                mend=_mend_of(edit),
            )
    for name in library.live_names():
        if held := held_edits(library, name):
            yield CheckFinding(
                rule="held",
                level="warning",
                skill=name,
                path=_from_here(library.capsule(name), main_file(name)),
                line=0,
                what=f"{count(len(held), 'edit')} held back, the last in {held[-1]}",
                mend=f"germline adopt {name} --held --dry-run",
            )


def knowledge_findings(library: Library, project: Path) -> Iterator[CheckFinding]:
    """Name every source of what a skill knows that changed since it was read, or is gone."""
    for name in library.live_names():
        for state in stale_sources(library, name, project):
            source, copy = state.source.source, state.source.path
            is_gone = state.state == "missing"
            yield CheckFinding(
                rule="knowledge",
                level="warning",
                skill=name,
                path=_from_here(library.capsule(name), copy),
                line=0 if is_gone or not state.stale else state.stale[0].first,
                what=f"{source} {'is gone' if is_gone else 'changed'} since it was read on {state.source.read}",
                mend=f"germline knowledge {'remove' if is_gone else 'add'} {name} {quote(source)} --reason TEXT",
            )


def unproven_lines(library: Library, name: str) -> list[int]:
    """Give the numbers of the lines of a skill that came since its import and that nothing supports."""
    blamed = blame(library, library.capsule(name))
    tiers = line_tiers(library, blamed)
    return [
        number
        for number, ((line, _), tier) in enumerate(zip(blamed, tiers, strict=True), start=1)
        if line.id and line.text.strip() and not line.text.lstrip().startswith("#") and tier in _UNSUPPORTED
    ]


def unproven_findings(library: Library, unproven: Mapping[str, list[int]], most: int) -> Iterator[CheckFinding]:
    """Name the skills that hold more such lines than a limit allows, each at the first one too many."""
    for name, numbers in unproven.items():
        if len(numbers) > most:
            yield CheckFinding(
                rule="unproven",
                level="error",
                skill=name,
                path=_from_here(library.capsule(name), main_file(name)),
                line=numbers[most],
                what=f"{count(len(numbers), 'line')} that nothing supports, at most {most} may be",
                mend=f"germline show {name} --blame",
            )


def due_findings(registry: Registry, plan: Plan) -> Iterator[CheckFinding]:
    """Name the versions under which outcomes fell, and the lines whose time is over or that logs refute.

    It is worked out in a rehearsal, which is taken back.
    """
    from strategies.evolve.loop import what_is_due  # noqa: PLC0415 - `status` shares the documents, and needs none

    with registry.rehearsal():
        fallen, moves = what_is_due(registry, plan)
    for version in fallen:
        name = version.skill
        where = _from_here(registry.capsule(name), main_file(name))
        yield CheckFinding(
            rule="harm",
            level="error",
            skill=name,
            path=where,
            line=0,
            what=version.reason,
            mend=version.command,
        )
    for move in moves:
        if move.after is None:
            lapsed = move.before is not None and move.before.tier == "seen"
            yield CheckFinding(
                rule="expired" if lapsed else "harm",
                level="error",
                skill=move.skill,
                path=_from_here(registry.capsule(move.skill), main_file(move.skill)),
                line=0,
                what=f'the line "{move.text}" is to go: {move.reason}',
                mend=f"germline evolve {move.skill}",
            )


def _mend_of(edit: DiskEdit) -> str:
    if all(change.minor for change in edit.changes):
        return "germline status"
    return f"germline adopt {edit.skill} --dry-run"


def _from_here(capsule: Capsule, path: str) -> str:
    """Write a path as seen from the current folder: what shows findings beside code looks there."""
    return os.path.relpath(Path(capsule.source) / path)
