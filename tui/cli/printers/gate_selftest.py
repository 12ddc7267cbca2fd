"""What a self-test of the gate found, kind by kind: a rate with its n and interval, and a sentence."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from strategies.gate.selftest import ALLOWED
from tui.documents.measurements import GateSelftestCheck, GateSelftestDocument
from tui.text.numbers import count, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.gate.selftest import Kind, SelfTest
    from tui.cli.output.invocation import Invocation

_ENOUGH: Final = 100
"""Comparisons below which a rate of 3.5 % cannot be told from one of 10 % (computed: Wilson's interval)."""
_ROOM: Final = 69
"""Letters beside a label."""
_NAMES: Final[Mapping[Kind, str]] = {
    "trials": "itself",
    "shuffled": "shuffled",
    "recovered": "shuffled",
    "permuted": "tasks",
    "placebo_actions": "actions",
    "placebo_templates": "templates",
    "earlier": "earlier",
    "opposite_in_new_run": "new run",
    "outside_predicted": "predicted",
    "harmful_in_new_run": "harm",
}
_UNKNOWN: Final = (
    "a placebo breaks every tie with what was dealt out again, so that none shows a hidden trait of agent or task "
    "that drives both action and outcome; `earlier` shows such a trait only where it left a trace before the "
    "decision. Claims overlap and runs are few: their intervals are too narrow."
)


def check_words(result: SelfTest) -> str:
    """Say in a sentence what was compared."""
    claims = count(result.sources, "claim")
    words: dict[Kind, str] = {
        "trials": f"promoted, a skill against itself: the trials of {count(result.sources, 'task')}, two by two",
        "shuffled": f"promoted, {claims} in turn, on outcomes shuffled again each time",
        "recovered": f"promoted, {claims} in turn, on `recovered` shuffled again each time",
        "permuted": f"promoted, {claims} in turn, where each task has the outcomes of another",
        "placebo_actions": f"promoted, {claims} in turn, where actions are dealt out again at random",
        "placebo_templates": f"promoted, {claims} in turn, where errors are: some may be true",
        "earlier": f"of {claims} that the logs show seem to change errors, actions or repeats before",
        "opposite_in_new_run": f"of {claims}, promoted on all runs but one, show no gain in the one",
        "outside_predicted": "of these lie outside the interval predicted for a new run",
        "harmful_in_new_run": "of these surely harm the run that was left out",
    }
    return words[result.kind]


def selftest_document(
    results: Sequence[SelfTest], *, preset: str, seed: int, episodes: int
) -> GateSelftestDocument:
    """Write the results down; the first is that of trials, or of claims on shuffled logs."""
    first = results[0]
    low, high = first.interval
    return GateSelftestDocument(
        kind=first.kind,
        preset=preset,
        seed=seed,
        episodes=episodes,
        sources=first.sources,
        false_promotion_rate=first.rate,
        n=first.n,
        low=low,
        high=high,
        mean_rises=(first.mean_rises or 0) / max(first.n, 1),
        allowed=ALLOWED,
        checks=tuple(_check(result) for result in results),
        unknown=_UNKNOWN,
        ok=not any(result.fails for result in results),
    )


def _check(result: SelfTest) -> GateSelftestCheck:
    low, high = result.interval
    return GateSelftestCheck(
        kind=result.kind,
        wrong=result.wrong,
        n=result.n,
        rate=result.rate,
        low=low,
        high=high,
        sources=result.sources,
        limit=result.limit,
        ok=not result.fails,
        says=check_words(result),
    )


def print_selftest(call: Invocation, document: GateSelftestDocument, results: Sequence[SelfTest]) -> None:
    """Print the verdict, each kind with its figures, what common practice does, and what cannot be known."""
    failing = [_NAMES[result.kind] for result in results if result.fails]
    call.say(
        f"The gate is wrong more often than it states: {', '.join(failing)}."
        if failing
        else "No error rate of the gate is surely above what it states."
    )
    call.say(f"{'':<11}{count(document.episodes, 'episode')}, preset {document.preset}, seed {document.seed}")
    for check, result in zip(document.checks, results, strict=True):
        mark = "·" if check.limit is None else call.paint("✓", "good") if check.ok else call.paint("✗", "bad")
        stated = "no rate is stated" if check.limit is None else f"stated: at most {check.limit:.1%}"
        call.say(
            f"{_NAMES[result.kind]:<11}{mark} {check.rate:.1%}, {check.wrong} of {check.n} "
            f"{interval(check.low, check.high)}; {stated}"
        )
        call.say(f"{'':<13}{check.says}")
        if result.mean_rises is not None:
            call.say(f"{'':<13}where the mean rose: {result.mean_rises / max(result.n, 1):.1%}, common practice")
    if document.n < _ENOUGH:
        call.note(
            f"note       fewer than {_ENOUGH} comparisons cannot tell {ALLOWED:.1%} from three times as much"
        )
    for number, line in enumerate(wrap(document.unknown, _ROOM)):
        call.say(f"{'' if number else 'unknown':<11}{line}")
    call.say(f"{'next':<11}germline gate explain CANDIDATE    germline preset list")
