"""Logs that are read in parts, before anything was judged, come to what they come to at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.intake import scan_into
from strategies.pool.known_episodes import all_episodes, split_groups
from strategies.propose.by_signal import PROPOSERS
from strategies.scope.scope import scope_of
from strategies.select.queue import agenda_on
from tests.clocks import TickingClock
from tests.registries import new_registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.registry import Registry

ONE = "Column name in field clause is ambiguous"
OTHERS = [f"Column name in {clause} clause is ambiguous" for clause in ("order", "where", "group", "having")]
"""Texts of which the first stands for itself until others of its shape are known."""


def episode(name: str, task: str, action: str, error: str) -> dict[str, object]:
    """Give an action-observation run that fails once, and ends with an action that wins."""
    return {
        "turn_history": {
            "actions": ["SELECT name", action],
            "observations": [f"Error executing query: {error}", "done"],
            "rewards": [0, 1],
            "valid_action": [False, True],
        },
        "summary": {"max_reward": 1, "max_reward_idx": 1, "turns_taken": 2, "turns_max": 10},
        "query": task,
        "task_id": name,
    }


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Write three files: the last links tasks of the others by their answers, and shows that an error varies."""
    earlier = [("a", "SELECT 1", ONE), ("b", "SELECT 2", ONE)]
    later = [(f"c{number}", f"SELECT {1 + number % 2}", other) for number, other in enumerate(OTHERS)]
    contents = [
        {f"{n}{i}": episode(f"{n}{i}", f"question {n}", action, error) for n, action, error in some for i in "012"}
        for some in (earlier[:1], earlier[1:], later)
    ]
    links = {"l1": episode("a0", "question a", "SELECT 2", OTHERS[1])}
    paths = []
    for number, content in enumerate([*contents, links]):
        path = tmp_path / f"part{number}.json"
        path.write_text(json.dumps(content))
        paths.append(path)
    return paths


def after(registry: Registry, batches: Sequence[Sequence[Path]]) -> Registry:
    for batch in batches:
        scan_into(registry, batch)
    return registry


def test_parts_come_to_the_same_templates_groups_figures_and_evaluator_as_all_at_once(
    tmp_path: Path, parts: list[Path]
) -> None:
    states, each = [], [[part] for part in parts]
    for name, batches in {"once": [parts], "each": each, "back": each[::-1]}.items():
        (tmp_path / name).mkdir()
        registry = after(new_registry(tmp_path / name, TickingClock()), batches)
        records = all_episodes(registry)
        seen = {step.template for record in records for step in record.steps if step.error}
        agenda = agenda_on(
            registry,
            scope_of(registry, prepare(registry).division.everything),
            PROPOSERS,
            "any",
            unrouted_too=True,
        )
        offered = {
            offer.fingerprint: (offer.count, offer.episodes, offer.severity, offer.runs) for offer in agenda.offers
        }
        states.append((records, split_groups(registry), prepare(registry).evaluator, seen, offered))
    assert len(states[0][3]) == 1
    assert states[0][4]
    assert states[1] == states[0]
    assert states[2] == states[0]


def test_what_was_judged_keeps_its_templates_and_groups_whatever_comes_later(
    tmp_path: Path, parts: list[Path]
) -> None:
    (tmp_path / "of").mkdir()
    registry = after(new_registry(tmp_path / "of", TickingClock()), [parts[:2]])
    prepare(registry)
    before, groups = {record.id: record for record in all_episodes(registry)}, split_groups(registry)
    after(registry, [parts[2:]])
    known = {record.id: record for record in all_episodes(registry)}
    assert len(known) > len(before)
    assert {name: known[name] for name in before} == before
    assert {task: split_groups(registry)[task] for task in groups} == groups
