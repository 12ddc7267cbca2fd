"""A sheet, read without any event, is what the capsule is as far as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import NotFoundError
from registry.commands import Revert
from registry.rendering import label, projected_lines, skill_text
from registry.sheet import Sheet
from registry.snapshots import freeze
from tests.registries import NAME, NO_GUESS, imported, learn, new_registry

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from tests.clocks import TickingClock


@pytest.fixture
def lived(registry: Registry, place: Path) -> Registry:
    """Give a registry whose skill was imported, learned two lines and went back."""
    del place
    learn(registry)
    learn(registry, NO_GUESS, candidate="c2")
    registry.execute(Revert(NAME, 2, "enough"))
    return registry


def test_a_sheet_is_its_capsule_at_every_version(lived: Registry) -> None:
    measured = set()
    for version in range(1, 5):
        capsule = lived.capsule(NAME, str(version))
        sheet = Sheet.from_bytes(freeze(capsule))
        assert sheet == Sheet.of(capsule)
        assert projected_lines(sheet) == projected_lines(capsule)
        assert (skill_text(sheet), label(sheet)) == (skill_text(capsule), label(capsule))
        measured.add(sheet.score is None)
    assert measured == {True, False}


def test_the_latest_sheet_is_the_latest_capsule(lived: Registry) -> None:
    assert lived.sheet(NAME) == Sheet.of(lived.capsule(NAME))


def test_a_sheet_that_is_not_there_is_told_as_a_capsule_is(tmp_path: Path, clock: TickingClock) -> None:
    registry = new_registry(tmp_path, clock)
    imported(registry, tmp_path)
    told = []
    for ask in (registry.capsule, registry.sheet):
        with pytest.raises(NotFoundError) as caught:
            ask("sql-analist")
        told.append((str(caught.value), caught.value.hint, caught.value.nearest))
    registry.log.close()
    assert told[0] == told[1]
