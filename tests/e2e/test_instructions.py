"""Instruction files through the real command: imported, explained, evolved, taken back, edited by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.terminal import SPLIT_KEY, Beginning, Terminal, recordings

if TYPE_CHECKING:
    from pathlib import Path

RULES = 396
LONG = "".join(
    ["# Shop\n", "\n", "## Data\n", "\n", *(f"- Rule {at} of the shop.\n" for at in range(RULES))]
).encode()
"""A CLAUDE.md of 400 lines."""


@pytest.fixture(scope="module")
def evolved_once(own_folder: Path) -> Beginning:
    germline = Terminal(own_folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("CLAUDE.md", LONG)
    germline.does("import", "CLAUDE.md")
    germline.does("evolve", "CLAUDE.md", "--logs", str(recordings()), "--seed", "7")
    return Beginning(germline)


@pytest.fixture
def evolved(evolved_once: Beginning) -> Terminal:
    return evolved_once.again()


def test_evolve_adds_one_line_and_revert_brings_back_the_bytes(evolved: Terminal) -> None:
    print(evolved.does("diff","CLAUDE.md").out)
    print(evolved.does("why","CLAUDE.md:401").out)
    print(evolved.does("why","CLAUDE.md:12").out)
    print(evolved.does("status").out)
    print(evolved.does("log", "CLAUDE.md").out)
    print((evolved.folder/"CLAUDE.md").read_bytes()[-300:])
    print(evolved.does("revert", "CLAUDE.md", "1", "--reason", "x").out)
    assert (evolved.folder/"CLAUDE.md").read_bytes() == LONG
