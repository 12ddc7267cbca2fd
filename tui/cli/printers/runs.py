"""What runs came to, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.output.facts import say_facts
from tui.facts.fact import Fact, listed
from tui.facts.runs import run_facts
from tui.facts.scores import score_facts
from tui.text.names import SHOWN_CHARS
from tui.text.words import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.state.candidate import Candidate
    from tui.cli.output.invocation import Invocation


_SHOWN_BESIDE: Final = ("difference ", "against no skill: helped", "against no skill: inert")
"""How the reasons begin that repeat the figures."""


def print_tried(call: Invocation, candidate: Candidate) -> None:
    """Tell of one candidate what its runs came to."""
    mark, tone = VERDICTS[candidate.verdict]
    version = f" → {candidate.proposed.capsule}@{candidate.version}" if candidate.version else ""
    name = candidate.id[:SHOWN_CHARS]
    call.say(f"{call.paint(mark, tone)} {name}  {call.paint(candidate.verdict or 'open', tone)}{version}")
    say_facts(call, _facts(candidate))


def _facts(candidate: Candidate) -> Iterator[Fact]:
    scored = candidate.scored
    if scored is not None and scored.rollouts is not None:
        yield from score_facts(scored)
        yield from run_facts(scored.rollouts, scored.attributions)
    yield from listed("because", (reason for reason in candidate.reasons if not reason.startswith(_SHOWN_BESIDE)))
