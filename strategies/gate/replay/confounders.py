"""Whether a common cause explains an effect: like decisions compared, and controls that no line could have moved.

Who looks first may succeed because it looked, or because it is the better agent, or has the easier task. Compared
are decisions of one run, at one turn, that saw the same before, on the same task where several tried it, beside
everything that was done before. What the same agents go on doing later is the control: if it goes with success
about as strongly as the decision itself, it is who decided, not what was decided.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from math import hypot, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Confounding
from strategies.episodes.episode import SUBMIT, moment_s
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.decisions import background, decisions_of
from strategies.gate.replay.exposure import Inverse
from strategies.gate.stats.fixed_effects import partial_slope
from strategies.gate.stats.mantel_haenszel import one_sided_p, stratifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.decisions import Background, Decision
    from strategies.gate.stats.fixed_effects import Slope

CLASSES: Final = 6
"""How many classes of action before a decision are told apart: the commonest."""
SAME_TASK: Final = 0.5
"""The share of decisions on tasks that several tried from which tasks are compared with themselves."""
AGREES_Z: Final = 1.0
"""How far, in errors of their difference, all tasks may show more than each task shows of itself."""
BORNE_OUT_P: Final = 0.05
"""How surely tasks must show it by themselves before all of them together are asked."""
NOTICED_Z: Final = 1.645
"""From here on (p .05) the control is taken off; below, it is noise."""
LEFT_Z: Final = 1.96
"""How surely something must be left of the effect once the control is taken off."""
CELL: Final = 20
"""Decisions on either side from which a part of the logs can speak for itself."""
SURELY: Final = 2.33
"""The z beyond which a part speaks against the whole (p .01)."""


class _Row(NamedTuple):
    """One decision: its task, its strata, whether it obeyed, its outcome, and what was before and after."""

    task: str
    run: str
    obeyed: float
    outcome: float
    when: float
    past: Background


def confounding(
    claim: Claim | Inverse, sealed: Sequence[EpisodeRecord], explore: Sequence[EpisodeRecord] = ()
) -> Confounding:
    """Compare like decisions on sealed, and look for a cause in common on all of these episodes.

    Shapes: all records have an outcome.
    """
    rows, of_sealed = _rows(claim, [*sealed, *explore]), _rows(claim, sealed)
    effect, same_task = _effect(of_sealed)
    control = _later(rows) if effect else None
    return Confounding(
        decisions=len(of_sealed) if effect else 0,
        same_task=same_task,
        risk_difference=effect.value if effect else 0.0,
        error=effect.error if effect else 1.0,
        p=one_sided_p(effect.z) if effect else 1.0,
        later=control.value if control else 0.0,
        later_error=control.error if control else 1.0,
        against=_against(rows, effect.value if effect else 0.0),
    )


def is_noticed(cause: Confounding) -> bool:
    """Tell whether what agents go on doing goes with success about as strongly as what they decided."""
    if cause.later < NOTICED_Z * cause.later_error:
        return False
    left = cause.risk_difference - cause.later
    return left < LEFT_Z * hypot(cause.error, cause.later_error)


def _rows(claim: Claim | Inverse, records: Sequence[EpisodeRecord]) -> list[_Row]:
    decision_of = decisions_of(claim)
    if decision_of is None:
        return []
    decided = [(record, decision) for record in records if (decision := decision_of(record)) is not None]
    stratum_of, (about, sign) = stratifier(records), _about(claim)
    common = Counter(step.action for record in records for step in record.steps if step.kind == "call")
    classes = [action for action, _ in common.most_common(CLASSES + 1) if action not in {"", SUBMIT}]
    times = {record.id: time for record, _ in decided if (time := moment_s(record.started_at)) is not None}
    first, last = min(times.values(), default=0.0), max(times.values(), default=0.0)

    def row(record: EpisodeRecord, decision: Decision) -> _Row:
        run, difficulty, _ = stratum_of(record)
        past = background(decision, about, classes, record)
        later = None if past.later is None else sign * past.later
        when = (times[record.id] - first) / (last - first) if last > first and record.id in times else 0.0
        return _Row(
            record.task,
            f"{run}\x1f{difficulty}",
            float(decision.obeyed),
            outcome_of(record),
            when,
            past._replace(later=later),
        )

    return [row(record, decision) for record, decision in decided]


def _about(claim: Claim | Inverse) -> tuple[str, int]:
    """Name the action that a claim asks for, or (-1) asks to leave out."""
    if isinstance(claim, Inverse):
        about, sign = _about(claim.claim)
        return about, -sign
    do = getattr(claim, "do", None)
    return (do, 1) if do is not None else (getattr(claim, "avoid", None) or "", -1)


def _repeats(rows: Sequence[_Row]) -> bool:
    """Tell whether most decisions are on tasks that several tried."""
    tried = Counter(row.task for row in rows)
    return sum(count for count in tried.values() if count > 1) >= max(SAME_TASK * len(rows), 1)


def _effect(rows: Sequence[_Row]) -> tuple[Slope | None, bool]:
    """Compare like decisions, and tell whether only those on one task count as like.

    Tasks are compared with themselves where that gives another answer, or none: what tasks have in common then
    shows. Source: Hausman 1978.
    """
    pooled = _slope(rows, [row.obeyed for row in rows], [], by_task=False)
    if pooled is None or not _repeats(rows):
        return pooled, False
    itself = _slope(rows, [row.obeyed for row in rows], [], by_task=True)
    if itself is None:
        return None, True
    apart = sqrt(max(itself.error**2 - pooled.error**2, 0.0))
    agrees = pooled.value - itself.value <= AGREES_Z * apart and one_sided_p(itself.z) <= BORNE_OUT_P
    return (pooled, False) if agrees else (itself, True)


def _later(every: Sequence[_Row]) -> Slope | None:
    """Ask what doing the same later goes with, beside the decision and all that was before it."""
    rows = [row for row in every if row.past.later is not None]
    decided = [[row.obeyed for row in rows]]
    return _slope(rows, [row.past.later or 0.0 for row in rows], decided, by_task=_repeats(rows))


def _slope(
    rows: Sequence[_Row], cause: Sequence[float], beside: Sequence[Sequence[float]], *, by_task: bool
) -> Slope | None:
    """Compare within run, turn and what was seen before, beside everything else that was there before."""
    if not rows:
        return None
    before = zip(
        *((*row.past.counts, *row.past.shares[1:], row.when, row.when * row.when) for row in rows), strict=True
    )
    tasks = [row.task for row in rows]
    alike: list[list[str]] = [[row.run for row in rows], [row.past.seen for row in rows]]
    groupings = [*alike, tasks] if by_task else alike
    return partial_slope([row.outcome for row in rows], cause, [*beside, *before], groupings, tasks)


def _against(rows: Sequence[_Row], whole: float) -> str:
    """Name a run, or what was seen before, where obeying surely goes with the opposite; "" where there is none."""
    parts: defaultdict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in rows:
        for part in (row.run.partition("\x1f")[0], row.past.seen.partition(" ")[2]):
            parts[part][bool(row.obeyed)].append(row.outcome)
    for part, (disobeyed, obeyed) in sorted(parts.items()):
        if min(len(obeyed), len(disobeyed)) >= CELL and _apart(obeyed, disobeyed, whole) < -SURELY:
            return part
    return ""


def _apart(obeyed: Sequence[float], disobeyed: Sequence[float], whole: float) -> float:
    """Give the difference of two means in standard errors, seen from the sign of the whole."""
    means = [sum(side) / len(side) for side in (obeyed, disobeyed)]
    variance = sum(
        sum((value - mean) ** 2 for value in side) / len(side) ** 2
        for side, mean in zip((obeyed, disobeyed), means, strict=True)
    )
    apart = means[0] - means[1]
    return (apart if whole >= 0 else -apart) / sqrt(variance) if variance else 0.0
