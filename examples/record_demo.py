"""Record the demo's logs: an agent program at work on real databases and real repositories.

    python examples/record_demo.py --seed 7 --out tui/demo/recordings

The same seed gives the same bytes with the same git and SQLite: durations are left out, and `started_at` is
a logical clock, a minute an episode. docs/demo.md tells what is recorded and why.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from examples.record_agent import RESULT_CAP_CHARS, RUNS, Difficulty, Seen, Task, Work, work
from examples.record_git import Chore, Job, Repository, build, make_job
from examples.record_sql import Database, Question, make_question
from examples.record_words import ADJECTIVES, ANIMALS

if TYPE_CHECKING:
    from collections.abc import Iterator

DIFFICULTIES: Final[tuple[Difficulty, ...]] = ("easy", "medium", "hard")
CHORES: Final[tuple[Chore, ...]] = ("topic", "unsaved", "topic", "unsaved", "push")
"""How often each chore comes: rarely enough a refused push that what it teaches stays undecided."""

TASKS: Final = 320
"""Of each kind: enough that three tenths of them decide a true rule under nearly every split (docs/demo.md)."""

STARTED: Final = datetime(2026, 11, 2, 9, tzinfo=UTC)


@dataclass
class Log:
    """The lines of one run configuration."""

    lines: list[str] = field(default_factory=list)

    def add(self, **fields: object) -> None:
        """Write one line."""
        self.lines.append(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))

    def add_episode(self, task: Task, run: str, made_with: str, number: int, done: Work) -> None:
        """Write one episode: its head, its steps and its outcome."""
        name = f"{run}/{task.id}"
        self.add(
            type="episode",
            episode=name,
            dataset="demo",
            task=task.id,
            run=run,
            difficulty=task.difficulty,
            prompt=task.prompt,
            started_at=(STARTED + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            labels={"made_with": made_with},
        )
        for turn, step in enumerate(done.steps):
            shared = {"type": "step", "episode": name, "turn": turn}
            if not step.tool:
                self.add(**shared, kind="message", actor="agent", text=step.text)
                continue
            call = {"kind": "call", "actor": "agent", "tool": step.tool, "head": step.head, "text": step.text}
            said = {"error_text": paragraph(step.seen)} if step.seen.failed else {"result": cut(step.seen.text)}
            self.add(**shared, **call, error=step.seen.failed, **said, writes=step.writes)
        self.add(type="outcome", episode=name, value=int(done.passed), source="tests", ended_by=done.ended_by)

    def save(self, path: Path) -> None:
        """Write the lines, compressed without a time, so that the same lines are the same bytes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f"{line}\n" for line in self.lines).encode()
        path.write_bytes(gzip.compress(body, compresslevel=9, mtime=0))


def cut(text: str) -> str:
    """Keep the start of a result."""
    return text if len(text) <= RESULT_CAP_CHARS else f"{text[:RESULT_CAP_CHARS]}…"


def paragraph(seen: Seen) -> str:
    """Keep, of what a failing command said, the paragraph that names the error, without git's hints."""
    lines = seen.text.splitlines()
    named = [n for n, line in enumerate(lines) if line.startswith(("error:", "fatal:"))]
    kept = lines[named[0] if named else 0 :]
    ends = [n for n, line in enumerate(kept) if not line.strip() or line.startswith("hint:")]
    return "\n".join(kept[: ends[0]] if ends else kept)


def codenames(kind: str, seed: int) -> list[str]:
    """Shuffle the names that tell tasks apart in words: numbers alone would look alike to a normaliser."""
    names = [f"{adjective}-{animal}" for adjective in ADJECTIVES for animal in ANIMALS]
    random.Random(f"{seed}:{kind}").shuffle(names)
    return names


def questions(seed: int) -> Iterator[Question]:
    """Make the tasks over databases."""
    for number, name in enumerate(codenames("sql", seed)[:TASKS]):
        yield make_question(name, DIFFICULTIES[number % 3], number, random.Random(f"{seed}:sql:{name}"))


def jobs(seed: int) -> Iterator[Job]:
    """Make the tasks in repositories."""
    for number, name in enumerate(codenames("git", seed)[:TASKS]):
        dice = random.Random(f"{seed}:git:{name}")
        yield make_job(name, CHORES[number % len(CHORES)], DIFFICULTIES[number % 3], number, dice)


def record_question(question: Question, run: str, seed: int) -> Work:
    """Let one run answer one question, on a database of its own."""
    dice = random.Random(f"{seed}:{run}:{question.task.id}")
    with closing(Database(question, dice)) as database:
        return work(database, [question.pattern], question.task.limit, RUNS[run], dice)


def record_job(job: Job, template: Path, run: str, seed: int) -> Work:
    """Let one run do one chore, in a copy of the repository."""
    dice = random.Random(f"{seed}:{run}:{job.task.id}")
    folder = template.with_name(run)
    shutil.copytree(template, folder, ignore=shutil.ignore_patterns("mate"))
    return work(Repository(job, folder, dice), job.plan, job.task.limit, RUNS[run], dice)


def record(seed: int, episodes: int, out: Path) -> int:
    """Record the first tasks of a seed, as many as the episodes need, and give the number of episodes."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    logs: dict[Path, Log] = {}
    count = 0
    for question, job in zip(questions(seed), jobs(seed), strict=True):
        with tempfile.TemporaryDirectory() as scratch:
            template = Path(scratch) / "template"
            template.mkdir()
            build(job, template, random.Random(f"{seed}:build:{job.task.id}"))
            for run in RUNS:
                if count >= episodes:
                    break
                sql_log = logs.setdefault(out / "sql" / f"{run}.jsonl.gz", Log())
                git_log = logs.setdefault(out / "git" / f"{run}.jsonl.gz", Log())
                done = record_question(question, run, seed)
                sql_log.add_episode(question.task, run, f"sqlite {sqlite3.sqlite_version}", count, done)
                done = record_job(job, template, run, seed)
                git_log.add_episode(job.task, run, f"git {git}", count + 1, done)
                count += 2
        if count >= episodes:
            break
    for path, log in logs.items():
        log.save(path)
    return count


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--episodes", type=int, default=2 * TASKS * len(RUNS))
    parser.add_argument("--out", type=Path, default=Path("tui/demo/recordings"))
    given = parser.parse_args()
    count = record(given.seed, given.episodes, given.out)
    print(f"{count} episodes of {len(RUNS)} runs in {given.out}")


if __name__ == "__main__":
    main()
