"""Each family of signals by its rule, and beside it what comes near and is none."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Literal

import msgspec
import pytest

from events.types.registry_events import CycleFinished
from strategies.episodes import step_marks
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord, OutcomeSource, StepRecord
from strategies.files.log_records import Span
from strategies.signals.detect import DETECTORS, detect
from strategies.signals.regression import cusum_fires
from strategies.signals.streaks import stagnation
from strategies.signals.thresholds import Thresholds
from strategies.signals.uncovered_actions import profile
from strategies.signals.wishes import SpokenClause, Wish

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.signals.signal import Signal

Actor = Literal["agent", "user", "environment"]


def call(action: str, *marked: str, error: str = "", **changes: object) -> StepRecord:
    """One call; its turn and identity are its place, which `episode` fills in."""
    step = StepRecord(
        turn=-1,
        kind="call",
        actor="agent",
        action=action,
        template=error,
        error=bool(error),
        writes=False,
        same_call=-1,
        same_result=-1,
        started_at=None,
        duration_ms=None,
        span=Span(0, 1, 1),
        marks=marked,
    )
    return msgspec.structs.replace(step, **changes)


def edit(target: int = -1, action: str = "Edit") -> StepRecord:
    return call(action, step_marks.EDIT, writes=True, same_target=target)


def message(actor: Actor, *marked: str) -> StepRecord:
    return call("message" if actor == "agent" else "", *marked, kind="message", actor=actor)


def note(mark: str) -> StepRecord:
    return call("", mark, kind="note", actor="user")


def episode(
    *steps: StepRecord,
    name: str = "1",
    outcome: float | None = None,
    source: OutcomeSource = "reward",
    **changes: object,
) -> EpisodeRecord:
    placed = [
        msgspec.structs.replace(
            step, turn=place if step.turn < 0 else step.turn, same_call=place, same_result=place
        )
        for place, step in enumerate(steps)
    ]
    record = EpisodeRecord(
        id=name,
        name=name,
        source="/log",
        format="world",
        task=name,
        run="r",
        difficulty="",
        labels={},
        prompt_key="",
        answer_key="",
        started_at=None,
        outcome=None if outcome is None else EpisodeOutcome(outcome, source),
        ended_by="agent",
        skills=(),
        steps=tuple(placed),
    )
    return msgspec.structs.replace(record, **changes)


def signals_of(kind: str, *records: EpisodeRecord) -> list[Signal]:
    return [signal for signal in detect(records) if signal.kind == kind]


def places(signals: Iterable[Signal]) -> list[int]:
    return [at.step for signal in signals for at in signal.occurrences]


PASS, FAIL = (
    call("Bash:pytest", step_marks.TESTS_PASSED),
    call("Bash:pytest", step_marks.TESTS_FAILED, error="1 failed"),
)
OTHER_FAIL = call("Bash:npm test", step_marks.TESTS_FAILED, error="1 failing")


@pytest.mark.parametrize(
    ("steps", "broken"),
    [
        ([PASS, edit(), FAIL], [2]),
        ([PASS, edit(), call("Read"), FAIL, edit(), FAIL], [3]),
        ([PASS, edit(), FAIL, edit(), PASS, edit(), FAIL], [2, 6]),
    ],
)
def test_tests_that_passed_and_fail_after_an_edit_are_a_signal(steps: list[StepRecord], broken: list[int]) -> None:
    (signal,) = signals_of("test_failure_after_edit", episode(*steps))
    assert places([signal]) == broken
    assert (signal.action, signal.template, signal.calls_for) == ("Bash:pytest", "1 failed", "repair")


@pytest.mark.parametrize(
    "steps",
    [
        [edit(), FAIL],
        [PASS, FAIL],
        [PASS, edit(), PASS],
        [PASS, edit(), OTHER_FAIL],
        [edit(), PASS, FAIL],
    ],
)
def test_tests_that_never_passed_or_no_edit_broke_are_none(steps: list[StepRecord]) -> None:
    assert signals_of("test_failure_after_edit", episode(*steps)) == []


def versions(*outcomes: Sequence[float], skill: str = "s", first: int = 1) -> list[EpisodeRecord]:
    """Episodes of the versions of a skill, one after the other."""
    return [
        episode(
            call("a"),
            name=f"{version}/{number:03}",
            outcome=value,
            started_at=f"2026-01-{version:02}T00:{number:02}:00Z",
            skills=((skill, str(version)),),
        )
        for version, values in enumerate(outcomes, start=first)
        for number, value in enumerate(values)
    ]


GOOD, BAD = [1.0, 1.0, 1.0, 0.0] * 8, [0.0, 0.0, 0.0, 1.0] * 8


def test_version_that_wins_surely_less_than_the_one_before_is_a_regression() -> None:
    (signal,) = signals_of("regression", *versions(GOOD, BAD))
    assert (signal.action, signal.calls_for, signal.episodes) == ("s@2", "repair", BAD.count(0.0))


def test_versions_are_ordered_by_number_not_as_words() -> None:
    (signal,) = signals_of("regression", *versions(GOOD, BAD, first=9))
    assert signal.action == "s@10"


@pytest.mark.parametrize(
    "outcomes",
    [
        [GOOD, GOOD],
        [BAD, GOOD],
        [GOOD[:19], BAD],
        [GOOD, BAD[:4]],
        [GOOD],
        # A bad spell that the whole makes up for: the CUSUM fires, the binomial test does not confirm.
        [GOOD, [0.0] * 12 + [1.0] * 40],
    ],
)
def test_version_without_a_sure_fall_is_no_regression(outcomes: list[list[float]]) -> None:
    assert signals_of("regression", *versions(*outcomes)) == []


def test_regression_needs_a_version_and_an_outcome_that_is_no_guess() -> None:
    records = versions(GOOD, BAD)
    unversioned = [msgspec.structs.replace(record, skills=()) for record in records]
    guessed = [
        msgspec.structs.replace(record, outcome=EpisodeOutcome(record.outcome.value, "heuristic"))
        for record in records
        if record.outcome
    ]
    assert signals_of("regression", *unversioned) == signals_of("regression", *guessed) == []


def test_cusum_fires_at_five_deviations_of_a_fall_beyond_half_a_one() -> None:
    """A coin's spread is one half: each loss is one deviation and adds 1 - 0.5, so the eleventh is beyond 5."""
    assert not cusum_fires([1.0] * 10, slack=0.5, alarm=5)
    assert cusum_fires([1.0] * 11, slack=0.5, alarm=5)
    assert not cusum_fires([1.0, -1.0] * 500, slack=0.5, alarm=5)


