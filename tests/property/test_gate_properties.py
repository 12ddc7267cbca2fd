from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from events.types.claims import After, AfterError, Claim, FinishWith
from strategies.claims.applicability import matches
from strategies.gate.replay.panel import panel_of
from strategies.gate.replay.score import estimate
from strategies.gate.stats.mantel_haenszel import Table, cmh_z, risk_difference, robustness_value
from strategies.pool.splits import form_groups, split_of
from tests.worlds import NO_TABLE, call, episode, linked

if TYPE_CHECKING:
    from events.types.claims import Claim

steady = settings(derandomize=True, deadline=None)
words = st.lists(st.sampled_from(["a", "b", "<*>", " "]), max_size=8).map("".join)


@given(words, words)
@steady
def test_matching_agrees_with_a_regular_expression(template: str, text: str) -> None:
    pattern = ".*".join(re.escape(piece) for piece in template.split("<*>"))
    assert matches(template, text) == bool(re.fullmatch(pattern, text, re.DOTALL))


tasks = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "p", "q", "r"]), st.sampled_from(["", "x", "y"])),
    max_size=12,
)


@given(tasks, tasks)
@steady
def test_a_group_once_formed_keeps_its_split_whatever_comes_later(
    first: list[tuple[str, str, str]], later: list[tuple[str, str, str]]
) -> None:
    records = [linked(task, prompt=prompt, answer=answer) for task, prompt, answer in first]
    more = [linked(task, prompt=prompt, answer=answer) for task, prompt, answer in later]
    groups = form_groups({}, records)
    grown = form_groups(groups, [*records, *more])
    assert {task: grown[task] for task in groups} == groups
    assert [split_of(grown[task], "k") for task in groups] == [split_of(groups[task], "k") for task in groups]


tables = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.floats(0, 1), st.floats(0, 1)).map(
        lambda t: Table(t[0], float(round(t[0] * t[2])), t[1], float(round(t[1] * t[3])), 0.0)
    ),
    max_size=6,
).map(lambda ts: [table._replace(yy=table.y1 + table.y0) for table in ts])


@given(tables)
@steady
def test_swapping_the_arms_turns_the_sign(strata: list[Table]) -> None:
    swapped = [Table(t.n0, t.y0, t.n1, t.y1, t.yy) for t in strata]
    assert abs(cmh_z(strata) + cmh_z(swapped)) < 1e-9
    difference, other = risk_difference(strata), risk_difference(swapped)
    assert (difference is None) == (other is None)
    if difference is not None and other is not None:
        assert abs(difference.value + other.value) < 1e-9
        assert -1 <= difference.low <= difference.value <= difference.high <= 1
    assert robustness_value(strata) >= 1


episodes = st.lists(
    st.tuples(
        st.sampled_from(["sql:SHOW", "sql:SELECT"]),
        st.floats(0, 1),
        st.integers(0, 5),
        st.sampled_from(["r1", "r2"]),
    ),
    min_size=1,
    max_size=40,
)


@given(episodes)
@steady
def test_a_replay_value_stays_between_the_outcomes_it_is_made_of(drawn: list[tuple[str, float, int, str]]) -> None:
    records = [
        episode([call("sql:SELECT", NO_TABLE), call(action)], outcome=y, task=f"t{task}", run=run, trial=number)
        for number, (action, y, task, run) in enumerate(drawn)
    ]
    panel = panel_of(records, [AfterError(template=NO_TABLE, do="sql:SHOW")])
    value, coverage = estimate(panel, [1] * len(panel.cells))
    outcomes = [y for _, y, _, _ in drawn]
    assert min(outcomes) - 1e-9 <= value <= max(outcomes) + 1e-9
    assert 0 <= coverage <= 1


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["sql:SHOW", "sql:SELECT", "sql:DESC"])] * 3, st.floats(0, 1)), min_size=1
    )
)
@steady
def test_a_replay_value_of_several_claims_is_a_share_and_saying_them_twice_adds_nothing(
    drawn: list[tuple[str, str, str, float]],
) -> None:
    records = [
        episode([call("sql:SELECT", NO_TABLE), *map(call, actions)], outcome=y, task=f"t{number}")
        for number, (*actions, y) in enumerate(drawn)
    ]
    claims: list[Claim] = [
        AfterError(template=NO_TABLE, do="sql:SHOW"),
        After(action="sql:SELECT", k=2, avoid="sql:SELECT"),
        FinishWith(do="sql:DESC"),
    ]
    for asked in (claims, claims[::-1], [*claims, *claims]):
        panel = panel_of(records, asked)
        value, coverage = estimate(panel, [1] * len(panel.cells))
        assert 0 <= value <= 1
        assert 0 <= coverage <= 1
    assert estimate(panel, [1] * len(panel.cells)) == estimate(panel_of(records, claims), [1] * len(panel.cells))
