"""Trials, as people read them: what each shows in a sentence, then its figures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from events.errors import GermlineError
from registry.query.trials import running_trial, trials_of, trials_with
from registry.state.trial import MOST_FACTORS
from strategies.trials.e_process import HARM, PROOF
from strategies.trials.run_trial import start_trial, step_trials
from strategies.trials.trial_terms import TrialTerms, plan_trial
from tui.cli.output.facts import say_fact, say_folded
from tui.documents.trials import TrialRow
from tui.text.numbers import count, share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.registry import Registry
    from strategies.evolve.results import CycleResult
    from strategies.scope.log_globs import LogGlobs
    from tui.cli.output.invocation import Invocation


OWN_BLOCK_S: Final = 4 * 3600
"""The blocks of trials that a preset starts by itself: the default of `germline trial start`."""


def try_supported(
    call: Invocation, registry: Registry, cycles: Iterable[CycleResult], logs: LogGlobs | None
) -> None:
    """Put on trial what logs support by all rules, live or held for want of proof alone; each line once.

    What cannot be tried stays as it is, with the reason.
    """
    by_skill: defaultdict[str, list[str]] = defaultdict(list)
    for cycle in cycles:
        if cycle.verdict != "reject" and cycle.candidate and cycle.tier and cycle.tier.tier == "supported":
            by_skill[cycle.capsule].append(cycle.candidate.id)
    for skill, candidates in by_skill.items():
        before = trials_of(registry, skill)
        untried = tuple(candidate for candidate in candidates if not trials_with(before, candidate))
        if not untried or running_trial(registry, skill):
            continue
        try:
            plan = plan_trial(registry, skill, TrialTerms(untried[:MOST_FACTORS], block_s=OWN_BLOCK_S), logs)
            trial = start_trial(registry, plan)
        except GermlineError as error:
            call.note(f"trial      none of {skill}: {error.message}")
        else:
            call.note(f"trial      {trial.id} of {skill} began, by the preset: germline trial status {skill}")


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


def step_and_tell(call: Invocation, registry: Registry, logs: LogGlobs | None, *, looking: bool = True) -> None:
    """Take the steps of trials that are due, and tell of what was decided; no trial may end what reads logs."""
    try:
        trials = step_trials(registry, registry.names(), logs, looking=looking)
    except GermlineError as error:
        call.note(f"trial      put off: {error.message}")
        return
    for trial in trials:
        for line in TrialRow.of(trial).lines if trial.ended else ():
            call.note(f"trial      {line.decision}: {trial.started.capsule}, {line.name!r}: {line.shows}")
