"""A training as a table: a row for each epoch, with what decided and what only informs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.output.facts import say_fact
from tui.text.numbers import count, signed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.train.training_record import EpochRow, TrainingRecord
    from tui.cli.output.invocation import Invocation

HEAD: Final = (
    f"{'epoch':>5} {'live':>5} {'explore':>7} {'Δ sealed':>8} {'Δ audit':>7}  "
    f"{'promoted held rejected':<22} {'lines':>6} {'tokens':>6} {'runs':>6} {'USD':>7} {'USD/point':>9}"
)
"""The columns; runs and dollars are those of the training so far, explore is the mean of what was shown."""
_POINTS: Final = 100


def print_start(call: Invocation, record: TrainingRecord) -> None:
    """Say what is trained, by whom, on which tasks."""
    started = record.started
    call.say(call.paint(f"training of {started.capsule}, from version {started.version}", "strong"))
    tasks = (
        f"{started.explore:,} explore (shown to the proposer), {started.sealed:,} sealed, {started.audit:,} audit"
    )
    say_fact(call, "tasks", tasks)
    say_fact(call, "proposer", f"{started.proposer}; agent {started.agent}")


def print_table(call: Invocation, rows: Iterable[EpochRow]) -> None:
    """Print the epochs under their head."""
    call.say(call.paint(HEAD, "dim"))
    for row in rows:
        call.say(row_of(row))


def row_of(row: EpochRow) -> str:
    """Write one epoch: dollars per point are what the epochs up to it cost for each point that this one gained."""
    epoch, gained = row.epoch, row.sealed.value * _POINTS if row.sealed else 0.0
    explored = "–" if epoch.explored is None else f"{epoch.explored:.2f}"
    sealed, audit = (signed(delta.value, 2) if delta else "–" for delta in (row.sealed, row.audit))
    verdicts = f"{len(epoch.promoted):>8} {len(epoch.held):>4} {len(epoch.rejected):>8}"
    price = f"{epoch.cost_usd / gained:.3f}" if gained > 0 and epoch.cost_usd else "–"
    because = f"  {epoch.because}" if epoch.because else ""
    return (
        f"{epoch.epoch:>5} {epoch.version:>5} {explored:>7} {sealed:>8} {audit:>7}  {verdicts} "
        f"{epoch.lines:>6,} {epoch.tokens:>6,} {epoch.runs:>6,} {epoch.cost_usd:>7.2f} {price:>9}{because}"
    )


def print_end(call: Invocation, record: TrainingRecord, live: int, why: str) -> None:
    """Say in a sentence what came of it, and what to look at next."""
    name, epochs = record.started.capsule, record.epochs
    promoted = sum(len(epoch.promoted) for epoch in epochs)
    runs = epochs[-1].runs if epochs else 0
    call.say(f"{count(len(epochs), 'epoch')}, {count(runs, 'run')}: {count(promoted, 'change')} promoted")
    say_fact(call, "stopped", why)
    if live == record.started.version:
        call.say(f"next       germline candidates {name}    germline log {name}")
        return
    call.say(
        f"next       germline show {name}@{live} --blame    germline diff {name} {record.started.version}    "
        f"germline revert {name} --to {record.started.version} --reason TEXT"
    )
