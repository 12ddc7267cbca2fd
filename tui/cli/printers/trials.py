"""Trials, as people read them: what each shows in a sentence, then its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.trials.e_process import HARM, PROOF
from tui.cli.output.facts import say_fact, say_folded
from tui.documents.trials import TrialRow
from tui.text.numbers import count, share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.state.trial import SkillTrial
    from tui.cli.output.invocation import Invocation


def print_trial(call: Invocation, row: TrialRow) -> None:
    """Print a trial: what it shows in a sentence for each line, then its figures."""
    for line in row.lines:
        say_folded(call, f"{line.decision:<10} ", f"{row.skill}, {line.name!r}: {line.shows}")
        if line.result:
            result = line.result
            words = f"for it {result.proof:.1f} of {PROOF:.0f}, against it {result.harm:.1f} of {HARM:.0f}"
            chance = f"; proof within the budget has a chance of {share(result.chance)}"
            say_fact(call, "evidence", words + (chance if result.decision == "running" else ""))
    by = f"blocks of {row.block_s / 3600:g} h, {row.assigned:,} so far" if row.block_s else "session"
    words = f"{row.sessions:,} of {count(row.budget, 'session')}, by {by}; outcome: {row.outcome}"
    say_fact(call, "counted", words + (f"; {count(row.missed, 'block')} not switched" if row.missed else ""))
    if isinstance(row.loaded, int) and row.loaded:
        say_fact(call, "loaded", f"{row.as_meant:,} of {row.loaded:,} that show it loaded what was meant")
    if row.problem and not row.ended_at:
        say_fact(call, "problem", f"not switched: {row.problem}")
    if row.ended_at:
        say_fact(call, "ended", f"{row.ended_at[:10]}: {row.ended_because}")


def tell_ended(call: Invocation, trials: Iterable[SkillTrial]) -> None:
    """Tell of trials that were decided just now."""
    for trial in trials:
        for line in TrialRow.of(trial).lines if trial.ended else ():
            call.note(f"trial      {line.decision}: {trial.started.capsule}, {line.name!r}: {line.shows}")
