"""Figures of the report: scores, differences, claims and verdicts as cells and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Score
from tui.figures import interval, share, signed
from tui.report.markup import element, joined
from tui.views.marks import VERDICTS, tone_of
from tui.views.tried import verdict_word

if TYPE_CHECKING:
    from events.candidate_events import CandidateScored
    from events.score import Delta, Effect, Measured
    from registry.candidate import Candidate
    from tui.report.markup import Markup

EVALUATOR_CHARS: Final = 8
"""How much of an evaluator's hash is shown, as everywhere else."""


def toned(text: str, tone: str) -> Markup:
    """Write a text in a tone: good, bad, warn, dim, strong."""
    return element("span", text, class_=tone or None)


def score_cell(measured: Measured | None) -> Markup:
    """Write a score with its interval, or why there is none."""
    if measured is None:
        return toned("–", "dim")
    if not isinstance(measured, Score):
        return element("span", "–", class_="dim", title=measured.reason)
    return joined((share(measured.value), " ", toned(interval(measured.low, measured.high), "dim")))


def delta_cell(delta: Delta | None) -> Markup:
    """Write a difference with its interval, toned by whether that leaves out zero."""
    if delta is None:
        return toned("–", "dim")
    text = f"{signed(delta.value)} {interval(delta.low, delta.high)}"
    return toned(text, tone_of(delta.low, delta.high))


def effect_cell(effect: Effect) -> Markup:
    """Write the risk difference of an effect with its interval."""
    text = f"{signed(effect.risk_difference, 2)} {interval(effect.low, effect.high, 2)}"
    return toned(text, tone_of(effect.low, effect.high))


def size_of(measured: Measured | None) -> str:
    """Say over how many episodes or runs a score goes."""
    if not isinstance(measured, Score):
        return "–"
    return f"{measured.n:,} {'runs' if measured.kind == 'rollout' else 'episodes'}"


def endpoint_of(measured: Measured | None) -> str:
    """Say by what a score judges."""
    return measured.endpoint if isinstance(measured, Score) else "–"


def evaluator_of(measured: Measured | None) -> str:
    """Name who measured: `replay 5ea1ed00`."""
    return f"{measured.kind} {measured.evaluator[:EVALUATOR_CHARS]}" if isinstance(measured, Score) else "–"


def verdict_mark(one: Candidate) -> Markup:
    """Say with a sign and in words what became of a candidate."""
    mark, tone = VERDICTS["reject" if one.reverted else one.verdict]
    return toned(f"{mark} {verdict_word(one)}", tone)


def score_words(scored: CandidateScored) -> Markup:
    """Write what was measured before and after in one line: `.442 → .459 Δ +.017 [.010, .019], 1,312 episodes`."""
    audit: Markup | None = None
    if isinstance(scored.audit_after, Score):
        audit = joined(("; audit ", _pair(scored.audit_before, scored.audit_after)))
    delta, size = delta_cell(scored.delta), size_of(scored.after)
    return joined((_pair(scored.before, scored.after), " Δ ", delta, f", {size}", audit))


def _pair(before: Measured, after: Measured) -> str:
    told = (share(one.value) if isinstance(one, Score) else "–" for one in (before, after))
    return " → ".join(told)
