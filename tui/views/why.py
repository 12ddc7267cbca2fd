"""The Why screen as rows: the blame of every line, and everything about the one the cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Unmeasured
from registry.provenance import actor_of, endpoint_of
from tui.cli.words import further_reasons
from tui.figures import ago, count
from tui.views.claims import claim_text
from tui.views.evidence import evidence_summary
from tui.views.marks import UNPROVEN, VERDICTS, minute
from tui.views.rows import (
    BLANK,
    LABEL_WIDTH,
    Part,
    beside,
    clean,
    cut_row,
    labelled,
)
from tui.views.scores import before_and_after, effect_ground, effect_row, score_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.candidate import Candidate
    from registry.provenance import Why
    from tui.views.rows import Row

_TWO_COLUMNS: Final = 130


def why_rows(why: Why, there: Sequence[bool] | None, width: int, now: str) -> list[Row]:
    """Tell everything about one line; `there` says which evidence still is where it was, None while unknown."""
    width -= 1
    if width >= _TWO_COLUMNS:
        half = (width - 3) // 2
        rows = beside(_origin(why, half, now), _figures(why, half), left_width=half)
    else:
        rows = [*_origin(why, width, now), *_figures(why, width)]
    rows += [*_earlier(why, width), *_tried(why, width), *evidence_summary(why, there, width)]
    return [(Part(" "), *cut_row(row, width)) if row else BLANK for row in rows]


def _origin(why: Why, width: int, now: str) -> list[Row]:
    origin, row = why.origin, why.row
    text = (Part(clean(why.line.text).strip() or "(an empty line)", "strong"),)
    rows = labelled(f"line {why.line.number}", text, width, limit=3)
    if why.candidate:
        proposed = why.candidate.proposed
        who = f"{proposed.strategy}, by preset {clean(proposed.preset)}; {clean(actor_of(origin))}"
    else:
        who = f"{clean(row.summary)}, {clean(actor_of(origin))}"
    rows += labelled("why", (Part(who),), width, limit=2)
    if why.asked:
        asked = why.asked.event
        tokens = asked.usage.total if asked.usage else asked.most_tokens
        cost = "price unknown" if asked.cost_usd is None else f"{asked.cost_usd:.4f} USD"
        told = f", prompt {asked.prompt_hash[:12]}, {count(tokens, 'token')}, {cost}"
        rows += labelled("model", (Part(clean(asked.model)), Part(told, "dim")), width, limit=2)
    rows += labelled(
        "when",
        (
            Part(f"{ago(origin.at, now)}, "),
            Part(f"version {row.version}, event {origin.position}"),
            Part(f", {minute(origin.at)}", "dim"),
        ),
        width,
    )
    if why.signal:
        signal = why.signal.event
        figures = (
            f" {signal.count:,} times in {count(signal.episodes, 'episode')} of {count(len(signal.runs), 'run')}"
        )
        what = Part(f'"{clean(signal.template or signal.action)}"', "warn")
        rows += labelled("signal", (what, Part(figures)), width, limit=3)
    if why.claim:
        known = why.signal.event.template if why.signal else ""
        rows += labelled("claim", (Part(claim_text(why.claim, known=known)),), width, limit=3)
    return rows


def _figures(why: Why, width: int) -> list[Row]:
    scored = why.candidate.scored if why.candidate else None
    if why.candidate is None or scored is None:
        reason = (
            why.row.after.reason if isinstance(why.row.after, Unmeasured) else "this line came without a claim"
        )
        return labelled("unproven", (UNPROVEN, Part(f" {clean(reason)}", "dim")), width)
    rows: list[Row] = []
    if endpoint := endpoint_of(scored):
        rows += labelled("endpoint", (Part(clean(endpoint), "warn"),), width, limit=2)
    if scored.effect:
        rows += labelled("effect", effect_row(scored.effect), width)
        rows += labelled("", effect_ground(scored.effect), width, limit=2)
    for at, row in enumerate(before_and_after(scored.before, scored.after, scored.delta, width - LABEL_WIDTH)):
        rows += labelled("" if at else "sealed", row, width, limit=2)
    rows += labelled("audit", score_pair(scored.audit_before, scored.audit_after, scored.audit_delta), width)
    rows += labelled("verdict", _verdict(why.candidate), width, limit=4)
    return rows


def _verdict(candidate: Candidate) -> Row:
    mark, tone = VERDICTS[candidate.verdict]
    taken_back = " (taken back since)" if candidate.reverted else ""
    reasons = clean("; ".join(further_reasons(candidate.reasons) or candidate.reasons))
    return Part(f"{mark} {candidate.verdict or 'not judged'}{taken_back}", tone), Part(f"  {reasons}", "dim")


def _earlier(why: Why, width: int) -> list[Row]:
    if not why.line.id:
        return []
    if not why.previous:
        before = why.row.version - 1
        none = f"no such line in version {before}" if before else "it is there from the first version on"
        return labelled("before", (Part(none, "dim"),), width)
    earlier = why.previous[0]
    said = (
        Part(clean(earlier.text), "removed"),
        Part(f"   version {earlier.version}, event {earlier.event}", "dim"),
    )
    return labelled("before", said, width, limit=2)


def _tried(why: Why, width: int) -> list[Row]:
    rows: list[Row] = []
    for other in why.tried:
        mark, tone = VERDICTS[other.verdict]
        what = "; ".join(clean(text) for text in other.proposed.new_lines if text.strip())
        reason = f"  {clean(other.reasons[0])}" if other.reasons else ""
        said = Part(f"{mark} ", tone), Part(what), Part(f"{reason}, event {other.judged or other.position}", "dim")
        rows += labelled("" if rows else "tried", said, width, limit=2)
    return rows
