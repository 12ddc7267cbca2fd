"""Read aloud what `evolve` promotes: each distinct line over many ways of dividing the same logs, and how often.

Every key makes a registry of its own with one skill, as a first user would have it. Would you want your agent to
read these lines? `--held` prints what was offered as well. Takes seconds a key, minutes on large logs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from registry.projection.snapshots import read_claim
from strategies.claims.catalogue import sentence
from tui.demo import demo_folder

SKILL: Final = "---\nname: learner\ndescription: Learns from the logs of agents.\n---\n\nWork step by step.\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("logs", nargs="*", type=Path, help="a file or folder each; the demo's recordings if none")
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--held", action="store_true", help="print what was held for want of evidence as well")
    asked = parser.parse_args()
    recordings = demo_folder() / "recordings"
    for logs in asked.logs or sorted(folder for folder in recordings.iterdir() if folder.is_dir()):
        lines = Counter(line for key in range(1, asked.keys + 1) for line in _lines(logs.resolve(), key))
        print(f"\n{logs}, {asked.keys} split keys")
        for (verdict, text), times in sorted(lines.items(), key=lambda pair: (pair[0][0] != "promote", -pair[1])):
            if verdict == "promote" or asked.held:
                print(f"{verdict:<8}{times:>4}  {text}", flush=True)


def _lines(logs: Path, key: int) -> set[tuple[str, str]]:
    """Evolve one skill on these logs, divided by one key: verdicts and texts."""
    with tempfile.TemporaryDirectory() as place:
        skill = Path(place) / "skills" / "learner"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(SKILL, encoding="utf-8")
        _germline(place, "init", "--split-key", f"{key:032x}")
        _germline(place, "import", "skills")
        report = json.loads(_germline(place, "evolve", "learner", "--logs", str(logs), "--json"))
    cycles: list[dict[str, Any]] = [*report["cycles"], *report["guidance"]]
    return {(cycle["verdict"], _text(cycle["candidate"])) for cycle in cycles if cycle["candidate"]}


def _text(candidate: dict[str, Any]) -> str:
    """Give the words of a candidate; slow guidance shows its claims alone."""
    if "edits" in candidate:
        return " ".join(edit["text"].strip() for edit in candidate["edits"])
    return " ".join(sentence(read_claim(claim)) for claim in candidate["claims"])


def _germline(place: str, *words: str) -> str:
    program = Path(sys.executable).with_name("germline")
    done = subprocess.run([program, *words], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 3}:
        raise RuntimeError(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
