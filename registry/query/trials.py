"""Trials of skills: which one runs, and what those before it showed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.tier_sentences import points_words
from registry.state.trial import SkillTrial, fold_trials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.trial_events import TrialFactor, TrialFigures, TrialOutcome
    from registry.query.library import Library


class TrialFinding(NamedTuple):
    """What a trial shows of one of its factors; `result` is None before the first look."""

    trial: SkillTrial
    factor: TrialFactor
    result: TrialFigures | None


_DID: Final = {
    "outcome": "succeeded",
    "recovered": "recovered",
    "corrections": "went without a correction",
    "errors": "had calls that worked",
}


def shown_by(result: TrialFigures | None, outcome: TrialOutcome) -> str:
    """Say in one plain sentence what a trial shows of a line."""
    if result is None or result.difference is None:
        return "no session is counted yet, with this line or without it"
    points = points_words(result.difference, result.low, result.high)
    return (
        f"sessions that were given this line by a coin {_DID[outcome]} {points}, "
        f"{result.given.sessions + result.denied.sessions:,} sessions"
    )


def trials_of(library: Library, skill: str) -> list[SkillTrial]:
    """List the trials of a skill, in the order they began."""
    places = [document.seq for document in library.log.documents("trial", skill)]
    return fold_trials(library.log.at(places)) if places else []


def running_trial(library: Library, skill: str) -> SkillTrial | None:
    """Give the trial of a skill that runs, None where none does."""
    return next((trial for trial in reversed(trials_of(library, skill)) if trial.ended is None), None)


def trials_with(trials: Iterable[SkillTrial], candidate: str) -> list[TrialFinding]:
    """List what trials show of the lines of a candidate, in their order."""
    return [
        TrialFinding(trial, factor, trial.results[at] if trial.results else None)
        for trial in trials
        for at, factor in enumerate(trial.started.factors)
        if candidate and factor.candidate == candidate
    ]
