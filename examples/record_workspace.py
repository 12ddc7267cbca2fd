"""Chores in a small project folder: a setting to change, a note to read, a report to run.

Commands are run by a shell. Reading and editing follow the rule of Claude Code's own tools: a file that was not
read in this session cannot be edited.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from examples.record_agent import Difficulty, Seen, Task, Temper
from examples.record_words import NAMES, TOPICS

if TYPE_CHECKING:
    import random

Chore = Literal["setting", "note", "report"]

PROJECT: Final = "/home/dev/shop"
"""What stands in the recordings in place of the folder that was worked in."""

LIMIT: Final = 8
REFUSED: Final = "<tool_use_error>{}</tool_use_error>"
NOT_READ: Final = REFUSED.format("File has not been read yet. Read it first before writing to it.")
NOT_FOUND: Final = "String to replace not found in file.\nString: "
NOTES: Final = ("docs/{d}.md", "notes/{u}.md", "docs/{u}-notes.md", "notes/{d}/plan.md")
NOTES_BELIEVED: Final = ("{d}.md", "docs/{u}.md", "notes/{d}.md", "docs/notes/{d}.md", "README-{d}.md")
LIBRARIES: Final = ("src", "lib", "vendor")
RUNS_REPORT: Final = ("python3 tools/report.py", "python3 ./tools/report.py", "cd tools && python3 report.py")
EDIT: Final = re.compile(r"Edit (\S+): (.*) -> (.*)")
SHOWN_PATH: Final = re.compile(r"^\./(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """A chore with the words that ask for it, and the folder's true names."""

    task: Task
    chore: Chore
    plan: tuple[str, ...]
    note: str
    library: str
    topic: str


def make_job(codename: str, chore: Chore, difficulty: Difficulty, dice: random.Random) -> Job:
    """Draw the names of one project folder, and what is to be done there."""
    topic = dice.choice(TOPICS)
    asked = {
        "setting": "raise the limit in settings.toml to 40.",
        "note": f"tell me who wrote the notes on the {topic}.",
        "report": "run the monthly report and tell me its total.",
    }[chore]
    plan = {
        "setting": ("Edit settings.toml: {old} -> limit = 40",),
        "note": ("cat {note}",),
        "report": ("{report}",),
    }[chore]
    note = named(dice.choice(NOTES), topic)
    task = Task(f"{chore}-{codename}", difficulty, f"In the project {codename.replace('-', ' ')}: {asked}", LIMIT)
    return Job(task, chore, plan, note, dice.choice(LIBRARIES), topic)


def named(form: str, topic: str) -> str:
    """Write a path from its form, with the topic dashed or underscored."""
    return form.format(d=topic.replace(" ", "-"), u=topic.replace(" ", "_"))


