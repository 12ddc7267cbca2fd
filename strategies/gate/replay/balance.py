"""Whether those who obeyed were like those who did not, and how strong what nobody saw would have to be.

What was seen before a decision is taken off its effect. How unlike the two sides were in it says how much there
was to take off; what of that is left, in a form that was not fitted, whether it was taken off well. And it is the
measure of what was not seen: something that goes with decision and outcome so many times as strongly would
explain the effect.
"""

from __future__ import annotations

from math import fsum, inf, sqrt
from typing import TYPE_CHECKING, Final

from events.types.score import Balance
from strategies.gate.stats.bisection import halved
from strategies.gate.stats.group_means import dot
from strategies.gate.stats.mantel_haenszel import Z95

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.gate.stats.fixed_effects import Residuals

MOST_TIMES: Final = 100.0
"""From here on what was seen is too weak to measure by."""
_HALVINGS: Final = 40


def balance(seen: Mapping[str, Sequence[Sequence[float]]], bare: Residuals, adjusted: Residuals) -> Balance:
    """Compare what both sides had seen, in standard deviations, before anything is taken off and after.

    Shapes: `seen` are columns by name; `bare` compares within run alone (and task), `adjusted` like decisions.
    What was fitted has no difference left, so its squares are asked for that.
    """
    causes = _causes(adjusted)
    before = _most_apart(seen, bare, _causes(bare))
    squares = {name: [[value * value for value in column] for column in columns] for name, columns in seen.items()}
    after = _most_apart(squares, adjusted, causes)
    most, left = max(before, key=lambda name: before[name]), max(after, key=lambda name: after[name])
    return Balance(
        before=before[most],
        of=most,
        after=after[left],
        left=left,
        error=1 / sqrt(causes),
    )


def times_as_strong(bare: Residuals, adjusted: Residuals) -> float | None:
    """Tell how many times as strong as all that was seen before something unseen would have to be.

    So strong it goes with decision and outcome that it takes the lower 95 % limit to 0; 0 where that is not above
    0, None where what was seen goes too little with both to measure by.
    """
    slope = adjusted.slope()
    low = slope.value - Z95 * slope.error if slope else 0.0
    if low <= 0:
        return 0.0
    with_decision = _strength(_left(bare, _causes(bare)), _left(adjusted, _causes(adjusted)))
    with_outcome = _strength(_left(bare, _unexplained(bare)), _left(adjusted, _unexplained(adjusted)))
    spread = sqrt(_unexplained(adjusted) / _causes(adjusted))

    def is_too_weak(times: float) -> bool:
        return spread * _most_bias(times, with_decision, with_outcome) < low

    if is_too_weak(MOST_TIMES):
        return None
    return halved(is_too_weak, 0.0, MOST_TIMES, _HALVINGS)[0]


def _most_bias(times: float, with_decision: float, with_outcome: float) -> float:
    """Bound what something unseen would add to an effect, in units of its error for one row.

    It is `times` as strong as what was seen, whose strengths are Cohen's f squared. Source: Cinelli & Hazlett 2020
    (section 4.4).
    """
    explained = with_decision / (1 + with_decision)
    if times * with_decision >= 1:
        return inf
    shared = times * explained * explained / ((1 - times * explained) * (1 - explained))
    if shared >= 1:
        return inf
    of_outcome = min((sqrt(times) + sqrt(shared)) ** 2 / (1 - shared) * with_outcome, 1.0)
    return sqrt(of_outcome * times * with_decision / (1 - times * with_decision))


def _causes(residuals: Residuals) -> float:
    return dot(residuals.cause, residuals.cause)


def _left(residuals: Residuals, squares: float) -> float:
    """Allow for what was fitted: a sum of squares as it would be left in all rows."""
    return squares * residuals.factor


def _strength(before: float, after: float) -> float:
    """Give what explains a variance, in units of what it leaves (Cohen's f squared)."""
    if before <= after:
        return 0.0
    return before / after - 1 if after else inf


def _unexplained(residuals: Residuals) -> float:
    """Sum the squares of the outcome that the decision does not explain either."""
    along = dot(residuals.cause, residuals.outcome)
    return max(dot(residuals.outcome, residuals.outcome) - along * along / _causes(residuals), 0.0)


def _most_apart(
    seen: Mapping[str, Sequence[Sequence[float]]], residuals: Residuals, causes: float
) -> dict[str, float]:
    """Give by name how far both sides are apart in the column in which they are so most."""
    return {
        name: max((_apart(column, residuals, causes) for column in columns), default=0.0)
        for name, columns in seen.items()
    }


def _apart(column: Sequence[float], residuals: Residuals, causes: float) -> float:
    mean = fsum(column) / len(column)
    around = [value - mean for value in column]
    spread = sqrt(dot(around, around) / len(column))
    apart = dot(residuals.cause, around) / causes
    return abs(apart) / spread if spread else 0.0
