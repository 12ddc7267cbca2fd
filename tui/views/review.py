"""The Review screen as rows: what waits for a person, and all there is to say about one candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.figures import age, ago, count
from tui.views.claims import claim_text
from tui.views.diff import changes, diff_rows
from tui.views.evidence import evidence_summary
from tui.views.marks import VERDICTS
from tui.views.rows import BLANK, LABEL_WIDTH, Part, cell, clean, cut_row, labelled, width_of, wrap
from tui.views.scores import before_and_after, effect_ground, effect_row
from tui.views.signals import signal_name
from tui.views.tried import effect_part, verdict_word

if TYPE_CHECKING:
    from strategies.gate.rules import Rule
    from tui.cli.proposed import Page
    from tui.review_reads import ReviewLine
    from tui.views.rows import Row, Tone

_CONTEXT: Final = 2
_SKILL: Final = 17
_WIDE_SKILL: Final = 28
_ROOMY: Final = 100
_RULE: Final = 16
"""As wide as the longest rule is named, "untrusted text", and a gap."""

_ASKED: Final[dict[str, tuple[str, str, Tone]]] = {
    "waits": ("·", "approve?", "warn"),
    "drawn": ("◆", "agree?", "accent"),
    "seen": ("✓", "seen", "dim"),
}


def review_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    titles = (
        cell("   asks", 13, "dim"),
        cell("skill", _skill_width(width), "dim"),
        cell("change", 9, "dim"),
        cell("effect", 19, "dim"),
        cell("age", 4, "dim", right=True),
        Part("  what it says", "dim"),
    )
    return [cut_row(titles, width)]


def _skill_width(width: int) -> int:
    return _WIDE_SKILL if width >= _ROOMY else _SKILL


def review_row(line: ReviewLine, width: int, now: str) -> Row:
    """Write one candidate in one row."""
    one, proposed = line.candidate, line.candidate.proposed
    mark, asks, tone = _ASKED[line.standing]
    if one.looked_over:
        asks = f"{one.looked_over.decision}s"
    version = f"@{one.version or proposed.base_version}"
    figures = effect_part(one) or Part("not measured", "dim")
    text = " / ".join(clean(text).strip() for text in proposed.new_lines if text.strip()) or clean(proposed.reason)
    return cut_row(
        (
            Part(f" {mark} ", tone),
            cell(asks, 10, tone),
            cell(
                f"{clean(proposed.capsule)}{version}",
                _skill_width(width),
                "strong" if line.standing != "seen" else "dim",
            ),
            cell(proposed.strategy, 9),
            cell(figures.text, 19, figures.tone),
            cell(age(one.at, now), 4, "dim", right=True),
            Part(f"  {text}"),
        ),
        width,
    )


def candidate_rows(line: ReviewLine, page: Page, width: int, now: str) -> list[Row]:
    """Tell all about one candidate: what it would change, why, its figures, and rule by rule how it fell."""
    width -= 2
    rows = [*_asked(line, page, width, now), *_proposal(page, width), *_figures(page, width)]
    for path, diff in page.files:
        head = (Part(f"{clean(path)}  ", "strong"), Part(f"{changes(diff)}", "dim"))
        rows += [BLANK, head, *diff_rows(diff, width, context=_CONTEXT)]
    rows += [BLANK, *_gate(page, width), BLANK, *evidence_summary(page, page.there, width)]
    return [(Part(" "), *cut_row(row, width)) if row else BLANK for row in rows]


def _asked(line: ReviewLine, page: Page, width: int, now: str) -> list[Row]:
    """Say what a person is asked here, and by whom it was decided so far."""
    one = line.candidate
    skill = clean(one.proposed.capsule)
    if line.standing == "waits":
        mark, tone = VERDICTS[one.verdict]
        question = f"may {skill}@{page.live_version} become this?"
        rows = labelled("asks", (Part(question, "strong"),), width, limit=2)
        reasons = clean("; ".join(one.reasons)) or "nobody judged it yet"
        rows += labelled("so far", (Part(f"{mark} {verdict_word(one)}  ", tone), Part(reasons)), width, limit=3)
        if page.stale:
            stale = f"{skill} moved on since it was measured: germline evolve {skill} --review"
            rows += labelled("stale", (Part(stale, "warn"),), width, limit=2)
        return rows
    said = one.looked_over
    if said:
        told = f"a person {said.decision}s: {clean(said.reason)}"
        return labelled("asks", (Part(told, "strong"),), width, limit=2)
    question = f"the gate made this {skill}@{one.version} by itself: do you agree?"
    drawn = f"made {ago(one.at, now)}, and drawn at random; whatever you say, the version stays"
    return [
        *labelled("asks", (Part(question, "strong"),), width, limit=2),
        *labelled("", (Part(drawn, "dim"),), width),
    ]


def _proposal(page: Page, width: int) -> list[Row]:
    one, proposed = page.candidate, page.candidate.proposed
    who = (
        f"{proposed.strategy} by {clean(proposed.proposer)}, preset {clean(proposed.preset)}, event {one.position}"
    )
    rows = labelled("what", (Part(who), Part(f"   {one.id[:12]}", "dim")), width)
    if page.signal:
        signal = page.signal.event
        figures = f" {signal.count:,}× in {count(signal.episodes, 'episode')}"
        rows += labelled("signal", (Part(f'"{signal_name(signal)}"', "warn"), Part(figures)), width, limit=2)
    known = page.signal.event.template if page.signal else ""
    for at, claim in enumerate(proposed.claims):
        rows += labelled("" if at else "claim", (Part(claim_text(claim, known=known)),), width, limit=3)
    for at, claim in enumerate(proposed.removes):
        rows += labelled("" if at else "removes", (Part(claim_text(claim, known=known)),), width, limit=3)
    if not proposed.claims and not proposed.removes:
        rows += labelled("claim", (Part("none: nothing that logs could refute", "warn"),), width)
    return rows + labelled("reason", (Part(clean(proposed.reason)),), width, limit=3)


def _figures(page: Page, width: int) -> list[Row]:
    scored = page.candidate.scored
    if scored is None:
        return labelled("score", (Part("not measured yet", "dim"),), width)
    rows: list[Row] = []
    if scored.effect:
        rows += labelled("effect", effect_row(scored.effect), width)
        rows += labelled("", effect_ground(scored.effect), width, limit=2)
    for at, row in enumerate(before_and_after(scored.before, scored.after, scored.delta, width - LABEL_WIDTH)):
        rows += labelled("" if at else "sealed", row, width, limit=2)
    return rows


def _gate(page: Page, width: int) -> list[Row]:
    """Write one rule a row: whether it holds, its figure, and what it asks for."""
    if page.misfit:
        return labelled("misfit", (Part(clean(page.misfit), "bad"),), width, limit=3)
    rows: list[Row] = []
    for step in page.explanation.steps:
        for row in _step(step, width - LABEL_WIDTH):
            rows += labelled("" if rows else "gate", row, width, limit=2)
    return rows


def _step(step: Rule, width: int) -> list[Row]:
    """Write what a rule found, and what it asks for: beside it, or below it where there is no room."""
    mark, tone = VERDICTS["promote" if step.holds else step.otherwise]
    found: Row = (Part(f"{mark} ", tone), cell(step.name, _RULE), Part(clean(step.figure)))
    asks = f"asks: {clean(step.asks)}"
    beside: Row = (*found, Part(f"   {asks}", "dim"))
    if width_of(beside) <= width:
        return [beside]
    indent = Part(" " * (_RULE + 2))
    return [found, *((indent, *row) for row in wrap((Part(asks, "dim"),), width - _RULE - 2))]
