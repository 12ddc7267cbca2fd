"""Edits cut into the smallest ones that can be judged: new lines that came together are not one change."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from registry.state.line_claims import claims_by_edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from events.types.parts import Edit

_FENCES: Final = ("```", "~~~")
_ENDS: Final = (".", "!", "?", ":", ";", "```", "~~~")


def line_edits(edit: Edit) -> tuple[Edit, ...]:
    """Cut an edit into one for each statement that it brings; any of them can go on its own.

    A statement is a line with the blank lines and the heading above it, and what is indented below it; a block of
    code or a table is one. Edits that rewrite lines are cut where each new line takes the place of one old line.
    """
    if edit.op == "replace" and len(edit.target) == len(edit.text):
        pairs = zip(edit.target, edit.text, strict=True)
        return tuple(edit.model_copy(update={"target": (line,), "text": (text,)}) for line, text in pairs)
    if edit.op not in {"append", "insert_after"}:
        return (edit,)
    parts = tuple(edit.model_copy(update={"text": part}) for part in statements(edit.text))
    return parts[::-1] if edit.op == "insert_after" else parts  # each goes right behind the same line


def cut_into_lines(proposed: CandidateProposed) -> CandidateProposed:
    """Return a candidate with its edits cut, and its claims in the order of what was cut."""
    edits: list[Edit] = []
    claims: list[Claim] = []
    for edit, own in zip(proposed.edits, claims_by_edit(proposed.edits, proposed.claims), strict=True):
        parts = line_edits(edit)
        order = -1 if edit.op == "insert_after" else 1  # of the parts, over that of their lines
        edits += parts
        claims += chain.from_iterable(claims_by_edit(parts[::order], own)[::order])
    own_each = len(claims) == len(proposed.claims)  # else nobody can tell which line a claim is of
    return proposed.model_copy(
        update={"edits": tuple(edits), "claims": tuple(claims) if own_each else proposed.claims}
    )


def statements(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """Divide new lines into statements; see `line_edits`."""
    parts: list[list[str]] = []
    open_fence, begun = False, False
    for line in lines:
        text = line.strip()
        fence = text.startswith(_FENCES)
        goes_on = open_fence or (begun and bool(text) and _belongs(line, parts[-1][-1].strip()))
        if not parts or (begun and not goes_on):
            parts.append([])
            begun = False
        parts[-1].append(line)
        begun = begun or bool(text and not text.startswith("#"))
        open_fence = open_fence != fence
    if len(parts) > 1 and not begun:  # blank lines or a heading at the end belong to what is above
        last = parts.pop()
        parts[-1] += last
    return [tuple(part) for part in parts]


def _belongs(line: str, above: str) -> bool:
    """Tell whether a line goes on with what is above it: indented, of one table, or a wrapped sentence."""
    in_table = line.startswith("|") and above.startswith("|")
    return line[0].isspace() or in_table or (line[0].islower() and not above.endswith(_ENDS))