def build(job: Job, folder: Path, dice: random.Random) -> str:
    """Fill the project folder, and give the words that the right answer holds."""
    author, total, limit = dice.choice(NAMES), dice.randrange(200, 900), dice.choice((10, 15, 20))
    spaced = dice.random() < 0.3
    files = {
        "settings.toml": f"[shop]\nname = 'shop'\nlimit{'  ' if spaced else ' '}= {limit}\n",
        job.note: f"# {job.topic}\n\nWritten by {author}.\n",
        "docs/index.md": "# Shop\n",
        f"{job.library}/shop/__init__.py": f"TOTAL = {total}\n",
        "tools/report.py": "from shop import TOTAL\n\nprint('total', TOTAL)\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return {"setting": "limit = 40", "note": author, "report": str(total)}[job.chore]


@dataclass
class Workspace:
    """One project folder, with what the agent believes about it and the files that it has read."""

    job: Job
    folder: Path
    dice: random.Random
    tool: str = "Bash"
    answer: str = ""
    read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.gold = build(self.job, self.folder, self.dice)
        self.belief = {
            "old": "limit = 10",
            "note": named(self.dice.choice(NOTES_BELIEVED), self.job.topic),
            "report": RUNS_REPORT[0],
        }
        self.tried = {role: [name] for role, name in self.belief.items()}

    def fill(self, pattern: str) -> str:
        """Write a command with what the agent believes now."""
        return pattern.format(**self.belief)

    def head(self, command: str) -> str:
        """Name the tool of a command that is no shell's, else the command's own first word."""
        return command.split(maxsplit=1)[0]

    def writes(self, command: str) -> bool:
        """Tell whether a command changes a file."""
        return command.startswith("Edit ")

    def run(self, command: str) -> Seen:
        """Run a command for real: the shell's in a process, those of the editor by its own rule."""
        if command.startswith("Read "):
            return self._read(command.removeprefix("Read "))
        edit = EDIT.fullmatch(command)
        return self._edit(*edit.groups()) if edit else shell(command, self.folder)

    def _read(self, path: str) -> Seen:
        self.read.add(path)
        lines = (self.folder / path).read_text().splitlines()
        return Seen(failed=False, text="\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1)))

    def _edit(self, path: str, old: str, new: str) -> Seen:
        if path not in self.read:
            return Seen(failed=True, text=NOT_READ)
        text = (self.folder / path).read_text()
        if old not in text:
            return Seen(failed=True, text=REFUSED.format(NOT_FOUND + old))
        (self.folder / path).write_text(text.replace(old, new))
        return Seen(failed=False, text=f"The file {path} has been updated.")

    def learn(self, command: str, seen: Seen) -> None:
        """Take the names from what was shown, and the answer from what worked."""
        if command.startswith("Read "):
            self.belief["old"] = next(line for line in seen.text.split("→") if "limit" in line).splitlines()[0]
        elif command.startswith("find "):
            notes = [path for path in SHOWN_PATH.findall(seen.text) if path.endswith(".md")]
            hits = [path for path in notes if any(word in path for word in self.job.topic.split())]
            self.belief["note"] = self.dice.choice(hits or notes)
        elif command.startswith("ls "):
            shown = [name for name in seen.text.split() if name in LIBRARIES]
            self.belief["report"] = f"PYTHONPATH={self.dice.choice(shown)} {RUNS_REPORT[0]}"
        else:
            self.answer = seen.text

    def react(self, pattern: str, seen: Seen, temper: Temper) -> list[str]:
        """Answer an error: look where it says, try another name, try the same again, or ask what cannot help."""
        role = self.job.chore.replace("setting", "old")
        if temper == "mend":
            return [self._look(seen), pattern]
        if temper == "guess":
            self._guess(role)
        return ["pwd", pattern] if temper in {"dither", "force"} else [pattern]

    def _look(self, seen: Seen) -> str:
        if self.job.chore == "setting":
            return "Read settings.toml"
        return "ls -1 ." if "ModuleNotFoundError" in seen.text else "find . -name '*.md'"

    def _guess(self, role: str) -> None:
        ideas = {
            "old": ("limit = 20", "limit = 15", "limit=10"),
            "note": tuple(named(form, self.job.topic) for form in (*NOTES_BELIEVED, *NOTES[:1])),
            "report": (*RUNS_REPORT, f"PYTHONPATH=src {RUNS_REPORT[0]}"),
        }[role]
        fresh = [idea for idea in ideas if idea not in self.tried[role]] or list(ideas)
        self.belief[role] = self.dice.choice(fresh)
        self.tried[role].append(self.belief[role])

    def report(self) -> str:
        """Say what came of it."""
        return f"Done: {self.answer.splitlines()[-1] if self.answer else 'I could not do it'}"

    def passed(self) -> bool:
        """Check the folder, or the answer."""
        settings = (self.folder / "settings.toml").read_text()
        return self.gold in (settings if self.job.chore == "setting" else self.answer)


def shell(command: str, folder: Path) -> Seen:
    """Run a command line in the project folder, and tell it as Claude Code does."""
    here = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={"PATH": here, "LC_ALL": "C", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    said = (done.stdout + done.stderr).rstrip().replace(str(folder), PROJECT)
    failed = done.returncode != 0
    return Seen(failed, f"Exit code {done.returncode}\n{said}" if failed else said)
