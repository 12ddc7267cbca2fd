"""What each run shows of a claim, and what a new one would show, as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.facts.fact import Fact, fact
from tui.text.numbers import count, interval, signed
from tui.text.rows import RowPart, tone_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.score import Replicates, RunEffect, RunSpread

_BY_CHANCE_P: Final = 0.1
"""Above this p (Cochran's Q) what runs differ by may be chance: the usual bound, for the test is weak."""


def replicate_facts(shown: Replicates | None) -> Iterator[Fact]:
    """Say what each run shows, the largest first, how far runs agree, and for which of them it holds."""
    if shown is None:
        return
    from strategies.gate.replay.replicates import without_one_run  # noqa: PLC0415 - 50 ms, for measured claims alone

    for at, run in enumerate(shown.runs):
        yield Fact("" if at else "each run", run_parts(run))
    if rest := ", ".join(_others(shown)):
        yield fact("", rest, "dim")
    yield fact("", f"{spread_words(shown.spread)}; {without_one_run(shown)}; on explore and sealed logs", "dim")
    if shown.scope:
        yield fact("holds for", f"{', '.join(shown.scope)}: of other runs nothing is claimed", "warn")
    if shown.harmed:
        yield fact("harms", shown.harmed, "bad")


def run_parts(run: RunEffect) -> tuple[RowPart, ...]:
    """Write one run: its effect, both arms, its name."""
    figure = RowPart(signed(run.risk_difference, 2), tone_of(run.low, run.high))
    return (
        figure,
        RowPart(f" {interval(run.low, run.high, 2)}", "dim"),
        RowPart(f"  {run.obeyed:,} obeyed, {run.disobeyed:,} did not  {run.run}"),
    )


def spread_words(spread: RunSpread | None) -> str:
    """Say whether runs differ by more than chance, and between what a new one would lie."""
    if spread is None:
        return "no second run to compare with"
    chance = "no more than chance would have it" if spread.p > _BY_CHANCE_P else "by more than chance"
    apart = f"runs differ {chance} (I² {spread.share:.0%}, Q {spread.q:.1f}, p {spread.p:.2g})"
    if spread.predicted_low is None or spread.predicted_high is None:
        return f"{apart}; {spread.runs} runs cannot tell what a new one would show"
    mean = f"their mean {signed(spread.risk_difference, 2)} {interval(spread.low, spread.high, 2)}"
    low, high = signed(spread.predicted_low, 2), signed(spread.predicted_high, 2)
    return f"{apart}, {mean}; a new run: between {low} and {high}"


def _others(shown: Replicates) -> Iterator[str]:
    if shown.more:
        yield f"{shown.more:,} more"
    if shown.silent:
        yield f"{count(shown.silent, 'run')} cannot tell: there all obeyed, or none did"
