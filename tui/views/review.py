"""The Review screen as rows: what waits for a person, and all there is to say about one candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.facts.candidates import candidate_facts, figure_part, proposed_text, support_facts, verdict_facts
from tui.facts.fact import fact
from tui.text.durations import age, ago
from tui.text.names import SHOWN_CHARS
from tui.text.rows import (
    BLANK,
    LABEL_WIDTH,
    RowPart,
    cell,
    clean,
    cut,
    cut_row,
    indented,
    labelled,
    width_of,
    wrap,
)
from tui.text.words import VERDICTS
from tui.views.diff import changes, diff_rows
from tui.views.evidence import evidence_summary
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from strategies.gate.rule import Rule
    from tui.reads.review import CandidatePage, ReviewLine
    from tui.text.rows import Row, Tone

_CONTEXT: Final = 2
_SKILL: Final = 17
_WIDE_SKILL: Final = 28
_ROOMY: Final = 100
_RULE: Final = 16
"""As wide as the longest rule is named, "untrusted text", and a gap."""

_ASKED: Final[dict[str, tuple[str, str, Tone]]] = {
    "waits": ("·", "approve?", "warn"),
    "drawn": ("◆", "agree?", "accent"),
    "answered": ("✓", "answered", "dim"),
}


def review_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    titles = (
        cell("   asks", 13, "dim"),
        cell("skill", _skill_width(width), "dim"),
        cell("change", 9, "dim"),
        cell("effect", 19, "dim"),
        cell("age", 4, "dim", right=True),
        RowPart("  what it says", "dim"),
    )
    return [cut_row(titles, width)]


def _skill_width(width: int) -> int:
    return _WIDE_SKILL if width >= _ROOMY else _SKILL


def review_row(line: ReviewLine, width: int, now: str) -> Row:
    """Write one candidate in one row."""
    candidate, proposed = line.candidate, line.candidate.proposed
    mark, asks, tone = _ASKED[line.standing]
    if line.standing == "waits" and candidate.tier:
        asks = f"{candidate.tier.tier}?"
    if candidate.looked_over:
        asks = f"{candidate.looked_over.decision}s"
    version = f"@{candidate.version or proposed.base_version}"
    figures = figure_part(candidate) or RowPart("not measured", "dim")
    text = clean(proposed_text(proposed) or proposed.reason)
    return cut_row(
        (
            RowPart(f" {mark} ", tone),
            cell(asks, 10, tone),
            cell(
                cut(f"{clean(proposed.capsule)}{version}", _skill_width(width) - 1),
                _skill_width(width),
                "strong" if line.standing != "answered" else "dim",
            ),
            cell(proposed.strategy, 9),
            cell(figures.text, 19, figures.tone),
            cell(age(candidate.at, now), 4, "dim", right=True),
            RowPart(f"  {text}"),
        ),
        width,
    )


def candidate_rows(line: ReviewLine, page: CandidatePage, width: int, now: str) -> list[Row]:
    """Tell all about one candidate: what it would change, then why, its figures, and rule by rule how it fell."""
    width -= 2
    rows = [*fact_rows(support_facts(page.candidate), width), *_asked(line, page, width, now)]
    for path, diff in page.files:
        head = (RowPart(f"{clean(path)}  ", "strong"), RowPart(f"{changes(diff)}", "dim"))
        rows += [BLANK, head, *diff_rows(diff, width, context=_CONTEXT)]
    rows += [BLANK, *fact_rows(candidate_facts(page, now), width)]
    rows += labelled("id", (RowPart(page.candidate.id[:SHOWN_CHARS], "dim"),), width)
    rows += [BLANK, *_gate(page, width), BLANK, *evidence_summary(page, page.there, width)]
    return indented(rows, width)


def _asked(line: ReviewLine, page: CandidatePage, width: int, now: str) -> list[Row]:
    """Say what a person is asked here, and by whom it was decided so far."""
    candidate = line.candidate
    skill = clean(candidate.proposed.capsule)
    if line.standing == "waits":
        question = f"may {skill}@{page.live_version} become this?"
        if candidate.proposed.skill is not None:
            question = f"may this become the skill {skill}?"
        rows = labelled("asks", (RowPart(question, "strong"),), width, limit=2)
        rows += fact_rows(
            verdict_facts(candidate) if candidate.verdict else [fact("verdict", "nobody judged it yet")], width
        )
        if page.stale:
            stale = f"{skill} moved on since it was measured: germline evolve {skill} --review"
            rows += labelled("stale", (RowPart(stale, "warn"),), width, limit=2)
        return rows
    look = candidate.looked_over
    if look:
        answer = f"a person {look.decision}s: {clean(look.reason)}"
        return labelled("asks", (RowPart(answer, "strong"),), width, limit=2)
    question = f"the gate made this {skill}@{candidate.version} by itself: do you agree?"
    drawn = f"made {ago(candidate.at, now)}, and drawn at random; whatever you say, the version stays"
    return [
        *labelled("asks", (RowPart(question, "strong"),), width, limit=2),
        *labelled("", (RowPart(drawn, "dim"),), width),
    ]


def _gate(page: CandidatePage, width: int) -> list[Row]:
    """Write one rule a row: whether it holds, its figure, and what it asks for."""
    if page.misfit:
        return labelled("misfit", (RowPart(clean(page.misfit), "bad"),), width, limit=3)
    rows: list[Row] = []
    for step in page.explanation.steps:
        for row in _step(step, width - LABEL_WIDTH):
            rows += labelled("" if rows else "gate", row, width, limit=2)
    return rows


def _step(step: Rule, width: int) -> list[Row]:
    """Write what a rule found, and what it asks for: beside it, or below it where there is no room."""
    mark, tone = VERDICTS["promote" if step.holds else step.otherwise]
    step_row: Row = (RowPart(f"{mark} ", tone), cell(step.name, _RULE), RowPart(clean(step.figure)))
    asks = f"asks: {clean(step.asks)}"
    beside: Row = (*step_row, RowPart(f"   {asks}", "dim"))
    if width_of(beside) <= width:
        return [beside]
    indent = RowPart(" " * (_RULE + 2))
    return [step_row, *((indent, *row) for row in wrap((RowPart(asks, "dim"),), width - _RULE - 2))]
