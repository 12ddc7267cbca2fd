"""Lines that are too long, or hold too much: passed over with their place, and memory follows the bound."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import zstandard

from strategies.files import bounded_lines
from strategies.files.bounded_lines import has_too_many_values
from strategies.files.log_file import CHUNK_BYTES, LogFile
from strategies.logs.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 1024 * 1024
LIMIT = CHUNK_BYTES + 3000
"""The bound in these tests: no less than what is read at once, and at no border of it."""

GOOD = b'{"type":"step","episode":"a","text":"x"}\n'
CLAUDE = b'{"type":"user","sessionId":"s","message":{"content":"hi"}}\n'
OTEL = (
    b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","attributes":['
    b'{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}\n'
)
TALK = b'{"messages":[{"role":"user","content":"hi"}]}\n'
EVENT = b'{"source":"user","action":"message","args":{"content":"hi"}}\n'
FORMATS = {"steps": GOOD, "claude-code": CLAUDE, "otel": OTEL, "chat": TALK, "openhands": EVENT}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda body: gzip.compress(body, 1),
    ".zst": zstandard.ZstdCompressor().compress,
}


OVERS = (1, 17, 2 * MIB)
"""By how much a line is too long: each is met by every format, and by every packing."""


def long_line(good: bytes, size: int) -> bytes:
    return good.rstrip()[:-1] + b',"more":"' + b"x" * (size - len(good.rstrip()) - 10) + b'"}\n'


@pytest.mark.parametrize(
    ("log_format", "packing", "over"),
    [
        (log_format, packing, OVERS[(first + second) % len(OVERS)])
        for first, log_format in enumerate(FORMATS)
        for second, packing in enumerate(PACKINGS)
    ],
)
def test_a_line_that_is_too_long_is_malformed_and_the_rest_is_read_at_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_format: str, packing: str, over: int
) -> None:
    for name in ("RECORD_LIMIT_BYTES", "LONG_LINE_BYTES"):
        monkeypatch.setattr(bounded_lines, name, LIMIT)
    monkeypatch.setattr("strategies.files.log_file.LONG_LINE_BYTES", LIMIT)
    monkeypatch.setattr("strategies.logs.formats.claude_code.LONG_LINE_BYTES", LIMIT)
    good = FORMATS[log_format]
    fits, too_long = long_line(good, LIMIT), long_line(good, LIMIT + over)
    body = good + fits + too_long + good + too_long + too_long + good
    path = tmp_path / f"log.jsonl{packing}"
    path.write_bytes(PACKINGS[packing](body))

    logs_scan = scan([path], log_format=log_format)

    at = [body.index(too_long), body.index(too_long + too_long), body.rindex(too_long)]
    assert [(bad.line, bad.byte_start) for bad in logs_scan.malformed] == list(zip((3, 5, 6), at, strict=True))
    assert {bad.reason.partition(":")[0] for bad in logs_scan.malformed} == {f"a line of {LIMIT + over:,} bytes"}
    spans = {step.span for record in logs_scan.records for step in record.steps}
    assert all(body[span.byte_start : span.byte_end] in good for span in spans if span.line != 2)
    assert {span.line for span in spans} == {1, 2, 4, 7}
    assert len(fits) == LIMIT + 1


def test_half_a_line_that_is_too_long_waits_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_lines, "RECORD_LIMIT_BYTES", LIMIT)
    path = tmp_path / "growing.jsonl"
    path.write_bytes(GOOD + b"x" * 2 * LIMIT)
    first = LogFile(path, whole_lines=True)
    assert [line.raw for line in first.lines()] == [GOOD.rstrip()]
    assert first.reached == (len(GOOD), 1)


@pytest.mark.parametrize(
    ("text", "many"),
    [
        (b"[" + b"0," * 600_000 + b"0]", True),
        (b'["' + b"a,b" * 600_000 + b'"]', False),
        (b'["' + b'\\",' * 600_000 + b'"]', False),
        (b'"' + b"\\," * 600_000, False),
        (b'["",' * 600_000, True),
    ],
)
def test_values_are_counted_by_commas_outside_of_strings(text: bytes, *, many: bool) -> None:
    assert has_too_many_values(text) is many


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7])
def test_values_are_counted_alike_wherever_a_text_is_cut(
    monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    text = json.dumps(["a,\\", 'b",', "\\\\,", [1, 2, {"c,": '\\",'}], ",", "\\"]).encode()
    monkeypatch.setattr(bounded_lines, "_BLOCK_BYTES", block_bytes)
    for limit, many in ((6, True), (7, False)):
        monkeypatch.setattr(bounded_lines, "VALUES_LIMIT", limit)
        assert has_too_many_values(text) is many


BOMBS: dict[str, Callable[[], tuple[bytes, bytes]]] = {
    "steps": lambda: (GOOD, b'{"type":"step","episode":"a","text":"' + b"x" * 40 * MIB + b'"}\n'),
    "claude-code": lambda: (
        CLAUDE,
        b'{"type":"user","sessionId":"s","message":{"content":"' + b"ab " * 10_000_000 + b'"}}\n',
    ),
    "chat": lambda: (TALK, b'{"messages":[' + b"0," * 15 * MIB + b"0]}\n"),
    "openhands": lambda: (EVENT, b'{"source":"user","args":{"a":[' + b'{"":""},' * 3 * MIB + b"0]}}\n"),
    "plain-text": lambda: (b"2026-01-01T00:00:00Z ERROR x\n", b"ERROR " + b"x" * 40 * MIB + b"\n"),
    "swe-agent": lambda: (b"", b'{"trajectory":[' + b"0," * 20 * MIB + b"0]}"),
    "action-observation": lambda: (
        b"",
        b'{"a":{"turn_history":{"actions":[' + b'"",' * 14 * MIB + b'""]}}}',
    ),
}
"""What comes before a line that is too much, and that line: of some, 40 MB, made when they are asked for."""
_SCAN = """
import os, resource, sys
from pathlib import Path
from strategies.logs.formats_table import all_readers
from strategies.logs.scan import scan
all_readers()
for log_format in sys.argv[2:]:
    if child := os.fork():  # each has 300 MiB of its own
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"{log_format} ended with {status}")
        continue
    mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + 300 * 2**20,) * 2)
    found = scan([Path(sys.argv[1], f"{log_format}.gz")], log_format=log_format, on_broken="list")
    print(log_format, len(found.records), len(found.malformed) + len(found.broken))
    sys.exit()
"""


def test_a_packed_bomb_is_read_in_300_mib_and_told(tmp_path: Path) -> None:
    begun = []
    for log_format, parts in BOMBS.items():
        good, bomb = parts()
        (tmp_path / f"{log_format}.gz").write_bytes(gzip.compress(good + bomb + good, 1))
        begun.append(bool(good))
    run = subprocess.run(
        [sys.executable, "-c", _SCAN, str(tmp_path), *BOMBS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    read = [line.split() for line in run.stdout.splitlines()]
    assert [name for name, _, _ in read] == list(BOMBS)
    assert [int(records) > 0 for _, records, _ in read] == begun
    assert {name: int(broken) for name, _, broken in read} == {name: int(name != "claude-code") for name in BOMBS}
