"""How long an agent waits for a hook, beside an interpreter that does nothing, in turns.

Run: python -m bench.hooks [--runs N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import TYPE_CHECKING, NamedTuple

from tui.session.own_command import own_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BARE = (sys.executable, "-c", "pass")
SCAN_S = 1.5
"""What the end of a session starts is done by then: sessions do not end on each other's heels."""


class Waited(NamedTuple):
    """How long an agent waited for a process, and what that took of a core, in milliseconds."""

    wall: float
    cpu: float


def waited(words: Sequence[str], given: bytes = b"", env: Mapping[str, str] | None = None) -> Waited:
    """Run a command as an agent does, with JSON on stdin; what it leaves running behind it does not count."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        start = perf_counter()
        process = subprocess.Popen(words, stdin=stdin, stdout=subprocess.DEVNULL, env=env)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} ended with {process.returncode}")
    return Waited((perf_counter() - start) * 1_000, (used.ru_utime + used.ru_stime) * 1_000)


def main() -> None:
    """Print the times of both hooks in a project with a small registry."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    germline = own_command()
    with tempfile.TemporaryDirectory() as folder:
        skill = Path(folder, "skills/shop/SKILL.md")
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: shop\ndescription: How to work in the shop.\n---\n\nWork with care.\n")
        for words in (("init",), ("import", "skills")):
            subprocess.run((*germline, *words), cwd=folder, check=True, capture_output=True)
        given = json.dumps({"session_id": "s", "cwd": folder, "transcript_path": ""}).encode()
        times: dict[str, list[Waited]] = {"bare interpreter": [], "session-start": [], "session-end": []}
        for hook in ("session-start", "session-end"):
            for _ in range(runs):
                sleep(SCAN_S if hook == "session-end" else 0)
                times["bare interpreter"].append(waited(BARE))
                times[hook].append(waited((*germline, "__hook", hook), given))
    for what, taken in times.items():
        wall, cpu = (sorted(values) for values in zip(*taken, strict=True))
        of_core = f"of a core {median(cpu):6.1f}, best {cpu[0]:6.1f}"
        print(f"{what:<18} {median(wall):7.1f} ms, best {wall[0]:6.1f}; {of_core}")


if __name__ == "__main__":
    main()
