"""Edits are cut into statements, any of which can go on its own."""

from __future__ import annotations

from itertools import combinations

import pytest

from events.types.parts import Edit
from registry.state.edits import apply_edits
from registry.state.line import first_lines
from strategies.gate.line_edits import line_edits, statements

LINES = first_lines(("One.\n", "Two.\n", "Three.\n"), origin=1, version=1)


def text(*edits: Edit) -> list[str]:
    after, _ = apply_edits(LINES, edits, next_line=9, origin=2, version=2)
    return [line.text for line in after]


@pytest.mark.parametrize(
    "edit",
    [
        Edit(op="append", gene="g", text=("- a\n", "- b\n", "\n", "- c\n")),
        Edit(op="insert_after", gene="g", target=(2,), text=("- a\n", "- b\n", "  more of b\n", "- c\n")),
        Edit(op="replace", gene="g", target=(1, 2), text=("Uno.\n", "Dos.\n")),
        Edit(op="replace", gene="g", target=(2,), text=("Two.\n", "And more.\n")),
        Edit(op="delete", gene="g", target=(1, 2)),
    ],
)
def test_the_parts_of_an_edit_together_are_the_edit_and_any_of_them_fit_alone(edit: Edit) -> None:
    parts = line_edits(edit)
    assert text(*parts) == text(edit)
    for size in range(1, len(parts)):
        for some in combinations(parts, size):
            text(*some)


def test_without_one_part_only_its_statement_is_missing() -> None:
    edit = Edit(op="insert_after", gene="g", target=(2,), text=("- a\n", "- b\n", "- c\n"))
    without_b = [part for part in line_edits(edit) if part.text != ("- b\n",)]
    assert text(*without_b) == ["One.\n", "Two.\n", "- a\n", "- c\n", "Three.\n"]


@pytest.mark.parametrize(
    ("lines", "sizes"),
    [
        (("- a\n", "- b\n"), [1, 1]),
        (("- a\n", "  goes on\n", "- b\n"), [2, 1]),
        (("Quote the column\n", "names that hold spaces.\n", "Then run it.\n"), [2, 1]),
        (("```sh\n", "one\n", "\n", "two\n", "```\n", "After it.\n"), [5, 1]),
        (("| a | b |\n", "|---|---|\n", "| 1 | 2 |\n"), [3]),
        (("\n", "## Heading\n", "\n", "- a\n", "- b\n"), [4, 1]),
        (("- a\n", "\n"), [2]),
    ],
)
def test_a_statement_is_a_line_with_what_belongs_to_it(lines: tuple[str, ...], sizes: list[int]) -> None:
    assert [len(part) for part in statements(lines)] == sizes
