"""Four changes of one skill, judged by running a real program on real tasks: no model, the same every time.

    python examples/rollouts/run.py [FOLDER] [--each N] [--changes NAME …]

A helpful change, a harmful one, one that knows six visible tasks by heart and one that says nothing are proposed
and tested, each with `germline candidate test`; what came of each is printed as a table. Exit code 1 where the
gate did not promote the helpful change, or promoted another.
"""

from __future__ import annotations

import argparse
import io
import json
import shlex
import sys
import tempfile
import time
from contextlib import chdir, redirect_stdout
from pathlib import Path
from shutil import copytree
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from examples.rollouts.tasks import EACH, write_tasks  # noqa: E402 - found through the path above
from strategies.pool.task_sets import SplitBook  # noqa: E402 - the same
from strategies.rollouts.compare.task_division import divide_tasks  # noqa: E402 - the same
from strategies.rollouts.tasks.load import load_tasks  # noqa: E402 - the same
from tui.cli.main import main as germline  # noqa: E402 - the same

SKILL: Final = "shop-desk"
SPLIT_KEY: Final = "00112233445566778899aabbccddeeff"
BELOW: Final = "- Look at the files before you answer.\n"
HELPFUL: Final = """- A request has failed when it has a status of 500 or more.
  Amounts are in cents.
  It is the same customer whatever the case of the address.
  In dates the day comes first.
  Sort the keys of JSON.
"""
HARMFUL: Final = """- A request has failed when it has a status of 400 or more.
- Amounts are in euros.
- There are as many customers as orders.
- In dates the month comes first.
- Write the keys as they come.
"""
NO_OP: Final = "- Read the task from beginning to end.\n"
HELPS: Final = "helpful"
"""The only change that the gate may promote; of the others it is enough that they are not."""
CHANGES: Final = ("harmful", "no-op", "memoriser", HELPS)


def told(*words: str) -> Any:  # noqa: ANN401 - whatever a command promises as JSON
    """Run a command with --json, and give what it says."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = germline([*words, "--json"])
    if code not in {0, 3}:
        sys.exit(code)
    return json.loads(out.getvalue())


def set_up(folder: Path, *, each: int) -> None:
    """Begin a registry with the skill, the tasks and the agent."""
    tasks = write_tasks(folder, each=each)
    copytree(HERE / "skill", folder / "skills" / SKILL)
    words = [sys.executable, "-I", "-S", str(HERE / "agent.py")]
    agent = f"{shlex.join(words)} {{skill_dir}} {{prompt_file}} {{round}}"
    told("init", "--split-key", SPLIT_KEY)
    (folder / "germline.toml").write_text(
        f"[rollouts]\ntasks = {json.dumps(tasks.name)}\nagent = {json.dumps(agent)}\ntime_cap_s = 600\n",
        encoding="utf-8",
    )
    told("import", "skills")


def memoriser(tasks: Path) -> str:
    """Answer six visible tasks by heart: a proposer sees the explore split alone."""
    explore = divide_tasks(load_tasks(tasks), SplitBook(SPLIT_KEY)).explore
    lines = []
    for task in explore:
        for grader in task.graders:
            checks = getattr(grader, "checks", ())
            if checks and checks[0].path == "answer.txt" and task.id.split("-")[0] in {"requests", "customers"}:
                lines.append(f'- If asked "{task.prompt}", answer `{checks[0].values[0]}`.\n')
    return "".join(lines[:6])


def judged(folder: Path, name: str, lines: str) -> dict[str, Any]:
    """Propose a change and test it."""
    text = (folder / "skills" / SKILL / "SKILL.md").read_text(encoding="utf-8")
    copy = folder / f"{name}.md"
    copy.write_text(text.replace(BELOW, BELOW + lines), encoding="utf-8")
    proposed = told("candidate", "propose", SKILL, "--from", str(copy), "--reason", f"planted: {name}")
    tested = told("--trust-project", "candidate", "test", proposed["candidate"], "--seed", "7")["candidates"]
    found = next((one for one in tested if one["verdict"] == "promote"), tested[0])
    row: dict[str, Any] = found
    return row


def line_of(name: str, found: dict[str, Any], seconds: float) -> str:
    """Write one row of the table."""
    runs = found["rollouts"]
    beside = [
        f"{label} {one[key]:+.2f}"
        for label, one, key in (
            ("audit", found["audit"]["delta"], "value"),
            ("against no skill", runs["no_skill"], "difference"),
        )
        if one
    ]
    return (
        f"{name:<10} {found['verdict']:<8} {found['before']['value']:.2f} → {found['after']['value']:.2f}  "
        f"{runs['difference']:+.2f} [{runs['low']:+.2f}, {runs['high']:+.2f}]  E {runs['evidence']:.3g}, "
        f"p {runs['p']:.3f}  {runs['rounds']} rounds of {runs['tasks']} tasks, {runs['runs']} runs and "
        f"{runs['reused']} reused, {seconds:.1f} s  {', '.join(beside)}"
    ).rstrip()


def main() -> int:
    """Tell the story; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="a new folder; else a temporary one")
    parser.add_argument("--each", type=int, default=EACH, help="tasks of each of the six kinds")
    parser.add_argument("--changes", nargs="+", choices=CHANGES, default=CHANGES, help="which of the four to test")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="germline-rollouts-"))
    folder.mkdir(parents=True, exist_ok=True)
    began_s, wrong = time.monotonic(), []
    with chdir(folder):
        set_up(Path(), each=asked.each)
        texts = (HARMFUL, NO_OP, memoriser(Path("tasks.jsonl")), HELPFUL)
        for name, lines in zip(CHANGES, texts, strict=True):
            if name not in asked.changes:
                continue
            start_s = time.monotonic()
            found = judged(Path(), name, lines)
            print(line_of(name, found, time.monotonic() - start_s), flush=True)
            wrong += [name] if (found["verdict"] == "promote") != (name == HELPS) else []
    print(
        f"{6 * asked.each} tasks, {time.monotonic() - began_s:.0f} s in all; everything is in {folder.resolve()}"
    )
    if wrong:
        print(f"not as planted: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
