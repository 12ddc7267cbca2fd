"""What tests of the screens share: a story that the module tells once as `told`."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def story(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The story, for tests that change nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where copies are kept
    monkeypatch.chdir(told.parent)  # the evidence names its logs from there
    return told


@pytest.fixture
def own(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be changed."""
    copytree(told.parent, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own" / told.name
