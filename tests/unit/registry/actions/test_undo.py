"""Undo and redo as a fold of the log: what a compensating event takes back, and what can be done again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import ConflictError
from registry.actions.undo import changes_of, compensation
from registry.decide.commands import MoveAlias, RevertVersion, SwitchPreset
from tests.story import tell
from tui.session.changes import ChangePreview, carry_out, rehearse, taking_back
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from registry.registry import Registry


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.chdir(tmp_path)
    with open_registry(tell(tmp_path), is_own=True) as opened:
        yield opened


def take_back(registry: Registry, step: str, skill: str = "") -> None:
    changes = changes_of(registry, skill)
    envelope = changes.undo if step == "undo" else changes.redo
    assert envelope is not None
    registry.execute(compensation(envelope, step), causation=envelope.event_id)


def test_the_newest_change_is_undone_first_and_redone_last(registry: Registry) -> None:
    texts = [[gene.lines for gene in registry.capsule("sql-analyst", str(v)).genes] for v in (1, 2, 3)]
    take_back(registry, "undo", "sql-analyst")
    assert registry.capsule("sql-analyst").aliases == ()
    take_back(registry, "undo", "sql-analyst")
    assert [gene.lines for gene in registry.capsule("sql-analyst").genes] == texts[1]
    take_back(registry, "undo", "sql-analyst")
    assert [gene.lines for gene in registry.capsule("sql-analyst").genes] == texts[0]
    assert changes_of(registry, "sql-analyst").undo is None
    for _ in range(3):
        take_back(registry, "redo", "sql-analyst")
    assert [gene.lines for gene in registry.capsule("sql-analyst").genes] == texts[2]
    assert dict(registry.capsule("sql-analyst").aliases) == {"production": 3}
    assert changes_of(registry, "sql-analyst").redo is None


def test_another_change_ends_what_can_be_redone(registry: Registry) -> None:
    take_back(registry, "undo", "sql-analyst")
    assert changes_of(registry, "sql-analyst").redo is not None
    registry.execute(MoveAlias("sql-analyst", "canary", 2, "try it"))
    assert changes_of(registry, "sql-analyst").redo is None


def test_what_was_undone_in_one_skill_is_undone_in_the_whole(registry: Registry) -> None:
    registry.execute(SwitchPreset("harden", "release"))
    take_back(registry, "undo", "sql-analyst")
    changes = changes_of(registry)
    assert changes.undo is not None
    assert changes.undo.type == "PresetSwitched"
    assert changes.redo is not None
    take_back(registry, "undo")
    assert registry.about().preset == "balanced"
    take_back(registry, "redo")
    take_back(registry, "redo")
    assert dict(registry.capsule("sql-analyst").aliases) == {"production": 3}
    assert registry.about().preset == "harden"


def test_an_import_cannot_be_undone_but_a_revert_can(registry: Registry) -> None:
    command = compensation(changes_of(registry, "ticket-triage").undo, "no")  # type: ignore[arg-type] # there is one
    assert command == RevertVersion("ticket-triage", 2, "no")
    for _ in range(2):
        take_back(registry, "undo", "ticket-triage")
    assert changes_of(registry, "ticket-triage").undo is None


def test_an_undo_that_somebody_came_before_is_refused_and_a_rehearsal_writes_nothing(
    registry: Registry,
) -> None:
    path = Path(registry.log.location)

    def opened(*, dry_run: bool) -> AbstractContextManager[Registry]:
        return open_registry(path, dry_run=dry_run, is_own=True)

    head = registry.log.head().position
    envelope = changes_of(registry, "sql-analyst").undo
    assert envelope is not None
    change = taking_back(envelope, "sql-analyst", "undo")
    assert [written_envelope.type for written_envelope in rehearse(opened, change, "try").envelopes] == [
        "AliasMoved"
    ]
    assert registry.log.head().position == head
    registry.execute(MoveAlias("sql-analyst", "canary", 2, "meanwhile"))
    with pytest.raises(ConflictError, match="something else was changed meanwhile"):
        carry_out(opened, change, "too late", ChangePreview(()))
