"""How long an agent waits for a hook, beside an interpreter that does nothing, in turns.

Run: python -m bench.hooks [--runs N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from tui.session.own_command import own_command

BARE = (sys.executable, "-c", "pass")


def waited_ms(words: tuple[str, ...], given: bytes) -> float:
    """Run a command as an agent does, with JSON on stdin, and time until it ends."""
    start = perf_counter()
    subprocess.run(words, input=given, check=True, capture_output=True)
    return (perf_counter() - start) * 1_000


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
        times: dict[str, list[float]] = {"bare interpreter": [], "session-start": [], "session-end": []}
        for hook in ("session-start", "session-end"):  # what the end of a session starts goes on for a while
            for _ in range(runs):
                times["bare interpreter"].append(waited_ms(BARE, b""))
                times[hook].append(waited_ms((*germline, "__hook", hook), given))
    bare = median(times["bare interpreter"])
    for what, taken in times.items():
        print(
            f"{what:<18} {median(taken):6.1f} ms, best {min(taken):6.1f}, {median(taken) - bare:+6.1f} over bare"
        )


if __name__ == "__main__":
    main()
