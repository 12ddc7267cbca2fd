"""Seen: how often what a claim asks for worked, with a bound; nothing is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import HAND_IN, AnytimeBefore
from events.types.tiers import SeenFigures
from strategies.episodes.episode_records import ended
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import moments_of
from strategies.gate.replay.recovery_endpoint import attempts, recoverable
from strategies.gate.stats.clopper_pearson import lower_limit, share_of, upper_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord

TAIL: Final = 0.05
"""How often a stated bound may be wrong; shared among the alternatives that a line was chosen from."""
LEAST_TRIED: Final = 3
"""Times from which something counts as seen: once or twice is an anecdote (a guess)."""
LEAST_LOW: Final = 0.3
"""The bound from which it is offered: three of three times give .37 (a guess)."""


def seen_figures(hits: Iterable[tuple[str, bool]], *, runs: Iterable[str] = (), compared: int = 1) -> SeenFigures:
    """Count how often something worked, and bound the chance that it works the next time.

    Shapes: hits holds (task, whether it worked) of each session that tried it; runs are the run configurations
    they are of; `compared` counts the alternatives from which it was chosen on these sessions, itself counted: 1
    where it was chosen on others. For the bound, sessions of one task count as one: few tasks do not show how
    alike they are (measured: bounds that estimate it fail in 8 of 100 lines that were chosen among 20).
    """
    tried = list(hits)
    worked, tasks = sum(works for _, works in tried), len({task for task, _ in tried})
    return SeenFigures(
        worked=worked,
        tried=len(tried),
        low=least_likely(worked, len(tried), tasks, TAIL / compared),
        tasks=tasks,
        compared=compared,
        runs=tuple(sorted(set(runs) - {""})),
    )


def least_likely(worked: int, tried: int, tasks: int, tail: float) -> float:
    """Bound from below the chance that something works, sessions of one task counted as one; 0 for none."""
    return lower_limit(worked / tried * tasks, tasks, tail) if tried else 0.0


def is_counted(claim: Claim) -> bool:
    """Tell whether sessions show if what a claim is about works: the next attempt, or a first use after a call."""
    return recoverable(claim) or (isinstance(claim, AnytimeBefore) and claim.action != HAND_IN)


def tried_by(claim: Claim, records: Sequence[EpisodeRecord]) -> Sequence[EpisodeRecord]:
    """Keep the sessions that tried what a claim is about, each with whether that worked for its outcome."""
    if not isinstance(claim, AnytimeBefore):
        return attempts(claim, records)
    moment_of = moments_of(claim)
    met = ((record, moment_of(record)) for record in records)
    return [ended(record, float(not record.steps[moment.step].error)) for record, moment in met if moment]


def seen_in(claim: Claim, records: Sequence[EpisodeRecord]) -> SeenFigures | None:
    """Count how often what a claim is about worked where it was obeyed; None for one that no log can count."""
    if not is_counted(claim):
        return None
    obeyed = _obeyed(claim, records)
    return seen_figures(_hits(obeyed), runs=(record.run for record in obeyed))


def most_likely(claim: Claim, records: Sequence[EpisodeRecord], tail: float) -> float:
    """Bound from above the chance that what a claim asks for works; 1 where sessions say nothing of it."""
    share = share_of(_hits(_obeyed(claim, records)))
    return upper_limit(share.value * share.tasks, share.tasks, tail)


def _obeyed(claim: Claim, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Keep the sessions that obeyed a claim and tried, each with whether that worked for its outcome."""
    moment_of = moments_of(claim)
    met = ((record, moment_of(record)) for record in tried_by(claim, records))
    return [record for record, moment in met if moment is not None and moment.obeyed]


def _hits(records: Sequence[EpisodeRecord]) -> list[tuple[str, bool]]:
    return [(record.task, outcome_of(record) > 0) for record in records]


def is_offered(figures: SeenFigures) -> bool:
    """Tell whether something was seen often enough, and worked often enough, to be offered as a draft."""
    return figures.tried >= LEAST_TRIED and figures.low >= LEAST_LOW
