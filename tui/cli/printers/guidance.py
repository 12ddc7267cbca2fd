"""Slow guidance: what a run did to the same tasks, and what it came to, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.cli.output.facts import say_fact
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count
from tui.text.words import VERDICT_WORDS, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.evolve.guidance import Guidance
    from tui.cli.output.invocation import Invocation


def print_guidance(call: Invocation, measured: Iterable[Guidance]) -> None:
    """Tell how the same explore tasks fare under the first and the last version of a run, and what that led to."""
    for guidance in measured:
        groups = [f"{len(tasks)} {name.replace('_', ' ')}" for name, tasks in guidance.changes._asdict().items()]
        tasks = count(sum(map(len, guidance.changes)), "explore task")
        versions = f"{guidance.skill}@{guidance.first} against @{guidance.last}"
        say_fact(call, "guidance", f"{versions} on {tasks}: {', '.join(groups)}")
        result = guidance.result
        if result is None or result.candidate is None:
            continue
        mark, tone = VERDICTS[result.verdict]
        lines = (line.strip() for edit in result.candidate.edits for line in edit.text.splitlines())
        text = " ".join(line for line in lines if line and not line.startswith("#"))
        where = f" as {guidance.skill}@{result.version}" if result.version else ""
        verdict = f"{VERDICT_WORDS[result.verdict]}{where}"
        say_fact(call, "", f"{call.paint(mark, tone)} {result.candidate.id[:SHOWN_CHARS]} {verdict}: {text}")