def minutes(*failed: bool, every_s: int = 10, tool: str = "book") -> EpisodeRecord:
    """Calls of one tool in time; True where one failed."""
    return episode(
        *(
            call(
                tool,
                error="down" if bad else "",
                started_at=f"2026-01-01T0{at // 3600}:{at // 60 % 60:02}:{at % 60:02}Z",
            )
            for at, bad in ((place * every_s, bad) for place, bad in enumerate(failed))
        )
    )


def test_tool_that_burns_its_budget_in_both_windows_is_a_signal() -> None:
    (signal,) = signals_of("burn_rate", minutes(*[False] * 6, *[True] * 12))
    assert (signal.action, signal.calls_for) == ("book", "repair")
    # The first failure at which ten calls lie within five minutes, and more than .36 of them failed.
    assert min(places([signal])) == 9


def test_slow_burn_is_seen_by_the_long_windows() -> None:
    (signal,) = signals_of("burn_rate", minutes(*([False] * 3 + [True]) * 20, every_s=120))
    assert signal.episodes == 1


@pytest.mark.parametrize(
    "record",
    [
        minutes(*[True] * 9),
        minutes(*([False] * 9 + [True]) * 10),
        # Failures that are over: the six hours still burn, the last thirty minutes do not.
        minutes(*[True] * 9, *[False] * 40, *[True], every_s=120),
        episode(*[call("book", error="down")] * 30),
        episode(*[call("book", error="down", started_at="no time")] * 30),
    ],
)
def test_few_calls_rare_failures_or_an_outage_that_is_over_are_none(record: EpisodeRecord) -> None:
    assert signals_of("burn_rate", record) == []


def test_failures_at_the_zero_time_of_go_are_counted_like_any_others() -> None:
    zero = episode(*[call("book", error="down", started_at="0001-01-01T00:00:00Z")] * 12)
    assert len(signals_of("burn_rate", zero)) == 1


