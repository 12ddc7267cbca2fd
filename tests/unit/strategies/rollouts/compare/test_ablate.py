"""Bundles: which edits of a candidate carry its gain, on replay and on runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.claims import StartWith
from events.types.gene_events import GeneMutated
from events.types.parts import Edit
from registry.state.line_claims import claims_by_edit
from strategies.gate.ablation import ClaimPosition, ablate, carriers, carrying, is_lost
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.run.runner import RunCaps
from tests.fake_runs import FakeRunner, rewritten, rig
from tests.registries import AVOID, DO, SKILL, live_text
from tests.worlds import world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from events.types.claims import Claim
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.rollouts.tasks.task import RolloutTask

BUNDLE = (
    SKILL.replace("Answer with one SQL query.\n", "Answer with one SQL query. FIRST\n")
    .replace("- Round nothing.\n", "- Round nothing. SECOND\n")
    .replace("Answer with the result alone.\n", "Answer with the result alone. THIRD\n")
)


@given(st.sets(st.integers(0, 7), min_size=1), st.integers(0, 7))
def test_halving_finds_exactly_the_edits_that_carry_a_gain(carrying: set[int], extra: int) -> None:
    edits = max(*carrying, extra) + 1
    asked: list[frozenset[int]] = []

    def keeps(part: frozenset[int]) -> bool:
        asked.append(part)
        return carrying <= part

    assert carriers(edits, keeps) == carrying
    assert frozenset() not in asked


def test_one_carrier_among_many_is_found_in_about_as_many_questions_as_halvings() -> None:
    asked: list[frozenset[int]] = []

    def keeps(part: frozenset[int]) -> bool:
        asked.append(part)
        return 37 in part

    assert carriers(64, keeps) == {37}
    assert len(asked) <= 12


def test_a_line_that_carries_a_gain_is_missed_and_a_passenger_is_not() -> None:
    assert is_lost([[1.0] * 3] * 3 + [[0.0] * 3] * 27, 3)
    assert not is_lost([[0.0] * 3] * 30, 3)
    assert not is_lost([[1.0, -1.0, 0.0]] * 30, 3)


@given(st.sets(st.integers(0, 5), min_size=1), st.integers(0, 5))
def test_leaving_each_out_finds_what_carries_a_gain_without_halving(carriers_of_it: set[int], extra: int) -> None:
    edits = max(*carriers_of_it, extra) + 1
    asked: list[frozenset[int]] = []

    def keeps(part: frozenset[int]) -> bool:
        asked.append(part)
        return carriers_of_it <= part

    assert carrying(edits, keeps) == carriers_of_it
    assert len(asked) <= edits + 1


def test_of_two_lines_that_stand_in_for_each_other_one_is_kept() -> None:
    assert len(carrying(3, lambda part: 0 in part or 1 in part)) == 1
    assert carrying(3, lambda part: 2 in part and (0 in part or 1 in part)) >= {2}


def test_claims_go_with_the_lines_of_their_edit() -> None:
    edits = (Edit(op="append", gene="g", text=("One.\n", "\n")), Edit(op="append", gene="h", text=("Two.\n",)))
    assert claims_by_edit(edits, (DO, AVOID)) == ((DO,), (AVOID,))
    assert claims_by_edit(edits, (DO,)) == ((DO,), (DO,))
    assert claims_by_edit((Edit(op="delete", gene="g", target=(1,)), edits[1]), ()) == ((), ())


def bundle(registry: Registry, folder: Path) -> str:
    copy = folder / "bundle.md"
    copy.write_text(BUNDLE)
    return rewritten(registry, copy, reason="three at once")


def gains(**points: float) -> Callable[[str, RolloutTask], float]:
    """A pass rate that each marked edit moves on its own."""
    return lambda text, _: min(0.2 + sum(each for mark, each in points.items() if mark in text), 1.0)


def tried(registry: Registry, runner: FakeRunner, name: str) -> list[Candidate]:
    return try_out(rig(registry, runner), [name])


@pytest.mark.usefixtures("place")
def test_passengers_are_dropped_and_what_carries_the_gain_goes_through_the_gate_alone(
    registry: Registry, tmp_path: Path
) -> None:
    name = bundle(registry, tmp_path)
    less, whole = tried(registry, FakeRunner(gains(SECOND=0.7)), name)
    assert (whole.id, whole.verdict, less.verdict) == (name, "reject", "promote")
    assert whole.reasons[0].startswith("passengers: of its 3 edits only 2 carry the gain")
    assert whole.scored is not None
    assert [attribution.passenger for attribution in whole.scored.attributions] == [True, False, True]
    text = live_text(registry)
    assert ("SECOND" in text, "FIRST" in text, "THIRD" in text) == (True, False, False)


@pytest.mark.usefixtures("place")
def test_each_edit_that_stays_carries_its_own_attribution(registry: Registry, tmp_path: Path) -> None:
    name = bundle(registry, tmp_path)
    (whole,) = tried(registry, FakeRunner(gains(FIRST=0.3, SECOND=0.25, THIRD=0.25)), name)
    assert whole.verdict == "promote"
    made = [envelope.event for envelope in registry.log.read(types=("GeneMutated",))]
    parts = [event.attribution for event in made if isinstance(event, GeneMutated)]
    assert len(parts) == 3
    assert all(attribution is not None and attribution.value > 0.02 for attribution in parts)
    assert whole.scored is not None
    assert whole.scored.delta is not None
    assert all(attribution is not None and attribution.value < whole.scored.delta.value for attribution in parts)


@pytest.mark.usefixtures("place")
def test_a_cap_before_the_parts_are_known_holds_the_bundle(registry: Registry, tmp_path: Path) -> None:
    name = bundle(registry, tmp_path)
    runner = FakeRunner(gains(SECOND=0.7))
    with registry.rehearsal():
        tried(registry, runner, name)
    part = next(at for at, run in enumerate(runner.seen) if run[0] == name and run in runner.seen[:at])
    subject = rig(registry, FakeRunner(gains(SECOND=0.7)), caps=RunCaps(cost_usd=0.01 * (part + 1)))
    (held,) = try_out(subject, [name])
    assert held.verdict == "hold"
    assert "which of its 3 edits carry the gain is not known yet" in held.reasons[1]


def test_ablation_on_replay_tells_the_line_that_counts_from_the_one_that_rides_along() -> None:
    records = world_with_a_rule(3)
    both: list[tuple[Claim, ...]] = [(DO,), (StartWith(do="sql:SHOW"),)]
    attribution, other = ablate(both, ClaimPosition((), 0), records, seed=1)
    assert attribution.delta is not None
    assert attribution.delta.low > 0
    assert (attribution.passenger, other.passenger) == (False, True)
