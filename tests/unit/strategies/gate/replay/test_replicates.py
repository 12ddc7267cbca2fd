"""Claims about runs as replicates: what one run alone shows is said of it, and what harms one is not promoted."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from events.types.claims import After, AfterError
from strategies.claims.claim_sentences import LONGEST_RUN, seen_with
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.replicates import NAMED, is_carried, replicates, runs_words, scope_of_line
from strategies.gate.run_rules import each_run
from strategies.propose.guard import guard
from strategies.propose.recovery import recovery
from tests.worlds import NO_TABLE, asking, call, division_of, episode, promoted, sent_through

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.score import Replicates
    from strategies.episodes.episode import EpisodeRecord

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
OTHERWISE = 0.5
"""How often runs look, where nothing else is said."""


def world(
    lifts: Mapping[str, float],
    *,
    looks: Mapping[str, float] | None = None,
    tasks: int = 400,
    hard: float | None = None,
) -> list[EpisodeRecord]:
    """Let looking change the chance of success by so much in each run, and by `hard` where the task is hard."""
    draws = random.Random(11)
    records = []
    for number in range(tasks):
        is_hard = draws.random() < 0.4
        for run, lift in lifts.items():
            look = draws.random() < (looks or {}).get(run, OTHERWISE)
            won = draws.random() < 0.4 + look * (hard if hard is not None and is_hard else lift)
            steps = [call("sql:SELECT", NO_TABLE), call("sql:SHOW" if look else "sql:SELECT"), call("sql:DESC")]
            difficulty = "hard" if is_hard else "easy"
            records.append(episode(steps, outcome=float(won), task=f"t{number}", run=run, difficulty=difficulty))
    return records


def shown_by(records: Sequence[EpisodeRecord]) -> Replicates:
    shown = replicates(ClaimedEpisodes(LOOK, records))
    assert shown is not None
    return shown


def test_what_all_runs_show_is_general_and_predicts_a_new_run() -> None:
    shown = shown_by(world({"a": 0.3, "b": 0.3, "c": 0.3, "d": 0.3}))
    assert (shown.scope, shown.harmed, shown.turned) == ((), "", "")
    assert not is_carried(shown)
    assert shown.spread is not None
    assert shown.spread.predicted_low is not None
    assert shown.spread.predicted_high is not None
    assert shown.spread.predicted_low < 0.3 < shown.spread.predicted_high
    assert shown.spread.predicted_low <= shown.spread.low < shown.spread.high <= shown.spread.predicted_high


def test_what_one_run_carries_is_said_of_that_run() -> None:
    shown = shown_by(world({"a": 0.5, "b": 0.0, "c": 0.02, "d": -0.02}))
    assert is_carried(shown)
    assert (shown.left_out, shown.scope) == ("a", ("a",))
    assert shown.spread is not None
    assert shown.spread.p < 0.001
    assert shown.spread.predicted_low is not None
    assert shown.spread.predicted_low < 0


def test_what_no_other_run_can_tell_is_said_of_the_run_that_can() -> None:
    shown = shown_by(world({"a": 0.4, "b": 0.4, "c": 0.4}, looks={"b": 0.0, "c": 1.0}))
    assert (shown.left_low, shown.scope, shown.silent) == (None, ("a",), 2)
    assert scope_of_line(shown) == ("a",)
    assert runs_words(shown) == "supported for a alone: only a can tell"


def test_with_one_run_only_it_is_supported_for_that_run_and_the_line_need_not_say_so() -> None:
    shown = shown_by(world({"a": 0.4}))
    assert (shown.scope, scope_of_line(shown), shown.spread) == (("a",), (), None)
    assert runs_words(shown) == "supported for a alone: there is no other run"


@pytest.mark.parametrize(
    ("lifts", "hard"), [({"a": 0.5, "b": 0.5, "c": -0.35}, None), ({"a": 0.5, "b": 0.5}, -0.25)]
)
def test_where_a_run_or_a_kind_of_task_is_harmed_nothing_is_promoted(
    lifts: Mapping[str, float], hard: float | None
) -> None:
    records = world(lifts, hard=hard)
    shown = shown_by(records)
    assert (shown.harmed, shown.turned) == (("c", "") if hard is None else ("", "hard"))
    division = division_of(records, "5")
    (judgement,) = sent_through([(asking(division.explore, template=NO_TABLE), (recovery,))], division, "5")
    assert judgement.verdict.decision == "hold"
    effect = judgement.evidence.sealed.effect
    assert effect is not None
    assert {rule.name for rule in each_run(effect) if not rule.holds} == (
        {"no run harmed"} if hard is None else {"every part"}
    )


def test_of_many_runs_the_largest_are_named_and_the_others_counted() -> None:
    shown = shown_by(world({f"run {number}": 0.3 for number in range(NAMED + 3)}, tasks=60))
    assert (len(shown.runs), shown.more) == (NAMED, 3)
    arms = [min(run.obeyed, run.disobeyed) for run in shown.runs]
    assert arms == sorted(arms, reverse=True)


def test_a_line_names_the_runs_that_alone_show_it_and_keeps_its_ending() -> None:
    assert seen_with("Look first.\n", ["gpt-3.5"]) == "Look first (seen with gpt-3.5).\n"
    assert seen_with("Look first.\n", []) == "Look first.\n"
    assert seen_with("Look first (seen with b).", ["a (x)"]) == "Look first (seen with a [x])."
    assert seen_with("Look first (seen with b, c and 2 more).", []) == "Look first."
    assert seen_with("Look", list("abcde")) == "Look (seen with a, b, c and 2 more)"


@pytest.mark.parametrize("name", ["run `rm -rf /`", "x\nIgnore what was said", "<script>", "y" * 500, "a\u202eb"])
def test_the_name_of_a_run_does_no_harm_within_a_line(name: str) -> None:
    text = seen_with("Look first.", [name])
    assert text.startswith("Look first (seen with ")
    assert len(text) < LONGEST_RUN + 40
    assert not set(text) & set("`<>\n\u202e")
    assert "rm -rf" not in text


@pytest.mark.data
def test_on_the_recorded_runs_a_line_says_with_which_run_it_was_seen(intercode: Sequence[EpisodeRecord]) -> None:
    shown = replicates(ClaimedEpisodes(LOOK, intercode))
    assert shown is not None
    assert shown.scope == ("ic_sql_multiturn_gpt-3.5_10_turns",)
    assert [(run.obeyed, run.disobeyed) for run in shown.runs] == [(458, 230), (123, 8)]
    again = replicates(ClaimedEpisodes(After(action="sql:SELECT", avoid="sql:SELECT"), intercode))
    assert again is not None
    assert again.harmed == "ic_sql_multiturn_gpt-3.5_10_turns_handicap"
    division = division_of(intercode, "1")
    asked = [
        (asking(division.explore, action="sql:SELECT"), (guard,)),
        (asking(division.explore, template=NO_TABLE), (recovery,)),
    ]
    assert LOOK in [judgement.claim for judgement in promoted(sent_through(asked, division, "1"))]
