"""What goes between germline and the confinement of a command, and who is found to have come of one."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.rollouts.confine import descent
from strategies.rollouts.confine.spec import Report, Spec
from strategies.rollouts.workspace import overfull

if TYPE_CHECKING:
    from pathlib import Path

SPEC = Spec(
    argv=["/bin/echo", "", "3:a;b", "two\nlines", "a\0b", "ü", "\udcff", "\ud800"],
    cwd="/work",
    environment={"KEY": "0;1:", "EMPTY": ""},
    root="/",
    writable=[],
    hidden=["/a b", "/c"],
    network=False,
    limit_s=0.1,
    processes=64,
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
    packed = Report(ended, ("watch",), code, attempts, error).packed()
    assert vars(Report.unpacked(packed)) == vars(Report(ended, ("watch",), code, attempts, error))
    for part in (packed[:-1], packed[: len(packed) // 2], packed[1:], packed + b"0", packed + b"0;"):
        with pytest.raises(ValueError, match=r".*"):
            Report.unpacked(part)


@pytest.mark.parametrize(
    "content", [b"", b'{"ended": "exited"}', b"1;-1:", b"1;1_0:", b"3;1:a1:b1:c", b"9" * 5_000]
)
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Report.unpacked(content)


@pytest.mark.parametrize("told", [True, False], ids=["told by the kernel", "looked for among all"])
def test_descendants_are_found_where_the_kernel_tells_of_children_and_where_it_does_not(
    monkeypatch: pytest.MonkeyPatch, *, told: bool
) -> None:
    known = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - as the code asks
    if not os.path.isdir("/proc/self") or (told and not known):  # noqa: PTH112
        pytest.skip("this kernel does not tell of children")
    monkeypatch.setattr("os.path.exists", lambda _: told)
    script = "sleep 60 & echo $!; wait"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        sleeper = int(shell.stdout.readline())
        found = set(descent.descendants())
        os.kill(sleeper, 9)
    assert {shell.pid, sleeper} <= found
    assert os.getpid() not in found


def test_a_workspace_is_too_large_past_its_files_or_its_bytes_and_not_at_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a", "sub/b"):
        (tmp_path / name).write_bytes(bytes(1_000))
    size = 2_000 + (tmp_path / "sub").lstat().st_size
    assert overfull(tmp_path, most_files=3, most_bytes=size) == ""
    assert overfull(tmp_path, most_files=2, most_bytes=size) == "the workspace holds more than 2 files"
    told = f"the workspace holds more than {size - 1:,} bytes"
    assert overfull(tmp_path, most_files=3, most_bytes=size - 1) == told
