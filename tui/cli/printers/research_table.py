"""A research as a table: a row for each experiment, with what was measured beside the files as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.research.research_record import changed_lines
from tui.cli.output.facts import say_fact, say_folded
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.library import Library
    from strategies.research.research_record import Experiment, ResearchRecord
    from tui.cli.output.invocation import Invocation
    from tui.reads.researched_files import ResearchedLine

HEAD: Final = (
    f"{'nr':>4} {'verdict':<8} {'before':>10} {'after':>10} {'e-value':>8} {'runs':>5} {'lines':>8}  change"
)

_SHOWN: Final = 0.7
"""The gain, in deviations of the noise, that is found in nineteen of twenty experiments (simulated)."""


def print_research(call: Invocation, library: Library, record: ResearchRecord) -> None:
    """Print what is researched, its noise, and the experiments under their head, or that none has ended."""
    started = record.started
    call.say(call.paint(f"research of {started.target}", "strong"))
    say_fact(call, "surface", ", ".join(started.surface))
    say_fact(call, "measure", started.measured_by)
    say_fact(call, "proposer", started.proposer)
    for noise in list(record.noise.values())[:1]:
        say_fact(
            call,
            "unchanged",
            f"{noise.middle:.6g} in {count(noise.runs, 'run')}, with a noise of {noise.deviation:.3g}: gains of "
            f"{_SHOWN * noise.deviation:.3g} and more are likely to be found",
        )
    if not record.ended:
        say_fact(call, "ended", "no experiment yet")
        return
    call.say(call.paint(HEAD, "dim"))
    for experiment in record.ended:
        print_experiment(call, library, experiment)


def print_experiment(call: Invocation, library: Library, experiment: Experiment) -> None:
    """Print one experiment, and below it why, where it was not kept."""
    proposed, ended = experiment.proposed, experiment.ended
    if ended is None:
        return
    before, after = (f"{number:.6g}" if number is not None else "–" for number in (ended.before, ended.after))
    evidence = f"{ended.e_value:,.1f}" if ended.e_value is not None else "–"
    added, removed = changed_lines(library, proposed)
    verdict = "undone" if experiment.undone else ended.verdict
    head = (
        f"{proposed.experiment:>4} {verdict:<8} {before:>10} {after:>10} {evidence:>8} {ended.runs:>5,} "
        f"{f'+{added} −{removed}':>8}  "
    )
    change = ", ".join(entry.path for entry in proposed.after) or "nothing that could be applied"
    say_folded(call, head, f"{change}: {proposed.reason}" if proposed.reason else change)
    if ended.verdict != "kept" or ended.e_value is None:
        for reason in ended.reasons[:1]:
            say_folded(call, f"{'':>5}", reason)


def print_research_end(call: Invocation, record: ResearchRecord, why: str) -> None:
    """Say in a sentence what came of it, why it ended, and what to look at next."""
    target, experiments = record.started.target, record.ended
    kept = [experiment for experiment in experiments if experiment.in_force]
    held = [experiment for experiment in experiments if experiment.is_held]
    call.say(f"{count(len(experiments), 'experiment')}: {len(kept)} kept{_waiting(held)}")
    say_fact(call, "stopped", why)
    if record.started.kind == "file":
        undo = f"    germline research {target} --undo --reason TEXT" if kept else ""
        number = held[-1].proposed.experiment if held else 0
        taken = f"    germline research {target} --approve {number} --reason TEXT" if held else ""
        call.say(f"next       germline research {target} --status{undo}{taken}")
    else:
        call.say(f"next       germline log {target}    germline candidates {target}")


def _waiting(held: Sequence[Experiment]) -> str:
    return f", {len(held)} held for a person" if held else ""


def print_researched_line(call: Invocation, target: str, number: int, line: ResearchedLine) -> None:
    """Print which experiment a line of a file outside of any skill is from, and what was measured."""
    call.say(call.paint(f"{target}, line {number}", "strong"))
    call.say(f"  {one_line(line.text)}\n")
    known = line.experiment
    if known is None or known.ended is None:
        call.say("by hand: no experiment brought it")
        return
    say_fact(call, "kept", f"experiment {known.proposed.experiment}, event {known.position}")
    say_fact(call, "proposed", f"by {known.actor}: {known.proposed.reason or 'no reason is kept'}")
    if known.ended.before is not None and known.ended.after is not None:
        say_fact(call, "measured", f"{known.ended.before:.6g} → {known.ended.after:.6g}")
    for reason in known.ended.reasons:
        say_fact(call, "verdict", reason)
    call.say(f"\n  germline research {target} --status    germline research {target} --undo --reason TEXT")