USER, WRONG = message("user"), message("user", step_marks.CORRECTION)


@pytest.mark.parametrize(
    "steps",
    [
        [USER, edit(1), WRONG, edit(1)],
        [USER, edit(1), note(step_marks.USER_INTERRUPT), WRONG, message("agent")],
        [USER, edit(1), WRONG, call("Bash:git checkout", step_marks.REVERT)],
        [USER, edit(1), WRONG, message("agent"), call("Read"), edit(1)],
    ],
)
def test_correction_of_a_change_that_what_follows_bears_out_is_a_signal(steps: list[StepRecord]) -> None:
    (signal,) = signals_of("user_correction", episode(*steps))
    assert (signal.action, signal.calls_for, signal.count, signal.severity) == ("Edit", "repair", 1, 0.5)


@pytest.mark.parametrize(
    "steps",
    [
        [USER, edit(1), WRONG, message("agent")],
        [USER, edit(1), WRONG, edit(3)],
        [USER, edit(1), USER, edit(1)],
        [USER, call("Read"), WRONG, call("Bash:git checkout", step_marks.REVERT)],
        [USER, edit(1), USER, call("Read"), WRONG, edit(1)],
        [USER, edit(1), WRONG, call("Read"), call("Read"), call("Read"), edit(1)],
        [WRONG, edit(1), edit(1)],
        [USER, call("Edit", writes=True, error="no match"), WRONG, edit(5), edit(5)],
    ],
)
def test_correction_without_a_change_before_it_or_a_sign_after_it_is_none(steps: list[StepRecord]) -> None:
    assert signals_of("user_correction", episode(*steps)) == []


@pytest.mark.parametrize(
    "mark",
    [
        step_marks.USER_INTERRUPT,
        step_marks.PERMISSION_DENIED,
        step_marks.CONTEXT_OVERFLOW,
        step_marks.TIMEOUT,
        step_marks.RATE_LIMITED,
    ],
)
def test_what_happens_to_an_agent_is_a_signal_of_the_call_it_happens_at(mark: str) -> None:
    (signal,) = signals_of(mark, episode(call("Read"), call("Bash:npm", mark, error="x"), name="1"))
    assert (signal.action, signal.count, signal.calls_for) == ("Bash:npm", 1, "harden")
    (noted,) = signals_of(mark, episode(call("Bash:npm"), note(mark)))
    assert (noted.action, noted.fingerprint) == ("Bash:npm", signal.fingerprint)
    assert signals_of(mark, episode(call("Bash:npm", error="x"))) == []


def test_interrupt_that_the_log_tells_twice_counts_once() -> None:
    interrupted = call("Bash:npm", step_marks.USER_INTERRUPT, error="user_interrupt")
    (signal,) = signals_of("user_interrupt", episode(interrupted, note(step_marks.USER_INTERRUPT)))
    assert (signal.count, places([signal])) == (1, [0])


def test_what_a_person_stopped_is_no_failure_of_the_tool() -> None:
    stopped = [call("Bash:rm", step_marks.PERMISSION_DENIED, error="permission_denied")] * 12
    records = [episode(*stopped, *[call("Read")] * 30, name=str(number)) for number in range(3)]
    assert {signal.kind for signal in detect(records)} == {"permission_denied"}


def timed(*durations_ms: float, action: str = "fetch") -> EpisodeRecord:
    return episode(*(call(action, duration_ms=duration) for duration in durations_ms))


def test_call_far_slower_than_its_class_is_a_spike() -> None:
    (signal,) = signals_of("latency_spike", timed(*[90, 100, 110] * 10, 1000))
    assert (signal.action, places([signal]), signal.calls_for) == ("fetch", [30], "harden")


@pytest.mark.parametrize(
    "durations",
    [
        [90, 100, 110] * 9 + [1000],  # 28 calls
        [100] * 40 + [150],  # no spread at all, and less than twice the median
        [10, 100, 1000] * 12 + [3000],  # a class whose calls differ that much
        [0] * 40,
    ],
)
def test_few_calls_or_a_class_that_varies_is_no_spike(durations: list[float]) -> None:
    assert signals_of("latency_spike", timed(*durations)) == []


def test_episode_that_ends_in_an_error_is_abandoned() -> None:
    (signal,) = signals_of("abandoned", episode(call("a"), call("b", error="no"), note("x")))
    assert (signal.action, signal.template, signal.calls_for, places([signal])) == ("b", "no", "harden", [1])


