"""What runs came to, as JSON for scripts and in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tui.cli.explained import score_words
from tui.cli.facts import say_fact
from tui.cli.found import MARKS, candidate_json
from tui.cli.names import SHOWN_CHARS
from tui.cli.run_facts import run_facts
from tui.cli.shapes import audit_json, model_json, models_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.candidate import Candidate
    from tui.cli.invocation import Invocation


_SHOWN_BESIDE: Final = ("difference ", "against no skill: helped", "against no skill: inert")
"""How the reasons begin that repeat the figures."""


def tried_json(candidate: Candidate) -> dict[str, Any]:
    """Give a candidate with the figures of its runs as JSON."""
    scored = candidate.scored
    return {
        **candidate_json(candidate),
        "audit": audit_json(scored),
        "rollouts": model_json(scored.rollouts) if scored else None,
        "attributions": models_json(scored.attributions) if scored else [],
    }


def print_tried(call: Invocation, candidate: Candidate) -> None:
    """Tell of one candidate what its runs came to."""
    mark, tone = MARKS[candidate.verdict]
    version = f" → {candidate.proposed.capsule}@{candidate.version}" if candidate.version else ""
    name = candidate.id[:SHOWN_CHARS]
    call.say(f"{call.paint(mark, tone)} {name}  {call.paint(candidate.verdict or 'open', tone)}{version}")
    for label, text in _facts(candidate):
        say_fact(call, label, text)


def _facts(candidate: Candidate) -> Iterator[tuple[str, str]]:
    scored = candidate.scored
    if scored is not None and scored.rollouts is not None:
        yield (
            "score",
            score_words(scored.before, scored.after, scored.delta, scored.audit_before, scored.audit_after),
        )
        yield from run_facts(scored.rollouts, scored.attributions)
    further = [reason for reason in candidate.reasons if not reason.startswith(_SHOWN_BESIDE)]
    for at, reason in enumerate(further):
        yield ("" if at else "because"), reason
