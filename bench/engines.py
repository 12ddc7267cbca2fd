"""A scan of Claude Code logs by two worker processes: handed over by Dask, against a local process pool.

Makes a log of 100 MB out of the recorded texts, in a temporary folder. Both sides have two workers that were
started and warmed before, take turns in one run, and each figure is the best of five. What a cluster costs to
start and to end is told beside it: a command that starts its own pays it once.

Measured on 2026-11-22 on 2 cores of an Intel Xeon, in use by others: one process 173 MB/s, the pool 284, Dask 231:
0.81 of the pool. Dask's client and scheduler share the two cores with the workers. A call takes 4.2 ms against
0.25, and a cluster 2.1 s until its first two files are read, against 0.7.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.session_writer import SessionWriter, recorded_texts
from strategies.engines.engine import engine_of
from strategies.engines.engine_settings import EngineSettings
from strategies.logs.scan import scan

if TYPE_CHECKING:
    from concurrent.futures import Executor

WORKERS: Final = 2
ROUNDS: Final = 5
CALLS: Final = 200
MB: Final = 1e6


def seconds_of(executor: Executor | None, files: tuple[Path, ...]) -> float:
    """Time a scan to episodes."""
    began = time.perf_counter()
    scan(files, executor=executor)
    return time.perf_counter() - began


def per_call_ms(executor: Executor | None) -> float:
    """Time calls that do nothing, all handed over at once; none take no time."""
    if executor is None:
        return 0.0
    began = time.perf_counter()
    for call in [executor.submit(os.getpid) for _ in range(CALLS)]:
        call.result()
    return (time.perf_counter() - began) / CALLS * 1000


def report(size_mb: int, texts: Path) -> None:
    """Write the log, measure, and print."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as base, ExitStack() as stack:
        written = SessionWriter(recorded_texts(texts), 1).write(Path(base), int(size_mb * MB))
        files, size = written.files, written.size_bytes / MB
        print(f"{size:,.0f} MB in {len(files)} sessions, {WORKERS} workers, {os.cpu_count()} cores")
        began = time.perf_counter()
        pool = stack.enter_context(ProcessPoolExecutor(WORKERS, mp_context=get_context("forkserver")))
        scan(files[:WORKERS], executor=pool)
        pool_s = time.perf_counter() - began
        engine = engine_of(EngineSettings(name="dask", workers=WORKERS))
        began = time.perf_counter()
        dask = stack.enter_context(engine.files([written.size_bytes]))
        scan(files[:WORKERS], executor=dask)
        dask_s = time.perf_counter() - began
        sides = {"here, one process": None, "process pool": pool, "Dask": dask}
        spent = {name: float("inf") for name in sides}
        for _ in range(ROUNDS):
            for name, executor in sides.items():
                spent[name] = min(spent[name], seconds_of(executor, files))
        for name, taken in spent.items():
            print(f"{name:<24}{size / taken:>8,.0f} MB/s")
        print(f"Dask of the pool        {spent['process pool'] / spent['Dask']:>8.2f}   to stay above 0.8")
        print(f"one call                {per_call_ms(dask):>8.2f}   ms, {per_call_ms(pool):.2f} in the pool")
        print(f"until two files are read{dask_s:>8.2f}   s, {pool_s:.2f} in the pool")
        began = time.perf_counter()
        stack.close()
        print(f"to end both             {time.perf_counter() - began:>8.2f}   s")


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=100, help="size of the log")
    parser.add_argument("--texts", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    asked = parser.parse_args()
    if asked.texts.is_dir():
        report(asked.mb, asked.texts)
    else:
        print("the recorded texts are not beside the project: name their folder with --texts")


if __name__ == "__main__":
    main()