def test_user_without_an_answer_is_abandoned() -> None:
    (signal,) = signals_of("abandoned", episode(USER, message("agent"), USER, ended_by="unknown"))
    assert (signal.action, places([signal])) == ("message", [2])


def test_a_person_who_thanks_waits_for_no_answer() -> None:
    thanks = message("user", step_marks.THANKED)
    assert signals_of("abandoned", episode(USER, message("agent"), thanks, ended_by="unknown")) == []


def test_episode_that_drags_on_beyond_its_peers_is_abandoned() -> None:
    short = [episode(*[call(str(n)) for n in range(3)], name=f"{number:02}") for number in range(28)]
    long = [episode(*[call(str(n)) for n in range(9)], name=name) for name in ("x", "y", "z", "zz")]
    (signal,) = signals_of("abandoned", *short, *long)
    assert signal.seen_in == {"x", "y", "z", "zz"}


@pytest.mark.parametrize(
    "records",
    [
        [episode(call("a", error="no"), call("a"))],
        [episode(call("a", error="no"), message("agent"))],
        [episode(USER, message("agent"), USER, ended_by="environment")],
        [episode()],
        # All take the ten turns that they may: a limit, not a sign.
        [episode(*[call(str(n)) for n in range(10)], name=str(number)) for number in range(30)],
        [episode(*[call(str(n)) for n in range(number)], name=str(number)) for number in range(1, 20)],
    ],
)
def test_episode_that_goes_on_or_lasts_as_long_as_others_is_not_abandoned(records: list[EpisodeRecord]) -> None:
    assert signals_of("abandoned", *records) == []


def test_own_edits_undone_are_a_signal() -> None:
    undo = call("Bash:git checkout", step_marks.REVERT)
    (signal,) = signals_of("revert", episode(edit(), undo))
    assert (signal.action, signal.calls_for, places([signal])) == ("Bash:git checkout", "harden", [1])
    assert signals_of("revert", episode(undo, edit())) == []
    assert signals_of("revert", episode(call("Edit", error="no match"), undo)) == []


def lacking(name: str) -> EpisodeRecord:
    return episode(call("Bash:rg", step_marks.MISSING_CAPABILITY, error="rg: command not found"), name=name)


def test_missing_command_in_three_episodes_is_a_signal() -> None:
    (signal,) = signals_of("missing_capability", lacking("1"), lacking("2"), lacking("3"))
    assert (signal.template, signal.calls_for) == ("rg: command not found", "innovate")
    assert signals_of("missing_capability", lacking("1"), lacking("2")) == []


def test_missing_command_that_a_gene_answers_is_no_signal() -> None:
    records = [lacking(str(number)) for number in range(3)]
    (signal,) = signals_of("missing_capability", *records)
    kinds = [detected.kind for detected in detect(records, answered={signal.fingerprint})]
    assert "missing_capability" not in kinds
    assert "error_template" in kinds


def wins(*values: float, run: str = "r") -> list[EpisodeRecord]:
    return [
        episode(
            call("a"), name=f"{run}{number:03}", run=run, outcome=value, started_at=f"2026-01-01T{number:02}:00Z"
        )
        for number, value in enumerate(values)
    ]


def test_twenty_wins_in_a_row_are_a_streak() -> None:
    (signal,) = signals_of("success_streak", *wins(0, *[1] * 20, 0, 1))
    assert (signal.count, signal.calls_for) == (20, "innovate")


@pytest.mark.parametrize(
    "records",
    [
        wins(*[1] * 19),
        wins(*[1] * 10, 0.9, *[1] * 10),
        [*wins(*[1] * 10), *wins(*[1] * 10, run="s")],
        [msgspec.structs.replace(won, outcome=EpisodeOutcome(1.0, "heuristic")) for won in wins(*[1] * 30)],
    ],
)
def test_wins_with_a_loss_between_or_of_two_runs_are_none(records: list[EpisodeRecord]) -> None:
    assert signals_of("success_streak", *records) == []


def cycle(capsule: str, verdict: str) -> CycleFinished:
    return CycleFinished.model_validate(
        {
            "preset": "balanced",
            "seed": 1,
            "strategy": "repair",
            "fingerprint": "f",
            "capsule": capsule,
            "evaluator": "e",
            "candidate": None,
            "verdict": verdict,
            "reasons": (),
            "tried": 0,
            "offered": (),
        }
    )


