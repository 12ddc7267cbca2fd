"""One log file as a stream of lines: what counts as a line while the file is being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.files.log_file import LogFile

if TYPE_CHECKING:
    from pathlib import Path

HALF, REST = b'{"half', b' a line"}\n'


@pytest.mark.parametrize("whole_before", [b"", b"one\n", b"one\ntwo\n"])
def test_the_rest_of_a_half_line_that_arrives_while_it_is_read_is_never_taken_for_a_line(
    tmp_path: Path, whole_before: bytes
) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(whole_before + HALF)
    grown = list[bytes]()

    def grow_at_the_end(size: int) -> None:
        if size == 0 and not grown:
            grown.append(REST)
            with path.open("ab") as file:
                file.write(REST + b"later\n")

    first = LogFile(path, grow_at_the_end, whole_lines=True)
    read = [line.raw for line in first.lines()]
    assert grown == [REST]
    assert first.reached.offset <= len(whole_before)
    behind = LogFile(path, None, first.reached, whole_lines=True)
    assert [*read, *(line.raw for line in behind.lines())] == [
        *whole_before.splitlines(),
        (HALF + REST).rstrip(),
        b"later",
    ]
