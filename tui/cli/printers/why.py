"""Explanations of one line, as a page for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.skill_md.render import label
from tui.cli.output.facts import say_fact, say_facts
from tui.cli.printers.evidence import print_evidence
from tui.facts.line import earlier_facts, file_line_facts, line_facts, tried_facts
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.registry_events import SignalRaised
    from registry.query.provenance import Why
    from tui.cli.output.invocation import Invocation
    from tui.reads.file_history import FileLine
    from tui.reads.skill_paths import Named

SHOWN_EARLIER: Final = 3
"""How many earlier forms of a line are told unasked."""


def print_why(
    call: Invocation, story: Why, there: Sequence[bool], now: str, counted: SignalRaised | None, *, every: bool
) -> None:
    """Print an explanation: what the line says, why, since when, on what evidence, what it did."""
    call.say(call.paint(f"{label(story.capsule)}, line {story.line.number}", "strong"))
    call.say(f"  {one_line(story.line.text)}\n")
    say_facts(call, line_facts(story, now, counted))
    print_evidence(call, story.evidence, story.erased, there, every=every)
    say_facts(call, earlier_facts(story, most=None if every else SHOWN_EARLIER))
    if len(story.previous) > SHOWN_EARLIER and not every:
        say_fact(call, "", "older ones: --all")
    say_facts(call, tried_facts(story))
    call.say(f"\n  {'    '.join(_next(story))}")


def _next(story: Why) -> list[str]:
    name, since = story.capsule.name, story.line.version
    commands = [f"germline show {label(story.capsule)} --blame"]
    if since > 1:
        commands.append(f"germline diff {name} {since - 1} {since}")
        commands.append(f"germline revert {name} --to {since - 1}")
    else:
        commands.append(f"germline log {name}")
    return commands


def print_file_line(call: Invocation, named: Named, number: int, line: FileLine, now: str) -> None:
    """Print the explanation of a line of another file of a skill."""
    call.say(call.paint(f"{label(named.capsule)}, {named.path}, line {number}", "strong"))
    call.say(f"  {one_line(line.text)}\n")
    say_facts(call, file_line_facts(line, now))
    name, version = named.capsule.name, line.row.version
    further = f"    germline diff {name} {version - 1} {version}" if version > 1 else ""
    call.say(f"\n  germline show {label(named.capsule)}    germline log {name}{further}")
