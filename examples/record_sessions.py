"""Record Claude Code sessions: an agent program at work on real files, real commands and a real database.

    python examples/record_sessions.py --seed 7 --sessions 400 --out sessions

The failures are those of the shell, of Python and of SQLite, and of the editor's own rule that a file must be
read first. Nobody says how a session ended: this is what most people have. The same seed gives the same bytes
with the same tools, whatever the clock says.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from examples.record_agent import Step, Work, work
from examples.record_demo import DIFFICULTIES
from examples.record_sql import Database, make_question
from examples.record_words import ADJECTIVES, ANIMALS
from examples.record_workspace import PROJECT, Chore, Workspace, make_job

if TYPE_CHECKING:
    from collections.abc import Sequence

Fields = dict[str, object]

MODELS: Final[dict[str, tuple[int, int, int, int, int]]] = {
    # Weights in the order of TEMPERS (record_agent.py): each model does some of everything, and forces nothing.
    "claude-sonnet-4-5": (52, 20, 14, 14, 0),
    "claude-haiku-4-5": (36, 28, 22, 14, 0),
}
CHORES: Final[tuple[tuple[Chore, Chore], ...]] = (("setting", "note"), ("note", "report"), ("report", "setting"))
"""What a session does beside its question to the database: each chore in two sessions of three."""

SQL_TOOLS: Final = {"PRAGMA table_list": "list_tables", "PRAGMA table_info": "describe_table"}
"""The tools of the database's server, by the statement that answers them; all others are `read_query`."""

STARTED: Final = datetime(2026, 11, 2, 9, tzinfo=UTC)
SESSIONS: Final = 400


@dataclass
class Session:
    """The records of one session, each with the envelope that Claude Code puts around it."""

    id: str
    model: str
    started: datetime
    dice: random.Random

    def __post_init__(self) -> None:
        self.lines: list[str] = []
        self.last: str | None = None
        self.at = self.started

    def prompt(self, text: str) -> None:
        """Write what the user asks for."""
        self._write("user", {"role": "user", "content": text})

    def step(self, step: Step) -> None:
        """Write a call with what came back, or a message."""
        if not step.tool:
            self._say({"type": "text", "text": step.text}, "end_turn")
            return
        tool, given = call_of(step)
        call_id = f"toolu_{self.dice.getrandbits(96):024x}"
        self._say({"type": "tool_use", "id": call_id, "name": tool, "input": given}, "tool_use")
        result: Fields = {"tool_use_id": call_id, "type": "tool_result", "content": step.seen.text}
        if step.seen.failed:
            beside: object = f"Error: {step.seen.text}"
            result["is_error"] = True
        else:
            beside = {"stdout": step.seen.text, "stderr": "", "interrupted": False, "isImage": False}
        self._write("user", {"role": "user", "content": [result]}, toolUseResult=beside)

    def _say(self, block: Fields, stop: str) -> None:
        message: Fields = {
            "model": self.model,
            "id": f"msg_{self.dice.getrandbits(96):024x}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 4, "output_tokens": self.dice.randrange(20, 300)},
        }
        self._write("assistant", message)

    def _write(self, kind: str, message: Fields, **more: object) -> None:
        self.at += timedelta(milliseconds=self.dice.randrange(200, 9000))
        own = f"{self.dice.getrandbits(128):032x}"
        envelope: Fields = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": PROJECT,
            "sessionId": self.id,
            "version": "2.0.31",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            **more,
            "uuid": own,
            "timestamp": f"{self.at:%Y-%m-%dT%H:%M:%S}.{self.at.microsecond // 1000:03}Z",
        }
        self.last = own
        self.lines.append(json.dumps(envelope, ensure_ascii=False, separators=(",", ":")))


def call_of(step: Step) -> tuple[str, Fields]:
    """Give the tool that Claude Code would call for a step, with its input."""
    if step.tool == "sql":
        name = " ".join(step.text.partition("(")[0].split()[:2])
        return f"mcp__sqlite__{SQL_TOOLS.get(name, 'read_query')}", {"query": step.text}
    if step.head == "Read":
        return "Read", {"file_path": f"{PROJECT}/{step.text.removeprefix('Read ')}"}
    if step.head == "Edit":
        path, _, change = step.text.removeprefix("Edit ").partition(": ")
        old, _, new = change.partition(" -> ")
        return "Edit", {"file_path": f"{PROJECT}/{path}", "old_string": old, "new_string": new}
    return "Bash", {"command": step.text, "description": f"Run {step.head}"}


def ask_database(codename: str, number: int, weights: Sequence[int], dice: random.Random) -> tuple[str, Work]:
    """Let the agent answer a question from a database of its own."""
    question = make_question(codename, DIFFICULTIES[number % 3], number, dice)
    with closing(Database(question, dice)) as database:
        return question.task.prompt, work(database, [question.pattern], question.task.limit, tuple(weights), dice)


def do_chore(
    codename: str, chore: Chore, number: int, weights: Sequence[int], dice: random.Random
) -> tuple[str, Work]:
    """Let the agent do a chore in a project folder of its own."""
    job = make_job(codename, chore, DIFFICULTIES[number % 3], dice)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(job, Path(folder).resolve(), dice)
        return job.task.prompt, work(workspace, list(job.plan), job.task.limit, tuple(weights), dice)


def record(number: int, seed: int) -> Session:
    """Record one session: two chores, and a question between them."""
    dice = random.Random(f"{seed}:session:{number}")
    adjective, animal = ADJECTIVES[number % len(ADJECTIVES)], ANIMALS[number // len(ADJECTIVES) % len(ANIMALS)]
    codename, model = f"{adjective}-{animal}", sorted(MODELS)[number % len(MODELS)]
    session = Session(f"{dice.getrandbits(128):032x}", model, STARTED + timedelta(minutes=20 * number), dice)
    first, second = CHORES[number % len(CHORES)]
    weights = MODELS[model]
    done = [
        do_chore(codename, first, number, weights, dice),
        ask_database(codename, number, weights, dice),
        do_chore(codename, second, number, weights, dice),
    ]
    for asked, outcome in done:
        session.prompt(asked)
        for step in outcome.steps:
            session.step(step)
    return session


def record_all(seed: int, sessions: int, out: Path, *, workers: int = 2) -> list[Path]:
    """Record so many sessions, a file each, where Claude Code would put them."""
    folder = out / PROJECT.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        return [_saved(session, folder) for session in pool.map(partial(record, seed=seed), range(sessions))]


def _saved(session: Session, folder: Path) -> Path:
    path = folder / f"{session.id}.jsonl"
    path.write_text("".join(f"{line}\n" for line in session.lines), encoding="utf-8")
    return path


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--out", type=Path, default=Path("sessions"))
    given = parser.parse_args()
    files = record_all(given.seed, given.sessions, given.out)
    print(f"{len(files)} sessions in {files[0].parent}")


if __name__ == "__main__":
    main()
