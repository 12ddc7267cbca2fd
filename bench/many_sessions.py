"""A folder of 10,000 sessions scanned, and then scanned again once there is another one, by the command itself.

Each session is one request of a person with the calls that answer it, about 200 kB. The figures are those of whole
processes, best of three: seconds by the clock and of the processor. What is to hold: the second scan takes under a
second on a quiet machine.

Measured on 2026-11-23 on 2 shared cores of an Intel Xeon with 15 processes waiting for them: one session more took
1.0 s of the processor (2.6 to 6.3 s by the clock) after 19 s before; nothing new took 0.85 s.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.session_writer import SessionWriter, recorded_texts

SESSIONS: Final = 10_000
TIMES: Final = 3


def germline(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command in a folder, and give the seconds that its process took, by the clock and of the processor."""
    began, before = time.perf_counter(), os.times()
    command = [str(Path(sys.executable).with_name("germline")), *words]
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=compiled)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, used


def figure(name: str, spent: tuple[float, float], bound: str = "") -> None:
    """Print what a command took."""
    print(f"{name:<46}{spent[0]:>8.2f} s, {spent[1]:>6.2f} s of the processor{bound}")


def report(sessions: int, texts: Path) -> None:
    """Write the sessions, measure, and print."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as base:
        logs = Path(base, "logs")
        logs.mkdir()
        writer = SessionWriter(recorded_texts(texts), 1)
        size = sum(writer.write(logs, 1, session_bytes=1).size_bytes for _ in range(sessions))
        germline(Path(base), "init")
        named = f"{sessions:,} sessions of {size / sessions / 1000:.0f} kB, the first scan"
        figure(named, germline(Path(base), "scan", "logs"))
        figure("another scan, nothing new", min(germline(Path(base), "scan", "logs") for _ in range(TIMES)))
        after = []
        for _ in range(TIMES):
            writer.write(logs, 1, session_bytes=1)
            after.append(germline(Path(base), "scan", "logs"))
        figure("after one session more", min(after), ", to stay under 1")
        figure("germline sessions", germline(Path(base), "sessions"))


def main() -> None:
    """Print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sessions: a glance, not a figure")
    parser.add_argument("--texts", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    asked = parser.parse_args()
    if not asked.texts.is_dir():
        print("the recorded texts are not beside the project: name their folder with --texts")
    else:
        report(SESSIONS // 10 if asked.quick else SESSIONS, asked.texts)


if __name__ == "__main__":
    main()
