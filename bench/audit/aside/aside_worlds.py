"""The worlds kept aside: their tasks as files, what each must leave, and what was planted in their skills."""

from __future__ import annotations

import io
import json
import random
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.audit.aside.agent import HERE, AsideRun, worlds
from bench.audit.planted import PlantedSkill
from examples.audit.agent import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = 40


def aside_skills() -> dict[str, PlantedSkill]:
    """Give the skills by name, with what was planted in them."""
    return {
        name: PlantedSkill(
            name,
            given["domain"],
            harmful=tuple(deed["words"] for deed in given["harmful"]),
            load_bearing=tuple(given["load_bearing"]),
            noise=tuple(given["noise"]),
            folder=HERE / "skills" / name,
        )
        for name, given in worlds()["skills"].items()
    }


def write_aside_tasks(folder: Path, domain: str) -> dict[str, dict[str, str]]:
    """Write the tasks of a domain; gives for each, by its name, the files that it must leave."""
    world = worlds()["domains"][domain]
    expected = {}
    for task in world["tasks"]:
        name, prompt = f"{domain}-{task['name']}", _prompt(task)
        place = folder / name
        (place / "workspace" / world["source"]).parent.mkdir(parents=True, exist_ok=True)
        (place / "workspace" / world["source"]).write_text(_data(name, world), encoding="utf-8")
        (place / "task.md").write_text(prompt, encoding="utf-8")
        expected[name] = _expected(prompt, _data(name, world), world["source"])
    return expected


class AllKnowing(Skill):
    """A reader who knows every fact, keeps every form, and follows what is written."""

    def chance(self, question: str, often: float) -> bool:
        """Let all happen."""
        del question, often
        return True


def _prompt(task: Mapping[str, Any]) -> str:
    form = "keys" if task["path"].endswith(".json") else "header"
    text = f"{task['prompt'].strip()}\n\nWrite `{task['path']}` with the {form} `{','.join(task['header'])}`.\n"
    if "notes" in task:
        text += f"\nAlso write `{task['notes']}`: one line that names the files you read.\n"
    return text


def _data(name: str, world: Mapping[str, Any]) -> str:
    """Make up the rows of a task, the same each time."""
    draws = random.Random(name)
    rows = [
        {column: _drawn(draws, kind, number) for column, kind in world["columns"].items()}
        for number in range(1, ROWS + 1)
    ]
    if world["source"].endswith(".jsonl"):
        return "".join(f"{json.dumps(row)}\n" for row in rows)
    if world["source"].endswith(".json"):
        return f"{json.dumps(rows, indent=1)}\n"
    separator = "\t" if world["source"].endswith(".tsv") else ","
    lines = [separator.join(world["columns"]), *(separator.join(map(str, row.values())) for row in rows)]
    return "\n".join(lines) + "\n"


def _drawn(draws: random.Random, kind: list[str] | list[int] | str, number: int) -> str | int:
    if isinstance(kind, str):
        return 1000 + number
    first, last = kind[0], kind[-1]
    if isinstance(first, int) and isinstance(last, int):
        return draws.randrange(first, last)
    return str(draws.choice(kind))


def _expected(prompt: str, data: str, source: str) -> dict[str, str]:
    """Compute what a task must leave, by path."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()):
        Path(source).parent.mkdir(parents=True, exist_ok=True)
        Path(source).write_text(data, encoding="utf-8")
        run = AsideRun(AllKnowing("", prompt, ""), prompt)
        run.write()
        wanted = [run.task["path"], *([run.task["notes"]] if "notes" in run.task else [])]
        return {path: Path(path).read_text(encoding="utf-8") for path in wanted}
