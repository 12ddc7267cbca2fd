"""What tests of the screens share: a story that the module tells once as `told`."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def story(shared_story: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The story, for tests that change nothing."""
    del cache
    monkeypatch.chdir(shared_story.parent)  # the evidence names its logs from there
    return shared_story


@pytest.fixture
def own(shared_story: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be changed."""
    del cache
    copytree(shared_story.parent, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own" / shared_story.name
