"""The preset `auto` in a run: chosen again for each turn, recorded with each, and binding like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.registry_events import CycleFinished, SignalRaised
from registry.decide.commands import RecordFact, SwitchPreset
from strategies.evolve.loop import Plan, evolve
from strategies.policy.active_preset import bound_by
from strategies.policy.auto import AUTO
from strategies.pool.intake import take_in as take_in_episodes
from tests.registries import NAME, imported
from tests.worlds import world_with_a_habit

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry


@pytest.fixture
def registry(registry: Registry, tmp_path: Path) -> Registry:
    take_in_episodes(registry, world_with_a_habit(4, "start_with", tasks=120))
    imported(registry, tmp_path)
    registry.execute(SwitchPreset(AUTO, "let it decide"))
    return registry


def signal(name: str, *, kind: str = "repeated_call", **fields: object) -> SignalRaised:
    defaults = {
        "fingerprint": name,
        "kind": kind,
        "calls_for": "harden",
        "action": "make",
        "count": 3,
        "episodes": 3,
        "runs": (),
        "severity": 0.5,
    }
    return SignalRaised.model_validate(defaults | fields)


def finished(number: int, verdict: str = "hold") -> CycleFinished:
    fields = {
        "preset": "early-stabilize",
        "seed": 0,
        "strategy": "repair",
        "fingerprint": f"past {number}",
        "capsule": NAME,
        "evaluator": "earlier",
        "candidate": None,
        "verdict": verdict,
        "reasons": (),
        "tried": 0,
        "offered": ("repair",),
    }
    return CycleFinished.model_validate(fields)


def plan(registry: Registry, cycles: int) -> Plan:
    return Plan(preset=bound_by(registry).preset, auto=True, seed=7, skill=NAME, cycles=cycles)


def test_the_preset_is_chosen_anew_for_each_turn_and_recorded_with_it(registry: Registry) -> None:
    registry.execute(RecordFact((finished(0, "promote"), *(finished(number) for number in range(1, 9)))))
    registry.execute(RecordFact((signal("a", action="ls"), signal("b", action="grep"))))
    run = evolve(registry, plan(registry, 2))
    assert [turn.preset for turn in run.cycles] == ["early-stabilize", "balanced"]
    assert run.cycles[0].because == "9 of the first 10 cycles are done"
    assert (run.preset, run.bound.preset.name) == (AUTO, "balanced")
    recorded = [(cycle.preset, cycle.because) for cycle in registry.cycles()[9:]]
    assert recorded == [(turn.preset, turn.because) for turn in run.cycles]
    assert all(because for _, because in recorded)


def test_while_a_regression_is_open_nothing_but_repairs_is_done(registry: Registry) -> None:
    registry.execute(
        RecordFact(
            (
                signal("worse", kind="regression", calls_for="repair", action=NAME),
                signal("new", kind="missing_capability", calls_for="innovate"),
            )
        )
    )
    bound = bound_by(registry)
    assert (bound.preset.name, bound.because) == ("repair-only", "a regression is open (worse)")
    run = evolve(registry, plan(registry, 5))
    assert {turn.strategy for turn in run.cycles} == {"repair"}
    assert {cycle.preset for cycle in registry.cycles()} == {"repair-only"}


def test_where_a_person_names_the_preset_no_reason_of_auto_is_recorded(registry: Registry) -> None:
    named = bound_by(registry, "balanced")
    evolve(registry, Plan(preset=named.preset, seed=7, skill=NAME, cycles=1))
    assert [(cycle.preset, cycle.because) for cycle in registry.cycles()] == [("balanced", "")]


def test_the_same_run_under_auto_finds_its_verdicts_again(registry: Registry) -> None:
    evolve(registry, plan(registry, 5))
    head = registry.log.head()
    again = evolve(registry, plan(registry, 5))
    assert all(turn.remembered for turn in again.cycles)
    assert registry.log.head() == head
