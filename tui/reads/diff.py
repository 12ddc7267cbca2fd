"""What differs between two versions of a skill, file by file."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from registry.query.diffs import DiffLine, line_diff
from registry.skill_md.render import skill_text
from registry.skill_md.skill_files import main_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.query.library import Library
    from registry.state.capsule import Capsule


def changed_files(library: Library, old: Capsule, new: Capsule) -> Iterator[tuple[str, list[DiffLine]]]:
    """Compare every file that differs, SKILL.md first."""
    rows = line_diff(_lines(skill_text(old)), _lines(skill_text(new)))
    if any(row.kind != " " for row in rows):
        yield main_file(new.name), rows
    before = {file.entry.path: file.entry.blob for file in old.files}
    after = {file.entry.path: file.entry.blob for file in new.files}
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield path, line_diff(_content(library, before.get(path)), _content(library, after.get(path)))


def _content(library: Library, blob: str | None) -> list[str]:
    """Fetch the lines of a file; one line that says so where it is no text."""
    body = library.log.get_blob(blob) if blob else b""
    if body is None:
        return ["(its content is not in the registry)\n"]
    try:
        return _lines(body.decode())
    except UnicodeDecodeError:
        return [f"(no text: {len(body):,} bytes, SHA-256 {blob})\n"]


def _lines(text: str) -> list[str]:
    """Cut a text at line feeds alone, as editors count lines."""
    return list(StringIO(text, newline="\n"))
