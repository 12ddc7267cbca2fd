"""The rate of the search for failures in plain text logs, against ripgrep (or grep -cE) with the same 20 patterns.

Makes a log of 320 MB out of the lines of loghub-2k (other digits in every block), in a temporary folder, in which
3 % of the lines report a failure, and others of a fifth of that with larger shares, up to that of loghub. The
peer counts the lines that match; ours finds each with its bytes and line number. They take turns and must agree on
the count; the figure is the median over the rounds of the ratio of the two rates. grep runs in the C locale, where
it is fastest (in UTF-8 it is five times slower). Below that: the whole reader, to episodes with stack traces.

2026-11-22, one of two shared cores under load, no ripgrep on the machine, so against grep -cE, MB/s and ratio
(hyperscan 0.9.1; a call of the engine for each line found is what it costs, so ratios fall as more lines match):

    lines that match     3 % (323 MB)   6 % (72 MB)   12 % (72 MB)   21 %, as in loghub (71 MB)
    grep -cE              279   1.00     298   1.00     311   1.00     305   1.00
    google-re2            191   0.72     195   0.72     147   0.55      93   0.35
    hyperscan             451   1.68     438   1.56     341   1.28     162   0.57
    reader                 47             29             26             13    at most 58 MB more memory at its peak

So hyperscan falls below the peer between 12 and 21 %. On the machine at rest, the day before: google-re2 0.84 and
hyperscan 2.29 at 3 %, 0.41 and 0.96 (0.96 to 1.15 over six runs) at 21 %, the reader 227 and 41 MB/s.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from strategies.files.line_search import HyperscanFinder, Re2Finder, UnusableError, blocks
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally, Span
from strategies.logs.formats.plain_text import FAILURES, PlainTextReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.files.line_search import Finder

MB: Final = 1e6
SETS: Final = ("Apache", "HDFS", "Linux")
BLOCK_LINES: Final = 80_000
USUAL: Final = 0.03
"""The share of lines that report a failure at which the figures are to be reached."""
DENSER: Final = (0.06, 0.12, None)
"""Further shares, None for that of loghub: each line that is found costs a call."""
REACH: Final = {"google-re2": 0.7, "hyperscan": 1.0}


class Corpus(NamedTuple):
    """A log, and the share of its lines that report a failure (None: as loghub has it)."""

    path: Path
    share: float | None

    @property
    def size_bytes(self) -> int:
        """Give its size."""
        return self.path.stat().st_size


def loghub() -> list[bytes]:
    """Give the lines of loghub, or end the bench by name where they are not beside the project."""
    named = os.environ.get("GERMLINE_TEST_DATA")
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = (Path(named) if named else beside) / "loghub"
    if not folder.is_dir():
        print("skipped: loghub is not beside the project, set GERMLINE_TEST_DATA")
        raise SystemExit
    return [line for name in SETS for line in (folder / name / f"{name}_2k.log").read_bytes().splitlines()]


def write(corpus: Corpus, lines: list[bytes], size_bytes: int, rng: random.Random) -> Corpus:
    """Write a log of drawn lines; in every block the digits are exchanged for others."""
    finder = Re2Finder(FAILURES)
    failing = [line for line in lines if any(finder.lines(line))]
    fine = [line for line in lines if not any(finder.lines(line))]
    share = len(failing) / len(lines) if corpus.share is None else corpus.share
    drawn = b"".join(rng.choice(failing if rng.random() < share else fine) + b"\n" for _ in range(BLOCK_LINES))
    with corpus.path.open("wb") as file:
        while file.tell() < size_bytes:
            digits = rng.sample(b"0123456789", 10)
            file.write(drawn.translate(bytes.maketrans(b"0123456789", bytes(digits))))
    return corpus


def peer() -> tuple[str, Callable[[Path], int]]:
    """Give the peer that is there: its name, and how it counts the lines that match."""
    patterns = [part for pattern in FAILURES for part in ("-e", pattern)]
    command = ["rg", "-j1", "-c", *patterns] if shutil.which("rg") else ["grep", "-cE", *patterns]
    environment = {**os.environ, "LC_ALL": "C"}

    def count(path: Path) -> int:
        lines_found = subprocess.run([*command, str(path)], env=environment, capture_output=True, check=True)
        return int(lines_found.stdout)

    return " ".join(command[:2]), count


def search(finder: Finder, path: Path) -> int:
    """Find every line that matches, with its bytes and its number; return how many."""
    line, lines_found = 1, 0
    for raw, byte_start, _ in blocks(LogFile(path)):
        counted = 0
        for start, end in finder.lines(raw):
            line, counted = line + raw.count(b"\n", counted, start), start
            place = Span(byte_start + start, byte_start + end, line)
            lines_found += bool(place)
        line += raw.count(b"\n", counted)
    return lines_found


def seconds(action: Callable[[Path], int], path: Path, expected: int | None = None) -> tuple[float, int]:
    """Return how long an action takes, and what it counts; the sides must agree."""
    started = time.perf_counter()
    count = action(path)
    spent = time.perf_counter() - started
    if expected not in {None, count}:
        raise SystemExit(f"the sides disagree: {expected} lines, {count} lines")
    return spent, count


def compare(corpus: Corpus, finders: dict[str, Finder], rounds: int) -> None:
    """Print the rates of the peer and of each finder, and the median ratio."""
    name, count = peer()
    spent: dict[str, list[float]] = {side: [] for side in (name, *finders)}
    lines = 0
    for _ in range(rounds):
        taken, lines = seconds(count, corpus.path)
        spent[name].append(taken)
        for side, finder in finders.items():
            taken, _ = seconds(partial(search, finder), corpus.path, lines)
            spent[side].append(taken)
    size = corpus.size_bytes / MB
    share = "as in loghub" if corpus.share is None else f"{corpus.share:.0%} of lines match"
    print(f"{size:.0f} MB, {share}: {lines:,} lines")
    for side, times in spent.items():
        ratio = statistics.median(peer_s / own for peer_s, own in zip(spent[name], times, strict=True))
        reach = f"  (to reach: {REACH[side]})" if corpus.share == USUAL and side in REACH else ""
        print(f"  {side:<12}{size / statistics.median(times):>8.0f} MB/s{ratio:>7.2f}{reach}")


def read(path: Path) -> tuple[float, int, float]:
    """Return how long the whole reader takes, the steps, and the growth of the peak of this process in MB."""
    before = peak_mb()
    started = time.perf_counter()
    steps = sum(len(episode.steps) for episode in PlainTextReader().read(LogFile(path), ReadTally()))
    spent = time.perf_counter() - started
    return spent, steps, peak_mb() - before


def peak_mb() -> float:
    """Return the peak of the memory of this process; getrusage would tell that of the parent, too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return math.nan
    peak = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def whole_reader(corpus: Corpus) -> None:
    """Print the rate of the reader, from the file to episodes, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        spent, steps, grown = fresh.submit(read, corpus.path).result()
    rate = corpus.size_bytes / MB / spent
    print(f"  {'reader':<12}{rate:>8.0f} MB/s to {steps:,} steps, {grown:.0f} MB more memory at its peak")


def main() -> None:
    """Print every figure of one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="32 MB: a glance, not a figure")
    quick = parser.parse_args().quick
    size_bytes, rounds = (32_000_000, 3) if quick else (320_000_000, 5)
    lines, rng = loghub(), random.Random(1)
    finders: dict[str, Finder] = {"google-re2": Re2Finder(FAILURES)}
    try:
        finders["hyperscan"] = HyperscanFinder(FAILURES)
    except UnusableError:
        print("hyperscan is not installed: pip install 'germline[hyperscan]'")
    with TemporaryDirectory(prefix="germline-bench-") as folder:
        for share in (USUAL, *DENSER):
            size = size_bytes if share == USUAL else size_bytes // 5
            corpus = write(Corpus(Path(folder, f"{share or 'loghub'}.log"), share), lines, size, rng)
            compare(corpus, finders, rounds)
            whole_reader(corpus)


if __name__ == "__main__":
    main()
