"""A candidate as a whole: its diff, claims, evidence, scores and verdict, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.lint import unclaimed_lines
from tui.cli.output.facts import say_fact, say_facts
from tui.cli.printers.diff import print_files
from tui.cli.printers.evidence import print_evidence
from tui.cli.printers.gate_rules import print_steps
from tui.facts.candidates import candidate_facts, support_facts, verdict_facts
from tui.text.names import SHOWN_CHARS

if TYPE_CHECKING:
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
