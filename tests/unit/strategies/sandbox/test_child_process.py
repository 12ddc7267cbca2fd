"""Programs of this machine that are waited for: what they print, their limit, what they leave running."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import monotonic

import pytest

from events.errors import StorageError
from strategies.sandbox.child_process import RUNNING, ask_program


def lives(process: int) -> bool:
    """Tell whether a process runs that was not only not yet waited for."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_an_answer_has_code_and_both_outputs_or_goes_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("in")
    answer = ask_program(("sh", "-c", "cat; echo err >&2; exit 3"), limit_s=20, stdin=tmp_path / "given")
    assert (answer.code, answer.stdout, answer.stderr) == (3, "in", "err\n")
    ask_program(("echo", "out"), limit_s=20, output=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "out\n"
    assert not RUNNING
    with pytest.raises(StorageError, match="cannot start /none"):
        ask_program(("/none",), limit_s=20)


def test_past_its_limit_a_program_ends_with_its_group_and_else_its_helpers_stay(tmp_path: Path) -> None:
    helper = f"sleep 60 >/dev/null 2>&1 & echo $! >{tmp_path}/helper"
    assert ask_program(("sh", "-c", f"{helper}; wait"), limit_s=1).code is None
    killed, deadline = int((tmp_path / "helper").read_text()), monotonic() + 20
    while lives(killed):  # the kernel takes its time
        assert monotonic() < deadline
    assert ask_program(("sh", "-c", helper), limit_s=20).code == 0
    kept = int((tmp_path / "helper").read_text())
    assert lives(kept)
    os.kill(kept, signal.SIGKILL)
