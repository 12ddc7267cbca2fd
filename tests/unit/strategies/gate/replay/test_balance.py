"""Claims about how alike both sides were, and how strong what nobody saw would have to be."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from events.types.claims import AfterError
from events.types.score import Balance
from registry.query.tier_sentences import tier_sentence
from registry.state.tiers import supported_by
from strategies.gate.replay.balance import balance, times_as_strong
from strategies.gate.replay.measure import effect_on
from strategies.gate.rules import MOST_APART, like_decisions
from strategies.gate.stats.fixed_effects import GroupedRows, Residuals, residuals
from strategies.policy.written_rules import WRITTEN_RULE
from tests.worlds import NO_TABLE, division_of
from tests.worlds.confounded import with_rule, world

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
ROWS = 8_000


class Compared(NamedTuple):
    """What was seen, and the comparison without it and beside it."""

    seen: list[float]
    bare: Residuals
    adjusted: Residuals


def compared(seed: int, *, seen: float, unseen: float, effect: float = 0.0, curved: float = 0.0) -> Compared:
    """Decide and end by one thing that is seen and one that is not, each so strongly, and by the decision."""
    draws = random.Random(seed)
    shown = [draws.gauss(0, 1) for _ in range(ROWS)]
    hidden = [draws.gauss(0, 1) for _ in range(ROWS)]
    pulls = [seen * s + curved * s * s + unseen * h for s, h in zip(shown, hidden, strict=True)]
    cause = [pull + draws.gauss(0, 1) for pull in pulls]
    outcome = [pull + effect * x + draws.gauss(0, 1) for pull, x in zip(pulls, cause, strict=True)]
    bare = residuals(outcome, cause, [], GroupedRows([], range(ROWS)))
    adjusted = residuals(outcome, cause, [shown], GroupedRows([], range(ROWS)))
    assert bare is not None
    assert adjusted is not None
    return Compared(shown, bare, adjusted)


def test_what_is_behind_a_whole_effect_is_as_many_times_as_strong_as_it_is() -> None:
    same = compared(1, seen=0.5, unseen=0.5)
    twice = compared(2, seen=0.4, unseen=0.4 * 2**0.5)  # strength is explained variance
    assert times_as_strong(same.bare, same.adjusted) == pytest.approx(1, abs=0.4)
    assert times_as_strong(twice.bare, twice.adjusted) == pytest.approx(2, abs=0.5)


def test_outcomes_that_the_decision_alone_makes_have_no_rest_to_divide_by() -> None:
    obeyed = [float(row % 3 == 0) for row in range(60)]
    turns = [row % 4 for row in range(60)]
    bare = residuals(obeyed, obeyed, [], GroupedRows([[0] * 60], range(60)))
    adjusted = residuals(obeyed, obeyed, [[row / 60 for row in range(60)]], GroupedRows([turns], range(60)))
    assert bare is not None
    assert adjusted is not None
    times = times_as_strong(bare, adjusted)
    assert times is None or times > 10
    assert balance({"mix of actions before": []}, bare, adjusted).before == 0  # no class of action is known


def test_an_effect_of_its_own_asks_for_a_stronger_cause() -> None:
    without, with_effect = (compared(3, seen=0.3, unseen=0.1, effect=effect) for effect in (0.0, 0.3))
    weak, strong = (times_as_strong(comparison.bare, comparison.adjusted) for comparison in (without, with_effect))
    assert weak is not None
    assert strong is not None
    assert strong > 2 * weak


def test_nothing_is_measured_by_what_goes_with_nothing_nor_where_there_is_no_effect() -> None:
    unrelated = compared(4, seen=0.0, unseen=0.3)
    assert times_as_strong(unrelated.bare, unrelated.adjusted) is None
    nothing = compared(5, seen=0.2, unseen=0.0)
    assert times_as_strong(nothing.bare, nothing.adjusted) == 0


def test_where_a_decision_explains_every_outcome_only_what_decides_it_all_could_stand_behind() -> None:
    done, beside = [float(number % 2) for number in range(40)], [float(number % 3) for number in range(40)]
    bare = residuals(done, done, [], GroupedRows([], range(40)))
    adjusted = residuals(done, done, [beside], GroupedRows([], range(40)))
    assert bare is not None
    assert adjusted is not None
    left = [sum(x * x for x in residuals.cause) * residuals.factor for residuals in (bare, adjusted)]
    explained = left[0] / left[1]
    assert times_as_strong(bare, adjusted) == pytest.approx(1 / (explained - 1))


def test_a_difference_that_the_fit_takes_off_is_gone_and_a_curve_that_it_leaves_is_found() -> None:
    straight, bent = compared(6, seen=0.5, unseen=0.0), compared(7, seen=0.5, unseen=0.0, curved=0.4)
    taken = balance({"time": [straight.seen]}, straight.bare, straight.adjusted)
    left = balance({"time": [bent.seen]}, bent.bare, bent.adjusted)
    assert taken.before > 0.3
    assert taken.after < 3 * taken.error
    assert left.after - 3 * left.error > MOST_APART


def test_an_effect_says_how_alike_both_sides_were_and_waits_where_they_surely_were_not() -> None:
    records = with_rule(world("mixed quality", 1, episodes=600), LOOK, 1, lift=0.3)
    division = division_of(records, "1")
    effect = effect_on(LOOK, division.sealed, explore=division.explore, chosen_of=5)
    assert effect is not None
    assert effect.confounding is not None
    cause = effect.confounding
    assert cause.times_as_strong
    assert f"{cause.times_as_strong:.1f} times as strong" in tier_sentence(supported_by(effect))
    unlike = Balance(before=0.5, of="time", after=0.4, left="failures before", error=0.05)
    for alike, holds in ((cause.balance, True), (unlike, False)):
        known = effect.model_copy(update={"confounding": cause.model_copy(update={"balance": alike})})
        (rule,) = (rule for rule in like_decisions(known, WRITTEN_RULE, 1) if rule.name == "balance")
        assert rule.holds == holds
        assert f"{cause.times_as_strong:.1f} times as strong" in rule.figure
