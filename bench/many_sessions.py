"""A folder of 10,000 sessions scanned, and then scanned again once there is another one, by the command itself.

Each session is one request of a person with the calls that answer it, about 190 kB. The figures are those of whole
processes, best of three. What is to hold: the second scan takes under a second.

Measured on 2026-11-23 on 2 shared cores of an Intel Xeon: FIGURES
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


def germline(folder: Path, *words: str) -> float:
    """Run a command in a folder, and give the seconds that its process took."""
    began = time.perf_counter()
    command = [str(Path(sys.executable).with_name("germline")), *words]
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=compiled)
    return time.perf_counter() - began


def report(sessions: int, texts: Path) -> None:
    """Write the sessions, measure, and print."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as base:
        logs = Path(base, "logs")
        logs.mkdir()
        writer = SessionWriter(recorded_texts(texts), 1)
        size = sum(writer.write(logs, 1, session_bytes=1).size_bytes for _ in range(sessions))
        germline(Path(base), "init")
        first = germline(Path(base), "scan", "logs")
        print(f"{sessions:,} sessions of {size / sessions / 1000:.0f} kB, the first scan   {first:>8.2f} s")
        same = min(germline(Path(base), "scan", "logs") for _ in range(TIMES))
        print(f"another scan, nothing new                     {same:>8.2f} s")
        after = []
        for _ in range(TIMES):
            writer.write(logs, 1, session_bytes=1)
            after.append(germline(Path(base), "scan", "logs"))
        print(f"after one session more                        {min(after):>8.2f} s, to stay under 1")
        print(f"germline sessions                             {germline(Path(base), 'sessions'):>8.2f} s")


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
