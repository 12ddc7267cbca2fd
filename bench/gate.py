"""How often the rollout gate promotes what is no better, beside earlier and common rules, over made-up candidates.

Pass rates of tasks are Beta(.3, .3); of the candidates 70 % change nothing, 15 % lose 5 points and 15 % gain 10. A
memoriser solves six failing tasks of the proposer's half for certain, and changes nothing else. Effects are scaled
to the room that a task leaves, so that their mean is exact (--clip cuts them off at 1 instead). Each stream is one
skill and 20 candidates, one after the other; what is promoted becomes the incumbent. To reach null at most 3.5 %,
memorisers at most 1.5 %, power at least 40 % at 25 sealed tasks and 70 % at 50.

The second table, of lines that are for some tasks, is that of bench/gate_lines.py.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench.gate_lines import print_lines
from bench.gate_runs import HARM, Decided, changed, rule_before, rule_now, runs_of
from strategies.gate.rollout_rule import LOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.gate_runs import Rates

CANDIDATES = 20
KINDS = {"null": 0.0, "harmful": HARM, "helpful": 0.10}
SHARES = (0.70, 0.15, 0.15)
MEMORISED = 6
EVERY_MEMORISER = 2
"""Every so many candidates a memoriser is shown to the gate as well; it never becomes the incumbent."""


class Gate(Protocol):
    """A way to accept candidates; keeps what it measured of the incumbent."""

    def judge(self, candidate: Rates) -> Decided:
        """Run the candidate and decide."""

    def accept(self, candidate: Rates) -> None:
        """Let the candidate be the incumbent."""


class ThisGate:
    """The shipped rule, on the sealed half of the tasks; the bank is measured again after each promotion."""

    rule = staticmethod(rule_now)

    def __init__(self, rates: Rates, draws: np.random.Generator) -> None:
        self.draws = draws
        self.accept(rates)

    def accept(self, candidate: Rates) -> None:
        """Throw the bank away and fill a new one."""
        self.bank = runs_of(candidate[len(candidate) // 2 :], LOOKS[-1], self.draws)

    def judge(self, candidate: Rates) -> Decided:
        """Pair the candidate's runs with the bank's, round by round."""
        sealed = candidate[len(candidate) // 2 :]
        pairs = (runs_of(sealed, LOOKS[-1], self.draws) - self.bank).T.tolist()
        return self.rule(pairs, len(sealed))


class RuleBefore(ThisGate):
    """The rule before, on the same runs."""

    rule = staticmethod(rule_before)


class MeanRises:
    """Common practice: one run over all tasks, kept where the mean is higher than the best so far."""

    def __init__(self, rates: Rates, draws: np.random.Generator) -> None:
        self.draws = draws
        self.accept(rates)

    def accept(self, candidate: Rates) -> None:
        """Keep the score that won, lucky or not; a first one is measured."""
        self.best = getattr(self, "last", float(runs_of(candidate, 1, self.draws).mean()))

    def judge(self, candidate: Rates) -> Decided:
        """Run once and compare the means."""
        self.last = float(runs_of(candidate, 1, self.draws).mean())
        return Decided(self.last > self.best, len(candidate))


GATES: dict[str, type[ThisGate | MeanRises]] = {
    "mean rises": MeanRises,
    "rule before": RuleBefore,
    "this gate": ThisGate,
}


@dataclass
class Tally:
    """Decisions by kind of candidate."""

    seen: dict[str, int] = field(default_factory=dict)
    promoted: dict[str, int] = field(default_factory=dict)
    runs: int = 0

    def count(self, kind: str, decided: Decided) -> None:
        """Count one decision; memorisers are shown beside the stream and cost it nothing."""
        self.seen[kind] = self.seen.get(kind, 0) + 1
        self.promoted[kind] = self.promoted.get(kind, 0) + decided.promoted
        self.runs += 0 if kind == "memoriser" else decided.runs

    def add(self, other: Tally) -> None:
        """Take in the decisions of another stream."""
        for kind, seen in other.seen.items():
            self.seen[kind] = self.seen.get(kind, 0) + seen
            self.promoted[kind] = self.promoted.get(kind, 0) + other.promoted[kind]
        self.runs += other.runs

    def share(self, kind: str) -> float:
        """Give the share of a kind that was promoted, in percent."""
        return 100 * self.promoted[kind] / self.seen[kind]

    def runs_per_decision(self) -> float:
        """Give the candidate's runs per decision."""
        return self.runs / sum(seen for kind, seen in self.seen.items() if kind != "memoriser")


def memorised(rates: Rates, draws: np.random.Generator) -> Rates:
    """Solve some tasks for certain that failed more often than not: of the first half, which proposers may see."""
    failing = np.flatnonzero(rates[: len(rates) // 2] < 0.5)
    known = draws.choice(failing, min(MEMORISED, len(failing)), replace=False)
    after = rates.copy()
    after[known] = 1.0
    return after


def stream(seed: int, gate: str, tasks: int, *, clip: bool) -> Tally:
    """Send 20 candidates through one gate, one after the other."""
    draws = np.random.default_rng([seed, tasks])
    rates = draws.beta(0.3, 0.3, tasks)
    rule = GATES[gate](rates, draws)
    tally = Tally()
    for number in range(CANDIDATES):
        kind = str(draws.choice(list(KINDS), p=SHARES))
        candidate = changed(rates, KINDS[kind], clip=clip) if KINDS[kind] else rates
        decided = rule.judge(candidate)
        tally.count(kind, decided)
        if decided.promoted:
            rates = candidate
            rule.accept(candidate)
        if number % EVERY_MEMORISER == 0:
            tally.count("memoriser", rule.judge(memorised(rates, draws)))
    return tally


def measured(gate: str, tasks: int, streams: int, pool: ProcessPoolExecutor, *, clip: bool) -> Tally:
    """Run all streams of one row of the table."""
    total = Tally()
    for tally in pool.map(partial(stream, gate=gate, tasks=tasks, clip=clip), range(streams), chunksize=20):
        total.add(tally)
    return total


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, one row for each gate and number of tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=400)
    parser.add_argument("--lines", type=int, default=2_000, help="lines of each kind in the second table")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clip", action="store_true", help="cut effects off at 1 instead of scaling them")
    asked = parser.parse_args(arguments)
    began = time.perf_counter()
    effect = "clipped at 1" if asked.clip else "scaled to the room that tasks leave"
    print(f"{asked.streams} streams of {CANDIDATES} candidates; effects {effect}")
    print(f"{'gate':<12}{'tasks':>22}{'null':>8}{'memor.':>8}{'harmful':>9}{'power':>8}{'runs/decision':>15}")
    with ProcessPoolExecutor(asked.workers) as pool:
        for tasks in (50, 100):
            for gate in GATES:
                tally = measured(gate, tasks, asked.streams, pool, clip=asked.clip)
                what = f"{tasks}" if gate == "mean rises" else f"{tasks // 2} sealed of {tasks}"
                shares = [tally.share(kind) for kind in ("null", "memoriser", "harmful", "helpful")]
                cells = "".join(f"{share:>{w}.1f}%" for share, w in zip(shares, (7, 7, 8, 7), strict=True))
                print(f"{gate:<12}{what:>22}{cells}{tally.runs_per_decision():>15.0f}")
        print_lines(asked.lines, pool)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
