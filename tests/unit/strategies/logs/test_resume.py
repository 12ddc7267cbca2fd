"""Reading on where no random cut comes: other formats and versions, very long lines, what a state holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from strategies.files.line_search import BLOCK_BYTES, LINE_LIMIT_BYTES, LineBlock, blocks
from strategies.files.log_file import LogFile
from strategies.files.read_offsets import ReadOffset
from strategies.files.reread import read_span
from strategies.logs.scan import scan, scan_on
from tests.sample_logs import CHAT_LINES, CI, CODEX, OPENHANDS, OPENHANDS_RESULTS, TALK, jsonl

if TYPE_CHECKING:
    from pathlib import Path

LONG = b"ERROR " + b"x" * 10_000_000


@pytest.mark.parametrize(
    ("name", "body", "stranger", "unknown"),
    [
        ("talks.jsonl", CHAT_LINES, TALK[1], "message outside of a conversation"),
        ("output.jsonl", OPENHANDS_RESULTS, OPENHANDS[0], "event outside of a run"),
    ],
)
def test_a_stray_record_between_whole_episodes_is_counted(
    tmp_path: Path, name: str, body: bytes, stranger: dict[str, object], unknown: str
) -> None:
    path = tmp_path / name
    path.write_bytes(body + jsonl(stranger))
    logs_scan = scan([path])
    assert (len(logs_scan.records), logs_scan.unknown, logs_scan.malformed) == (2, {unknown: 1}, ())


def test_whole_episodes_on_very_long_lines_are_read_on(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    first = jsonl({"messages": [{"role": "user", "content": "x" * 200_000}, *TALK]})
    path.write_bytes(first)
    stored = scan_on([path], {}).offsets
    path.write_bytes(first + CHAT_LINES)
    logs_scan = scan_on([path], stored)
    assert (logs_scan.text_bytes, len(logs_scan.records)) == (len(CHAT_LINES), 2)


def other_state(offsets: dict[str, bytes], state: bytes) -> dict[str, bytes]:
    decoder = msgspec.msgpack.Decoder(ReadOffset)
    return {
        name: msgspec.msgpack.encode(msgspec.structs.replace(decoder.decode(body), state=state))
        for name, body in offsets.items()
    }


def test_a_state_that_another_version_wrote_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    lines = CODEX.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    stored = other_state(dict(scan_on([path], {}).offsets), msgspec.msgpack.encode(["another", "shape"]))
    path.write_bytes(CODEX)
    logs_scan = scan_on([path], stored)
    assert (logs_scan.text_bytes, logs_scan.records) == (len(CODEX), scan([path]).records)


def test_a_log_that_is_read_as_another_format_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(CODEX)
    stored = scan_on([path], {}).offsets
    path.write_bytes(CODEX + b"ERROR at the end\n")
    logs_scan = scan_on([path], stored, log_format="plain-text")
    assert (logs_scan.files[0].format, logs_scan.text_bytes) == ("plain-text", len(CODEX) + 17)


@pytest.mark.parametrize(
    ("name", "body", "texts"),
    [
        ("rollout.jsonl", CODEX, [b"Run the tests", b"pytest -q", b"Fixed.", b"Begin Patch", b"k1"]),
        (
            "ci.log",
            CI + b"ERROR Traceback (most recent call last)\n  secret-in-trace\n",
            [b"secret-in-trace"],
        ),
    ],
)
def test_state_of_a_reader_holds_no_text_of_the_log(
    tmp_path: Path, name: str, body: bytes, texts: list[bytes]
) -> None:
    path = tmp_path / name
    lines = body.splitlines(keepends=True)
    for upto in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:upto]))
        (offset,) = scan_on([path], {}).offsets.values()
        assert [text for text in texts if text in offset] == []


def test_the_rest_of_a_very_long_line_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(b"start\n" + LONG + b"\r\nERROR after it\n" + LONG)
    logs_scan = scan([path])
    (record,) = logs_scan.records
    assert [(step.span.line, step.span.byte_start) for step in record.steps] == [
        (2, 6),
        (3, len(LONG) + 8),
        (4, len(LONG) + 23),
    ]
    assert [len(read_span(str(path), step.span)) for step in record.steps] == [
        LINE_LIMIT_BYTES,
        14,
        LINE_LIMIT_BYTES,
    ]
    assert [(bad.line, bad.byte_start) for bad in logs_scan.malformed] == [(2, 6), (4, len(LONG) + 23)]
    assert all("1 MiB" in bad.reason for bad in logs_scan.malformed)


def test_a_very_long_line_is_read_on_behind_its_end(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    stored: dict[str, bytes] = {}
    read = []
    for body in (b"start\n" + LONG[:3_000_000], b"start\n" + LONG + b"\n", b"start\n" + LONG + b"\nERROR x\n"):
        path.write_bytes(body)
        logs_scan = scan_on([path], stored, live=True)
        stored = dict(logs_scan.offsets)
        read.append(
            (logs_scan.text_bytes, [step.span.line for record in logs_scan.records for step in record.steps])
        )
    assert read == [(3_000_006, []), (len(LONG) + 1, [2]), (8, [2, 3])]


def test_a_line_takes_no_more_memory_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(LONG * 2 + b"\nend\n")
    line_blocks = list(blocks(LogFile(path)))
    assert [len(block.raw) for block in line_blocks] == [LINE_LIMIT_BYTES, 4]
    assert line_blocks[1] == LineBlock(b"end\n", 2 * len(LONG) + 1)
    assert BLOCK_BYTES <= LINE_LIMIT_BYTES
