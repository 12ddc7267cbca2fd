"""Chores in small git repositories: a branch not quite named as asked, unsaved work, a push that is refused."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from examples.record_agent import Difficulty, Seen, Task, Temper, likeliest
from examples.record_words import FILES, NAMES, TOPICS

if TYPE_CHECKING:
    import random
    from pathlib import Path

Chore = Literal["topic", "unsaved", "push"]

CLOCK: Final = "2026-11-02T09:00:00Z"
LIMITS: Final[dict[Chore, dict[Difficulty, int]]] = {
    "topic": {"easy": 8, "medium": 7, "hard": 8},
    "unsaved": {"easy": 5, "medium": 5, "hard": 7},
    "push": {"easy": 6, "medium": 6, "hard": 9},
}
NEAR: Final = ("feature/{d}", "{u}", "feature/{u}", "feat/{d}")
FAR: Final = ("topic/{d}", "fix/{d}", "dev/{d}", "{d}-wip", "add-{d}")
READING: Final = ("git status", "git branch -a", "git remote -v")


@dataclass(frozen=True)
class Job:
    """A task with the names that its repository uses; `line` is what must not be lost."""

    task: Task
    chore: Chore
    branch: str
    asked: str
    file: str
    line: str
    remote: str

    @property
    def plan(self) -> list[str]:
        """List the commands that would do if every name were right."""
        edit = [f"echo '{self.line}' >> {self.file}", f"git commit -qam '{self.task.id}'"]
        switch = ["git checkout {branch}"]
        return {"topic": switch + edit, "unsaved": switch, "push": [*edit, "git push"]}[self.chore]


def make_job(codename: str, chore: Chore, difficulty: Difficulty, number: int, dice: random.Random) -> Job:
    """Make one task: its words, and how this repository calls its branch and its remote."""
    topic = TOPICS[number % len(TOPICS)]
    dashed, under = topic.replace(" ", "-"), topic.replace(" ", "_")
    who = dice.choice(NAMES).lower()
    forms = {"easy": NEAR, "medium": (*NEAR, *FAR), "hard": (*FAR, f"{who}/{{d}}", f"{who}-{{u}}")}
    branch = dice.choice(forms[difficulty]).format(d=dashed, u=under)
    known = chore == "unsaved" and difficulty != "hard"
    file, line = dice.choice(FILES), f"{topic} by {who}"
    remote = dice.choice(("origin", "hub", "team")) if difficulty == "medium" else "origin"
    words = {
        "topic": f"on the branch for the {topic}, add the line {line} to {file} and commit it.",
        "unsaved": f"go to the branch {branch if known else f'for the {topic}'}; keep my edit of {file}.",
        "push": f"add the line {line} to {file}, commit it and publish my branch.",
    }[chore]
    prompt = f"In the repository {codename.replace('-', ' ')}: {words}"
    task = Task(f"git-{codename}", difficulty, prompt, LIMITS[chore][difficulty])
    return Job(task, chore, branch, branch if known else dashed, file, line, remote)


def environment(home: Path) -> dict[str, str]:
    """Give the environment that makes git say and write the same on every run."""
    who = {"NAME": "Agent", "EMAIL": "agent@example.org", "DATE": CLOCK}
    stamped = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    fixed = {"LC_ALL": "C", "TZ": "UTC", "TERM": "dumb", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}
    alone = {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {"PATH": os.environ["PATH"]} | stamped | fixed | alone


def shell(command: str, folder: Path) -> Seen:
    """Run a command line in a folder."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    said = (done.stderr + done.stdout) if done.returncode else (done.stdout + done.stderr)
    return Seen(failed=done.returncode != 0, text=said.rstrip())


MATE: Final = (
    "cp -r . ../mate && cd ../mate && echo more > mate.txt && git add . && git commit -qm mate && git push -q"
)
"""A colleague's commit, pushed from a copy of the repository: the agent's own has not heard of it."""


def build(job: Job, folder: Path, dice: random.Random) -> None:
    """Make the repository `work`, its remote `hub.git` and the state that the chore starts from."""
    others = [topic.replace(" ", "-") for topic in dice.sample(TOPICS, 3) if topic not in job.line]
    start = [
        "git init -q --template= --bare -b main hub.git && git init -q --template= -b main work && cd work",
        f"for f in {' '.join(FILES)}; do echo start > $f; done",
        f"git add . && git commit -qm start && git remote add {job.remote} ../hub.git",
        f"git push -q -u {job.remote} main",
        *(f"git branch {other}" for other in others),
    ]
    settings = {"topic": topic_setting, "unsaved": unsaved_setting, "push": push_setting}
    made = shell(" && ".join(start + settings[job.chore](job, dice)), folder)
    if made.failed:
        raise RuntimeError(f"git could not build {job.task.id}: {made.text}")


def topic_setting(job: Job, dice: random.Random) -> list[str]:
    """Make the branch; a hard one is on the remote only, sometimes beside an old one of a nearer name."""
    commands = [f"git branch {job.branch}"]
    if job.task.difficulty == "hard":
        commands.append(f"git push -q {job.remote} {job.branch} && git branch -qD {job.branch}")
        if dice.random() < 0.3:
            commands.append(f"git branch {job.asked}-old")
    return commands


def unsaved_setting(job: Job, _: random.Random) -> list[str]:
    """Edit a file that differs on the branch to go to."""
    return [
        f"git checkout -q -b {job.branch} && echo other > {job.file} && git commit -qam other",
        f"git checkout -q main && echo '{job.line}' >> {job.file}",
    ]


