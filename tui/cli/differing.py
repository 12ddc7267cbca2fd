"""Differences: two versions of a skill, line by line and word by word, with what happened between them."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from registry.diffs import DiffLine, ending, line_diff, shorten, with_blanks_shown
from registry.rendering import skill_text
from registry.skill_paths import SKILL_FILE
from tui.bootstrap import find_registry, open_library
from tui.cli.history import event_json, event_line
from tui.cli.invocation import invocation
from tui.cli.names import split_skill
from tui.cli.options import AsJson
from tui.cli.paint import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from events.envelope import Envelope
    from registry.capsule import Capsule
    from registry.library import Library
    from tui.cli.invocation import Invocation

_TWO: Final = 2
_SIGNS: Final = {" ": " ", "+": "+", "-": "−", "?": "…"}
_TONES: Final = {" ": "", "+": "good", "-": "bad", "?": "dim"}


def diff(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="The name of a skill, perhaps at the earlier version.")
    ],
    a: Annotated[
        str,
        typer.Argument(
            metavar="[A]", help="The earlier version: 2, production, 2026-11-01; the last but one if left out."
        ),
    ] = "",
    b: Annotated[
        str, typer.Argument(metavar="[B]", help="The later version, or SKILL@VERSION; the live one if left out.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Compare two versions by line and word, and the events between.

    Every file of the skill that differs is compared. Without colour, changed words are underlined by ^.
    """
    call = invocation(ctx)
    name, refs = _asked(skill, a, b)
    with open_library(find_registry(call.registry)) as library:
        old, new = _compared(library, name, refs)
        between = _between(library, old, new)
        files = list(changed_files(library, old, new))
    if as_json:
        fields = {
            "skill": old.name,
            "a": old.version,
            "b": new.version,
            "events": [event_json(envelope) for envelope in between],
            "files": files_json(files),
        }
        call.answer("diff", fields)
        return
    _print(call, old, new, between, files)


def _asked(skill: str, a: str, b: str) -> tuple[str, list[str]]:
    """Read the name of the skill, and up to two versions of it, wherever they stand; raises UsageError."""
    name, first = split_skill(skill)
    refs = [first, *(ref.removeprefix(f"{name}@") for ref in (a, b))]
    named = [ref for ref in refs if ref]
    if others := [ref for ref in named if "@" in ref]:
        raise UsageError(
            f"versions of one skill are compared: {others[0]} is none of {name}", hint=f"germline log {name}"
        )
    if len(named) > _TWO:
        raise UsageError(
            f"{len(named)} versions are named, where two are compared", hint=f"germline diff {name} 1 2"
        )
    return name, named


def _compared(library: Library, name: str, refs: Sequence[str]) -> tuple[Capsule, Capsule]:
    """Find the two versions: the live one is compared where fewer are named, with the one before where none is."""
    new = library.capsule(name, *refs[1:])
    if refs:
        return library.capsule(name, refs[0]), new
    if new.version == 1:
        raise UsageError(f"{name} has one version: there is nothing to compare", hint=f"germline show {name}")
    return library.capsule(name, str(new.version - 1)), new


def _between(library: Library, old: Capsule, new: Capsule) -> list[Envelope]:
    """List the events between two versions that are about the skill itself, oldest first."""
    low, high = sorted((old.position, new.position))
    found = []
    for envelope in library.history(new.name):
        if envelope.position <= low:
            break
        if envelope.position <= high and envelope.stream != "registry":
            found.append(envelope)
    return found[::-1]


def changed_files(library: Library, old: Capsule, new: Capsule) -> Iterator[tuple[str, list[DiffLine]]]:
    """Compare every file that differs, SKILL.md first."""
    rows = line_diff(_lines(skill_text(old)), _lines(skill_text(new)))
    if any(row.kind != " " for row in rows):
        yield SKILL_FILE, rows
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


def files_json(files: Sequence[tuple[str, Sequence[DiffLine]]]) -> list[dict[str, Any]]:
    """Give what changed in each file as JSON."""
    return [{"path": path, "lines": [_line_json(row) for row in rows]} for path, rows in files]


def _line_json(row: DiffLine) -> dict[str, Any]:
    return {
        "op": {" ": "equal", "+": "add", "-": "remove"}[row.kind],
        "old": row.old_no,
        "new": row.new_no,
        "text": row.text.rstrip("\r\n"),
        "ending": ending(row.text),
        "spans": [list(span) for span in row.spans],
    }


def _print(
    call: Invocation,
    old: Capsule,
    new: Capsule,
    between: Sequence[Envelope],
    files: Sequence[tuple[str, list[DiffLine]]],
) -> None:
    paint, now = call.paint, SystemClock().now()
    call.say(paint(f"{new.name}@{old.version} → @{new.version}", "strong"))
    for envelope in between:
        call.say(event_line(envelope, now, paint))
    if not files:
        call.say("  no difference")
    print_files(call, files)


def print_files(
    call: Invocation, files: Sequence[tuple[str, Sequence[DiffLine]]], *, unclaimed: Collection[str] = ()
) -> None:
    """Print what changed in each file, with a few lines around it; new lines that no claim covers are marked."""
    for path, rows in files:
        call.say(f"\n{call.paint(path, 'strong')}")
        _print_rows(call, rows, unclaimed)


def _print_rows(call: Invocation, rows: Sequence[DiffLine], unclaimed: Collection[str]) -> None:
    paint = call.paint
    for row in with_blanks_shown(shorten(rows)):
        number = row.new_no or row.old_no or ""
        text = f"{number:>5} {_SIGNS[row.kind]} {one_line(row.text)}"
        whole = paint(text.rstrip(), _TONES[row.kind])
        if row.kind == "+" and row.text.strip() in unclaimed:
            whole += paint("   no claim", "warn")
        call.say(_marked(call, row, number) if row.spans and paint.enabled else whole)
        if row.spans and not paint.enabled:
            call.say(f"{'':>8}{_underline(row)}".rstrip())


def _marked(call: Invocation, row: DiffLine, number: int | str) -> str:
    """Colour a line, and the words in it that changed more strongly."""
    paint, tone = call.paint, _TONES[row.kind]
    pieces, at = [paint(f"{number:>5} {_SIGNS[row.kind]} ", tone)], 0
    for start, end in row.spans:
        pieces += [paint(one_line(row.text[at:start]), tone), paint(one_line(row.text[start:end]), "mark")]
        at = end
    return "".join([*pieces, paint(one_line(row.text[at:]), tone)])


def _underline(row: DiffLine) -> str:
    marks = [" "] * len(row.text)
    for start, end in row.spans:
        marks[start:end] = "^" * (end - start)
    return "".join(marks)


COMMANDS: Final = {"diff": diff}
