"""The Start screen: a line is taken, put in other words, or refused; its sessions are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.screen_pilot import screens
from tests.terminal import SPLIT_KEY, Terminal
from tests.worlds.sessions import write_sessions
from tui.screens.host_protocol import Settings
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def worked(tmp_path: Path) -> Path:
    """Begin a registry on twenty sessions of a project."""
    write_sessions(tmp_path / "logs", 20, 0)
    at = Terminal(tmp_path)
    at.does("init", "--split-key", SPLIT_KEY)
    at.does("scan", "logs")
    return tmp_path / ".germline" / "registry.db"


def settings(registry: Path) -> Settings:
    return Settings(project=registry.parent.parent)


async def test_a_line_is_taken_as_seen_with_a_reason(worked: Path) -> None:
    async with screens(worked, "/start", settings=settings(worked)) as at:
        assert "Use grep, not rg." in at.pane("#start")
        await at.press("j", "y", *"we use it", "enter", "enter")
        assert "Use grep" not in at.pane("#start")
    written = (worked.parent.parent / "CLAUDE.md").read_text()
    with open_library(worked) as library:
        (line,) = [
            line for gene in library.capsule("CLAUDE.md").genes for line in gene.lines if "grep" in line.text
        ]
    assert line.text in written


async def test_a_line_is_taken_in_other_words(worked: Path) -> None:
    async with screens(worked, "/start", settings=settings(worked)) as at:
        await at.press("e", *" Ask first.", "enter", *"mine", "enter", "enter")
    assert "Do not push to main. Ask first." in (worked.parent.parent / "CLAUDE.md").read_text()


async def test_editing_can_be_left(worked: Path) -> None:
    async with screens(worked, "/start", settings=settings(worked)) as at:
        await at.press("e", "escape")
        assert "Do not push to main." in at.pane("#start")
    assert not (worked.parent.parent / "CLAUDE.md").exists()


async def test_a_refused_line_is_not_offered_again(worked: Path) -> None:
    async with screens(worked, "/start", settings=settings(worked)) as at:
        await at.press("n", *"no", "enter", "enter")
        assert "Do not push to main." not in at.pane("#start")
    assert not (worked.parent.parent / "CLAUDE.md").exists()


async def test_the_sessions_of_a_thing_are_shown(worked: Path) -> None:
    async with screens(worked, "/start", settings=settings(worked)) as at:
        await at.press("s")
        assert at.app.place.view == "sessions"
        shown = at.app.place.item
    with open_library(worked) as library:
        assert any(stored.episode.startswith(shown) for stored in library.log.episodes())
