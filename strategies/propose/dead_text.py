"""Lines that a skill could do without, as far as their words tell: for a person to look at, never for the gate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.state.line_claims import claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from registry.state.line import SkillLine

ALIKE: Final = 0.8
"""The share of common words from which two lines say the same (Jaccard; a guess)."""
LEAST_WORDS: Final = 5
"""Words below which lines are alike by accident (a guess)."""

_WORD: Final = re.compile(r"\w[\w'./-]*\w|\w")
_PATH: Final = re.compile(r"(?<![\w./-])(?:scripts|references|assets)/[\w./-]*\w")


class Doubt(NamedTuple):
    """A line that may be superfluous, and why."""

    gene: str
    line: int
    why: str


def doubts(capsule: Capsule) -> Iterator[Doubt]:
    """Find lines that repeat an earlier one in nearly the same words, or speak of a file the skill does not have.

    Of two alike the later one is doubted. Protected lines and headings are left alone, and so is what carries a
    claim: that is a question of figures, and two claims that differ in one word ask for two things.
    """
    files = {file.entry.path for file in capsule.files}
    earlier: list[frozenset[str]] = []
    for gene in capsule.genes:
        for line in _free_lines(gene):
            words = frozenset(_WORD.findall(line.text.casefold()))
            alike = len(words) >= LEAST_WORDS and any(_alike(words, other) for other in earlier)
            earlier.append(words)
            gone = [path for path in _PATH.findall(line.text) if not _is_there(path, files)]
            if claims_of(gene, line):
                continue
            if alike:
                yield Doubt(gene.id, line.id, f"nearly repeats an earlier line: {line.text.strip()[:80]!r}")
            elif gone:
                yield Doubt(gene.id, line.id, f"speaks of {gone[0]}, which the skill does not have")


def _free_lines(gene: Gene) -> Iterator[SkillLine]:
    """Yield the lines of prose that nobody protects; fenced code is no prose."""
    fenced = False
    for line in gene.lines:
        text = line.text.strip()
        fence = text.startswith(("```", "~~~"))
        fenced = fenced != fence
        if gene.is_open(line.id) and text and not fenced and not fence and not text.startswith("#"):
            yield line


def _alike(words: frozenset[str], other: frozenset[str]) -> bool:
    return len(words & other) >= ALIKE * len(words | other)


def _is_there(path: str, files: set[str]) -> bool:
    return path in files or any(file.startswith(f"{path}/") for file in files)
