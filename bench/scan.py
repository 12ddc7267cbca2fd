"""The rate of a scan of Claude Code logs to episodes and signals, against a bare typed decode and `json.loads`.

Makes a log of 500 MB out of the recorded texts, in a temporary folder, and measures everything in one run: each
figure is the best of five, and the sides take turns. The bare decode gives every record with its content blocks
and does nothing with them; it and `json.loads` read the same lines through the same 1 MiB buffer. Memory is the
growth of the peak resident set of a fresh process that scans the whole log.

Measured on 2026-11-22 on 2 shared cores of an Intel Xeon, three runs: bare decode 360–478 MB/s, `json.loads`
129–157, ours 202–260 to signals: 0.52–0.56 of the bare decode and 1.53–1.66 of `json.loads` (2 is not reached);
two processes 1.79 and 2.08; 44 MB of growth, recall 1. Reading the lines and our own decode, which passes over
most fields, take half of what twice `json.loads` allows; the rest is spread over the session, with no part above
a tenth. Tried without a gain: cutting off `toolUseResult` before the decode (a search runs at 2 to 4 GB/s, but
four are needed to be sure that the cut is at its place, and they cost what skipping does), decoding from views of
a block, decoding a block of lines at once, no garbage collection, simdjson (2.7 µs a record instead of 4.3 to
parse, and as much again to take the fields out), hashing results in place instead of copying them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.session_writer import SessionWriter, Written, recorded_texts
from strategies.logs.scan import Scan, scan, scan_on
from strategies.signals.detect import detect

if TYPE_CHECKING:
    from collections.abc import Callable

BUFFER_BYTES: Final = 1024 * 1024
MB: Final = 1e6


class Block(msgspec.Struct):
    """A content block, all of it decoded."""

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"null")
    tool_use_id: str | None = None
    content: str | list[Block] | None = None
    is_error: bool | None = None


class Message(msgspec.Struct):
    """A message with its blocks."""

    content: str | list[Block] = ""
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None


class Record(msgspec.Struct, rename="camel"):
    """A record as a plain reader would declare it."""

    type: str
    session_id: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    subtype: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    message: Message | None = None


def each_line(files: tuple[Path, ...], decode: Callable[[bytes], object]) -> None:
    """Decode every line, and drop what comes of it."""
    for path in files:
        with path.open("rb", buffering=BUFFER_BYTES) as file:
            for line in file:
                decode(line)


def ours(files: tuple[Path, ...]) -> Scan:
    """Scan to episodes and signals."""
    scanned = scan(files)
    detect(scanned.records)
    return scanned


def seconds(action: Callable[[], object]) -> float:
    """Time an action."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def best_of_five(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Time each side five times, in turns, and keep its best: neighbours on a shared machine only slow it down."""
    spent = {name: float("inf") for name in sides}
    for _ in range(5):
        for name, action in sides.items():
            spent[name] = min(spent[name], seconds(action))
    return spent


def peak_growth_mb(folder: Path) -> float:
    """Scan in a process of its own, and give by how much its peak memory grew over what the imports take."""
    asked = [sys.executable, __file__, "--measure-memory", str(folder)]
    return float(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def measure_memory(folder: Path) -> None:
    """Print the growth of this process's peak resident set over one scan, in MB; a small scan goes before it."""
    ours(tuple(sorted(folder.parent.glob("warm/*.jsonl"))))
    before = peak_mb()
    ours(tuple(sorted(folder.glob("*.jsonl"))))
    print(peak_mb() - before)


def peak_mb() -> float:
    """Give the peak resident set of this process; Linux keeps it again for each program, unlike ru_maxrss."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / MB


def recall(written: Written) -> tuple[float, int]:
    """Give the share of the failing calls that were written which were found, and how many were found besides."""
    failing = {
        (Path(record.source).stem, step.span.line)
        for record in scan(written.files).records
        for step in record.steps
        if step.error
    }
    return len(failing & written.failing) / len(written.failing), len(failing - written.failing)


def two_processes(files: tuple[Path, ...]) -> tuple[float, float]:
    """Give the seconds of one worker process and of two, each started and warmed before."""
    spent = []
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=get_context("forkserver")) as pool:
            scan(files[:workers], executor=pool)
            spent.append(best_of_five({"": lambda pool=pool: scan(files, executor=pool)})[""])  # type: ignore[misc]
    return spent[0], spent[1]


def further(files: tuple[Path, ...]) -> tuple[float, int, float]:
    """Give the seconds of a second scan, and the bytes and seconds of one after 1 MB was appended."""
    stored = scan_on(files, {}).offsets
    again_s = seconds(lambda: scan_on(files, stored))
    with files[0].open("rb") as file, closing(files[0].open("ab")) as grown:
        lines = file.read(1_000_000)
        grown.write(lines[: lines.rindex(b"\n") + 1])
    began = time.perf_counter()
    rescanned = scan_on(files, stored)
    return again_s, rescanned.text_bytes, time.perf_counter() - began


def report(size_mb: int, texts: Path) -> None:
    """Write the log, measure, and print."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as base:
        folder, warm = Path(base, "log"), Path(base, "warm")
        folder.mkdir()
        warm.mkdir()
        known = recorded_texts(texts)
        SessionWriter(known, 2).write(warm, int(2 * MB))
        written = SessionWriter(known, 1).write(folder, int(size_mb * MB))
        size, files = written.size_bytes / MB, written.files
        share = len(written.failing) / written.calls
        print(
            f"{size:,.0f} MB in {len(files)} sessions: {written.records:,} records of"
            f" {written.size_bytes / written.records / 1000:.1f} kB, {written.calls:,} calls, {share:.1%} failing"
        )
        decode = msgspec.json.Decoder(Record).decode
        spent = best_of_five(
            {
                "bare typed decode": lambda: each_line(files, decode),
                "json.loads": lambda: each_line(files, json.loads),
                "ours, to episodes": lambda: scan(files),
                "ours, to signals": lambda: ours(files),
            }
        )
        for name, taken in spent.items():
            print(f"{name:<24}{size / taken:>8,.0f} MB/s")
        own = spent["ours, to signals"]
        one_s, two_s = two_processes(files)
        share_found, besides = recall(written)
        again_s, read_bytes, grown_s = further(files)
        print(f"of the bare decode      {spent['bare typed decode'] / own:>8.2f}   to reach 0.5")
        print(f"of json.loads           {spent['json.loads'] / own:>8.2f}   to reach 2")
        print(f"two processes           {one_s / two_s:>8.2f}   to reach 1.7 ({os.cpu_count()} cores)")
        print(f"peak memory growth      {peak_growth_mb(folder):>8.0f}   MB, to stay under 64")
        print(f"recall of failing calls {share_found:>8.3f}   to reach 1 ({besides} found besides)")
        print(f"second scan             {again_s:>8.3f}   s, to stay under 0.5")
        print(f"after 1 MB was appended {read_bytes / MB:>8.2f}   MB read, in {grown_s:.2f} s")


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the size: a glance, not a figure")
    parser.add_argument("--texts", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--measure-memory", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure_memory:
        measure_memory(asked.measure_memory)
    elif not asked.texts.is_dir():
        print("the recorded texts are not beside the project: name their folder with --texts")
    else:
        report(100 if asked.quick else 500, asked.texts)


if __name__ == "__main__":
    main()
