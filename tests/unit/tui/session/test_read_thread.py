"""Reads of a person and counts beside them, in two threads: which of them goes first."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.terminal import SPLIT_KEY
from tui.session import read_thread as module
from tui.session.access import Access
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.query.library import Library


@pytest.fixture
def access(tmp_path: Path) -> Iterator[Access]:
    new_registry(tmp_path, TickingClock(), SPLIT_KEY).log.close()

    @contextmanager
    def library() -> Iterator[Library]:
        with open_library(tmp_path / "registry.db") as opened:
            yield opened

    opened = Access(library, None, seed=1)
    yield opened
    opened.close()


def preset(library: Library, order: list[str], who: str) -> str:
    """Ask the registry something, and note when that was answered."""
    asked = library.about().preset
    order.append(who)
    return asked


async def test_a_count_waits_between_its_queries_until_a_person_has_read(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_S", 60.0)
    order: list[str] = []
    await access.study(lambda library: preset(library, order, "count"))  # opens the registry
    go_on = Event()

    def slow(library: Library) -> str:
        assert go_on.wait(60)
        return preset(library, order, "person")

    reading = asyncio.create_task(access.read(slow))
    await asyncio.sleep(0)
    counting = asyncio.create_task(access.study(partial(preset, order=order, who="count")))
    await asyncio.sleep(0.05)
    assert order == ["count"]
    go_on.set()
    assert await reading == await counting == "balanced"
    assert order == ["count", "person", "count"]


async def test_a_count_does_not_wait_for_ever(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_S", 0.01)
    order: list[str] = []
    await access.study(lambda library: preset(library, order, "count"))
    go_on = Event()
    reading = asyncio.create_task(access.read(lambda _: go_on.wait(60)))
    await asyncio.sleep(0)
    await access.study(partial(preset, order=order, who="count"))
    assert order == ["count", "count"]
    assert not reading.done()
    go_on.set()
    assert await reading
