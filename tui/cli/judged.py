"""Verdicts, rule by rule: as JSON for scripts and as a list for people."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from tui.cli.facts import say_fact
from tui.cli.found import MARKS
from tui.cli.names import SHOWN_CHARS
from tui.cli.paint import clip, one_line, width
from tui.cli.words import claim_words
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.candidate import Candidate
    from strategies.gate.explain import Explanation
    from strategies.gate.rules import Rule
    from tui.cli.invocation import Invocation

_WAYS: Final = {
    "explore": "on explore alone: it was never sent to the sealed logs",
    "replay": "by replay on sealed logs",
    "removal": "a removal, by the inverse of the claim on sealed logs; it may also pass as inert",
    "rollouts": "by runs of an agent on sealed tasks",
    "person": "by nobody: nothing was measured, a person decides",
}
_RULE: Final = 16
"""Columns of the names of rules."""
_WORDS: Final = {"promote": "promoted", "reject": "rejected", "hold": "held", None: "not judged yet"}


def explanation_json(candidate: Candidate, explanation: Explanation, preset: str) -> dict[str, Any]:
    """Give a verdict and its steps as JSON."""
    return {
        "candidate": candidate.id,
        "skill": candidate.proposed.capsule,
        "base_version": candidate.proposed.base_version,
        "preset": preset,
        "sent": candidate.scored.sent if candidate.scored else None,
        "way": explanation.way,
        "verdict": candidate.verdict,
        "reasons": list(candidate.reasons),
        "reviewed": candidate.reviewed.decision if candidate.reviewed else None,
        "steps": steps_json(explanation.steps),
        "needed_tasks": explanation.needed_tasks,
    }


def steps_json(steps: Iterable[Rule]) -> list[dict[str, Any]]:
    """Give the rules that were applied as JSON."""
    return [
        {
            "rule": step.name,
            "figure": step.figure,
            "asks": step.asks,
            "holds": step.holds,
            "otherwise": step.otherwise,
            "missing": None if step.holds else step.missing,
            "needed_tasks": step.needed_tasks,
        }
        for step in steps
    ]


def print_explanation(call: Invocation, candidate: Candidate, explanation: Explanation, preset: str) -> None:
    """Print what a candidate asks for, each rule that it was held to, and what that came to."""
    proposed = candidate.proposed
    of = f"a new skill, {proposed.capsule}" if proposed.skill else f"{proposed.capsule}@{proposed.base_version}"
    call.say(call.paint(f"{candidate.id[:SHOWN_CHARS]}, {proposed.strategy} of {of}", "strong"))
    for at, claim in enumerate((*proposed.claims, *proposed.removes)):
        say_fact(call, "claim" if at == 0 else "", claim_words(claim))
    say_fact(call, "judged", f"{_WAYS[explanation.way]}; preset {preset}")
    call.say()
    print_steps(call, explanation.steps)
    call.say()
    print_verdict(call, candidate)
    if explanation.needed_tasks:
        say_fact(
            call, "needed", f"about {count(explanation.needed_tasks, 'task')}, if the figures stay as they are"
        )


def print_steps(call: Invocation, steps: Iterable[Rule]) -> None:
    """Print one rule a line: whether it holds, its figure, what it asks for, and how many tasks would do.

    What has no room behind the figure stands below it.
    """
    room = width() - _RULE - 5
    for step in steps:
        mark, tone = MARKS["promote" if step.holds else step.otherwise]
        enough = f"; about {count(step.needed_tasks, 'task')} would do" if step.needed_tasks else ""
        figure, asks = clip(one_line(step.figure), room), f"asks: {one_line(step.asks)}{enough}"
        begun = f"  {call.paint(mark, tone)} {step.name:<{_RULE}}{figure}"
        if len(figure) + len(asks) + 3 <= room:
            call.say(f"{begun}   {call.paint(asks, 'dim')}")
        else:
            call.say(begun)
            for line in wrap(asks, room, break_on_hyphens=False):
                call.say(f"{'':<{_RULE + 4}}{call.paint(line, 'dim')}")


def print_verdict(call: Invocation, candidate: Candidate) -> None:
    """Print the verdict that stands, with its reasons."""
    reviewed = candidate.reviewed
    by = f" by a person: {reviewed.reason}" if reviewed and candidate.verdict != "hold" else ""
    taken_back = ", taken back since" if candidate.reverted else ""
    where = f" as {candidate.proposed.capsule}@{candidate.version}" if candidate.version else ""
    said = f"{_WORDS[candidate.verdict]}{where}{by}{taken_back}"
    reasons = () if by else candidate.reasons
    for at, text in enumerate((said, *reasons)):
        say_fact(call, "verdict" if at == 0 else "", text)
