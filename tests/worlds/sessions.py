"""Believable sessions of a coding agent in one project, as Claude Code writes them, with lessons planted in them.

Nobody says how a session ended. Eight lessons of six kinds show by what failed and what worked next, or by what a
person asked for; beside them lie coincidences: tests that fail now and then, searches that find nothing, work that
is simply not done yet, a person's wishes of one day. No two sessions ask for the same thing.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from events.clock import rfc3339
from strategies.lessons.lesson import lessons_of
from strategies.logs.scan import scan
from strategies.pool.person_steps import PersonSteps
from strategies.pool.person_words import read_clauses, wishes_in
from tests.clocks import START

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strategies.lessons.lesson import Lesson

Noise = Literal["low", "high"]


class Habits(NamedTuple):
    """How agents of a world behave, as chances.

    One `knows` it already, takes a `detour`, tries the same `again` first, `gives_up`, and what mends `fails` too;
    `chatter` is the chance of a person who corrects something of the day.
    """

    knows: float
    detour: float
    again: float
    gives_up: float
    fails: float
    chatter: float


HABITS: Final[dict[Noise, Habits]] = {
    "low": Habits(0.2, 0.25, 0.15, 0.03, 0.02, 0.15),
    "high": Habits(0.3, 0.5, 0.3, 0.08, 0.08, 0.3),
}

LESSONS: Final = {
    "python": ("instead", "python3"),
    "npm": ("instead", "pnpm"),
    "rg": ("instead", "grep"),
    "terraform": ("first", "terraform init"),
    "database": ("first", "docker compose"),
    "read": ("first", "Read"),
    "features": ("flag", "--all-features"),
    "main": ("wish", "push"),
}
"""The planted lessons by the activity that shows them: the kind of each, and what a line about it must name."""

_MODULES: Final = (
    *("billing", "orders", "search", "auth", "reports", "mailer", "exports", "cache", "webhooks", "profile"),
    *("invoices", "catalog", "shipping", "audit"),
)
_VERBS: Final = ("Fix the rounding in", "Speed up", "Add a test for", "Rename the helper in", "Document")
_THINGS: Final = ("totals", "retries", "pagination", "dates", "importers", "messages", "parsers", "limits")
_DETOURS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("Bash", {"command": "ls"}, "README.md\nsrc\ntests"),
    ("Bash", {"command": "git status"}, "nothing to commit, working tree clean"),
    ("Bash", {"command": "git log --oneline -3"}, "a1b2c3d Merge"),
    ("Bash", {"command": "cat README.md"}, "# The shop"),
    ("Bash", {"command": "pwd"}, "/home/dev/shop"),
    ("Bash", {"command": "sleep 5"}, ""),
    ("Read", {"file_path": "/home/dev/shop/Makefile"}, "1→test:"),
    ("Glob", {"pattern": "**/*.toml"}, "pyproject.toml"),
    ("TodoWrite", {"todos": []}, "Todos have been modified"),
)
_OF_THE_DAY: Final = (
    "No, that's the wrong colour, the {thing} in {module} are blue.",
    "Actually, no: leave {thing} as they were, I only meant {module}.",
    "That's not what I asked, the {module} page needs {thing} first.",
    "No, don't touch {module} today, {thing} come tomorrow.",
    "Wrong file, the {thing} live in {module}.",
    "You forgot {thing} in {module}.",
)
_NOT_MAIN: Final = (
    "No, don't push to main! Open a pull request.",
    "Please never push to main directly, make a branch.",
    "Stop. Do not push to main, I told you before.",
    "don't push straight to main, use a branch and a PR",
    "No. We never push to main here.",
)


@dataclass
class SessionScript:
    """One session while it is written: its records, and the clock of the agent.

    With `luck` nothing mends anything: whatever is done after a failure, the next attempt works at that chance.
    """

    name: str
    draws: random.Random
    habits: Habits
    minute: float
    luck: float | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0

    def record(self, role: str, content: object, seconds: float = 4.0, **more: object) -> None:
        """Write a record, some seconds after the last one."""
        self.minute += self.draws.uniform(0.5, 1.5) * seconds / 60
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            used = {"input_tokens": self.draws.randint(900, 4000), "output_tokens": self.draws.randint(40, 300)}
            message |= {"model": "claude-sonnet-4-5", "id": f"m{len(self.records)}", "usage": used}
        head = {"isSidechain": False, "cwd": "/home/dev/shop", "sessionId": self.name, "version": "2.0.14"}
        at = rfc3339(START + timedelta(minutes=self.minute))
        uuid = f"{self.name}-{len(self.records)}"
        parent = f"{self.name}-{len(self.records) - 1}" if self.records else None
        self.records.append(
            {**head, "parentUuid": parent, "type": role, "message": message, "uuid": uuid, "timestamp": at, **more}
        )

    def says(self, text: str) -> None:
        """Let the person say something."""
        self.record("user", text, seconds=40)

    def does(self, tool: str, given: dict[str, Any], result: str, *, fails: bool = False) -> None:
        """Call a tool, and hear what came of it."""
        self.calls += 1
        call = f"toolu_{self.name}_{self.calls}"
        self.record("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": given}], seconds=6)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": result}
        self.record("user", [{**block, "is_error": True} if fails else block])

    def runs(self, command: str, result: str, *, fails: bool = False) -> None:
        """Run a command."""
        self.does("Bash", {"command": command, "description": "Do what comes next"}, result, fails=fails)

    def perhaps(self, chance: float) -> bool:
        """Draw."""
        return self.draws.random() < chance

    def wanders(self) -> None:
        """Take a detour or two, perhaps."""
        while self.perhaps(self.habits.detour):
            tool, given, result = self.draws.choice(_DETOURS)
            self.does(tool, given, result)

    def module(self) -> str:
        """Draw a part of the project."""
        return self.draws.choice(_MODULES)


Run = tuple[str, dict[str, Any]]


def _bash(command: str) -> Run:
    return "Bash", {"command": command, "description": "Do what comes next"}


def _mended(
    script: SessionScript, failing: Run, error: str, mending: Run | None, working: Run, result: str
) -> None:
    """Fail, look around, perhaps fail in the same way again, then do what mends it, if it comes to the agent."""
    if script.luck is None and script.perhaps(script.habits.knows):
        if mending:
            script.does(*mending, "done")
        script.does(*working, result)
        return
    script.does(*failing, error, fails=True)
    script.wanders()
    if script.luck is not None:
        _tried_by_luck(script, script.luck, failing, error, mending, working, result)
        return
    if script.perhaps(script.habits.again):
        script.does(*failing, error, fails=True)
        script.wanders()
    if script.perhaps(script.habits.gives_up):
        return
    if mending:
        script.does(*mending, "done")
        script.wanders()
    failed = script.perhaps(script.habits.fails)
    script.does(*working, "Error: exit 1, unexpected end" if failed else result, fails=failed)


def _tried_by_luck(
    script: SessionScript, luck: float, failing: Run, error: str, mending: Run | None, working: Run, result: str
) -> None:
    """Try up to three times, with or without what would mend it elsewhere."""
    for _ in range(3):
        if mending and script.perhaps(0.5):
            script.does(*mending, "done")
        works = script.perhaps(luck)
        tried = working if script.perhaps(0.5) else failing
        script.does(*tried, result if works else error, fails=not works)
        if works:
            return
        script.wanders()


def _python(script: SessionScript) -> None:
    name = f"scripts/{script.module()}_{script.draws.choice(('check', 'load', 'dump'))}.py"
    error = "Exit code 127\n/bin/bash: line 1: python: command not found"
    _mended(script, _bash(f"python {name}"), error, None, _bash(f"python3 {name}"), "ok")


def _npm(script: SessionScript) -> None:
    package = script.draws.choice(("lodash", "zod", "dayjs", "uuid"))
    before, after = script.draws.choice(
        (("npm ci", "pnpm i"), ("npm test", "pnpm test"), (f"npm install {package}", f"pnpm add {package}"))
    )
    error = "Exit code 1\nnpm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type workspace:"
    _mended(script, _bash(before), error, None, _bash(after), "Done in 2.1s")


def _rg(script: SessionScript) -> None:
    module, word = script.module(), script.draws.choice(("Total", "retry", "parse_date", "Limit"))
    error = "Exit code 127\n/bin/bash: line 1: rg: command not found"
    before, after = f"rg {word} src/{module}", f"grep -rn {word} src/{module}"
    _mended(script, _bash(before), error, None, _bash(after), f"src/{module}/a.py:3: {word}")


def _terraform(script: SessionScript) -> None:
    plan = f"terraform plan -out {script.module()}.tfplan"
    error = "Exit code 1\nError: Inconsistent dependency lock file\nNo provider is selected for this configuration"
    _mended(script, _bash(plan), error, _bash("terraform init"), _bash(plan), "Plan: 2 to add")


def _database(script: SessionScript) -> None:
    tests = f"pytest tests/test_{script.module()}.py -q"
    error = "Exit code 1\npsycopg.OperationalError: connection to server at 127.0.0.1, port 5432 failed: refused"
    _mended(script, _bash(tests), error, _bash("docker compose up -d db"), _bash(tests), "14 passed in 3.2s")


def _read(script: SessionScript) -> None:
    file = f"/home/dev/shop/src/{script.module()}/views.py"
    edit = ("Edit", {"file_path": file, "old_string": "a = 1", "new_string": f"a = {script.draws.randint(2, 99)}"})
    error = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    read = ("Read", {"file_path": file})
    _mended(script, edit, error, read, edit, f"The file {file} has been updated.")


def _features(script: SessionScript) -> None:
    part = script.module()
    error = f"Exit code 101\nerror: target `{part}` in package `shop` requires the features: `postgres`"
    before, after = f"cargo build --bin {part}", f"cargo build --bin {part} --all-features"
    _mended(script, _bash(before), error, None, _bash(after), "Finished dev profile")


def _main(script: SessionScript) -> None:
    if script.perhaps(script.habits.knows):
        script.runs(f"git push origin fix-{script.module()}", "* [new branch]")
        return
    script.runs("git commit -am 'Work'", "[main 1a2b3c4] Work")
    script.runs("git push origin main", "To github.com:dev/shop.git\n   1a2b3c4..5d6e7f8  main -> main")
    script.says(script.draws.choice(_NOT_MAIN))
    script.runs("git switch -c fix", "Switched to a new branch 'fix'")
    script.runs("git push origin fix", "* [new branch]")


ACTIVITIES: Final[dict[str, Callable[[SessionScript], None]]] = {
    "python": _python,
    "npm": _npm,
    "rg": _rg,
    "terraform": _terraform,
    "database": _database,
    "read": _read,
    "features": _features,
    "main": _main,
}


def _flaky(script: SessionScript) -> None:
    """Run tests in a browser that pass or fail as they like, whatever is done between."""
    script.runs("make e2e", "Exit code 2\nTimeoutError: page did not load within 30000 ms", fails=True)
    for _ in range(2):
        tool, given, result = script.draws.choice(_DETOURS)
        if script.perhaps(0.7):
            script.does(tool, given, result)
        passes = script.perhaps(0.6)
        error = "Exit code 2\nTimeoutError: page did not load within 30000 ms"
        script.runs("make e2e", "12 passed" if passes else error, fails=not passes)
        if passes:
            return


def _bad_gateway(script: SessionScript) -> None:
    """Ask a server that is down now and then."""
    url = f"curl -sf https://staging.shop.test/{script.module()}"
    script.runs(url, "Exit code 22\ncurl: (22) The requested URL returned error: 502", fails=True)
    if script.perhaps(0.5):
        tool, given, result = script.draws.choice(_DETOURS)
        script.does(tool, given, result)
    passes = script.perhaps(0.75)
    script.runs(url, "{}" if passes else "Exit code 22\ncurl: (22) returned error: 502", fails=not passes)


def _searches(script: SessionScript) -> None:
    """Search a file, and read it, whether or not the search found anything."""
    file = f"src/{script.module()}/models.py"
    for word in script.draws.sample(("class", "save", "delete", "total", "retry"), 3):
        empty = script.perhaps(0.35)
        script.runs(f"grep -n {word} {file}", "Exit code 1" if empty else f"12:{word}", fails=empty)
    script.does("Read", {"file_path": f"/home/dev/shop/{file}"}, "1→class A:")


def _real_work(script: SessionScript) -> None:
    """Break a test, and mend the code."""
    part = script.module()
    file, tests = f"/home/dev/shop/src/{part}/core.py", f"pytest tests/test_{part}.py -q"
    script.does("Read", {"file_path": file}, "1→x = 1")
    script.does("Edit", {"file_path": file, "old_string": "x = 1", "new_string": "x = 2"}, "updated")
    script.runs(tests, f"Exit code 1\nE   AssertionError: assert {script.draws.randint(1, 9)} == 7", fails=True)
    script.does("Edit", {"file_path": file, "old_string": "x = 2", "new_string": "x = 3"}, "updated")
    script.runs(tests, "9 passed in 0.5s")


def _quiet_work(script: SessionScript) -> None:
    """Look and change something; nothing fails."""
    file = f"/home/dev/shop/src/{script.module()}/api.py"
    script.does("Grep", {"pattern": "def "}, file)
    script.does("Read", {"file_path": file}, "1→y = 1")
    script.does("Edit", {"file_path": file, "old_string": "y = 1", "new_string": "y = 2"}, "updated")
    script.runs("git diff --stat", " 1 file changed")


COINCIDENCES: Final = (_flaky, _bad_gateway, _searches, _real_work, _quiet_work)


def session(number: int, draws: random.Random, noise: Noise, luck: float | None = None) -> str:
    """Write one session, about an hour and a half after the one before; `luck` is that of `SessionScript`."""
    script = SessionScript(f"session-{number:05}", draws, HABITS[noise], number * 90.0, luck)
    part, thing = script.module(), draws.choice(_THINGS)
    script.says(f"{draws.choice(_VERBS)} {thing} of {part}, ticket {1000 + number}.")
    acts = [act for act in ACTIVITIES.values() if script.perhaps(0.4)]
    acts += draws.sample(COINCIDENCES, 3)
    draws.shuffle(acts)
    for act in acts:
        act(script)
        script.wanders()
        if script.perhaps(script.habits.chatter / 2):
            script.says(draws.choice(_OF_THE_DAY).format(module=script.module(), thing=draws.choice(_THINGS)))
            script.does("Read", {"file_path": f"/home/dev/shop/src/{script.module()}/api.py"}, "1→y = 1")
    script.record("assistant", [{"type": "text", "text": f"The {thing} of {part} are done."}])
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in script.records)


def write_sessions(
    folder: Path, count: int, seed: int, *, noise: Noise = "low", luck: float | None = None
) -> None:
    """Write sessions of a project into a folder, a file each; `luck` is that of `SessionScript`."""
    draws = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"session-{number:05}.jsonl").write_text(session(number, draws, noise, luck), "utf-8")


def planted_in(lesson: Lesson) -> str:
    """Name the planted lesson that a lesson is, "" where it is none."""
    for name, (kind, word) in LESSONS.items():
        if kind == "wish" and lesson.wish is not None and word in lesson.line:
            return name
        if (
            lesson.fix is not None
            and lesson.fix.fix.kind == kind
            and lesson.fix.fix.name.rpartition(":")[2] == word
        ):
            return name
    return ""


def lessons_in(folder: Path) -> list[Lesson]:
    """Read the sessions of a folder, and find the lessons that have a line."""
    records = scan([folder]).records
    steps = PersonSteps(frozenset())
    wished = wishes_in(records, read_clauses(records, steps), steps=steps)
    return [lesson for lesson in lessons_of(records, wished) if lesson.line]
