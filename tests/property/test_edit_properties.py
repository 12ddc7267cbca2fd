"""Whatever is cut or aligned can be put together again."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.query.diffs import line_diff, shorten, word_spans
from registry.skill_md.text import cut, split_lines
from registry.state.edits import align, apply_edits
from registry.state.line import SkillLine
from registry.state.line_match import match

PIECES = [
    "# h",
    "---",
    "===",
    "```",
    "~~~~",
    "  ",
    "> ",
    "- ",
    "\t",
    "<div>",
    "<!--",
    "-->",
    "a",
    "\\",
    "\u2028",
    "\x85",
]
ENDINGS = ["\n", "\r\n", "\r", "\n\n", ""]
MARKDOWN = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDINGS)), max_size=24).map(
    lambda pairs: "".join(piece + ending for piece, ending in pairs)
)
# Few different lines, so that duplicates and moves are common; sometimes no newline at the end.
TEXTS = st.lists(st.sampled_from("abcd\n"), max_size=9).map(
    lambda chars: tuple(char if char == "\n" else char + "\n" for char in chars)
)
LINES = st.tuples(TEXTS, st.booleans()).map(lambda pair: (*pair[0], "end") if pair[1] else pair[0])


def numbered(texts: tuple[str, ...]) -> tuple[SkillLine, ...]:
    return tuple(SkillLine(number, text, 10, 1) for number, text in enumerate(texts, start=1))


@settings(derandomize=True, deadline=None)
@given(st.one_of(MARKDOWN, st.text(), MARKDOWN.map(lambda body: "---\nname: x\n---\n" + body)))
def test_cut_pieces_tile_the_text_exactly(text: str) -> None:
    pieces = cut(text)
    lines = [*pieces.front, *(line for section in pieces.sections for line in section.lines)]
    assert "".join(lines) == text
    assert lines == split_lines(text)
    assert all(line.count("\n") <= 1 and "\n" not in line[:-1] for line in lines)
    assert all(section.lines for section in pieces.sections)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(LINES, LINES)
def test_applying_an_alignment_yields_exactly_the_new_text(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    lines = numbered(old)
    after, next_line = apply_edits(lines, align(lines, new, "g"), next_line=len(old) + 1, origin=20, version=2)
    assert tuple(line.text for line in after) == new
    ids = [line.id for line in after]
    assert len(set(ids)) == len(ids)
    assert max([0, *ids]) < next_line
    before = {line.id: line for line in lines}
    for line in after:
        kept = before.get(line.id)
        assert line.origin == (10 if kept and kept.text == line.text else 20)


@settings(derandomize=True, deadline=None)
@given(LINES)
def test_an_unchanged_text_needs_no_edit(texts: tuple[str, ...]) -> None:
    assert align(numbered(texts), texts, "g") == ()


@settings(derandomize=True, deadline=None)
@given(LINES, LINES)
def test_matched_lines_rise_and_are_equal_and_gaps_share_nothing(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    pairs = match(old, new)
    assert all(old[i].rstrip("\n") == new[j].rstrip("\n") for i, j in pairs)
    bounds = [(-1, -1), *pairs, (len(old), len(new))]
    for (i1, j1), (i2, j2) in pairwise(bounds):
        assert i1 < i2
        assert j1 < j2
        assert not set(old[i1 + 1 : i2]) & set(new[j1 + 1 : j2])


@settings(derandomize=True, deadline=None)
@given(LINES, LINES)
def test_a_diff_holds_both_texts(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    rows = line_diff(old, new)
    assert tuple(row.text for row in rows if row.kind in " -") == old
    assert tuple(row.text for row in rows if row.kind in " +") == new
    assert [row.old_no for row in rows if row.old_no] == list(range(1, len(old) + 1))
    assert [row.new_no for row in rows if row.new_no] == list(range(1, len(new) + 1))
    assert [row for row in shorten(rows, 1) if row.kind in "+-"] == [row for row in rows if row.kind in "+-"]


@settings(derandomize=True, deadline=None)
@given(st.text("ab ,\n", max_size=12), st.text("ab ,\n", max_size=12))
def test_outside_the_changed_words_two_lines_are_equal(old: str, new: str) -> None:
    left, right = word_spans(old, new)
    assert _without(old, left) == _without(new, right)


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    return "".join(char for at, char in enumerate(text) if not any(start <= at < end for start, end in spans))
