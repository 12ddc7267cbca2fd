"""A candidate as a whole: its diff, claims, evidence, scores and verdict, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.lint import unclaimed_lines
from tui.cli.output.facts import say_fact, say_facts
from tui.cli.printers.diff import print_files
from tui.cli.printers.evidence import print_evidence
from tui.cli.printers.gate_rules import print_steps
from tui.facts.candidates import candidate_facts, support_facts, verdict_facts
from tui.facts.fact import Fact, listed
from tui.facts.runs import run_facts
from tui.facts.scores import score_facts
from tui.text.names import SHOWN_CHARS
from tui.text.words import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.state.candidate import Candidate
    from tui.cli.output.invocation import Invocation
    from tui.reads.review import CandidatePage


_REASON: Final = "--reason TEXT"


def print_page(call: Invocation, page: CandidatePage, now: str, *, every: bool) -> None:
    """Print all of it: what it would change, why, on what evidence, how it was judged."""
    candidate, proposed = page.candidate, page.candidate.proposed
    base = proposed.base_version
    for_what = f"a new skill, {proposed.capsule}" if proposed.skill else f"for {proposed.capsule}@{base}"
    call.say(call.paint(f"{candidate.id[:SHOWN_CHARS]}, {for_what}", "strong"))
    say_facts(call, (*support_facts(candidate), *candidate_facts(page, now)))
    print_evidence(call, page.evidence, page.erased, page.there, every=every)
    print_files(call, page.files, unclaimed=unclaimed_lines(proposed))
    if page.misfit:
        say_fact(call, "misfit", page.misfit)
    call.say()
    print_steps(call, page.explanation.steps)
    call.say()
    say_facts(call, verdict_facts(candidate))
    if page.stale:
        moved = f"{proposed.capsule} is at version {page.live_version} by now"
        mend = f"germline evolve {proposed.capsule} --review measures it again"
        say_fact(call, "stale", f"{moved}: {'only reject it' if proposed.skill else mend}")
    call.say(f"\n  {'    '.join(_next(page))}")


def _next(page: CandidatePage) -> list[str]:
    name = page.candidate.id[:SHOWN_CHARS]
    if page.open:
        return [f"germline candidate {word} {name} {_REASON}" for word in ("approve", "reject")]
    return [f"germline gate explain {name}", f"germline log {page.candidate.proposed.capsule}"]


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
