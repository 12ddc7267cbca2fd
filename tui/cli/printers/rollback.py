"""Versions that made things worse, and lines that logs speak for or against: what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.cli.output.facts import LABEL, say_fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.monitor.rollback import TakenBack
    from strategies.tiers.rejudge import TierMove
    from tui.cli.output.invocation import Invocation


def print_taken_back(call: Invocation, rollbacks: Iterable[TakenBack]) -> None:
    """Tell of each: its figures, and the version that went back, or the command that does."""
    for rollback in rollbacks:
        what = f"{rollback.skill}@{rollback.fall.version}"
        if rollback.version:
            call.say(
                f"{call.paint('✗', 'bad')} regression: {what} is taken back → {rollback.skill}@{rollback.version}"
            )
        else:
            call.say(f"{call.paint('·', 'warn')} regression: {what} makes things worse, and stays")
        say_fact(call, "because", rollback.reason.removeprefix("regression: "))
        if rollback.held:
            say_fact(call, "held", rollback.held)
            call.say(f"  {'next':<{LABEL}}{rollback.command}")  # in one piece, to be copied


def print_tier_moves(call: Invocation, moves: Iterable[TierMove]) -> None:
    """Tell of each live line that climbed, was seen again or fell: why, and the version without it."""
    for move in moves:
        before, after = (figures.tier if figures else "no tier" for figures in (move.before, move.after))
        mark, tone = ("✓", "good") if move.after else ("✗", "bad")
        where = f" → {move.skill}@{move.version}" if move.version else f", {move.skill}"
        call.say(f"{call.paint(mark, tone)} tier: {before} → {after}{where}")
        say_fact(call, "line", move.text)
        say_fact(call, "because", move.reason)
        if move.held:
            say_fact(call, "held", f"the line stays: {move.held}")
