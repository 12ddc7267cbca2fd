"""Differences by line and word."""

from __future__ import annotations

import pytest

from registry.query.diffs import DiffLine, line_diff, shorten, with_blanks_shown, word_spans


def test_a_rewritten_line_shows_which_words_changed() -> None:
    old = ["same\n", "Run the query again.\n"]
    new = ["same\n", "Run SHOW TABLES, not the query again.\n", "more\n"]
    rows = line_diff(old, new)
    assert rows == [
        DiffLine(" ", "same\n", 1, 1),
        DiffLine("-", "Run the query again.\n", 2, None, ()),
        DiffLine("+", "Run SHOW TABLES, not the query again.\n", None, 2, ((3, 20),)),
        DiffLine("+", "more\n", None, 3),
    ]


def test_lines_that_have_nothing_in_common_have_no_changed_words() -> None:
    rows = line_diff(["one two three\n"], ["four five six\n"])
    assert [(row.kind, row.spans) for row in rows] == [("-", ()), ("+", ())]


def test_words_change_whole() -> None:
    assert word_spans("use git pull", "use git push --force") == (((8, 12),), ((8, 20),))
    assert word_spans("same", "same") == ((), ())


def test_long_stretches_without_change_are_left_out_by_count() -> None:
    old = [f"{number}\n" for number in range(20)]
    new = [*old[:10], "new\n", *old[10:]]
    rows = shorten(line_diff(old, new), context=2)
    assert [(row.kind, row.text) for row in rows] == [
        ("?", "8 unchanged lines\n"), (" ", "8\n"), (" ", "9\n"), ("+", "new\n"), (" ", "10\n"), (" ", "11\n"),
        ("?", "8 unchanged lines\n"),
    ]  # fmt: skip
    assert shorten(line_diff(old[:1], old[:1])) == [DiffLine("?", "1 unchanged line\n", None, None)]
    assert shorten([]) == []


def test_a_line_that_only_lost_its_ending_is_shown_as_changed() -> None:
    assert [row.kind for row in line_diff(["a\n", "b\n"], ["a\n", "b"])] == [" ", "-", "+"]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a b\n", "a b\r\n", ["a b␊", "a b␍␊"]),
        ("a b\n", "a b", ["a b␊", "a b"]),
        ("a b \n", "a b\n", ["a b·\n", "a b\n"]),
        ("a\tb\n", "a b\n", ["a→b\n", "a·b\n"]),
        ("  a b\n", "\ta b\n", ["··a b\n", "→a b\n"]),
        ("\n", "  \n", ["\n", "··\n"]),
        ("a\N{NO-BREAK SPACE}b\n", "a b\n", ["a⍽b\n", "a·b\n"]),
    ],
)
def test_blanks_are_shown_where_lines_differ_in_nothing_else(old: str, new: str, shown: list[str]) -> None:
    rows = with_blanks_shown(line_diff(["same \t\n", old], ["same \t\n", new]))
    assert [row.text for row in rows] == ["same \t\n", *shown]
    assert all(row.text[start:end].isprintable() for row in rows for start, end in row.spans)


def test_blanks_of_lines_whose_words_changed_stay_as_they_are() -> None:
    rows = line_diff(["run it twice \n"], ["run\tit once\n"])
    assert with_blanks_shown(rows) == rows


def test_blanks_are_shown_in_a_line_that_stands_among_others_that_changed() -> None:
    rows = line_diff(["one two\n", "a b c\n"], ["a b\tc\n"])
    assert [row.text for row in with_blanks_shown(rows)] == ["one two\n", "a b·c\n", "a b→c\n"]
