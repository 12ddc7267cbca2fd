"""The cheap checks on a candidate's text before anything is measured: what refuses it, what a person must see."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.errors import EditError, NotFoundError
from registry.hidden import hidden_characters
from registry.promote import edited
from registry.redaction import redact
from registry.rendering import skill_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.parts import Edit
    from registry.capsule import Capsule

TRUST_REGION_FLOOR: Final = 800
"""Characters that may always change: a one-paragraph skill must be able to grow (replay_and_gate.md)."""
SIZE_WARNINGS_TOKENS: Final = (2_000, 5_000)
"""Sizes to warn at (replay_and_gate.md, Lint)."""
CHARACTERS_PER_TOKEN: Final = 4
"""A rule of thumb for English prose (a guess)."""
LEAST_WORDS: Final = 3
"""Words from which a repeated line is a repeated statement, and no bracket or fence (a guess)."""

_INVERSION: Final = re.compile(
    r"\b(?:do not|don't|never|ignore|disregard|forget)\b.{0,40}\b(?:any|all|every|everything|none)\b"
    r".{0,40}\b(?:following|above|below|previous|preceding|these|those|instructions?|rules?|steps?)\b",
    re.IGNORECASE,
)
_INSTRUCTING: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://|\|\s*(?:ba|z)?sh\b|\b(?:curl|wget)\s|[A-Za-z0-9+/]{60,}={0,2}", re.IGNORECASE
)


@dataclass(frozen=True)
class Finding:
    """One thing that lint noticed: `refuse` ends the candidate, `review` asks a person, `warn` only tells."""

    severity: Literal["refuse", "review", "warn"]
    what: str


@dataclass(frozen=True)
class Limits:
    """What a preset allows one candidate: a number of edits, and a share of the base's characters."""

    edits: int
    trust_region: float


def lint(
    capsule: Capsule, edits: Sequence[Edit], limits: Limits, *, unclaimed: Sequence[str] = ()
) -> list[Finding]:
    """Check a candidate's edits against its base, without running anything.

    Shapes: `unclaimed` are the new lines that no claim covers.
    """
    try:
        after = edited(capsule, tuple(edits))
    except (EditError, NotFoundError) as refusal:
        return [Finding("refuse", refusal.message)]
    base, text = skill_text(capsule), skill_text(after)
    new_lines = [line for edit in edits for line in edit.text if line.strip()]
    return [
        *_too_much(base, capsule, edits, limits),
        *_bad_lines(base, text, new_lines),
        *_inversions(new_lines),
        *(Finding("review", f"no claim covers {line.strip()!r}") for line in unclaimed if line.strip()),
        *_size(base, text),
    ]


def changed_characters(capsule: Capsule, edits: Sequence[Edit]) -> int:
    """Count the characters that edits change: the larger of what each takes away and what it brings."""
    texts = {(gene.id, line.id): line.text for gene in capsule.genes for line in gene.lines}
    changed = 0
    for edit in edits:
        replaced = edit.target if edit.op in {"replace", "delete"} else ()
        taken = sum(len(texts[edit.gene, line]) for line in replaced)
        changed += max(taken, sum(map(len, edit.text)))
    return changed


def _too_much(base: str, capsule: Capsule, edits: Sequence[Edit], limits: Limits) -> Iterator[Finding]:
    if len(edits) > limits.edits:
        yield Finding("refuse", f"{len(edits)} edits, the preset allows {limits.edits}")
    changed = changed_characters(capsule, edits)
    allowed = max(int(limits.trust_region * len(base)), TRUST_REGION_FLOOR)
    if changed > allowed:
        yield Finding("refuse", f"{changed} characters change, the trust region allows {allowed}")


def _bad_lines(base: str, text: str, new_lines: Sequence[str]) -> Iterator[Finding]:
    for line in new_lines:
        shown = line.strip()[:80]
        if hidden := hidden_characters(line):
            yield Finding("refuse", f"hidden characters {', '.join(one.name for one in hidden[:5])} in {shown!r}")
        if redact(line)[1]:
            yield Finding("refuse", "a new line holds what looks like a secret")
    before, after = _counted(base), _counted(text)
    for line, count in (after - before).items():
        if after[line] > 1 and len(line.split()) >= LEAST_WORDS:
            yield Finding("refuse", f"the line would stand there {before[line] + count} times: {line[:80]!r}")


def _inversions(new_lines: Sequence[str]) -> Iterator[Finding]:
    for line in new_lines:
        if _INVERSION.search(line):
            yield Finding("review", f"negates a whole scope: {line.strip()[:80]!r}")
        if _INSTRUCTING.search(line):
            yield Finding("review", f"carries an address, a pipeline or encoded text: {line.strip()[:80]!r}")


def _size(base: str, text: str) -> Iterator[Finding]:
    for tokens in SIZE_WARNINGS_TOKENS:
        if len(base) < tokens * CHARACTERS_PER_TOKEN <= len(text):
            yield Finding("warn", f"the skill grows past {tokens} tokens")


def _counted(text: str) -> Counter[str]:
    """Count the lines of a text, without regard to case and spacing."""
    return Counter(" ".join(line.split()).casefold() for line in text.splitlines())
