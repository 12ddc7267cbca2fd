"""Advice: what a person could follow, what no error explains, and which of several claims says it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import (
    ANY,
    CHANGE,
    CHECK,
    HAND_IN,
    LOOK,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    Claim,
    FinishWith,
    StartWith,
)
from strategies.propose.advice import is_advice, is_usable, worded
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.mine_claims import NO_ADVICE
from strategies.propose.proposal import NewLines
from strategies.propose.recovery import recovery
from tests.worlds import NO_TABLE, asking, call, episode, skill_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.propose.proposal import Mined

    Live = Callable[[random.Random], tuple[Sequence[StepRecord], float]]


def lived(live: Live, *, tasks: int = 200, runs: Sequence[str] = ("a", "b")) -> list[EpisodeRecord]:
    """Let every run do every task; `live` gives the steps of one attempt, and its chance."""
    draws = random.Random(7)
    records = []
    for task in range(tasks):
        for run in runs:
            steps, chance = live(draws)
            won = float(draws.random() < chance)
            records.append(episode(steps, outcome=won, task=f"t{task}", run=run))
    return records


def claims_of(mined: Mined) -> list[Claim]:
    """Give the claims of what was proposed."""
    return [*mined.proposal.claims] if mined.proposal else []


@pytest.mark.parametrize(
    ("claim", "usable"),
    [
        (After(action="sql:SELECT", avoid="sql:SELECT"), False),
        (After(action="click:option", k=2, avoid="click:option"), False),
        (After(action="sql:SELECT", failing=True, avoid="sql:SELECT"), True),
        (After(action=ANY, failing=True, identical=True, avoid=ANY), True),
        (AfterError(template=NO_TABLE, do="submit"), False),
        (AfterError(template=NO_TABLE, avoid="Bash:submit"), False),
        (StartWith(do="finish"), False),
        (AnytimeBefore(action=HAND_IN, do=CHECK), True),
        (AfterCall(action="Edit", do="final_answer"), False),
    ],
)
def test_no_line_asks_to_hand_in_or_only_not_to_go_on(claim: Claim, *, usable: bool) -> None:
    assert is_usable(claim) is usable


def test_a_habit_that_another_kind_of_task_explains_is_not_proposed() -> None:
    """Tasks about topics begin with a checkout and are easy; the others never need one."""
    draws, records = random.Random(7), []
    for task in range(400):
        easy = task % 2 == 0
        steps = [call("Bash:git checkout")] * easy + [call("Bash:echo"), call("Bash:git commit")]
        for run in ("a", "b"):
            won = float(draws.random() < (0.8 if easy else 0.3))
            records.append(episode(steps, outcome=won, task=f"t{task}", run=run))
    mined = guard(asking(records, action="Bash:echo", calls_for="harden"))
    assert mined.proposal is None
    assert mined.why == NO_ADVICE


def test_a_habit_that_is_the_answer_to_an_error_is_left_to_the_rule_about_it() -> None:
    """Only where the checkout failed is anything committed right after it, and that saves the work."""

    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        saves = draws.random() < 0.5
        last = [call("Bash:git commit")] if saves else [call("Bash:echo"), call("Bash:git commit")]
        return [call("Bash:git checkout", "overwritten"), *last], 0.8 if saves else 0.3

    records = lived(live)
    claim = Before(action="Bash:git commit", do="Bash:git checkout")
    assert not is_advice(claim, asking(records))
    assert claim not in claims_of(guard(asking(records, action="Bash:git commit", calls_for="harden")))
    answers = recovery(asking(records, template="overwritten"))
    assert claims_of(answers)[0] == AfterError(template="overwritten", do="Bash:git commit")


def test_a_rule_about_every_failure_is_for_errors_too_rare_to_have_a_rule_of_their_own() -> None:
    def world(*errors: str) -> list[EpisodeRecord]:
        def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
            looks = draws.random() < 0.5
            answer = call("sql:SHOW" if looks else "sql:SELECT")
            return [call("sql:SELECT", draws.choice(errors)), answer, call("sql:SELECT")], 0.7 if looks else 0.3

        return lived(live)

    claim = AfterCall(action="sql:SELECT", failing=True, do="sql:SHOW")
    assert not is_advice(claim, asking(world("no table", "no column")))
    rare = world(*(f"error {number}" for number in range(30)))
    assert is_advice(claim, asking(rare))
    assert claims_of(guard(asking(rare, action="sql:SELECT", calls_for="harden"))) == [claim]
    live = skill_with([AfterError(template="error <*>", do="sql:SHOW")])
    assert not is_advice(claim, replace(asking(rare), capsule=live))


def test_synonyms_are_tried_as_one_and_named_in_the_line() -> None:
    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        looks = draws.random() < 0.5
        action = draws.choice(["sql:SHOW", "sql:DESC", "sql:PRAGMA"]) if looks else "sql:SELECT"
        return [call("sql:SELECT", NO_TABLE), call(action), call("sql:SELECT")], 0.7 if looks else 0.3

    mined = recovery(asking(lived(live), template=NO_TABLE))
    assert isinstance(mined.proposal, NewLines)
    assert mined.proposal.claims[0] == AfterError(template=NO_TABLE, do=LOOK)
    text = mined.proposal.lines[0].text
    assert text.startswith('After "Table … doesn\'t exist", look at the tables (')
    assert all(name in text for name in ("SHOW", "DESC", "PRAGMA"))


def test_the_finer_class_is_named_where_it_holds_as_well() -> None:
    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        action = draws.choice(["sql:SHOW", "sql:SHOW", "sql:DESC", "sql:SELECT", "sql:SELECT"])
        return [
            call("sql:SELECT", NO_TABLE),
            call(action),
            call("sql:SELECT"),
        ], 0.7 if action == "sql:SHOW" else 0.3

    assert claims_of(recovery(asking(lived(live), template=NO_TABLE)))[0] == AfterError(
        template=NO_TABLE, do="sql:SHOW"
    )


def test_a_call_repeated_unchanged_is_offered_whatever_its_tool() -> None:
    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        repeats, tool = draws.random() < 0.5, draws.choice(["Read", "fetch", "query", "Edit"])
        again = call(tool, f"e{draws.random()}", same=0) if repeats else call(tool)
        return [call(tool, f"e{draws.random()}", same=0), again, call("ls")], 0.3 if repeats else 0.7

    mined = guard(asking(lived(live), calls_for="harden"))
    (offered,) = claims_of(mined)
    assert isinstance(offered, After)
    assert (offered.action, offered.identical) == (ANY, True)


def test_a_check_at_any_time_before_the_end_is_offered_where_none_stands_last() -> None:
    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        checks = draws.random() < 0.5
        steps = [call("Edit"), call("Bash:pytest" if checks else "Bash:pwd"), call("Edit"), call("Bash:ls")]
        return steps, 0.7 if checks else 0.3

    records = lived(live)
    claim = AnytimeBefore(action=HAND_IN, do="Bash:pytest")
    assert is_advice(claim, asking(records))
    (offered,) = claims_of(guard(asking(records, calls_for="harden")))
    assert offered in {claim, AfterCall(action=CHANGE, do="Bash:pytest")}  # in this world they are the same
    assert worded(FinishWith(do=CHECK), records) == "Before you finish, check your work as the last step."


def test_looking_first_is_offered_by_whatever_means_agents_look() -> None:
    def live(draws: random.Random) -> tuple[Sequence[StepRecord], float]:
        looks = draws.random() < 0.5
        first = draws.choice(["Read", "Grep", "Glob"]) if looks else draws.choice(["Edit", "Bash:make"])
        return [call(first), call("Edit"), call("Bash:make")], 0.7 if looks else 0.3

    records = lived(live)
    mined = habit(asking(records, kind="uncovered_failure", calls_for="innovate"))
    assert isinstance(mined.proposal, NewLines)
    assert mined.proposal.claims == (StartWith(do=LOOK),)
    assert mined.proposal.lines[0].text.startswith("Begin each task with this: look at what is there (G")
