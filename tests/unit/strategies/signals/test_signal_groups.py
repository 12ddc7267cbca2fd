"""Groups of signals: which of them speak of one fact, what it is called by, and what it cost."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import msgspec
import pytest

from registry.query.library import Raised
from registry.query.signal_kinds import KINDS
from strategies.signals.detect import DETECTORS, detect, episodes_showing
from strategies.signals.signal_groups import signal_groups
from strategies.signals.thresholds import Thresholds
from strategies.usage.description_signals import MISFITS
from tests.registries import raised_signal
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.signals.signal_groups import SignalGroup

MISSING = "rg: command not found"
LATE = "TimeoutError: no answer within <*> ms"


def raised(kind: str, template: str = "", action: str = "", *, count: int = 10, at: int = 1) -> Raised:
    name = f"{kind}/{template}/{action}"
    event = raised_signal(kind, fingerprint=name, template=template, action=action, count=count, episodes=count)
    return Raised(at, f"2026-11-{at:02}T00:00:00.000000Z", event)


def marked(step: StepRecord, *marks: str) -> StepRecord:
    return msgspec.structs.replace(step, marks=marks)


def failing(template: str, action: str, number: int, *marks: str) -> list[EpisodeRecord]:
    return [episode([marked(call(action, template), *marks)], task=f"{template}{at}") for at in range(number)]


def kinds(groups: Sequence[SignalGroup]) -> list[list[str]]:
    return [[each.event.kind for each in group.signals] for group in groups]


def test_what_is_missing_and_its_error_are_one_fact_under_the_id_of_the_one_raised_first() -> None:
    error = raised("error_template", MISSING, at=3)
    missing = raised("missing_capability", MISSING, "Bash:rg", at=4)
    (group,) = signal_groups([missing, error], failing(MISSING, "Bash:rg", 10), {})
    assert kinds([group]) == [["missing_capability", "error_template"]]
    assert group.fingerprint == error.event.fingerprint
    assert (group.template, group.weight) == (MISSING, 10)


def test_an_error_under_its_earlier_template_is_the_same_fact() -> None:
    before, now = raised("error_template", "no file a"), raised("error_template", "no file <*>", at=2)
    assert len(signal_groups([before, now], [], {})) == 2
    (group,) = signal_groups([before, now], [], {"no file a": "no file <*>"})
    assert group.template == "no file <*>"


@pytest.mark.parametrize(("others", "facts"), [(1, 1), (3, 2)])
def test_calls_that_ran_out_of_time_are_the_fact_of_an_error_where_nearly_all_of_them_show_it(
    others: int, facts: int
) -> None:
    records = failing(LATE, "Bash:make", 10, "timeout") + failing("Killed", "Bash:make", others, "timeout")
    signals = [raised("error_template", LATE), raised("timeout", action="Bash:make", at=2)]
    assert len(signal_groups(signals, records, {})) == facts


def test_an_error_that_is_met_elsewhere_as_well_is_another_fact_than_the_calls_that_ran_out_of_time() -> None:
    records = failing(LATE, "Bash:make", 10, "timeout") + failing(LATE, "Bash:curl", 10)
    signals = [raised("error_template", LATE), raised("timeout", action="Bash:make", at=2)]
    assert len(signal_groups(signals, records, {})) == 2


def test_loops_without_an_error_and_repeated_calls_of_one_action_are_one_fact() -> None:
    signals = [
        raised("retry_loop", action="Bash:ls"),
        raised("repeated_call", action="Bash:ls", at=2),
        raised("repeated_call", action="Bash:cat", at=3),
        raised("user_correction", action="Bash:ls", at=4),
    ]
    assert sorted(map(len, kinds(signal_groups(signals, [], {})))) == [1, 1, 2]


def test_a_rare_signal_does_not_say_what_happened() -> None:
    signals = [raised("error_template", MISSING, count=40), raised("test_failure_after_edit", MISSING, count=3)]
    assert kinds(signal_groups(signals, [], {})) == [["error_template", "test_failure_after_edit"]]


def test_a_failing_tool_costs_what_no_error_of_its_own_tells() -> None:
    records = failing(MISSING, "Bash:rg", 30) + [episode([call("Bash:x", f"odd {at}")]) for at in range(5)]
    signals = [raised("error_template", MISSING, count=30), raised("tool_failure", action="Bash", count=35)]
    first, second = signal_groups(signals, records, {})
    assert (first.head.kind, second.head.kind, second.weight) == ("error_template", "tool_failure", 5)


def test_a_tool_that_fails_in_one_way_alone_is_the_fact_of_that_error() -> None:
    signals = [raised("error_template", MISSING), raised("burn_rate", action="search")]
    assert len(signal_groups(signals, failing(MISSING, "search", 9), {})) == 1


def test_what_a_person_had_to_look_at_weighs_more_than_a_failed_step() -> None:
    signals = [raised("error_template", MISSING, count=29), raised("user_correction", action="Edit", count=6)]
    assert [group.head.kind for group in signal_groups(signals, [], {})] == ["user_correction", "error_template"]


def test_every_signal_is_in_one_group_whatever_their_order() -> None:
    records = failing(MISSING, "Bash:rg", 4, "missing_capability") + failing(LATE, "Bash:make", 4, "timeout")
    detected = detect(records, Thresholds(error_count=2, missing_episodes=2))
    signals = [
        raised(each.kind, each.template, each.action, count=each.count, at=at)
        for at, each in enumerate(detected, 1)
    ][:5]
    expected = signal_groups(signals, records, {})
    assert sum(len(group.signals) for group in expected) == len(signals) > len(expected)
    assert all(signal_groups(order, records, {}) == expected for order in permutations(signals))


def test_the_episodes_that_show_some_signals_are_those_that_their_detectors_saw() -> None:
    records = failing(MISSING, "Bash:rg", 4, "missing_capability") + failing(LATE, "Bash:make", 4, "timeout")
    detected = detect(records)
    for signal in detected:
        assert episodes_showing({signal.fingerprint: signal.kind}, records) == signal.seen_in
    every = {signal.fingerprint: signal.kind for signal in detected}
    assert episodes_showing(every, records) == {record.id for record in records}
    assert episodes_showing({"unknown": "timeout"}, records) == frozenset()


def test_every_kind_of_signal_has_a_plain_word_of_its_own_and_a_sentence() -> None:
    known = {detector.kind for detector in DETECTORS} | {misfit.kind for misfit in MISFITS}
    known |= {"uncovered_failure", "success_streak", "stagnation"}
    assert known == set(KINDS)
    assert len({words.word for words in KINDS.values()}) == len(KINDS)
    assert all("{name}" in words.sentence and "_" not in words.word for words in KINDS.values())
