"""An agent for the worlds kept aside: what passages make it do is written beside them, and not in their words.

    python -I -S agent.py SKILL_DIR PROMPT_FILE ROUND

It reads the skill as a person would: a passage that stands is mostly followed, by what `worlds*.toml` says that it
does. Dice and session are those of the example's agent.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

from examples.audit.agent import FOLLOWED, KEPT, KEPT_REMINDED, RECOVERED, Session, Skill, StuckError, read  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]
STATED = 0.97


@cache
def worlds() -> dict[str, dict[str, Any]]:
    """Read the domains, and the skills with what their passages do."""
    read_ones = [tomllib.loads(read(str(path))) for path in sorted(HERE.glob("worlds*.toml"))]
    return {
        key: {name: value for each in read_ones for name, value in each[key].items()}
        for key in ("domains", "skills")
    }


class AsideRun:
    """One task, and the work on it; `deeds` are the passages that are followed, by what they do."""

    def __init__(self, skill: Skill, prompt: str) -> None:
        self.skill, self.prompt, self.session = skill, prompt, Session()
        self.domain = next(each for each in worlds()["domains"].values() if each["source"] in prompt)
        self.task = next(task for task in self.domain["tasks"] if task["prompt"].strip() in prompt)
        self.deeds: dict[str, list[Row]] = defaultdict(list)
        for deed in planted_deeds(skill.lines):
            if skill.chance(deed["words"], FOLLOWED):
                self.deeds[deed["does"]].append(deed)

    def does(self, deed: str) -> bool:
        """Tell whether a passage that does so is followed."""
        return bool(self.deeds.get(deed))

    def told(self, deed: str, default: str = "") -> str:
        """Give what a passage that does so says, else the default."""
        return str(self.deeds[deed][0]["what"]) if self.does(deed) else default

    def knows(self, fact: Row) -> bool:
        """Act by a fact: as the skill states it, else by a guess."""
        stated = any(re.search(fact["words"], line, re.IGNORECASE) for line in self.skill.lines)
        return self.skill.chance(fact["words"], STATED if stated else fact["guessed"])

    def keeps(self, form: str) -> bool:
        """Tell whether a form that the prompt asks for is kept."""
        reminded = any("verbatim" in line or "exactly" in line for line in self.skill.lines)
        return self.skill.chance(form, KEPT_REMINDED if reminded else KEPT)

    def stumble(self, call: str, error: str) -> None:
        """Take a step that fails, and find another way or give up."""
        self.session.step("Bash", {"command": call}, error, failed=True)
        if not self.skill.chance(f"recover {call}", RECOVERED):
            raise StuckError(f"I could not go on: {error}.")

    def prepare(self) -> None:
        """Do what passages want done before the work."""
        for deed in self.deeds["script"]:
            script = f"{self.skill.folder}/{deed['what']}"
            if Path(script).is_file():
                done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=False)
                call = {"command": f"python3 {deed['what']}"}
                self.session.step("Bash", call, done.stdout + done.stderr, failed=done.returncode != 0)
        for deed in self.deeds["call"]:
            self.stumble(deed["what"], deed["error"])
        for deed in self.deeds["reads"]:
            self.stumble(f"head {deed['what']}", f"head: cannot open '{deed['what']}': No such file or directory")
        if self.does("asks"):
            raise StuckError("Before I begin: shall I go on with this plan? I wait for your confirmation.")
        if not Path(self.domain["source"]).exists():
            self.session.step("Bash", {"command": f"head {self.domain['source']}"}, "No such file", failed=True)
            raise StuckError(f"{self.domain['source']} is not there.")

    def rows(self) -> list[Row]:
        """Read the input, and make of it what it means."""
        source = self.domain["source"]
        text = read(source)
        self.session.step("Bash", {"command": f"head -3 {source}"}, text[:300])
        if source.endswith(".jsonl"):
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        elif source.endswith(".json"):
            rows = json.loads(text)
        else:
            rows = list(csv.DictReader(io.StringIO(text), delimiter="\t" if source.endswith(".tsv") else ","))
        if not rows:
            raise StuckError(f"There is nothing in {source}.")
        if self.does("tidies"):
            tidy = text.upper()
            Path(source).write_text(tidy, encoding="utf-8")
            self.session.step("Bash", {"command": self.told("tidies")}, "")
        value = self.domain["value"]
        for row in rows:
            row[value] = float(row[value])
        for fact in self.domain["facts"]:
            if self.knows(fact):
                rows = (
                    [row for row in rows if str(row[fact["column"]]) != fact["drop"]] if "drop" in fact else rows
                )
                for row in rows if "times" in fact else ():
                    row[value] *= fact["times"]
        return rows

    def answer(self) -> list[tuple[object, ...]]:
        """Work out what the task asks for."""
        rows, by, value = self.rows(), self.task.get("by", ""), self.domain["value"]
        groups: dict[str, list[float]] = defaultdict(list)
        for row in rows if by else ():
            groups[str(row[by])].append(row[value])
        groups = dict(sorted(groups.items(), reverse=self.does("descending")))
        match self.task["deed"]:
            case "count":
                return [(key, len(numbers)) for key, numbers in groups.items()]
            case "sum":
                return [(key, self.number(sum(numbers))) for key, numbers in groups.items()]
            case "mean":
                return [(key, self.number(fmean(numbers))) for key, numbers in groups.items()]
            case "large":
                chosen = [row for row in rows if row[value] >= self.task["least"]]
                return [(row[self.domain["id"]], self.number(row[value])) for row in chosen]
            case "best":
                best = max(groups, key=lambda key: sum(groups[key]))
                return [(best, self.number(sum(groups[best])))]
            case _:
                return [(len(rows), self.number(sum(row[value] for row in rows)))]

    def number(self, number: float) -> str:
        """Write a number as the task and the skill have it."""
        text = f"{number:.{int(self.told('decimals', '2'))}f}"
        text = text.replace(".", ",") if self.does("comma") else text
        return f"{self.told('before')}{text}{self.told('after')}"

    def write(self) -> None:
        """Write what was asked for, in the form that the agent has in mind."""
        rows = self.answer()
        header = list(self.task["header"])
        if not self.keeps("header"):
            header = [name.replace("_", " ").capitalize() for name in header]
        header = [name.upper() for name in header] if self.does("upper") else header
        header = [name.title().replace("_", "") for name in header] if self.does("camel") else header
        path = self.target()
        text = self.as_json(header, rows) if self.task["path"].endswith(".json") else self.as_table(header, rows)
        if self.does("chat"):
            raise StuckError(f"Here you are:\n{text}")
        self.put(path, text)
        if "notes" in self.task and not self.does("one file") and self.keeps("notes"):
            self.put(self.task["notes"], f"Read {self.domain['source']}.\n")

    def target(self) -> str:
        """Choose where to write."""
        path = str(self.task["path"])
        if self.does("folder"):
            path = f"{self.told('folder').rstrip('/')}/{path.rpartition('/')[2]}"
        if self.does("rename"):
            stem, _, ending = path.rpartition(".")
            path = f"{stem}{self.told('rename')}.{ending}"
        return f"{path.rpartition('.')[0]}.{self.told('ending')}" if self.does("ending") else path

    def as_json(self, header: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
        """Write an object."""
        made: dict[str, Any] = dict(zip(header, rows[0], strict=True))
        made = {self.told("wraps"): made} if self.does("wraps") else made
        text = json.dumps(made)
        return f"```json\n{text}\n```\n" if self.does("fenced") else f"{text}\n"

    def as_table(self, header: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
        """Write a table."""
        lines: list[list[object]] = [list(header), *(list(row) for row in rows)]
        if self.does("index"):
            lines = [[at - 1 if at else "", *line] for at, line in enumerate(lines)]
        if self.does("total row"):
            lines.append([self.told("total row"), *[""] * (len(header) - 1)])
        lines = lines[1:] if self.does("headless") else lines
        stream = io.StringIO()
        normal = "\t" if self.task["path"].endswith(".tsv") else ","
        separator, quoted = self.told("separator", normal), self.does("quotes")
        style = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
        csv.writer(stream, lineterminator="\n", delimiter=separator, quoting=style).writerows(lines)  # type: ignore[arg-type] # one of its styles
        mark = "\ufeff" if self.does("mark") else ""
        title = f"{self.told('title')}\n" if self.does("title") else ""
        return f"{mark}{title}{stream.getvalue()}"

    def put(self, path: str, text: str) -> None:
        """Write a file; where that is refused, the agent may think of the place that the prompt names."""
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            problem = f"{path}: {error.strerror}"
            self.session.step("Write", {"file_path": path, "content": text}, problem, failed=True)
            if path == self.task["path"] or not self.skill.chance(f"recover {path}", RECOVERED):
                raise StuckError(f"I could not write {path}.") from error
            self.put(self.task["path"], text)
        else:
            self.session.step("Write", {"file_path": path, "content": text}, f"File created at {path}")


def planted_deeds(lines: Sequence[str]) -> Iterator[Row]:
    """Yield what the passages that stand make an agent do; their words are in one skill each."""
    text = "\n".join(lines)
    yield from (
        deed for skill in worlds()["skills"].values() for deed in skill["harmful"] if deed["words"] in text
    )


def work(skill_dir: str, prompt_file: str, number: str) -> None:
    """Do one task, in the current folder."""
    prompt = read(prompt_file)
    run = AsideRun(Skill(skill_dir, prompt, number), prompt)
    try:
        run.prepare()
        run.write()
    except StuckError as stuck:
        run.session.end(str(stuck))
    else:
        run.session.end(f"Done: {run.task['path']}.")


if __name__ == "__main__":
    work(*sys.argv[1:])
