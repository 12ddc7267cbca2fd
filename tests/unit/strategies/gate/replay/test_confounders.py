"""Claims about common causes: what no action changed is not promoted, what one did still is."""

from __future__ import annotations

import random
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
import pytest

from bench.coverage import coverage
from events.types.claims import (
    HAND_IN,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    Never,
    OutputClaim,
    StartWith,
)
from events.types.claims import (
    LOOK as LOOKING,
)
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.decisions import Decision, decisions_of
from strategies.gate.replay.exposure import Inverse
from strategies.gate.replay.measure import effect_on
from strategies.gate.replay.support import is_noticed, support_p
from strategies.gate.rules import like_decisions
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard
from tests.worlds import NO_TABLE, asking, call, division_of, episode, promoted, sent_through
from tests.worlds.confounded import ANSWERS, QUESTIONS, WORLDS, judgements, with_rule, with_rules, world

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.gate.rule import Rule

SEEDS = range(3)
MOST = 1
"""Of three seeds: the whole table, of forty, is `python -m bench.worlds`."""


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_is_promoted_where_no_action_matters(name: str) -> None:
    promotions = (bool(promoted(judgements(world(name, seed, episodes=600), str(seed)))) for seed in SEEDS)
    clean = sum(1 for _ in islice((promotion for promotion in promotions if not promotion), len(SEEDS) - MOST))
    assert clean == len(SEEDS) - MOST, f"{name}: seeds {list(SEEDS)}"  # the third is asked where that decides


@pytest.mark.parametrize("name", ["null", "success ends"])
def test_nothing_is_promoted_by_looking_again_whenever_logs_have_grown_by_a_quarter(name: str) -> None:
    for seed in SEEDS[:2]:
        records, sent = world(name, seed, episodes=600), 0
        for share in (0.512, 0.64, 0.8, 1.0):
            known = judgements(records[: round(share * len(records))], str(seed), sent=sent)
            assert not promoted(known), f"{name}: seed {seed}, {share:.0%} of the logs"
            sent += QUESTIONS


@pytest.mark.parametrize("name", ["null", "difficulty", "quality"])
def test_a_rule_that_is_true_is_promoted_all_the_same(name: str) -> None:
    records = with_rule(world(name, 1, episodes=1_200), LOOK, 1, lift=0.35)
    assert LOOK in [judgement.claim for judgement in promoted(judgements(records, "1", errors_alone=True))]


@pytest.mark.parametrize("seed", [3, 4, 10, 13])
def test_two_rules_that_are_true_are_both_promoted_one_beside_the_other(seed: int) -> None:
    records = with_rules(seed, episodes=1_500)
    judged = judgements(records, str(seed), keeping=True, errors_alone=True)
    kept = [judgement.claim for judgement in promoted(judged)]
    assert {AfterError(template=template, do=do) for template, do in ANSWERS.items()} <= set(kept)


@pytest.mark.parametrize("base", [0.85, 0.9])
def test_a_rule_is_promoted_where_most_succeed_without_it(base: float) -> None:
    kept = 0
    for seed in range(4):
        records = with_rules(seed, episodes=3_000, lift=0.08, base=base, answers={NO_TABLE: "sql:SHOW"})
        judged = judgements(records, str(seed), errors_alone=True)
        kept += LOOK in [judgement.claim for judgement in promoted(judged)]
        if kept == 2:  # half of them: no more need be asked
            return
    pytest.fail(f"promoted in {kept} of 4 worlds")


def test_printed_intervals_cover_the_true_effect_about_as_often_as_they_say() -> None:
    covered = coverage(range(40), episodes=600, lift=0.3, base=0.2)
    assert covered.worlds == 40
    least = 40 * 0.95 - 3 * (40 * 0.95 * 0.05) ** 0.5  # of 200: python -m bench.coverage
    assert min(covered.sealed, covered.like_decisions) >= least


@cache
def third(name: str) -> list[EpisodeRecord]:
    """Live through a world by the seed 3, once for all that ask."""
    return world(name, 3, episodes=2_400)


def test_tasks_are_compared_with_themselves_where_several_tried_them() -> None:
    easy = confounding(ClaimedEpisodes(LOOK, third("difficulty")))
    assert easy.same_task
    assert easy.p > 0.05
    luck = confounding(ClaimedEpisodes(LOOK, with_rule(third("null"), LOOK, 3, lift=0.35)))
    assert luck.risk_difference == pytest.approx(0.35, abs=0.1)


def test_who_lasted_longer_is_compared_with_who_had_come_as_far() -> None:
    looked = AnytimeBefore(action=HAND_IN, do=LOOKING)
    seeds = range(1, 4)
    causes = [confounding(ClaimedEpisodes(looked, world("crash", seed, episodes=2_400))) for seed in seeds]
    zs = [cause.risk_difference / cause.error for cause in causes]
    assert sum(zs) / len(zs) < 1, (
        f"seeds {list(seeds)}: z {zs}"
    )  # 1.65 where who lasted longer counts as having looked


def test_doing_the_same_elsewhere_shows_who_did_it_and_is_taken_off() -> None:
    who = confounding(ClaimedEpisodes(LOOK, third("mixed quality")))
    assert is_noticed(who)
    assert support_p(who) <= 0.01 < support_p(who, controlled=True)
    what = confounding(ClaimedEpisodes(LOOK, with_rule(third("mixed quality"), LOOK, 3, lift=0.35)))
    assert support_p(what, controlled=True) <= 0.01
    assert not is_noticed(confounding(ClaimedEpisodes(LOOK, with_rule(third("null"), LOOK, 3, lift=0.35))))


