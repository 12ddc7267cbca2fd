"""A training as a table: a row for each epoch, with what decided and what only informs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.output.facts import say_fact, say_facts, say_folded
from tui.facts.fact import listed
from tui.text.numbers import count, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.train.training_record import EpochRow, TrainingRecord
    from tui.cli.output.invocation import Invocation

HEAD: Final = (
    f"{'epoch':>5} {'live':>4} {'explore':>7} {'sealed':>6} {'audit':>6} "
    f"{'+':>3} {'held':>4} {'−':>3} {'lines':>6} {'tokens':>6} {'runs':>6} {'USD':>7} {'USD/pt':>7}"
)
"""The columns; + counts what was promoted, − what was rejected, and runs and dollars are those so far."""
_POINTS: Final = 100


def print_start(call: Invocation, record: TrainingRecord) -> None:
    """Say what is trained, by whom, on which tasks."""
    started = record.started
    call.say(call.paint(f"training of {started.capsule}, from version {started.version}", "strong"))
    tasks = (
        f"{started.explore:,} explore, shown to the proposer; {started.sealed:,} sealed; {started.audit:,} audit"
    )
    say_fact(call, "tasks", tasks)
    say_fact(call, "proposer", f"{started.proposer}; agent {started.agent}")


def print_table(call: Invocation, rows: Sequence[EpochRow]) -> None:
    """Print the epochs under their head, or that none has ended."""
    if not rows:
        say_fact(call, "epochs", "none has ended yet")
        return
    call.say(call.paint(HEAD, "dim"))
    for row in rows:
        print_row(call, row)


def print_row(call: Invocation, row: EpochRow) -> None:
    """Print one epoch, and below it why nothing was tested, where nothing was, or which cap ended it."""
    epoch, gained = row.epoch, (row.sealed or 0.0) * _POINTS
    explored = "–" if epoch.explored is None else f"{epoch.explored:.2f}"
    sealed, audit = ("–" if delta is None else signed(delta, 2) for delta in (row.sealed, row.audit))
    price = f"{epoch.cost_usd / gained:.3f}" if gained > 0 and epoch.cost_usd else "–"
    call.say(
        f"{epoch.epoch:>5} {epoch.version:>4} {explored:>7} {sealed:>6} {audit:>6} "
        f"{len(epoch.promoted):>3} {len(epoch.held):>4} {len(epoch.rejected):>3} "
        f"{epoch.lines:>6,} {epoch.tokens:>6,} {epoch.runs:>6,} {epoch.cost_usd:>7.2f} {price:>7}"
    )
    if epoch.because:
        say_folded(call, f"{'':>11}", epoch.because)


def print_end(call: Invocation, record: TrainingRecord, live: int, why: str, failures: Sequence[str]) -> None:
    """Say in a sentence what came of it, which replies of a model were of no use, and what to look at next."""
    name, first, epochs = record.started.capsule, record.started.version, record.epochs
    promoted = sum(len(epoch.promoted) for epoch in epochs)
    if epochs:
        ran = f"{count(len(epochs), 'epoch')}, {count(epochs[-1].runs, 'run')}"
        call.say(f"{ran}: {count(promoted, 'change')} promoted")
    say_facts(call, listed("failed", failures))
    say_fact(call, "stopped", why)
    if live == first:
        call.say(f"next       germline candidates {name}    germline log {name}")
        return
    call.say(
        f"next       germline show {name}@{live} --blame    germline diff {name} {first}    "
        f"germline revert {name} --to {first} --reason TEXT"
    )
