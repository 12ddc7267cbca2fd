"""The heat map of tasks by versions, whose cells lead to the runs that are listed below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.figures import count
from tui.report.anchors import runs_at
from tui.report.figures import toned
from tui.report.markup import element, joined

if TYPE_CHECKING:
    from tui.report.markup import Markup
    from tui.views.trends import Cell, HeatMap, HeatRow, MarkOfCell, TaskRun

_SIGNS: Final[dict[MarkOfCell, str]] = {"passed": "✓", "failed": "✗", "mixed": "±"}
_HASH_CHARS: Final = 64
_TASK_CHARS: Final = 12
_RUNS_OF_CELL: Final = 8
_MOST_RUNS: Final = 1_500
"""Runs that are listed of one skill; behind that, cells are only counted (a guess: 200 kB)."""


def heat_of(skill: str, heat: HeatMap) -> Markup:
    """Write the map, and the runs behind each of its cells."""
    if not heat.rows:
        said = "No run of a task is known to have gone under one of these versions."
        return element("p", said, class_="dim")
    heads = (element("th", f"@{version}", scope="col") for version in heat.versions)
    caption = f"tasks of {skill} by version: passed, failed or mixed"
    told = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", element("th", "task", scope="col"), *heads)),
        element("tbody", *(_row(skill, at, one, heat) for at, one in enumerate(heat.rows))),
    )
    left = f" {count(heat.left_out, 'further task')} left out." if heat.left_out else ""
    legend = f"✓ every run passed, ✗ none did, ± some did. Tasks that changed most come first.{left}"
    return joined(
        (
            element("div", told, class_="wide heat", role="region", tabindex="0", aria_label=caption),
            element("p", legend, class_="dim"),
            element("details", element("summary", "The runs behind the cells"), *_listed(skill, heat)),
        )
    )


def _row(skill: str, at: int, one: HeatRow, heat: HeatMap) -> Markup:
    cells = (_cell(skill, at, version, one.cells.get(version)) for version in heat.versions)
    return element("tr", element("th", task_name(one.task), scope="row"), *cells)


def _cell(skill: str, at: int, version: int, cell: Cell | None) -> Markup:
    if cell is None:
        return element("td")
    said = f"{cell.mark} under @{version}: {cell.passed} of {len(cell.runs)} runs passed"
    place = f"#{runs_at(skill, at, version)}"
    return element(
        "td", element("a", _SIGNS[cell.mark], href=place, aria_label=said, title=said), class_=cell.mark
    )


def task_name(task: str) -> str:
    """Name a task; of one that is known by its hash alone, the beginning."""
    return task[:_TASK_CHARS] if len(task) == _HASH_CHARS and task.isalnum() else task


def _listed(skill: str, heat: HeatMap) -> list[Markup]:
    """List the runs by task and version, as far as there is room for them."""
    room, told = _MOST_RUNS, []
    for at, one in enumerate(heat.rows):
        items = []
        for version, cell in one.cells.items():
            shown = cell.runs[: min(_RUNS_OF_CELL, room)]
            room -= len(shown)
            items.append(element("li", *_runs(version, cell, shown), id=runs_at(skill, at, version)))
        told.append(element("h5", f"task {task_name(one.task)}"))
        told.append(element("ul", *items, class_="runs"))
    return told


def _runs(version: int, cell: Cell, shown: tuple[TaskRun, ...]) -> list[str]:
    left = len(cell.runs) - len(shown)
    told: list[str] = [
        toned(f"@{version} {_SIGNS[cell.mark]}", "strong"),
        f" {cell.passed} of {count(len(cell.runs), 'run')} passed",
    ]
    for run in shown:
        told += [element("br"), _SIGNS["passed" if run.passed else "failed"], f" {_where(run)}"]
    return [*told, element("br"), toned(f"{left:,} more", "dim")] if left else told


def _where(run: TaskRun) -> str:
    """Say where a run is found: in which file of logs, or as which finished run that germline keeps."""
    if not run.source:
        return f"{run.run}, finished run {run.id[:_TASK_CHARS]}"
    return ", ".join(filter(None, (run.name, run.run, run.source.rpartition("/")[2])))
