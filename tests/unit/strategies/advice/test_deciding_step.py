"""The step that decided a failed session: found by what others did there, and not named where none stands out."""

from __future__ import annotations

import random

from msgspec import structs

from bench.deciding import steps_named
from strategies.advice.deciding_step import deciding_step
from strategies.episodes.episode import EpisodeOutcome
from tests.worlds import call, episode
from tests.worlds.deciding import decided_sessions


def test_the_planted_step_is_found_more_often_than_by_always_naming_one() -> None:
    for sessions, noise in ((60, 0.2), (200, 0.5)):
        shares = steps_named(decided_sessions(3, sessions, noise=noise))
        rest = max(shares["always the same"], shares["after the first error"], shares["after the last error"])
        assert shares["found"] > rest + 0.2, shares


def test_where_outcomes_are_dealt_out_again_a_step_is_seldom_named_with_much_between() -> None:
    records = [session.record for session in decided_sessions(4, 200, noise=0.2)]
    outcomes = [record.outcome for record in records]
    random.Random(4).shuffle(outcomes)
    dealt = [structs.replace(record, outcome=outcome) for record, outcome in zip(records, outcomes, strict=True)]
    lost = [record for record in dealt if record.outcome and record.outcome.value == 0]
    named = [step for record in lost if (step := deciding_step(record, dealt)) is not None]
    assert max((step.low for step in named), default=0.0) < 0.35


def test_few_sessions_and_sessions_without_outcomes_say_nothing() -> None:
    lost = structs.replace(episode([call("a", "bad"), call("b")], outcome=0.0), id="lost")
    others = [structs.replace(episode([call("a", "bad"), call("c")]), id=f"o{at}") for at in range(4)]
    assert deciding_step(lost, others) is None
    silent = [structs.replace(record, outcome=None) for record in others * 5]
    assert deciding_step(lost, silent) is None


def test_a_step_is_compared_with_what_others_did_who_saw_the_same() -> None:
    def lived(name: str, then: str, value: float) -> object:
        record = episode([call("a", "bad"), call(then), call("z")], outcome=value)
        return structs.replace(record, id=name, outcome=EpisodeOutcome(value, "tests"))

    others = [lived(f"b{at}", "b", 0.0) for at in range(8)] + [lived(f"c{at}", "c", 1.0) for at in range(8)]
    lost = structs.replace(episode([call("a", "bad"), call("b"), call("z")], outcome=0.0), id="lost")
    step = deciding_step(lost, others)  # type: ignore[arg-type]
    assert step is not None
    assert (step.step, step.place, step.action) == (1, ("a", "bad"), "b")
    assert (step.same, step.other) == ((0.0, 8), (8.0, 8))