def test_a_control_that_could_not_be_measured_says_so_and_gives_no_figure() -> None:
    controls = [control_of(with_rules(3, episodes=600, answers=ANSWERS)), control_of(third("mixed quality"))]
    assert ["could not be measured" in rule.figure for rule in controls] == [True, False]
    assert ["±" in rule.figure for rule in controls] == [False, True]
    assert controls[0].holds  # nothing speaks of a cause in common


def control_of(records: list[EpisodeRecord]) -> Rule:
    """Apply the rule about doing the same elsewhere to what all of these logs show."""
    effect = effect_on(LOOK, records, explore=())
    assert effect is not None
    return next(rule for rule in like_decisions(effect, WRITTEN_RULE, 1) if rule.name == "control")


@pytest.mark.parametrize(
    ("claim", "sessions"),
    [
        (AnytimeBefore(action=HAND_IN, do="sql:SHOW"), 4_000),  # several decisions in each
        (StartWith(do="sql:SHOW"), 8_000),
        (LOOK, 8_000),
    ],
)
def test_what_is_taken_off_is_all_that_a_trait_gives_however_many_sessions_there_are(
    claim: Claim, sessions: int
) -> None:
    left = confounding(ClaimedEpisodes(claim, mixed_agents()[:sessions]), chosen_of=1).beyond
    assert left is not None
    assert abs(left.value) < 2 * left.error


@cache
def mixed_agents() -> list[EpisodeRecord]:
    """Live through sessions of good and bad agents under one name, enough to show what is left of it."""
    return world("mixed quality", 100, episodes=8_000)


def test_a_part_of_the_logs_that_shows_the_opposite_is_named_and_what_holds_is_proposed() -> None:
    again = After(action="sql:SELECT", avoid="sql:SELECT")
    draws = random.Random(5)

    def drawn_episode(number: int) -> EpisodeRecord:
        failed, stops = draws.random() < 0.7, draws.random() < 0.5
        won = draws.random() < (0.5 + (0.35 if stops == failed else -0.35))
        steps = [call("sql:SELECT", NO_TABLE if failed else ""), call("sql:SHOW" if stops else "sql:SELECT")]
        return episode([*steps, call("sql:EXPLAIN")], outcome=float(won), task=f"t{number}")

    records = [drawn_episode(number) for number in range(600)]
    assert confounding(ClaimedEpisodes(again, records)).against == "worked"
    asks = [(asking(division_of(records, "3").explore, action="sql:SELECT"), (guard,))]
    (narrow,) = sent_through(asks, division_of(records, "3"), "3")
    instead = AfterCall(
        action="sql:SELECT", failing=True, do="sql:SHOW"
    )  # no line only forbids what it can replace
    assert (narrow.claim, narrow.verdict.decision) == (instead, "promote")


def test_the_form_of_an_answer_is_no_decision_that_logs_could_compare() -> None:
    assert decisions_of(OutputClaim(pattern="number")) is None
    assert (
        confounding(
            ClaimedEpisodes(OutputClaim(pattern="number"), world("answer form", 1, episodes=200))
        ).decisions
        == 0
    )


@pytest.mark.parametrize(
    ("claim", "steps", "decisions"),
    [
        (LOOK, [call("sql:SELECT", NO_TABLE), call("sql:SHOW"), call("sql:SELECT")], [Decision(1, obeyed=True)]),
        (LOOK, [call("sql:SELECT", NO_TABLE), call("submit")], []),
        (LOOK, [call("sql:SELECT"), call("sql:SELECT", NO_TABLE)], []),
        (Inverse(LOOK), [call("sql:SELECT", NO_TABLE), call("sql:SHOW"), call("x")], [Decision(1, obeyed=False)]),
        (Before(action="b", do="a"), [call("a"), call("b")], [Decision(0, obeyed=True)]),
        (Before(action="b", do="a"), [call("b"), call("a")], []),
        (
            FinishWith(do="check"),
            [call("check", "failed"), call("edit"), call("submit")],
            [Decision(0, obeyed=True)],
        ),
        (
            FinishWith(do="check"),
            [call("read"), call("edit"), call("submit")],
            [Decision(0, obeyed=False), Decision(1, obeyed=False)],
        ),
        (
            AnytimeBefore(action=HAND_IN, do="check"),
            [call("read"), call("check"), call("read"), call("submit")],
            [Decision(0, obeyed=False), Decision(1, obeyed=True)],
        ),
        (
            AnytimeBefore(action=HAND_IN, do="check"),
            [call("read"), call("check")],
            [Decision(0, obeyed=False), Decision(1, obeyed=True)],
        ),
        (
            Never(avoid="push"),
            [call("read"), call("push"), call("read")],
            [Decision(0, obeyed=True), Decision(1, obeyed=False)],
        ),
    ],
)
def test_a_decision_is_an_action_that_the_agent_chose_and_did_not_end_with(
    claim: Claim | Inverse, steps: list[StepRecord], decisions: list[Decision]
) -> None:
    find = decisions_of(claim)
    assert find is not None
    record = episode(steps)
    assert find(msgspec.structs.replace(record, ended_by="environment")) == decisions
