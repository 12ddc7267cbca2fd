"""Signals: each rule of the table exactly, over records in any order."""

from __future__ import annotations

import pytest

from strategies.episodes.episode import EpisodeRecord, StepRecord
from strategies.files.log_records import Span
from strategies.signals.detect import detect
from strategies.signals.proportion import wilson
from strategies.signals.signal import EVIDENCE_LIMIT, Signal, fingerprint
from strategies.signals.thresholds import Thresholds
from strategies.signals.tool_failure import LOW_WEIGHT


def steps(*calls: str) -> tuple[StepRecord, ...]:
    """Make calls from texts such as `sql:SELECT a ok`: action, argument and result; `!` before an error."""
    first: dict[tuple[str, ...], int] = {}
    made = []
    for place, call in enumerate(calls):
        action, argument, result = call.split()
        made.append(
            StepRecord(
                turn=place,
                kind="call",
                actor="agent",
                action=action,
                template=result.removeprefix("!") if result.startswith("!") else "",
                error=result.startswith("!"),
                writes=action == "Edit",
                same_call=first.setdefault((action, argument), place),
                same_result=first.setdefault((action, argument, result), place),
                started_at=None,
                duration_ms=None,
                span=Span(0, 1, 1),
            )
        )
    return tuple(made)


def episode(name: str, *calls: str, run: str = "r") -> EpisodeRecord:
    return EpisodeRecord(
        id=name,
        name=name,
        source="/log",
        format="steps",
        task=name,
        run=run,
        difficulty="",
        labels={},
        prompt_key="",
        answer_key="",
        started_at=None,
        outcome=None,
        ended_by="agent",
        skills=(),
        steps=steps(*calls),
    )


def signals_of(kind: str, *records: EpisodeRecord) -> list[Signal]:
    return [signal for signal in detect(records) if signal.kind == kind]


def test_error_three_times_in_two_episodes_is_a_signal() -> None:
    first, two = episode("1", "sql a !gone", "sql b !gone"), episode("2", "sql c !gone", run="s")
    (signal,) = signals_of("error_template", first, two)
    assert (signal.template, signal.count, signal.episodes, signal.runs) == ("gone", 3, 2, ("r", "s"))
    assert (signal.calls_for, signal.severity) == ("repair", 1.0)


@pytest.mark.parametrize(
    "records",
    [
        (episode("1", "sql a !gone", "sql b !gone", "sql c !gone"),),
        (episode("1", "sql a !gone"), episode("2", "sql a !gone")),
        (episode("1", "sql a !gone", "sql b !lost"), episode("2", "sql a !gone")),
        (),
    ],
)
def test_error_in_one_episode_or_too_rare_is_none(records: tuple[EpisodeRecord, ...]) -> None:
    assert signals_of("error_template", *records) == []


def test_tool_that_fails_more_than_calls_in_general_is_a_signal() -> None:
    good = episode("1", *(f"read {place} ok" for place in range(40)))
    bad = episode("2", *(f"book {place} !no" for place in range(8)), "book x ok", "book y ok")
    (signal,) = signals_of("tool_failure", good, bad)
    assert (signal.action, signal.count, signal.calls_for) == ("book", 8, "repair")
    assert signal.severity == 0.5 * LOW_WEIGHT  # what errors it is made of comes first


def test_tool_with_few_calls_or_no_other_to_compare_is_none() -> None:
    few = episode("1", *(f"read {place} ok" for place in range(40)), *(f"book {place} !no" for place in range(9)))
    alone = episode("2", *(f"sql:SELECT {place} !no" for place in range(12)))
    assert signals_of("tool_failure", few) == []
    assert signals_of("tool_failure", alone) == []


def test_tool_is_not_compared_with_handing_in_which_cannot_fail() -> None:
    failing = [f"sql:SELECT {place} !no" for place in range(12)]
    assert signals_of("tool_failure", episode("1", *failing, *["submit - ok"] * 24)) == []
    assert signals_of("tool_failure", episode("1", *failing, *["read - ok"] * 24)) != []


