"""Edits of lines with identity: strict to apply, minimal to derive from a rewritten text.

An edit names lines by id, never by place. Lines that an edit leaves as they were keep identity and origin;
in a rewritten block of equal length the i-th new line succeeds the i-th old one: it keeps the id and takes the
new origin. Where lines follow a last line that lacks its ending, that line is completed and stays itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import EditError
from registry.state.line import SkillLine
from registry.state.line_match import Gap, gaps, match

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.parts import Edit
    from registry.state.gene import Gene


def apply_edits(
    lines: tuple[SkillLine, ...], edits: Iterable[Edit], *, next_line: int, origin: int, version: int
) -> tuple[tuple[SkillLine, ...], int]:
    """Apply edits one after the other; return the lines and the id that the next new line will take.

    Raises: EditError if an edit names lines that are not there or not adjacent, or brings no whole lines.
    """
    now = list(lines)
    for edit in edits:
        start, end = _span(now, edit)
        _check_text(edit)
        old = now[start:end]
        new, next_line = _rewritten(old, edit.text, next_line=next_line, origin=origin, version=version)
        if new and not old:
            _complete_before(now, start, new[0].text)
        now[start:end] = new
        _check_endings(now[start : start + len(new) + 1], is_end=start + len(new) + 1 >= len(now))
    return tuple(now), next_line


def check_protected(gene: Gene, edits: Sequence[Edit], *, by: str = "") -> None:
    """Refuse edits of a gene that would change or remove one of its protected lines; `by` is who proposes them.

    Raises: EditError, naming the line; also for any edit of a gene that is protected as a whole, or kept by
    somebody else.
    """
    title = gene.title or "the preamble"
    if gene.protected_whole and edits:
        raise protected(gene, f"{title!r} of {gene.capsule} is protected")
    if gene.keeper not in {"", by} and edits:
        raise protected(gene, f"{title!r} of {gene.capsule} is kept by {gene.keeper} alone")
    after, _ = apply_edits(gene.lines, edits, next_line=gene.next_line, origin=0, version=0)
    kept = {line.id: line.text.removesuffix("\n") for line in after}
    for line in gene.lines:
        if line.id in gene.protected and kept.get(line.id) != line.text.removesuffix("\n"):
            what = f"line {line.id} of {title!r} in {gene.capsule} is protected: {line.text.strip()[:80]!r}"
            raise protected(gene, what)


def protected(gene: Gene, what: str) -> EditError:
    """Say that a gene, or a line of it, is protected, and what lifts that."""
    hint = f"germline release {gene.capsule}:LINE --reason TEXT   lifts the protection"
    return EditError(what, rule="protected", hint=hint)


def align(lines: tuple[SkillLine, ...], new: tuple[str, ...], gene: str) -> tuple[Edit, ...]:
    """Derive the fewest edits of `gene` that turn `lines` into exactly `new`, by patience matching.

    Raises: EditError if `new` is not made of whole lines.
    """
    stayed = [
        (i, j) for i, j in match([line.text for line in lines], new) if lines[i].text == new[j]
    ]  # a line that only gained or lost its ending is rewritten, and keeps its id
    whole = Gap(0, len(lines), 0, len(new))
    edits = tuple(_edit(lines, new, gap, gene) for gap in gaps(stayed, whole))
    for edit in edits:
        _check_text(edit)
    return edits


def _edit(lines: tuple[SkillLine, ...], new: tuple[str, ...], gap: Gap, gene: str) -> Edit:
    from events.types.parts import Edit  # noqa: PLC0415 - for those who write

    target = tuple(line.id for line in lines[gap.old_start : gap.old_end])
    text = new[gap.new_start : gap.new_end]
    if target:
        return Edit(op="replace" if text else "delete", gene=gene, target=target, text=text)
    if gap.old_start:
        return Edit(op="insert_after", gene=gene, target=(lines[gap.old_start - 1].id,), text=text)
    if lines:  # before the first line: rewrite that line with the new ones above it; it stays itself
        return Edit(op="replace", gene=gene, target=(lines[0].id,), text=(*text, lines[0].text))
    return Edit(op="append", gene=gene, text=text)


def _span(lines: list[SkillLine], edit: Edit) -> tuple[int, int]:
    """Find the slice that an edit rewrites: empty for what it adds."""
    if edit.op == "append":
        if edit.target:
            raise EditError("append takes no target line")
        return len(lines), len(lines)
    if not edit.target:
        raise EditError(f"{edit.op} needs a target line")
    if edit.op == "insert_after" and len(edit.target) > 1:
        raise EditError("insert_after takes one target line")
    start = next((at for at, line in enumerate(lines) if line.id == edit.target[0]), len(lines))
    if tuple([line.id for line in lines[start : start + len(edit.target)]]) != edit.target:
        there = {line.id for line in lines}
        missing = [name for name in edit.target if name not in there]
        what = f"there is no line {missing[0]}" if missing else f"lines {edit.target} are not adjacent"
        rule = "no match" if missing else "not adjacent"
        raise EditError(f"cannot {edit.op.replace('_', ' ')}: {what} in the base version", rule=rule)
    end = start + len(edit.target)
    return (end, end) if edit.op == "insert_after" else (start, end)


def _check_text(edit: Edit) -> None:
    if edit.op == "delete":
        if edit.text:
            raise EditError("delete brings no text")
        return
    if not edit.text:
        raise EditError(f"{edit.op} needs text", hint="use delete to take lines away")
    for number, text in enumerate(edit.text, start=1):
        if not text or "\n" in text[:-1] or "\0" in text:
            raise EditError(f"line {number} of an edit is not one whole line of text: {text[:80]!r}")
        if number < len(edit.text) and not text.endswith("\n"):
            raise EditError(f"line {number} of an edit lacks its line ending: {text[:80]!r}")


def _check_endings(lines: list[SkillLine], *, is_end: bool) -> None:
    for line in lines[: -1 if is_end else None]:
        if not line.text.endswith("\n"):
            raise EditError(f"line {line.id} would run into the next one: {line.text[:80]!r}")


def _rewritten(
    old: list[SkillLine], text: tuple[str, ...], *, next_line: int, origin: int, version: int
) -> tuple[list[SkillLine], int]:
    """Give each new line its identity: the line it is, the line it succeeds, or a new one."""
    if not old:
        new = [SkillLine(next_line + at, line_text, origin, version) for at, line_text in enumerate(text)]
        return new, next_line + len(new)
    if len(old) == len(text) == 1:  # what most edits do: the one succeeds the other, whatever they have in common
        (before,), (line_text,) = old, text
        return [
            before if before.text == line_text else SkillLine(before.id, line_text, origin, version)
        ], next_line
    pairs = match([line.text for line in old], text)
    heir: dict[int, SkillLine] = {j: old[i] for i, j in pairs}
    for gap in gaps(pairs, Gap(0, len(old), 0, len(text))):
        if gap.old_end - gap.old_start == gap.new_end - gap.new_start:
            heir.update(zip(range(gap.new_start, gap.new_end), old[gap.old_start : gap.old_end], strict=True))
    new = []
    for j, line_text in enumerate(text):
        kept = heir.get(j)
        if kept is None:
            new.append(SkillLine(next_line, line_text, origin, version))
            next_line += 1
        elif kept.text == line_text:
            new.append(kept)
        else:
            new.append(SkillLine(kept.id, line_text, origin, version))
    return new, next_line


def _complete_before(lines: list[SkillLine], at: int, following: str) -> None:
    """Give the line above an insertion its missing ending, in the style of what follows, else of what is above."""
    if at and not lines[at - 1].text.endswith("\n"):
        style = following if following.endswith("\n") or at == 1 else lines[at - 2].text
        ending = "\r\n" if style.endswith("\r\n") else "\n"
        lines[at - 1] = lines[at - 1]._replace(text=lines[at - 1].text + ending)
