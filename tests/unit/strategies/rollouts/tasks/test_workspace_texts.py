"""Texts of a workspace: regular files alone, whatever an agent left there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strategies.rollouts.tasks.workspace import read_text

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_no_regular_file_has_no_text_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.csv").write_text("a\n")
    os.mkfifo(tmp_path / "pipe")
    before = len(list(os.scandir("/proc/self/fd")))
    assert [read_text(tmp_path, path) for path in ("out", "pipe", "gone", "out/report.csv")] == [
        None,
        None,
        None,
        "a\n",
    ]
    assert len(list(os.scandir("/proc/self/fd"))) == before
