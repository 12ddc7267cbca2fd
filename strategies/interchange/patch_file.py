"""A patch as `git diff` writes it, put on the text of a skill: what it would say."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import RefusedError, UnreadableLogError
from registry.skill_md.skill_files import SKILL_FILE
from registry.skill_md.text import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATCHES: Final = (".patch", ".diff")
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class _Hunk(NamedTuple):
    """One hunk of a patch: its first line, counted from 1, the lines there now, and those in their place."""

    start: int
    before: list[str]
    after: list[str]


def patched(path: Path, patch: str, skill: str, live: str) -> str:
    """Apply a patch to the skill's text, exactly: every hunk must stand where it says.

    Units: `path` is where the patch is from, `live` the text of the skill now. Raises: RefusedError where it
    is for something else, or does not fit; UnreadableLogError where it is no whole patch.
    """
    lines = split_lines(patch)
    targets = [line[4:].split("\t")[0].strip() for line in lines if line.startswith("+++ ")]
    others = [target for target in targets if not _is_skill_file(target, skill)]
    if len(targets) != 1 or others:
        named = ", ".join(others or targets) or "nothing"
        raise RefusedError(
            f"{path} changes {named}, and a proposal is a patch of the {SKILL_FILE} of {skill} alone",
            hint="apply it to a copy of the folder, and propose that: --from FOLDER",
        )
    text, moved = split_lines(live), 0
    for hunk in _hunks(lines, path):
        at = hunk.start - 1 + moved if hunk.before else hunk.start + moved
        if text[at : at + len(hunk.before)] != hunk.before:
            raise RefusedError(
                f"{path} does not fit {skill}: line {hunk.start} of it is another one now",
                hint=f"germline show {skill} prints what it must fit",
            )
        text[at : at + len(hunk.before)] = hunk.after
        moved += len(hunk.after) - len(hunk.before)
    return "".join(text)


def _is_skill_file(target: str, skill: str) -> bool:
    parts = PurePosixPath(target).parts
    return parts[-1:] == (SKILL_FILE,) and (len(parts) < 3 or parts[-2] == skill)  # noqa: PLR2004 - b/SKILL.md


def _hunks(lines: list[str], path: Path) -> Iterator[_Hunk]:
    at = 0
    while at < len(lines):
        head = _HUNK.match(lines[at])
        at += 1
        if head is None:
            continue
        left = [int(head[2] or 1), int(head[4] or 1)]
        hunk = _Hunk(int(head[1]), [], [])
        while at < len(lines) and (any(left) or lines[at].startswith("\\")):
            mark, rest = lines[at][:1], lines[at][1:]
            at += 1
            if mark == "\\":  # no newline at the end of the file
                _strip_end(hunk, lines[at - 2][:1])
                continue
            for side, marks, held in ((0, " -\n", hunk.before), (1, " +\n", hunk.after)):
                if mark in marks:
                    held.append(rest or "\n")
                    left[side] -= 1
        if any(left) or not lines[-1].endswith("\n"):
            raise UnreadableLogError(f"{path} is no whole patch: the hunk {head[0]} is cut short")
        yield hunk


def _strip_end(hunk: _Hunk, mark: str) -> None:
    """Take the line break from the last line, on the sides that it belongs to."""
    for marks, held in ((" -", hunk.before), (" +", hunk.after)):
        if mark in marks and held:
            held[-1] = held[-1].rstrip("\n")