def test_wilson_lower_bound_is_that_of_the_paper() -> None:
    assert wilson(8, 10)[0] == pytest.approx(0.4902, abs=1e-4)
    assert wilson(8, 10)[1] == pytest.approx(0.9433, abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0.0, abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 100) == pytest.approx((0.0, 0.037), abs=0.001)
    assert wilson(5, 100) == pytest.approx((0.0215, 0.1118), abs=0.001)


@pytest.mark.parametrize(
    "calls",
    [
        ["a x ok"] * 4,
        ["a x !no"] * 3,
        ["a x 1", "b y 2"] * 3,
        ["c z 9", *["a x ok"] * 7],
    ],
)
def test_loop_is_seen_once_where_its_rule_first_holds(calls: list[str]) -> None:
    (signal,) = signals_of("retry_loop", episode("1", *calls))
    assert (signal.count, signal.episodes, signal.calls_for) == (1, 1, "repair")


@pytest.mark.parametrize(
    "calls",
    [
        ["a x ok"] * 3,
        ["a x !no"] * 2,
        ["a x 1", "b y 2"] * 2 + ["a x 1"],
        ["a x 1", "a x 2", "a x 3", "a x 4"],
        ["a x !no", "a x !no", "a z !no"],
        ["a x !no", "a x !other", "a x !no"],
        ["a x 1", "b y 2", "a x 1", "b y 3", "a x 1", "b y 2"],
        ["a x 1", "b y 2"] * 2 + ["a x 1"] * 2,
    ],
)
def test_tries_that_differ_are_no_loop(calls: list[str]) -> None:
    assert signals_of("retry_loop", episode("1", *calls)) == []


def test_identical_call_without_a_write_between_is_a_signal() -> None:
    (signal,) = signals_of("repeated_call", episode("1", "read x 1", "list - 2", "read x 1", "read x 1"))
    assert (signal.action, signal.count, signal.calls_for) == ("read", 2, "harden")
    assert [at.step for at in signal.occurrences] == [2, 3]


def test_call_repeated_after_a_write_is_none() -> None:
    calls = ["read x 1", "Edit x ok", "read x 2", "Edit x ok", "Edit x ok"]
    assert signals_of("repeated_call", episode("1", *calls)) == []


def test_signals_do_not_depend_on_the_order_of_episodes() -> None:
    records = [episode(str(n), "b y !no", "a x !no", "a x !no", "a x !no", run=str(n % 3)) for n in range(9)]
    assert detect(records) == detect(records[::-1])
    assert len(detect(records)) >= 3


def test_fingerprint_stays_the_same_from_one_germline_to_the_next() -> None:
    """Genes and signals in the log are found by it: another hash would answer nothing that was ever raised."""
    assert fingerprint("error_template", "Table <*> doesn't exist", "") == "44341cf9b1f9aba2"


def test_fingerprint_stays_the_same_as_logs_grow() -> None:
    few = [episode(str(n), "a x !no", "a y !no") for n in range(2)]
    more = [*few, episode("9", "a x !no", "b z !other", run="s")]
    assert detect(few)[0].fingerprint in {signal.fingerprint for signal in detect(more)}


def test_evidence_is_capped_and_comes_from_every_episode_first() -> None:
    records = [episode(f"{n:02}", *["a x !no", "a y !no"] * 10) for n in range(10)]
    (signal,) = signals_of("error_template", *records)
    assert len(signal.occurrences) == EVIDENCE_LIMIT
    assert len({at.episode for at in signal.occurrences[:10]}) == 10


def test_thresholds_can_be_tightened() -> None:
    records = [episode(str(n), "a x !no") for n in range(4)]
    assert "error_template" in {signal.kind for signal in detect(records)}
    assert "error_template" not in {signal.kind for signal in detect(records, Thresholds(error_count=5))}
