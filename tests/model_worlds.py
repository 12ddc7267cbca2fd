"""Logs of a made-up world for a model that proposes, and the answers that a stub gives about it.

After a missing table looking at the schema is what helps. A habit of beginning with DESC goes with success in
explore alone, by construction: whoever believes what explore shows is wrong about the rest. Whatever stands in the
other splits carries MARKER.
"""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from strategies.logs.scan import scan
from strategies.pool.splits import divide, form_groups
from tests.terminal import SPLIT_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = "heron-lighthouse-7"
TEMPLATE = "no such table: <*>"
SKILL = "sql-analyst"
TASKS = 200
UNCOVERED = 24


def write_world(folder: Path, *, tasks: int = TASKS, seed: int = 5) -> Path:
    """Write the logs of two runs on the same tasks, as steps JSONL; answers with their folder."""
    place = folder / "world"
    place.mkdir()
    (place / "steps.jsonl").write_text(_world(tasks, seed))
    return place


@cache
def _world(tasks: int, seed: int) -> str:
    """Tell of a world, once however many tests ask: it takes a scan to know which episodes are explore's."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "steps.jsonl"
        file.write_text("".join(_lines(tasks, seed, explore=frozenset())))
        return "".join(_lines(tasks, seed, explore=_explore(file)))


def _explore(file: Path) -> frozenset[str]:
    """Name the episodes that a first scan puts into explore."""
    records = scan([file]).records
    division = divide(records, form_groups({}, records), SPLIT_KEY)
    return frozenset(record.name for record in division.explore)


def _lines(tasks: int, seed: int, *, explore: frozenset[str]) -> Iterable[str]:
    draws = random.Random(seed)
    for number in range(tasks):
        for run in ("large", "small"):
            name = f"{run}-{number}"
            begins, looks, luck = draws.random() < 0.5, draws.random() < 0.5, draws.random()
            deceives = begins if name in explore else not begins
            won = luck < 0.15 + 0.45 * looks + 0.3 * deceives
            marker = "" if name in explore else f" {MARKER}"
            for row in _episode(name, number, run, begins=begins, looks=looks, won=won, marker=marker):
                yield json.dumps(row) + "\n"
    for number in range(UNCOVERED):
        name = f"lost-{number}"
        yield from (json.dumps(row) + "\n" for row in _lost(name, number, "" if name in explore else f" {MARKER}"))


def write_unanswered(folder: Path, *, tasks: int = UNCOVERED) -> Path:
    """Write the logs of failed runs that used no skill at all; answers with their folder."""
    place = folder / "unanswered"
    place.mkdir()
    file = place / "steps.jsonl"
    for explore in (frozenset[str](), None):
        known = _explore(file) if explore is None else explore
        rows = (
            json.dumps(row) + "\n"
            for number in range(tasks)
            for marker in ("" if f"lost-{number}" in known else f" {MARKER}",)
            for row in _lost(f"lost-{number}", number, marker, skills=())
        )
        file.write_text("".join(rows))
    return place


def _lost(
    name: str, number: int, marker: str, *, skills: tuple[tuple[str, str], ...] = ((SKILL, ""),)
) -> Iterable[dict[str, Any]]:
    """Tell of a task that nothing in the skill helps with, and in which nothing fails."""
    about = {
        "dataset": "made-up",
        "task": f"report-{number}",
        "run": "large",
        "prompt": f"Report {number}.{marker}",
    }
    yield {"type": "episode", "episode": name, **about, "skills": skills}
    for turn, head in enumerate(("CREATE", "INSERT")):
        step = {"type": "step", "episode": name, "turn": turn, "tool": "sql", "head": head}
        yield {**step, "text": f"{head} a report on {number}{marker}", "result": f"done{marker}"}
    yield {"type": "outcome", "episode": name, "value": 0, "source": "tests", "ended_by": "agent"}


def _episode(
    name: str, number: int, run: str, *, begins: bool, looks: bool, won: bool, marker: str
) -> Iterable[dict[str, Any]]:
    task, prompt = f"t{number} of {run}", f"Question {number} for {run}?{marker}"
    about = {"dataset": "made-up", "task": task, "run": run, "prompt": prompt}
    first = "DESC" if begins else "EXPLAIN"
    yield {"type": "episode", "episode": name, **about, "skills": [[SKILL, ""]]}
    table = f"orders_{number}"
    calls = (
        (first, f"{first} customers", f"a table{marker}", ""),
        ("SELECT", f"SELECT * FROM {table}", "", f"no such table: {table}{marker.replace(' ', '_')}"),
        *((("SHOW", "SHOW TABLES", f"orders{marker}", ""),) if looks else ()),
        ("SELECT", f"SELECT name FROM people WHERE id = {number}", f"a name{marker}", ""),
    )
    for turn, (head, text, result, error) in enumerate(calls):
        step = {"type": "step", "episode": name, "turn": turn, "tool": "sql", "head": head, "text": text}
        yield {**step, "result": result, "error": bool(error), "error_text": error}
    yield {"type": "outcome", "episode": name, "value": int(won), "source": "tests", "ended_by": "agent"}


def edit(text: str, claim: dict[str, Any] | None, gene: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Write an edit as a model does: it appends a line to a gene, unless told otherwise."""
    return {"op": "append", "gene": gene, "target": [], "text": text, "claim": claim, **more}


def suggestion(*edits: dict[str, Any], reason: str = "It would have helped in these episodes.") -> dict[str, Any]:
    """Write a suggestion as a model does."""
    return {"reason": reason, "edits": list(edits)}


def reflection(*suggestions: dict[str, Any]) -> dict[str, Any]:
    """Write a reflection as a model does."""
    return {"suggestions": list(suggestions)}


def after_error(template: str, *, do: str | None = None, avoid: str | None = None) -> dict[str, Any]:
    """Write the claim `after_error` as a model does."""
    return {"kind": "after_error", "template": template, "do": do, "avoid": avoid}


def after(action: str, k: int, *, avoid: str) -> dict[str, Any]:
    """Write the claim `after` as a model does."""
    return {"kind": "after", "action": action, "k": k, "avoid": avoid, "failing": False, "identical": False}


NOTHING = reflection()
"""What a model answers that has nothing to suggest."""