def push_setting(job: Job, _: random.Random) -> list[str]:
    """Let a colleague push first (easy), make a branch that was never pushed (medium), or both (hard)."""
    branch = [] if job.task.difficulty == "easy" else [f"git checkout -q -b {job.branch}"]
    mate = [] if job.task.difficulty == "medium" else [f"{MATE} {job.remote} HEAD"]
    return branch + mate


class Repository:
    """One copy of a job's repository, with what the agent believes about its names."""

    tool = "Bash"

    def __init__(self, job: Job, folder: Path, dice: random.Random) -> None:
        self.job, self.folder, self.dice = job, folder / "work", dice
        self.belief = {"branch": job.asked, "remote": "origin"}
        if job.chore == "push":
            self.belief["branch"] = "main" if job.task.difficulty == "easy" else job.branch
        self.tried = [job.asked]

    def fill(self, pattern: str) -> str:
        """Write a command with the names that the agent believes in now."""
        return pattern.format(**self.belief)

    def head(self, command: str) -> str:
        """Name the program, and for git its command."""
        words = command.split()
        return " ".join(words[:2]) if words[0] == "git" else words[0]

    def writes(self, command: str) -> bool:
        """Tell whether a command can change the repository or its files."""
        return not command.startswith(READING)

    def run(self, command: str) -> Seen:
        """Run a command in the repository."""
        return shell(command, self.folder)

    def learn(self, command: str, seen: Seen) -> None:
        """Find the name that was missing among those shown."""
        if command == "git remote -v":
            self.belief["remote"] = seen.text.split()[0]
        elif command == "git branch -a":
            lines = [line[2:].split(" -> ")[0] for line in seen.text.splitlines()]
            shown = [line.removeprefix(f"remotes/{self.job.remote}/") for line in lines]
            dashed = self.job.line.split(" by ")[0].replace(" ", "-")
            fresh = [name for name in shown if name not in self.tried]
            if fresh:
                self.believe(likeliest((dashed, dashed.replace("-", "_")), fresh, self.dice))

    def believe(self, branch: str) -> None:
        """Take a name for the branch's."""
        self.belief["branch"] = branch
        self.tried.append(branch)

    def react(self, pattern: str, seen: Seen, temper: Temper) -> list[str]:
        """Answer an error with what its text calls for, or with what habit says."""
        if temper == "repeat":
            return [pattern]
        if temper == "dither":
            return ["git status", pattern]
        if "did not match any file" in seen.text:
            return self.find_branch(pattern, temper)
        for text, answers in ANSWERS.items():
            if text in seen.text:
                return [command.replace("PATTERN", pattern) for command in answers[temper]]
        return [pattern]

    def find_branch(self, pattern: str, temper: Temper) -> list[str]:
        """Look for the branch, try another name for it, or make one of that name."""
        if temper == "mend":
            return ["git branch -a", pattern]
        if temper == "force":
            return ["git switch -c {branch}"]
        dashed = self.job.line.split(" by ")[0].replace(" ", "-")
        ideas = [form.format(d=dashed, u=dashed.replace("-", "_")) for form in (*NEAR, *FAR)]
        fresh = [idea for idea in ideas if idea not in self.tried]
        if fresh:
            self.believe(self.dice.choice(fresh))
        return [pattern]

    def report(self) -> str:
        """Say that it is done."""
        return "Done."

    def passed(self) -> bool:
        """Check the repository: the right branch, and nobody's line lost."""
        job = self.job
        if job.chore == "topic":
            return job.line in shell(f"git show {job.branch}:{job.file}", self.folder).text
        if job.chore == "unsaved":
            here = shell("git branch --show-current", self.folder).text == job.branch
            kept = f"git grep -qF '{job.line}' $(git rev-list --all) -- {job.file}"
            in_file = job.line in (self.folder / job.file).read_text(encoding="utf-8")
            return here and (in_file or not shell(kept, self.folder).failed)
        shown = shell(f"git --git-dir ../hub.git show {self.belief['branch']}:{job.file}", self.folder)
        mate = shell(f"git --git-dir ../hub.git show {self.belief['branch']}:mate.txt", self.folder)
        return job.line in shown.text and (job.task.difficulty == "medium" or not mate.failed)


ANSWERS: Final[dict[str, dict[Temper, list[str]]]] = {
    # What the text of an error calls for, by temper. PATTERN stands for the command that failed.
    "would be overwritten by checkout": {
        "mend": ["git stash", "PATTERN"],
        "guess": ["git commit -qam wip", "PATTERN"],
        "force": ["git reset -q --hard", "PATTERN"],
    },
    "failed to push some refs": {
        "mend": ["git pull -q --rebase", "PATTERN"],
        "guess": ["git pull -q", "PATTERN"],
        "force": ["git push --force"],
    },
    "divergent branches": {
        "mend": ["git pull -q --rebase"],
        "guess": ["git pull -q --no-rebase"],
        "force": ["git reset -q --hard {remote}/{branch}"],
    },
    "has no upstream branch": {
        "mend": ["git remote -v", "git push --set-upstream {remote} {branch}"],
        "guess": ["git push --set-upstream {remote} {branch}"],
        "force": ["git push --force"],
    },
    "does not appear to be a git repository": {
        "mend": ["git remote -v", "PATTERN"],
        "guess": ["git push --set-upstream hub {branch}"],
        "force": ["git remote add {remote} ../{remote}.git", "PATTERN"],
    },
    "no tracking information": {
        "mend": ["git pull -q --rebase {remote} {branch}"],
        "guess": ["git pull -q {remote} {branch}"],
        "force": ["git push --force {remote} {branch}"],
    },
}