def test_capsule_without_a_promotion_over_ten_cycles_stagnates() -> None:
    cycles = [cycle("a", "promote"), *[cycle("a", "hold"), cycle("b", "promote")] * 10]
    (signal,) = stagnation(cycles, Thresholds())
    assert (signal.action, signal.count, signal.calls_for) == ("a", 10, "innovate")
    assert stagnation(cycles[:-2], Thresholds()) == []
    assert stagnation([], Thresholds()) == []
    assert stagnation([*cycles, cycle("a", "promote")], Thresholds()) == []


def failed(name: str, *actions: str, task: str = "t", value: float = 0.0) -> EpisodeRecord:
    return episode(*(call(action) for action in actions), name=name, task=task, outcome=value)


def test_failures_alike_in_task_and_actions_are_one_signal() -> None:
    records = [failed(str(number), "a", "b") for number in range(3)]
    (signal,) = signals_of("uncovered_failure", *records)
    assert (signal.action, signal.episodes, signal.calls_for) == ("a + b", 3, "innovate")


def test_failures_of_other_tasks_are_clustered_by_actions_alone() -> None:
    on_task = [failed(str(number), "a") for number in range(3)]
    others = [failed(f"x{number}", "a", task=f"t{number}") for number in range(3)]
    signals = signals_of("uncovered_failure", *on_task, *others)
    assert sorted(len(signal.seen_in & {"0", "1", "2"}) for signal in signals) == [0, 3]
    assert len({signal.fingerprint for signal in signals}) == 2


@pytest.mark.parametrize(
    "records",
    [
        [failed("1", "a"), failed("2", "a")],
        [failed("1", "a"), failed("2", "b"), failed("3", "c")],
        [failed(str(number), "a", value=1.0) for number in range(3)],
        [episode(call("a"), name=str(number)) for number in range(3)],
        [episode(call("a", error="no"), outcome=0.0, task="t", name=str(number)) for number in range(3)],
    ],
)
def test_failures_that_differ_or_that_another_signal_explains_are_none(records: list[EpisodeRecord]) -> None:
    assert signals_of("uncovered_failure", *records) == []


def test_profile_is_what_an_agent_changed_and_only_else_what_it_called() -> None:
    reading, writing = [call("look"), call("find"), call("submit")], [call("book", writes=True)]
    assert profile(episode(*reading)) == "find + look"
    assert profile(episode(*reading, *writing)) == "book"
    many = [call(name) for name in "abcdef" for _ in range(ord(name))]
    assert profile(episode(*many)) == "c + d + e + f"


def test_all_families_at_once_do_not_depend_on_the_order_of_episodes() -> None:
    loop = [call("sql", error="no")] * 3
    again = msgspec.structs.replace(
        episode(*loop, name="loop"),
        steps=tuple(
            msgspec.structs.replace(step, turn=place, same_call=0, same_result=0)
            for place, step in enumerate(loop)
        ),
    )
    records = [
        again,
        episode(PASS, edit(), FAIL, name="tests"),
        *versions(GOOD, BAD),
        msgspec.structs.replace(minutes(*[False] * 6, *[True] * 12), id="burn"),
        episode(USER, edit(1), WRONG, call("Bash:git checkout", step_marks.REVERT), name="correction"),
        *(episode(call("x", mark), name=mark) for mark in sorted(step_marks.TROUBLES)),
        msgspec.structs.replace(timed(*[90, 100, 110] * 10, 1000), id="slow"),
        *(lacking(f"lacking {number}") for number in range(3)),
        *wins(*[1] * 20, run="w"),
        *(failed(f"lost {number}", "y") for number in range(3)),
    ]
    wish = Wish(tuple(SpokenClause(record, 0, "forbids", frozenset([1, 2]), 9) for record in records[:3]), "no")
    signals = detect(records, wishes=[wish])
    for seed in range(5):
        assert detect(random.Random(seed).sample(records, len(records)), wishes=[wish]) == signals
    assert {signal.kind for signal in signals} == {
        *(detector.kind for detector in DETECTORS),
        "uncovered_failure",
        "success_streak",
    }
