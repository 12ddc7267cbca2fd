"""What other attempts of its task say of a decision: how often it is made there, and how the task ends anyway.

A hard task may ask for another action and end worse, and so give the action a name that it does not deserve. How
often all who try a task do something tells all that the task has to do with their doing it, where it asks as many
times as much of each. What is left goes with nothing that the task is. Whether that is so, the other attempts show
as well: no decision changes how somebody else ends. Where it seems to all the same, each outcome is held against
those of the others, which leaves nothing of the task. Sources: Rasch 1960 (what is done in all is all that it says
of a task); Lipsitch and others 2010 (negative controls).
"""

from __future__ import annotations

from collections import defaultdict
from math import fsum, sqrt
from typing import TYPE_CHECKING

from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.decisions import times_done
from strategies.gate.stats.conditional_odds import ActionCounts
from strategies.gate.stats.fixed_effects import Slope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.decisions import ClaimedAction
    from strategies.gate.stats.mantel_haenszel import Stratum


def counting_others(
    subject: ClaimedAction, records: Sequence[EpisodeRecord]
) -> Callable[[EpisodeRecord, ActionCounts], ActionCounts]:
    """Give a way to count a decision beside what others on its task did elsewhere.

    What the agent itself did elsewhere is no part of it: how much that is follows from how its own session went.
    """
    own = dict(zip((record.id for record in records), times_done(subject, records), strict=True))
    tasks: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for record in records:
        totals, (done, could) = tasks[record.task], own[record.id]
        totals[0] += done
        totals[1] += could

    def with_others(record: EpisodeRecord, counts: ActionCounts) -> ActionCounts:
        (done, could), (own_done, own_could) = tasks[record.task], own[record.id]
        return ActionCounts(counts.here, counts.of_here, done - own_done, could - own_could)

    return with_others


def outcomes_of_others(
    records: Sequence[EpisodeRecord], stratum_of: Callable[[EpisodeRecord], Stratum]
) -> dict[str, float]:
    """Average what the other attempts of its task came to, beyond their runs, by episode; not for one alone."""
    runs = [stratum_of(record)[:2] for record in records]
    outcomes: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for record, run in zip(records, runs, strict=True):
        outcomes[run].append(outcome_of(record))
    means = {run: fsum(of_run) / len(of_run) for run, of_run in outcomes.items()}
    return of_others(records, [outcome_of(record) - means[run] for record, run in zip(records, runs, strict=True)])


def of_others(records: Sequence[EpisodeRecord], values: Sequence[float]) -> dict[str, float]:
    """Average a value over the other attempts of its task, by episode; not for one alone.

    Shapes: one value for each record.
    """
    tasks: defaultdict[str, list[float]] = defaultdict(list)
    for record, value in zip(records, values, strict=True):
        tasks[record.task].append(value)
    sums = {task: (fsum(attempts), len(attempts) - 1) for task, attempts in tasks.items() if len(attempts) > 1}
    others: dict[str, float] = {}
    for record, value in zip(records, values, strict=True):
        if record.task in sums:
            total, count = sums[record.task]
            others[record.id] = (total - value) / count
    return others


def goes_with_others(cause: Sequence[float], tasks: Sequence[str], others: Sequence[float | None]) -> Slope | None:
    """Estimate what a decision goes with in the other attempts of its task; None where there are none.

    Shapes: all are equally long; the cause is what is left of a decision beside all that is alike, and an outcome
    None where nobody else tried the task. Errors are clustered by task.
    """
    sums, squares = defaultdict[str, float](float), 0.0
    for left, task, outcome in zip(cause, tasks, others, strict=True):
        if outcome is not None:
            sums[task] += left * outcome
            squares += left * left
    error = sqrt(fsum(score * score for score in sums.values()))
    return Slope(fsum(sums.values()) / squares, error / squares) if squares and error else None
