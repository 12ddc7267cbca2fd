"""What a model is shown and asked in a run: one episode of each task first, in no more turns than were wanted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from strategies.evolve import loop as evolution
from strategies.evolve.loop import Plan, evolve
from strategies.evolve.reflect import drawn
from strategies.evolve.results import CandidateShown, CycleResult, model_report
from strategies.policy.presets import PRESETS
from strategies.pool.intake import take_in
from strategies.propose.claude import SuggestionTally
from strategies.select.queue import Agenda
from tests.registries import NAME, raised_signal, rollouts
from tests.worlds import call, episode, world_with_a_rule

if TYPE_CHECKING:
    from events.types.registry_events import SignalRaised
    from registry.registry import Registry
    from strategies.propose.proposal import Mined


def test_one_episode_of_each_task_is_shown_before_a_second_of_any() -> None:
    records = [
        episode([call("sql:SELECT")], task=f"task {number % 4}", run=f"run {number}") for number in range(40)
    ]
    some = drawn(records, 8, seed=3)
    assert len({record.id for record in some}) == 8
    shown = Counter(record.task for record in some)
    assert set(shown.values()) == {2}
    assert shown.keys() == {record.task for record in records}
    assert drawn(records, 8, seed=3) == some


def signal(name: str) -> SignalRaised:
    return raised_signal(fingerprint=name, template=f"{name} <*>", action="sql:SELECT", count=9, episodes=9)


class AsksAboutAll:
    """Stands in for a model whose ideas were all seen before: each turn asks, and nothing goes to the gate."""

    drafted: frozenset[str] = frozenset()
    tally = SuggestionTally()
    failures: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.asked: list[str] = []

    def mined(self, _: object, signal: object, __: object) -> tuple[Mined, ...]:
        self.asked.append(str(signal))
        return ()

    def take_notes(self, _: object) -> None:
        """Take none."""


@pytest.mark.usefixtures("place")
def test_a_turn_in_which_a_model_was_asked_counts_though_nothing_new_came_of_it(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(registry, world_with_a_rule(3))
    offers = tuple(signal(name) for name in ("one", "two", "three"))
    agenda = Agenda({offer.fingerprint: NAME for offer in offers}, offers, (), ())
    monkeypatch.setattr(evolution, "agenda_on", lambda *_, **__: agenda)

    def asked(cycles: int) -> int:
        asks = AsksAboutAll()
        evolve(registry, Plan(PRESETS["balanced"], seed=7, cycles=cycles, reflecting=asks))  # type: ignore[arg-type] # stands in for one
        return len(asks.asked)

    assert (asked(50), asked(2), asked(1)) == (3, 2, 1)


def test_what_runs_refute_is_not_said_to_be_refuted_by_logs(registry: Registry) -> None:
    runs = rollouts(evidence=0.2, p=0.9, difference=-0.2, low=-0.3, high=-0.1)
    rejected = [
        CycleResult(
            strategy="repair", signal=signal("s"), capsule="skill", candidate=CandidateShown(str(at), (), ()),
            verdict="reject", sent=sent, rollouts=ran,
        )
        for at, (sent, ran) in enumerate([(1, runs), (1, None), (0, None)])
    ]  # fmt: skip
    report = model_report(registry, AsksAboutAll(), rejected, since=0)  # type: ignore[arg-type] # as above
    assert (report.refuted_by_runs, report.refuted_on_sealed, report.refuted_on_explore) == (1, 1, 1)
