"""Candidates: what was proposed, the table of verdicts, and behind each verdict its figures and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Score
from registry.provenance import endpoint_of as endpoint_note
from tui.cli.run_facts import run_facts
from tui.figures import count
from tui.report.anchors import candidate_at, signal_at, version_at
from tui.report.figures import (
    delta_cell,
    effect_cell,
    endpoint_of,
    evaluator_of,
    score_cell,
    size_of,
    verdict_mark,
)
from tui.report.markup import element, facts, joined, link, moment, row, table
from tui.views.claims import claim_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.candidate_events import CandidateScored
    from events.score import Effect
    from registry.candidate import Candidate
    from tui.report.markup import Markup
    from tui.report.reads import SkillTold

_HEADS: Final = ("verdict", "became", "change", "before", "after", "Δ", "audit Δ", "n", "endpoint", "evaluator")
_FIGURES: Final = ("", "before", "after", "Δ", "n", "endpoint", "evaluator")
_EFFECTS: Final = ("", "difference", "obeyed", "did not", "tasks", "p", "endpoint", "runs")


def candidates_of(told: SkillTold, known: frozenset[str]) -> Markup:
    """Write the table of all verdicts, then each candidate, what was promoted apart from what was not."""
    if not told.candidates:
        return element("p", "Nothing was proposed yet.", class_="dim")
    name = told.capsule.name
    live = [one for one in told.candidates if one.verdict == "promote"]
    others = [one for one in told.candidates if one.verdict != "promote"]
    left = told.candidates_total - len(told.candidates)
    rows = [_verdict_row(name, one, known) for one in told.candidates]
    return joined(
        (
            table(f"verdicts on {name}, newest first", _HEADS, rows),
            element("p", f"{count(left, 'older candidate')} left out.", class_="dim") if left else None,
            element("h4", "Promoted") if live else None,
            *(_card(told, one, known) for one in live),
            element("h4", "Rejected, held, not judged") if others else None,
            *(_card(told, one, known) for one in others),
        )
    )


def _verdict_row(skill: str, one: Candidate, known: frozenset[str]) -> Markup:
    scored = one.scored
    return row(
        link(candidate_at(skill, one.position), verdict_mark(one), known=known),
        link(version_at(skill, one.version), f"@{one.version}", known=known) if one.version else "–",
        one.proposed.strategy,
        score_cell(scored.before if scored else None),
        score_cell(scored.after if scored else None),
        delta_cell(scored.delta if scored else None),
        delta_cell(scored.audit_delta if scored else None),
        size_of(scored.after if scored else None),
        endpoint_of(scored.after if scored else None),
        evaluator_of(scored.after if scored else None),
    )


def _card(told: SkillTold, one: Candidate, known: frozenset[str]) -> Markup:
    """Write one candidate: what it says in the summary, everything else below."""
    skill, proposed = told.capsule.name, one.proposed
    lines = [text.strip() for text in proposed.new_lines if text.strip()]
    head = element(
        "summary",
        verdict_mark(one),
        element("span", f" {proposed.strategy} by {proposed.proposer}, event {one.position} ", class_="dim"),
        element("code", " / ".join(lines) or proposed.reason),
    )
    scored = one.scored
    return element(
        "details",
        head,
        facts(_facts(told, one, known)),
        *(_figures(skill, scored) if scored else ()),
        class_="card",
        id=candidate_at(skill, one.position),
    )


def _facts(told: SkillTold, one: Candidate, known: frozenset[str]) -> Iterator[tuple[str, Markup | str]]:
    skill, proposed = told.capsule.name, one.proposed
    yield "proposed", joined((moment(one.at), f", for @{proposed.base_version}, preset {proposed.preset}"))
    lines = [element("code", text.strip()) for text in proposed.new_lines if text.strip()]
    for at, text in enumerate(lines):
        yield ("" if at else "lines"), text
    for at, claim in enumerate(proposed.claims):
        yield ("" if at else "claim"), claim_text(claim)
    for at, claim in enumerate(proposed.removes):
        yield ("" if at else "removes"), claim_text(claim)
    yield "reason", proposed.reason
    for at, reason in enumerate(one.reasons):
        yield ("" if at else "verdict"), reason
    if one.reviewed:
        yield "review", f"a person chose to {one.reviewed.decision}: {one.reviewed.reason}"
    if one.looked_over:
        yield "later", f"a person {one.looked_over.decision}s: {one.looked_over.reason}"
    yield "endpoint", endpoint_note(one.scored)
    signal = next((s for s in told.signals if s.raised.event.fingerprint == proposed.fingerprint), None)
    if signal:
        event = signal.raised.event
        what = f"“{event.template or event.action}”, {event.count:,} times in {count(event.episodes, 'episode')}"
        yield "signal", link(signal_at(skill, signal.raised.position), what, known=known)
    if one.scored and one.scored.rollouts:
        yield from run_facts(one.scored.rollouts, one.scored.attributions)


def _figures(skill: str, scored: CandidateScored) -> Iterator[Markup]:
    """Write what was measured: scores of both splits, and what obeying the claims goes with."""
    if isinstance(scored.before, Score) or isinstance(scored.after, Score):
        pairs = (
            ("sealed", scored.before, scored.after, scored.delta),
            ("audit", scored.audit_before, scored.audit_after, scored.audit_delta),
        )
        rows = [
            row(split, score_cell(before), score_cell(after), delta_cell(delta), size_of(after),
                endpoint_of(after), evaluator_of(after))
            for split, before, after, delta in pairs
        ]  # fmt: skip
        yield table(f"scores of this candidate for {skill}, 95 % intervals", _FIGURES, rows)
    else:
        yield element("p", f"Not measured: {scored.after.reason}.", class_="warn")
    effects = [
        ("sealed", scored.effect),
        ("audit", scored.audit_effect),
        ("outcome", scored.outcome_effect),
    ]
    found = [_effect_row(name, effect) for name, effect in effects if effect]
    if found:
        yield table("what obeying its claims goes with, 95 % intervals", _EFFECTS, found)


def _effect_row(name: str, effect: Effect) -> Markup:
    arms = f"{effect.obeyed:,}", f"{effect.disobeyed:,}", f"{effect.tasks:,}", f"{effect.p:.2g}"
    return row(name, effect_cell(effect), *arms, effect.endpoint, _scope(effect.scope))


def _scope(scope: Sequence[str]) -> str:
    return ", ".join(scope) or "–"
