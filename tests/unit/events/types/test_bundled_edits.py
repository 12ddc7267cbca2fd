"""Several edits with their claims, on replay: passengers are dropped, and each that stays says what it brought."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec

from events.types.candidate_events import CandidateScored
from events.types.claims import AfterError, FinishWith
from events.types.gene_events import GeneMutated
from events.types.parts import Edit
from strategies.evolve.bundles import claims_after
from strategies.evolve.draft import TurnContext
from strategies.evolve.reflect import skill_shown
from strategies.evolve.turn import run_cycle
from strategies.gate.replay.evaluation_set import prepare
from strategies.policy.presets import PRESETS
from strategies.pool.intake import take_in as take_in_episodes
from strategies.propose.proposal import LearnedLine, Mined, PlacedEdits
from tests.registries import NAME, learn, proposal, raised_signal
from tests.worlds import NO_TABLE, call, episode

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord

NO_COLUMN = "Unknown column <*>"
LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
CHECK = AfterError(template=NO_COLUMN, do="sql:DESC")
IDLE = FinishWith(do="sql:COUNT")
GUESS = AfterError(template=NO_TABLE, avoid="sql:SHOW")
"""What to avoid, where it is what helps."""


def world(*, tasks: int = 450, seed: int = 4) -> list[EpisodeRecord]:
    """A world of tasks tried once, with one of two errors each, after which another action helps, and no other."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        for run in ("large", "small"):
            error, helpful = draws.choice([(NO_TABLE, "sql:SHOW"), (NO_COLUMN, "sql:DESC")])
            helped = draws.random() < 0.5
            won = float(draws.random() < 0.2 + 0.5 * helped)
            steps = [
                call("sql:SELECT", error),
                call(helpful if helped else "sql:SELECT"),
                call(draws.choice(["sql:COUNT", "sql:SELECT"])),
                call("submit"),
            ]
            record = episode(steps, outcome=won, task=f"t{number:04} of {run}", run=run)
            records.append(msgspec.structs.replace(record, ended_by="agent"))
    return records


def turn_on(registry: Registry) -> TurnContext:
    take_in_episodes(registry, world())
    return TurnContext(
        registry, prepare(registry), PRESETS["balanced"], seed=7, edit_budget=4, offered=("repair",)
    )


SIGNAL = raised_signal(fingerprint="f", template=NO_TABLE, count=9, episodes=9)


def bundle(registry: Registry, *parts: tuple[str, AfterError | FinishWith]) -> Mined:
    gene = registry.capsule(NAME).genes[0].id
    edits = tuple(Edit(op="append", gene=gene, text=(f"{text}\n",)) for text, _ in parts)
    lines = tuple(LearnedLine(text, claim) for text, claim in parts)
    return Mined(
        PlacedEdits(proposer="claude", reason="together", lines=lines, edits=edits, actor="model:stub#1"), 2, None
    )


def test_each_edit_of_a_bundle_carries_what_the_whole_loses_without_it(registry: Registry, place: Path) -> None:
    turn = turn_on(registry)
    mined = bundle(registry, ("Look first.", LOOK), ("Look at the columns.", CHECK))
    result = run_cycle(turn, SIGNAL, registry.capsule(NAME), mined)
    assert result.verdict == "promote", result.reasons
    (scored,) = [e.event for e in registry.log.read() if isinstance(e.event, CandidateScored)]
    assert [attribution.edit for attribution in scored.attributions] == [0, 1]
    assert not any(attribution.passenger for attribution in scored.attributions)
    assert scored.sent == 2
    mutated = [e for e in registry.log.read() if isinstance(e.event, GeneMutated)]
    given = [e.event.attribution for e in mutated if isinstance(e.event, GeneMutated)]
    assert all(attribution is not None and attribution.low > 0 for attribution in given)
    assert len(given) == 2
    assert {e.actor for e in mutated} == {"model:stub#1"}
    assert place.is_dir()


def test_a_passenger_is_dropped_and_the_rest_measured_as_a_candidate_of_its_own(
    registry: Registry, place: Path
) -> None:
    turn = turn_on(registry)
    mined = bundle(registry, ("Look first.", LOOK), ("Count at the end.", IDLE))
    result = run_cycle(turn, SIGNAL, registry.capsule(NAME), mined)
    assert result.verdict == "promote", result.reasons
    assert result.candidate is not None
    assert [edit.text for edit in result.candidate.edits] == ["Look first."]
    (candidate,) = registry.candidates(NAME)
    assert candidate.proposed.claims == (LOOK,)
    assert "passengers were dropped" in candidate.proposed.reason
    assert candidate.scored is not None
    assert candidate.scored.sent == 2  # both were shown to the sealed logs
    assert place.is_dir()


def test_a_proposer_is_told_why_a_line_came_but_not_what_sealed_logs_showed_of_its_passenger(
    registry: Registry, place: Path
) -> None:
    turn = turn_on(registry)
    run_cycle(
        turn,
        SIGNAL,
        registry.capsule(NAME),
        bundle(registry, ("Look first.", LOOK), ("Look again.", GUESS), ("Count at the end.", IDLE)),
    )
    (candidate,) = registry.candidates(NAME)
    assert "it does not help by itself" in candidate.proposed.reason
    assert "passengers were dropped" in candidate.proposed.reason
    shown = skill_shown(registry, registry.capsule(NAME))
    assert "reason: together\n" in f"{shown}\n"
    assert "dropped" not in shown
    assert place.is_dir()


def test_a_rewritten_line_loses_its_claim_and_others_keep_theirs_in_the_order_of_the_lines(
    registry: Registry, place: Path
) -> None:
    capsule = learn(registry, "Look first.\n", "Count at the end.\n", claims=(LOOK, IDLE))
    gene = capsule.genes[0]
    at = {line.text: line.id for line in gene.lines}
    edit = Edit(op="replace", gene=gene.id, target=(at["Look first.\n"],), text=("Look at the columns.\n",))
    proposed = proposal(capsule, edit, claims=(CHECK,), candidate="c2")
    assert claims_after(capsule, proposed) == (CHECK, IDLE)
    before = Edit(op="insert_after", gene=gene.id, target=(at["Look first.\n"],), text=("Look at the columns.\n",))
    assert claims_after(capsule, proposal(capsule, before, claims=(CHECK,))) == (LOOK, CHECK, IDLE)
    assert place.is_dir()
