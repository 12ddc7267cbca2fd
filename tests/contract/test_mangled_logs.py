"""A log as tools and people change it is read as before, or named with the reason: never silently nothing."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final

import pytest
import zstandard

from strategies.logs.scan import scan
from tests.agent_sessions import SESSIONS
from tests.sample_logs import SAMPLES
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strategies.logs.scan import Scan
    from tests.sample_logs import Sample

STORES: Final = frozenset(("opencode", "copilot-store", "cursor-store"))
"""Databases: their samples are the rows that are read of them, which nobody has as a file."""
ALL: Final = [sample for sample in (*SAMPLES, *SESSIONS, *TRACES) if sample.format not in STORES]
NAMES: Final = ("s.log", "s.txt", "session", "S.JSONL", "s.jsonl.1", "s.json", "s.jsonl.zst")
LONG: Final = "x y " * 20_000


def values(body: bytes) -> list[object]:
    try:
        return [json.loads(body)]
    except ValueError:
        return [json.loads(line) for line in body.splitlines()]


def dumped(body: bytes, **how: object) -> bytes:
    return b"".join(json.dumps(value, **how).encode() + b"\n" for value in values(body))  # type: ignore[arg-type]


def behind(first: object) -> Callable[[bytes], bytes]:
    def mangled(body: bytes) -> bytes:
        records = [{"first": first, **value} if isinstance(value, dict) else value for value in values(body)]
        return b"".join(json.dumps(value).encode() + b"\n" for value in records)

    return mangled


def figures(logs_scan: Scan) -> tuple[int, int, int]:
    return len(logs_scan.records), logs_scan.steps, logs_scan.errors


def named(logs_scan: Scan) -> bool:
    return bool(logs_scan.broken or logs_scan.malformed or logs_scan.empty or logs_scan.unknown)


SAME: Final[dict[str, Callable[[bytes], bytes]]] = {
    "a byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "line ends of Windows": lambda body: body.replace(b"\n", b"\r\n"),
    "empty lines first": lambda body: b"\n\n  \n" + body,
    "no newline at the end": lambda body: body.rstrip(b"\n"),
    "compact": lambda body: dumped(body, separators=(",", ":")),
    "spaced": lambda body: dumped(body, separators=(" , ", " : ")),
    "sorted keys": lambda body: dumped(body, sort_keys=True),
    "a long text first": behind(LONG),
    "a long list first": behind(list(range(20_000))),
}
OF_LINES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "pretty": lambda body: dumped(body, indent=2),
    "an array": lambda body: json.dumps(values(body)).encode(),
    "a pretty array": lambda body: json.dumps(values(body), indent=2).encode(),
}
NAMED: Final[dict[str, Callable[[bytes], bytes]]] = {
    "two texts on one line": lambda body: b"".join(json.dumps(value).encode() for value in values(body)),
    "half a last record": lambda body: body[:-20],
    "words behind": lambda body: body + b"\nDone in 3.2 s\n",
    "words before": lambda body: b"Loading plugins\nready\n" + body,
    "zeros behind": lambda body: body + bytes(512),
    "inside an object": lambda body: json.dumps({"wrapped": values(body)}).encode(),
    "UTF-16": lambda body: body.decode().encode("utf-16"),
    "roles of another name": lambda body: body.replace(b'"role"', b'"speaker"'),
    "types of another name": lambda body: body.replace(b'"type"', b'"sort"'),
}
OF_SESSIONS: Final = frozenset(
    ("steps", "claude-code", "codex", "copilot-cli", "pi", "cursor", "gemini-cli", "otel")
)
"""Formats of one record a line that have no reading of a document of their own."""
PARTS: Final = frozenset(("openai-responses", "openai-agents", "otel", "chat"))
"""Formats in which what is left without a renamed key is a whole log of its own."""


def read(folder: Path, name: str, body: bytes) -> Scan:
    path = folder / name
    path.write_bytes(body)
    return scan([path], on_broken="list")


def label(sample: Sample) -> str:
    return f"{sample.format}-{sample.name}"


@pytest.mark.parametrize("sample", ALL, ids=label)
def test_what_means_the_same_is_read_the_same(tmp_path: Path, sample: Sample) -> None:
    expected = ([sample.format], (sample.episodes, sample.steps, sample.errors))
    ways = {how: mangled for how, mangled in SAME.items() if keeps_meaning(sample, how)}
    assert ways
    read_as = {how: read(tmp_path, sample.name, mangled(sample.body)) for how, mangled in ways.items()}
    assert {
        how: ([file.format for file in logs_scan.files], figures(logs_scan)) for how, logs_scan in read_as.items()
    } == (dict.fromkeys(ways, expected))


def keeps_meaning(sample: Sample, how: str) -> bool:
    """Tell whether a sample means the same then: a text is no JSON, and one is an episode by its first key."""
    if sample.text:
        return "line" in how
    return not (sample.name == "run_x.json" and "first" in how and "lines" not in how)


@pytest.mark.parametrize("sample", [sample for sample in ALL if sample.lines], ids=label)
def test_records_that_are_not_one_a_line_are_read_or_the_file_is_named(tmp_path: Path, sample: Sample) -> None:
    neither = []
    for how, mangled in OF_LINES.items():
        logs_scan = read(tmp_path, sample.name, mangled(sample.body))
        same = figures(logs_scan) == (sample.episodes, sample.steps, sample.errors)
        if not same and (sample.format in OF_SESSIONS or not named(logs_scan)):
            neither.append((how, figures(logs_scan)))
    assert neither == []


@pytest.mark.parametrize("sample", [sample for sample in ALL if not sample.text], ids=label)
def test_what_is_not_read_is_named(tmp_path: Path, sample: Sample) -> None:
    unnamed = []
    for how, mangled in NAMED.items():
        logs_scan = read(tmp_path, sample.name, mangled(sample.body))
        part = logs_scan.records and logs_scan.steps and "name" in how and sample.format in PARTS
        whole = figures(logs_scan) == (sample.episodes, sample.steps, sample.errors)
        if not (part or named(logs_scan) or whole):
            unnamed.append((how, figures(logs_scan)))
    assert unnamed == []


@pytest.mark.parametrize("sample", [sample for sample in ALL if not sample.text], ids=label)
def test_a_name_says_nothing_of_what_a_log_holds(tmp_path: Path, sample: Sample) -> None:
    read_as = {}
    for name in NAMES:
        body = zstandard.compress(sample.body) if name.endswith(".zst") else sample.body
        logs_scan = read(tmp_path, name, body)
        read_as[name] = [file.format for file in logs_scan.files], figures(logs_scan)
    expected = ([sample.format], (sample.episodes, sample.steps, sample.errors))
    assert read_as == dict.fromkeys(NAMES, expected)


def test_an_archive_is_known_by_what_it_holds(tmp_path: Path) -> None:
    sample = SAMPLES[0]
    assert figures(read(tmp_path, sample.name, gzip.compress(sample.body)))[0] == sample.episodes
