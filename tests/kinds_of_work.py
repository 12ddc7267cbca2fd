"""Logs of several kinds of work in which looking first helps, or nothing does; and skills about them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Work(NamedTuple):
    """What an agent does: it tries, fails with an error, and may look before it tries again."""

    tool: str
    tries: str
    error: str
    looks: str
    skill: str
    text: str


SQL: Final = Work(
    "sql",
    "SELECT name FROM visits",
    "no such table: visits",
    "PRAGMA table_info(visits)",
    "sql-analyst",
    "---\nname: sql-analyst\ndescription: Answers questions about a database with one SQL query.\n---\n\n"
    "Write one SQL statement at a time, over the tables of the database.\n",
)
GIT: Final = Work(
    "Bash",
    "git checkout release",
    "error: pathspec 'release' did not match any file(s) known to git",
    "git branch -a",
    "git-helper",
    "---\nname: git-helper\ndescription: Does chores in git repositories, such as switching branches.\n---\n\n"
    "Commit what belongs together, and push the branch.\n",
)
BREAD: Final = Work(
    "oven",
    "bake",
    "dough collapsed",
    "knead",
    "baker",
    "---\nname: baker\ndescription: Bakes bread from dough.\n---\n\nKnead the dough well.\n",
)
GARDEN: Final = Work(
    "spade",
    "plant",
    "frost came early",
    "mulch",
    "gardener",
    "---\nname: gardener\ndescription: Plants flowers and mulches beds.\n---\n\nWater them at dusk.\n",
)


def episodes(work: Work, *, seed: int, tasks: int, lift: float, prefix: str) -> Iterator[dict[str, object]]:
    """Give the records of runs on these tasks, two of each."""
    draws = random.Random(seed)
    for number in range(tasks):
        for run, habit in (("large", 0.6), ("small", 0.4)):
            name, looks = f"{prefix}{number}-{run}", draws.random() < habit
            won = draws.random() < 0.25 + lift * looks
            yield {"type": "episode", "episode": name, "task": f"{prefix}{number}", "run": run}
            step = {"type": "step", "episode": name, "tool": work.tool}
            yield {**step, "text": work.tries, "error": True, "error_text": work.error}
            yield {**step, "text": work.looks if looks else work.tries}
            yield {**step, "text": work.tries}
            yield {"type": "outcome", "episode": name, "value": int(won), "source": "tests"}


def log_of(work: Work, *, seed: int = 1, tasks: int = 150, lift: float = 0.45) -> str:
    """Write a log of this work as JSON lines."""
    records = episodes(work, seed=seed, tasks=tasks, lift=lift, prefix=f"{work.skill}-{seed}-")
    return "".join(json.dumps(record) + "\n" for record in records)


def write_skills(folder: Path, *works: Work) -> None:
    """Write the skills about these kinds of work below `skills`."""
    for work in works:
        place = folder / "skills" / work.skill
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(work.text)
