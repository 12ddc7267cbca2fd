"""Verdicts, rule by rule: as a list."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from tui.cli.output.color import width
from tui.cli.output.facts import say_fact, say_facts
from tui.facts.candidates import verdict_facts
from tui.facts.fact import listed
from tui.facts.replicates import replicate_facts
from tui.text.names import SHOWN_CHARS
from tui.text.terminal_text import clip, one_line
from tui.text.words import VERDICTS, claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.state.candidate import Candidate
    from strategies.gate.explain import Explanation
    from strategies.gate.rule import Rule
    from tui.cli.output.invocation import Invocation

_WAYS: Final = {
    "explore": "on explore alone: it was never sent to the sealed logs",
    "replay": "by replay on sealed logs",
    "removal": "a removal, by the inverse of the claim on sealed logs; it may also pass as inert",
    "rollouts": "by runs of an agent on sealed tasks",
    "person": "by nobody: nothing was measured, a person decides",
}
_RULE: Final = 16
"""Columns of the names of rules."""


def print_explanation(call: Invocation, candidate: Candidate, explanation: Explanation, preset: str) -> None:
    """Print what a candidate asks for, each rule that it was held to, and what that came to."""
    proposed = candidate.proposed
    of = f"a new skill, {proposed.capsule}" if proposed.skill else f"{proposed.capsule}@{proposed.base_version}"
    call.say(call.paint(f"{candidate.id[:SHOWN_CHARS]}, {proposed.strategy} of {of}", "strong"))
    say_facts(call, listed("claim", map(claim_words, (*proposed.claims, *proposed.removes))))
    say_fact(call, "judged", f"{_WAYS[explanation.way]}; preset {preset}")
    call.say()
    print_steps(call, explanation.steps)
    call.say()
    if effect := candidate.scored and candidate.scored.effect:
        say_facts(call, replicate_facts(effect.replicates))
    say_facts(call, verdict_facts(candidate))
    if explanation.needed:
        say_fact(call, "needed", f"{explanation.needed.words}, if the figures stay as they are")


def print_steps(call: Invocation, steps: Iterable[Rule]) -> None:
    """Print one rule a line: whether it holds, its figure, what it asks for, and how many tasks would do.

    What has no room behind the figure goes below it.
    """
    room = width() - _RULE - 5
    for step in steps:
        mark, tone = VERDICTS["promote" if step.holds else step.otherwise]
        enough = f"; {step.needed.words}" if step.needed else ""
        figure, asks = clip(one_line(step.figure), room), f"asks: {one_line(step.asks)}{enough}"
        begun = f"  {call.paint(mark, tone)} {step.name:<{_RULE}}{figure}"
        if len(figure) + len(asks) + 3 <= room:
            call.say(f"{begun}   {call.paint(asks, 'dim')}")
        else:
            call.say(begun)
            for line in wrap(asks, room, break_on_hyphens=False):
                call.say(f"{'':<{_RULE + 4}}{call.paint(line, 'dim')}")
