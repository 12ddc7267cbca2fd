"""What a preset forbids does not happen, whatever signals come up: through the real loop, from signal to event."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.types.claims import StartWith, Trigger
from events.types.parts import Edit
from events.types.registry_events import SignalAssigned
from registry.decide.commands import RecordFact
from strategies.evolve.loop import Plan, evolve
from strategies.policy.presets import PRESETS, Weights
from strategies.pool.intake import take_in as take_in_episodes
from strategies.propose.by_signal import PROPOSERS
from strategies.select.pick import KINDS
from tests.clocks import TickingClock
from tests.registries import imported, judged, new_registry, proposal, raised_signal
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from events.types.parts import Strategy
    from events.types.registry_events import SignalRaised
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.evolve.results import CycleResult
    from strategies.policy.presets import Preset

LEARNER = "---\nname: learner\ndescription: Learns.\n---\n\nDo the work.\n\n## Format\n\nAnswer with the result.\n"
TEACHER = "---\nname: teacher\ndescription: Knows.\n---\n\nTeach.\n\n## How to begin\n\nBegin well.\n"
NEVER_INNOVATES = PRESETS["balanced"].model_copy(
    update={"name": "tidy", "weights": Weights(repair=70, harden=30, innovate=0)}
)

ANY_KIND = sorted(PROPOSERS)


def any_signal(draws: random.Random) -> SignalRaised:
    """Draw a signal; by hypothesis it would take as long to draw as to answer, and there are thousands."""
    return raised_signal(
        fingerprint=f"{draws.getrandbits(64):016x}",
        kind=draws.choice(ANY_KIND),
        calls_for=draws.choice(KINDS),  # whatever its kind: a preset binds what is done, not what is said
        template=draws.choice(["", "broken"]),
        action=draws.choice(["", "make", "grep", "ls", "grep", "ls"]),
        count=draws.randint(1, 1_000),
        episodes=draws.randint(1, 100),
        severity=draws.choice([0.0, draws.random(), 1.0]),
    )


def world_of_few_actions() -> list[EpisodeRecord]:
    """Episodes of three calls, so that a thousand turns are mined in seconds; beginning with `ls` helps."""
    draws = random.Random(4)
    records = []
    for number in range(135):
        begins = draws.random() < 0.5
        steps = [call("ls" if begins else "grep"), call("make", "broken"), call("make")]
        records.append(episode(steps, outcome=float(draws.random() < 0.1 + 0.8 * begins), task=f"t{number:03}"))
    return records


@pytest.fixture(scope="module")
def registry(own_folder: Path) -> Registry:
    """Two skills, one of which teaches what truly helps in these logs, and could be copied."""
    registry = new_registry(own_folder, TickingClock())
    take_in_episodes(registry, world_of_few_actions())
    imported(registry, own_folder, LEARNER, name="learner")
    imported(registry, own_folder, TEACHER, name="teacher")
    teacher = registry.capsule("teacher")
    edit = Edit(op="append", gene=teacher.genes[1].id, text=("Begin each task with this: call ls.\n",))
    triggers = tuple(
        Trigger(fingerprint="t", kind="t", template=template, action=action)
        for template in ("", "broken")
        for action in ("make", "grep", "ls")
    )
    taught = proposal(teacher, edit, candidate="taught", claims=(StartWith(do="ls"),))
    judged(registry, taught.model_copy(update={"triggers": triggers}))
    return registry


def evolved(registry: Registry, raised: Sequence[SignalRaised], preset: Preset) -> tuple[list[CycleResult], int]:
    """Evolve on these signals and take it back; answers with the cycles, and how many genes were born."""
    start = registry.log.head().position
    with registry.rehearsal():
        given = (SignalAssigned(fingerprint=signal.fingerprint, capsule="learner") for signal in raised)
        registry.execute(RecordFact((*raised, *given)))
        run = evolve(registry, Plan(preset=preset, seed=7, skill="learner", cycles=60, write=False))
        born = sum(1 for _ in registry.log.read(after=start, types=("GeneBorn",)))
    return list(run.cycles), born


def lacking(calls_for: Strategy) -> SignalRaised:
    """The signal that the other skill's gene answers, so severe that it comes first."""
    return raised_signal(
        "missing_capability",
        fingerprint="lacking",
        calls_for=calls_for,
        action="make",
        count=1,
        episodes=1,
        severity=2.0,
    )


@pytest.mark.parametrize(
    ("preset", "runs", "cycles"), [(PRESETS["repair-only"], 5, 150), (NEVER_INNOVATES, 2, 60)]
)
def test_over_hundreds_of_cycles_what_has_no_weight_is_never_done_and_no_gene_is_born(
    registry: Registry, preset: Preset, runs: int, cycles: int
) -> None:
    taken: list[CycleResult] = []

    @given(st.integers(150, 200), st.integers(0, 2**32))
    @settings(
        derandomize=True, deadline=None, max_examples=runs, database=None, suppress_health_check=list(HealthCheck)
    )
    def run(count: int, seed: int) -> None:
        draws = random.Random(seed)
        raised = [any_signal(draws) for _ in range(count)]
        turns, born = evolved(registry, [lacking("repair"), *raised], preset)
        assert born == 0
        assert all(preset.weights.of(turn.strategy) for turn in turns)
        taken.extend(turns)

    run()
    assert len(taken) >= cycles
    assert any(turn.candidate and "call ls" in turn.candidate.edits[0].text for turn in taken)


def test_what_is_forbidden_there_happens_under_a_preset_that_innovates(registry: Registry) -> None:
    turns, born = evolved(registry, [lacking("innovate")], PRESETS["innovate"])
    assert born == 1
    assert turns[0].verdict == "promote"
