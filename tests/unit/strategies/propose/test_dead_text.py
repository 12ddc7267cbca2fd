"""Words that a skill could do without: found by their words alone, left to a person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import After
from registry.state.line import SkillLine
from strategies.propose.dead_text import doubts
from tests.worlds import skill_with

if TYPE_CHECKING:
    from registry.state.capsule import Capsule


def skill(*texts: str) -> Capsule:
    base = skill_with([])
    (gene,) = base.genes
    lines = tuple(SkillLine(place, f"{text}\n", 1, 1) for place, text in enumerate(texts, 1))
    return replace(base, genes=(replace(gene, lines=lines),))


@pytest.mark.parametrize(
    ("texts", "doubted"),
    [
        (("Read the file before you edit it.", "Always read the file before you edit it."), [2]),
        (("Read the file before you edit it.", "Run the tests after you edit it."), []),
        (("Be brief.", "Be brief."), []),
        (("# Read the file before you edit", "# Read the file before you edit"), []),
        (("```", "make all the tests run now", "make all the tests run now", "```"), []),
        (("Run scripts/check.py first.",), [1]),
        (("Run myscripts/check.py first.",), []),
    ],
)
def test_repeats_and_words_about_missing_files_are_doubted(texts: tuple[str, ...], doubted: list[int]) -> None:
    assert [doubt.line for doubt in doubts(skill(*texts))] == doubted


def test_protected_lines_are_never_doubted() -> None:
    capsule = skill("Run scripts/check.py first.")
    (gene,) = capsule.genes
    for guarded in (replace(gene, protected=frozenset({1})), replace(gene, protected_whole=True)):
        assert list(doubts(replace(capsule, genes=(guarded,)))) == []


def test_two_learned_lines_that_differ_in_one_word_ask_for_two_things() -> None:
    claims = [After(action=f"Bash:{name}", failing=True, avoid=f"Bash:{name}") for name in ("cat", "python3")]
    assert list(doubts(skill_with(claims))) == []
