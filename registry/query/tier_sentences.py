"""What the tier of a line means, in one plain sentence with its own figures: the same wherever a line is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.score import Effect

if TYPE_CHECKING:
    from events.types.score import Confounding
    from events.types.tiers import ProvenFigures, SeenFigures, SupportedFigures, TierFigures
    from registry.state.candidate import Candidate
    from registry.state.tiers import LineTier

_LEAST_STATED: Final = 0.05
"""The bound from which it says anything."""


def tier_sentence(figures: TierFigures) -> str:
    """Say what happened and how sure that is."""
    match figures.tier:
        case "seen":
            return _seen(figures)
        case "supported":
            return _supported(figures)
        case "proven":
            return _proven(figures)


def line_sentence(tier: LineTier, candidate: Candidate | None) -> str:
    """Say what speaks for a line of a skill, or that nothing does; "" for a line that states nothing."""
    if candidate is not None and candidate.tier is not None:
        return tier_sentence(candidate.tier)
    if candidate is not None and candidate.fell and candidate.tier_change is not None:
        return f"Nothing speaks for this line any more: {candidate.tier_change.reason}."
    if tier == "imported":
        return "This line was there when the skill was imported; no log was asked about it."
    return "This line is there on a person's word; no log speaks for it." if tier == "by hand" else ""


def draft_sentence(candidate: Candidate) -> str:
    """Say what speaks for a candidate that a person looks at, or what was measured that does not suffice."""
    if candidate.tier is not None or candidate.fell:
        return line_sentence("none", candidate)
    effect = candidate.scored.effect if candidate.scored else None
    if effect is None or effect.endpoint != "outcome":
        return ""
    sessions = effect.obeyed + effect.disobeyed
    return f"Not shown: agents that did this succeeded {_points(effect)}, in {sessions:,} sessions."


def _seen(figures: SeenFigures) -> str:
    if not figures.tried:
        return "It worked here, an earlier germline did not count how often; nothing was compared."
    times = f"It worked {figures.worked:,} of {figures.tried:,} times here"
    if figures.low < _LEAST_STATED:
        return f"{times}, too few to say how likely it is to work; nothing was compared."
    return f"{times}, so its chance to work is at least {figures.low:.0%}; nothing was compared."


def _supported(figures: SupportedFigures) -> str:
    alone = (
        " By themselves these could be chance; with the sessions it was learned from they hardly are."
        if figures.low <= 0
        else ""
    )
    times = figures.times_as_strong
    unseen = f" But {unseen_words(times)}." if times else ""
    return (
        f"Agents that did this succeeded {_points(figures)}, in {figures.episodes:,} sessions that the proposer "
        f"never saw.{alone}{unseen}"
    )


def _proven(figures: ProvenFigures) -> str:
    if figures.by == "trial":
        return (
            f"Sessions that were given this line by a coin succeeded {_points(figures)}, "
            f"in {figures.sessions:,} sessions."
        )
    return (
        f"An agent that was run with this line succeeded {_points(figures)} than without it, "
        f"in {figures.sessions:,} pairs of runs."
    )


def unseen_words(times_as_strong: float) -> str:
    """Say how strong something unseen would have to be to explain an effect."""
    return (
        f"something unseen, {times_as_strong:.1f} times as strong as all that was seen before the decision, could "
        "still explain it"
    )


def alike_words(cause: Confounding) -> str:
    """Say what decisions that are compared have in common."""
    return f"of the same {'task, run' if cause.same_task else 'run'} and turn that saw the same before"


def _points(figures: SupportedFigures | ProvenFigures | Effect) -> str:
    difference = figures.risk_difference if isinstance(figures, Effect) else figures.difference
    return points_words(difference, figures.low, figures.high)


def points_words(difference: float, low: float, high: float) -> str:
    """Write a difference as points of a hundred: "44 points more often (34 to 55)"."""
    value, *ends = (round(100 * min(max(bound, -1.0), 1.0)) for bound in (difference, low, high))
    bounds = " to ".join(map(str, ends)).replace("-", "−")
    return f"{abs(value)} points {'more' if value >= 0 else 'less'} often ({bounds})"
