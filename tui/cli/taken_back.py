"""Versions that made things worse: what became of them, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tui.cli.facts import LABEL, say_fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.regressions import TakenBack
    from tui.cli.invocation import Invocation


def taken_back_json(one: TakenBack) -> dict[str, Any]:
    """Give one of them as JSON; `made` is the version that went back, null where it is held."""
    fall = one.fall
    return {
        "skill": one.skill,
        "version": int(fall.version),
        "to": one.to,
        "made": one.version,
        "won": fall.won,
        "outcomes": fall.outcomes,
        "won_before": fall.won_before,
        "outcomes_before": fall.outcomes_before,
        "p": fall.p,
        "reason": one.reason,
        "held": one.held or None,
        "command": one.command if one.held else None,
    }


def print_taken_back(call: Invocation, found: Iterable[TakenBack]) -> None:
    """Tell of each: its figures, and the version that went back, or the command that does."""
    for one in found:
        what = f"{one.skill}@{one.fall.version}"
        if one.version:
            call.say(f"{call.paint('✗', 'bad')} regression: {what} is taken back → {one.skill}@{one.version}")
        else:
            call.say(f"{call.paint('·', 'warn')} regression: {what} makes things worse, and stays")
        say_fact(call, "because", one.reason.removeprefix("regression: "))
        if one.held:
            say_fact(call, "held", one.held)
            call.say(f"  {'next':<{LABEL}}{one.command}")  # in one piece, to be copied
