"""Slow guidance: what a run did to the same tasks, and what it came to, as JSON and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tui.cli.facts import say_fact
from tui.cli.found import MARKS
from tui.cli.names import SHOWN_CHARS
from tui.cli.shapes import models_json
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.guidance import Guidance
    from tui.cli.invocation import Invocation

_SAID: Final = {"promote": "promoted", "reject": "rejected", "hold": "held"}


def guidance_json(one: Guidance) -> dict[str, Any]:
    """Give a slow update as JSON: the tasks in their groups, and the candidate with its verdict, if any."""
    result = one.result
    candidate = result.candidate if result else None
    return {
        "skill": one.skill,
        "first": one.first,
        "last": one.last,
        "tasks": {name: list(tasks) for name, tasks in zip(one.changes._fields, one.changes, strict=True)},
        "candidate": {"id": candidate.id, "claims": models_json(candidate.claims)} if candidate else None,
        "verdict": result.verdict if result else None,
        "reasons": list(result.reasons) if result else [],
        "version": result.version if result else None,
    }


def print_guidance(call: Invocation, found: Iterable[Guidance]) -> None:
    """Tell how the same explore tasks fare under the first and the last version of a run, and what that led to."""
    for one in found:
        groups = [f"{len(tasks)} {name.replace('_', ' ')}" for name, tasks in one.changes._asdict().items()]
        tasks = count(sum(map(len, one.changes)), "explore task")
        say_fact(call, "guidance", f"{one.skill}@{one.first} against @{one.last} on {tasks}: {', '.join(groups)}")
        result = one.result
        if result is None or result.candidate is None:
            continue
        mark, tone = MARKS[result.verdict]
        lines = (line.strip() for edit in result.candidate.edits for line in edit.text.splitlines())
        text = " ".join(line for line in lines if line and not line.startswith("#"))
        where = f" as {one.skill}@{result.version}" if result.version else ""
        said = (
            f"{call.paint(mark, tone)} {result.candidate.id[:SHOWN_CHARS]} {_SAID[result.verdict]}{where}: {text}"
        )
        say_fact(call, "", said)
