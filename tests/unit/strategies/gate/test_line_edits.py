"""Edits are cut into statements, any of which can go on its own."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from events.types.claims import StartWith
from events.types.parts import Edit
from registry.state.edits import apply_edits
from registry.state.line import first_lines
from registry.state.line_claims import claims_by_edit
from strategies.gate.line_edits import cut_into_lines, line_edits, statements
from tests.registries import NAME, imported, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

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


def test_each_claim_goes_with_its_line_where_an_insert_is_cut(registry: Registry, tmp_path: Path) -> None:
    edit = Edit(op="insert_after", gene="g", target=(2,), text=("- a\n", "- b\n", "- c\n"))
    claims = tuple(StartWith(do=name) for name in "abc")
    imported(registry, tmp_path)
    capsule = registry.capsule(NAME)
    cut = cut_into_lines(proposal(capsule, edit, claims=claims))
    of_line = dict(zip((part.text for part in cut.edits), claims_by_edit(cut.edits, cut.claims), strict=True))
    assert of_line == {(f"- {claim.do}\n",): (claim,) for claim in claims}
    several = cut_into_lines(proposal(capsule, edit, claims=claims[:2]))
    assert several.claims == claims[:2]


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
