"""A run that was left out: whether what all other runs show of a claim holds there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strategies.gate.replay.contrast import cases_of, contrast, settings_of
from strategies.gate.replay.replicates import SURELY, answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.claims import Claim
    from events.types.score import RunSpread
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast


class WithoutRun(NamedTuple):
    """Episodes of all runs but one, and those of the one."""

    run: str
    rest: list[EpisodeRecord]
    itself: list[EpisodeRecord]


class InTheRunLeftOut(NamedTuple):
    """What a claim shows in the run that it was not learned from; `covered` is None where none was predicted."""

    better: bool
    harmed: bool
    covered: bool | None


def without_each_run(records: Sequence[EpisodeRecord]) -> Iterator[WithoutRun]:
    """Leave each run out in turn, by name."""
    for run in sorted({record.run for record in records}):
        rest = [record for record in records if record.run != run]
        yield WithoutRun(run, rest, [record for record in records if record.run == run])


def shown_by_others(claims: Iterable[Claim], without: WithoutRun) -> Iterator[tuple[Claim, Contrast, Contrast]]:
    """List the claims that all other runs together show and that the run left out can answer, with both contrasts.

    Shapes: all records have an outcome.
    """
    rest, itself = settings_of(without.rest), settings_of(without.itself)
    for claim in claims:
        pooled = contrast(cases_of(claim, without.rest, rest))
        if pooled is None or pooled.z < SURELY or not answers(pooled):
            continue
        there = contrast(cases_of(claim, without.itself, itself))
        if there is not None and answers(there):
            yield claim, pooled, there


def answered(shown: Contrast, spread: RunSpread | None) -> InTheRunLeftOut:
    """Hold what a run shows against what others predict for it."""
    value, covered = shown.difference.value, None
    if spread and spread.predicted_low is not None and spread.predicted_high is not None:
        covered = spread.predicted_low <= value <= spread.predicted_high
    return InTheRunLeftOut(value > 0, shown.difference.high < 0, covered)
