"""What goes between germline and the confinement of a command, and which processes descend from one."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.rollouts.tasks.workspace import overfull
from strategies.sandbox import processes
from strategies.sandbox.spec import ConfinementReport, Spec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = Spec(
    argv=["/bin/echo", "", "3:a;b", "two\nlines", "a\0b", "ü", "\udcff", "\ud800"],
    cwd="/work",
    environment={"KEY": "0;1:", "EMPTY": ""},
    root="/",
    writable=[],
    private="/runs",
    hidden=["/a b", "/c"],
    network=False,
    limit_s=0.1,
    processes=64,
    memory_bytes=1_024,
    disk_bytes=1_024,
    disk_files=8,
    spare_bytes=1_024,
    limits={"RLIMIT_CORE": 0},
    required=["files"],
)


def test_a_spec_is_read_as_it_was_written_whatever_its_texts_hold() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, SPEC.packed())
    os.close(write_end)
    assert vars(Spec.read(read_end)) == vars(SPEC)


@given(
    st.text(),
    st.integers(-64, 255),
    st.lists(st.text(st.characters(exclude_categories=())), max_size=3),
    st.text(st.characters(exclude_categories=())),
)
def test_a_report_is_read_as_it_was_written_and_a_part_of_one_is_none(
    ended: str, code: int, attempts: list[str], error: str
) -> None:
    packed = ConfinementReport(ended, ("watch",), code, attempts, error).packed()
    assert vars(ConfinementReport.unpacked(packed)) == vars(
        ConfinementReport(ended, ("watch",), code, attempts, error)
    )
    for part in (packed[:-1], packed[: len(packed) // 2], packed[1:], packed + b"0", packed + b"0;"):
        with pytest.raises(ValueError, match=r".*"):
            ConfinementReport.unpacked(part)


@pytest.mark.parametrize(
    "content", [b"", b'{"ended": "exited"}', b"1;-1:", b"1;1_0:", b"3;1:a1:b1:c", b"9" * 5_000]
)
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        ConfinementReport.unpacked(content)


@pytest.mark.parametrize("listed", [True, False], ids=["listed by the kernel", "looked for among all"])
def test_descendants_are_found_where_the_kernel_lists_children_and_where_it_does_not(
    monkeypatch: pytest.MonkeyPatch, *, listed: bool
) -> None:
    known = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - as the code asks
    if not os.path.isdir("/proc/self") or (listed and not known):  # noqa: PTH112
        pytest.skip("this kernel does not list children")
    monkeypatch.setattr("os.path.exists", lambda _: listed)
    script = "sleep 60 & echo $!; wait"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        sleeper = int(shell.stdout.readline())
        below = set(processes.descendants())
        os.kill(sleeper, 9)
    assert {shell.pid, sleeper} <= below
    assert os.getpid() not in below


def test_a_workspace_is_too_large_past_its_files_or_its_bytes_and_not_at_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a", "sub/b"):
        (tmp_path / name).write_bytes(bytes(1_000))
    size = 2_000 + (tmp_path / "sub").lstat().st_size
    assert overfull(tmp_path, most_files=3, most_bytes=size) == ""
    assert overfull(tmp_path, most_files=2, most_bytes=size) == "the workspace holds more than 2 files"
    reason = f"the workspace holds more than {size - 1:,} bytes"
    assert overfull(tmp_path, most_files=3, most_bytes=size - 1) == reason
