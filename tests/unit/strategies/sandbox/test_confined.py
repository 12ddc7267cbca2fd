"""What goes between germline and the confinement of a command, and which processes descend from one."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from socket import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.rollouts.tasks.workspace import overfull, state_of
from strategies.sandbox import processes
from strategies.sandbox.attempts import reached
from strategies.sandbox.confined_run import run_folder
from strategies.sandbox.disk_use import DiskUse
from strategies.sandbox.seccomp import Notification
from strategies.sandbox.spec import ConfinementReport, Spec
from strategies.sandbox.supervisor import Started, Watch
from strategies.sandbox.syscalls import X86_64

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


def test_a_folder_of_a_run_goes_however_deep_a_command_made_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with run_folder("trial-") as place:
        held = os.open(place, os.O_RDONLY)
        for _ in range(1_100):  # more than Python has calls, and more than a process has open files
            os.mkdir("d", dir_fd=held)
            above, held = held, os.open("d", os.O_RDONLY, dir_fd=held)
            os.close(above)
        os.close(held)
        assert len(state_of(place)) == 1_100
        assert overfull(place, most_files=2_000, most_bytes=1 << 30).endswith(
            "a path of more than 1,000 characters"
        )
    assert not place.exists()


@pytest.mark.parametrize(
    ("kilobytes", "files", "too_much"), [(0, 0, False), (2_000, 0, True), (0, 2_000, True), (500, 100, False)]
)
def test_files_in_memory_count_with_what_processes_hold_whether_they_hold_anything_or_not(
    monkeypatch: pytest.MonkeyPatch, kilobytes: int, files: int, *, too_much: bool
) -> None:
    there = os.statvfs_result((1_024, 1_024, 9_000, 9_000 - kilobytes, 0, 9_000, 9_000 - files, 0, 0, 255))
    monkeypatch.setattr("os.statvfs", lambda _: there)
    assert processes.holds_more(1 << 20, [], "/dev/shm") == too_much  # noqa: S108 - never opened
    assert not processes.holds_more(1 << 20, [], "")


@pytest.mark.parametrize(
    ("use", "left", "own"),
    [
        (DiskUse(1_000, 1_001), [10, 10], False),
        (DiskUse(2_000, 5), [10, 10], True),
        (DiskUse(0, 5), [10, 2_000], True),
        (DiskUse(0, 1_001), [0, 0], True),
        (DiskUse(0, 999), [0, 0], False),
        (DiskUse(0, 0, 1), [10, 10], True),
    ],
    ids=[
        "others",
        "its bytes",
        "its files without a name",
        "its files",
        "others' files",
        "what nobody can look at",
    ],
)
def test_who_filled_a_disk_is_seen_by_what_the_command_took_of_it(
    monkeypatch: pytest.MonkeyPatch, use: DiskUse, left: list[int], *, own: bool
) -> None:
    answers = iter(left)
    monkeypatch.setattr("strategies.sandbox.supervisor.left_bytes", lambda _: next(answers))
    monkeypatch.setattr("strategies.sandbox.supervisor.disk_use", lambda _: use)
    monkeypatch.setattr("strategies.sandbox.processes.end", lambda _: None)
    with socket() as line:
        watch = Watch(SPEC, Started(1, -1, line, failed=False), list, apart=False)
        assert watch._filled_the_disk() == own


def test_memory_that_processes_share_counts_once() -> None:
    held = mmap.mmap(-1, 8 << 20)
    held.write(bytes(8 << 20))
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as other:
        own = os.getpid()
        apart = processes._share(own) + processes._share(other.pid)
        together = sum(map(processes._resident, (own, other.pid)))
        assert other.stdin is not None
        other.stdin.close()
    assert apart < together
    assert processes._share(own) >= 8 << 20
    assert processes._share(0) == 0


def test_a_place_that_cannot_be_resolved_is_an_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strategies.sandbox.attempts.memory_of", lambda *_: b"/proc/1/root/made\0")

    def refused(_: str) -> str:
        raise PermissionError(13, "as of the root link of another process")

    monkeypatch.setattr("os.path.realpath", refused)
    number = next(number for number, call in X86_64.items() if call.name == "creat")
    monkeypatch.setattr("strategies.sandbox.libc.machine", lambda: "x86_64")
    attempt = reached(Notification(1, os.getpid(), number, (0,) * 6), SPEC)
    assert (attempt.text, attempt.error) == ("", 0)  # a pointer to nothing
    attempt = reached(Notification(1, os.getpid(), number, (1, *(0,) * 5)), SPEC)
    assert (attempt.text, attempt.error) == ("tried to write /proc/1/root/made", 13)
