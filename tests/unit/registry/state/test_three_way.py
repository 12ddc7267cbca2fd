"""A three-way merge keeps what both sides did."""

from __future__ import annotations

import pytest

from registry.state.three_way import carried_over


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("abc", "abc", "abXc", "abXc"),
        ("abc", "aOc", "abc", "aOc"),
        ("abcd", "aObcd", "abcTd", "aObcTd"),
        ("abc", "abcO", "abcT", "abcOT"),
        ("abc", "abcX", "abcX", "abcX"),
        ("abcd", "acd", "abcT", "acT"),
        ("abc", "aOc", "aTc", "aTc"),
        ("", "O", "T", "OT"),
        ("abc", "", "abcT", "abcT"),
    ],
)
def test_their_changes_come_to_ours(base: str, ours: str, theirs: str, merged: str) -> None:
    lines = [[f"{letter}\n" for letter in text] for text in (base, ours, theirs)]
    assert "".join(carried_over(*lines)) == "".join(f"{letter}\n" for letter in merged)


def test_a_last_line_without_an_ending_gets_one_where_lines_follow() -> None:
    assert carried_over(["a"], ["a"], ["a\n", "b"]) == ("a\n", "b")
