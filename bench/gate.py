"""How often the rollout gate promotes what is no better, beside earlier and common rules, over made-up candidates.

Pass rates of tasks are Beta(.3, .3); of the candidates 70 % change nothing, 15 % lose 5 points and 15 % gain 10. A
memoriser solves six failing tasks of the proposer's half for certain, and changes nothing else. Effects are scaled
to the room that a task leaves, so that their mean is exact (--clip cuts them off at 1 instead). Each stream is one
skill and 20 candidates, one after the other; what is promoted becomes the incumbent. To reach null at most 3.5 %,
memorisers at most 1.5 %, power at least 40 % at 25 sealed tasks and 70 % at 50.

The second table asks what a line does that is for some tasks: it fixes 4 of 30 sealed tasks, each of which passed
less often than not and passes in 19 of 20 runs then. Its tag has 4, 6 or 8 of the 30 tasks. Beside it stand lines
that change nothing, memorisers (six tasks that the gate never sees), memorisers that know one sealed task as well,
lines that fix 4 tasks and break 4 others, and lines that harm. To reach null and memorisers at most 1 %, found at
least 88 % for at most 150 runs of the candidate, null for at most 40.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from strategies.gate.aimed_rule import FRESH_ROUNDS, look_at_aim, look_at_fresh
from strategies.gate.rollout_rule import LOOKS, decide, figures_of, look
from strategies.gate.stats.balanced_rounds import balanced_signs, noise_beside
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from events.types.runs import AimFigures
    from strategies.gate.rollout_rule import Pairs

    Rates = NDArray[np.float64]

CANDIDATES = 20
KINDS = {"null": 0.0, "harmful": -0.05, "helpful": 0.10}
SHARES = (0.70, 0.15, 0.15)
MEMORISED = 6
CHUNK = 100
"""Lines that are judged together."""
EVERY_MEMORISER = 2
"""Every so many candidates a memoriser is shown to the gate as well; it never becomes the incumbent."""


class Decided(NamedTuple):
    """One decision: whether it promoted, and how many runs of the candidate it cost."""

    promoted: bool
    runs: int


class Gate(Protocol):
    """A way to accept candidates; keeps what it measured of the incumbent."""

    def judge(self, candidate: Rates) -> Decided:
        """Run the candidate and decide."""

    def accept(self, candidate: Rates) -> None:
        """Let the candidate be the incumbent."""


def rule_now(pairs: Pairs, tasks: int) -> Decided:
    """Decide by the shipped rule; candidate minus incumbent by task and round."""
    verdict = decide(pairs)
    return Decided(verdict.decision == "promote", verdict.figures.rounds * tasks)


def rule_before(pairs: Pairs, tasks: int) -> Decided:
    """Decide by the rule of method rollout-1: a point estimate rejects from the first round on."""
    for rounds in LOOKS:
        figures, rule = figures_of(pairs, rounds), ROLLOUT_RULE
        enough = figures.e_value >= rule.least_e and figures.p <= rule.most_p
        if enough and figures.difference >= rule.least_difference and figures.tasks >= rule.least_tasks:
            return Decided(promoted=True, runs=rounds * tasks)
        if figures.difference <= 0 or figures.difference + 1.28 * figures.error < rule.futile_below:
            break
    return Decided(promoted=False, runs=rounds * tasks)


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

SEALED = 30
FIXED = 4
BESIDE = 3
"""Other lines that are run in company of one, each of which fixes as many tasks."""
AIMED_KINDS = ("fixes", "null", "memoriser", "knows one", "fixes, breaks", "harmful")


class Line(NamedTuple):
    """A line that is for some tasks: pass rates of the sealed ones before and after, and which are its own."""

    before: Rates
    after: Rates
    own: NDArray[np.bool_]


def line_of(kind: str, tagged: int, draws: np.random.Generator) -> Line:
    """Make up a line of a kind, for so many of the sealed tasks; see above."""
    before = draws.beta(0.3, 0.3, SEALED)
    order = draws.permutation(SEALED)
    failing = order[before[order] < 0.5]
    mended = {"fixes": FIXED, "fixes, breaks": FIXED, "knows one": 1}.get(kind, 0)
    chosen = failing[:mended]
    others = order[~np.isin(order, chosen)]
    own = np.isin(np.arange(SEALED), np.concatenate([chosen, others[: tagged - len(chosen)]]))
    after = changed(before, KINDS["harmful"], clip=False) if kind == "harmful" else before.copy()
    after[chosen] = 0.95
    if kind == "fixes, breaks":
        passing = others[(before[others] > 0.5) & ~own[others]]
        after[passing[:FIXED]] = 0.05
    return Line(before, after, own)


def pairs_of(line: Line, rounds: int, draws: np.random.Generator) -> Rates:
    """Run both versions: candidate minus incumbent, tasks by rounds."""
    both: Rates = (runs_of(line.after, rounds, draws) - runs_of(line.before, rounds, draws)).T
    return both


def first_runs(line: Line, draws: np.random.Generator) -> tuple[AimFigures | None, int]:
    """Run a line on its own tasks until the rule has an answer: its figures if it is shown, and how many runs."""
    own = pairs_of(line, LOOKS[-1], draws)[line.own].tolist()
    for rounds in range(1, LOOKS[-1] + 1):
        verdict, aim = look_at_aim(own, rounds, ("tag",), SEALED)
        if verdict.decision is not None:
            break
    return aim if verdict.decision == "promote" else None, rounds * len(own)


def aimed(line: Line, draws: np.random.Generator) -> Decided:
    """Judge by the shipped rule for a change that says which tasks it is for."""
    aim, runs = first_runs(line, draws)
    if aim is None:
        return Decided(promoted=False, runs=runs)
    fresh = pairs_of(line, FRESH_ROUNDS, draws)
    own, rest = fresh[line.own].tolist(), fresh[~line.own].tolist()
    for again in range(1, FRESH_ROUNDS + 1):
        verdict, _ = look_at_fresh(aim, own, rest, again)
        if verdict.decision is not None:
            break
    return Decided(verdict.decision == "promote", runs + again * SEALED)


def aimed_in_company(line: Line, draws: np.random.Generator) -> Decided:
    """Judge as `aimed`, but confirmed by the same runs as three other lines, each of which fixes some tasks."""
    aim, runs = first_runs(line, draws)
    if aim is None:
        return Decided(promoted=False, runs=runs)
    return in_company(line, draws, aim, runs)


def aimed_beside_five(line: Line, draws: np.random.Generator) -> Decided:
    """Judge as `aimed_in_company`, beside five others, most of which are decided after the first block."""
    aim, runs = first_runs(line, draws)
    if aim is None:
        return Decided(promoted=False, runs=runs)
    return in_company(line, draws, aim, runs, (6, 3))


def in_company(
    line: Line,
    draws: np.random.Generator,
    aim: AimFigures | None = None,
    runs: int = 0,
    companies: Sequence[int] = (1 + BESIDE,) * 3,
) -> Decided:
    """Run a line on all tasks together with others, each of which fixes some; without `aim` from the start.

    `companies` says how many they are in each block, with the line itself. The runs are those of all of them, this
    line's share of which is counted.
    """
    tasks, again = int(line.own.sum()), 0
    gains = [line.after - line.before, *(_gain_beside(line, draws) for _ in range(max(companies) - 1))]
    pairs = np.empty((SEALED, 0))
    noise: list[list[float]] = [[] for _ in range(SEALED)]
    order = np.concatenate([np.flatnonzero(line.own), np.flatnonzero(~line.own)])
    for number, together in enumerate(companies):
        signs = balanced_signs(together, number)
        again += len(signs)
        runs += len(signs) * SEALED // together
        block = np.stack([_pair(line, gains[:together], row, draws) * row[0] for row in signs], axis=1)[order]
        pairs = np.concatenate([pairs, block], axis=1)
        if aim is None:
            verdict = look(pairs.tolist(), again)
        else:
            noise = [[*had, *noise_beside(new, signs, 0)] for had, new in zip(noise, block.tolist(), strict=True)]
            verdict, _ = look_at_fresh(aim, pairs[:tasks].tolist(), pairs[tasks:].tolist(), again, noise=noise)
        if verdict.decision is not None:
            break
    return Decided(verdict.decision == "promote", runs)


def _gain_beside(line: Line, draws: np.random.Generator) -> Rates:
    """Say what another line does: it fixes as many of the tasks that fail."""
    failing = draws.permutation(np.flatnonzero(line.before < 0.5))[:FIXED]
    gain = np.zeros(SEALED)
    gain[failing] = 0.95 - line.before[failing]
    return gain


def _pair(line: Line, gains: Sequence[Rates], row: Sequence[int], draws: np.random.Generator) -> Rates:
    """Run both versions of a round once: the one that holds the lines of sign 1 minus the other."""
    sides = [
        np.clip(line.before + sum(gain for gain, sign in zip(gains, row, strict=True) if sign == side), 0, 1)
        for side in (1, -1)
    ]
    outcome: Rates = runs_of(sides[0], 1, draws)[0] - runs_of(sides[1], 1, draws)[0]
    return outcome


def without_aim(line: Line, draws: np.random.Generator) -> Decided:
    """Judge by the shipped rule for a change that does not say so."""
    return rule_now(pairs_of(line, LOOKS[-1], draws).tolist(), SEALED)


def before_aims(line: Line, draws: np.random.Generator) -> Decided:
    """Judge by the rule of method rollout-1."""
    return rule_before(pairs_of(line, LOOKS[-1], draws).tolist(), SEALED)


BY_TAG, TOGETHER, OF_SIX = "this gate, by tag", "by tag, in company", "by tag, of six"
LINE_GATES = {
    "rule before": before_aims,
    "this gate, no tag": without_aim,
    "no tag, in company": in_company,
    BY_TAG: aimed,
    TOGETHER: aimed_in_company,
    OF_SIX: aimed_beside_five,
}


def judged_lines(chunk: int, gate: str, tagged: int, lines: int) -> dict[str, list[Decided]]:
    """Judge so many lines of each kind by one gate."""
    draws = np.random.default_rng([chunk, tagged, len(gate)])
    decide_on = LINE_GATES[gate]
    return {kind: [decide_on(line_of(kind, tagged, draws), draws) for _ in range(lines)] for kind in AIMED_KINDS}


def print_lines(lines: int, pool: ProcessPoolExecutor) -> None:
    """Print what the gates make of lines that are for some tasks: promoted, and runs of the candidate."""
    print(f"\n{lines} lines of each kind, {FIXED} of {SEALED} sealed tasks fixed: promoted, runs of the candidate")
    print(f"{'gate':<20}{'tagged':>7}" + "".join(f"{kind:>16}" for kind in AIMED_KINDS))
    rows = [(gate, 6) for gate in LINE_GATES if gate not in {BY_TAG, TOGETHER, OF_SIX}]
    for gate, tagged in (*rows, *((gate, size) for gate in (BY_TAG, TOGETHER, OF_SIX) for size in (4, 6, 8))):
        judged: dict[str, list[Decided]] = {kind: [] for kind in AIMED_KINDS}
        work = partial(judged_lines, gate=gate, tagged=tagged, lines=CHUNK)
        for part in pool.map(work, range(-(-lines // CHUNK))):
            for kind, decided in part.items():
                judged[kind] += decided
        print(f"{gate:<20}{tagged:>7}" + "".join(map(_cell, judged.values())))


def _cell(judged: Sequence[Decided]) -> str:
    promoted = 100 * sum(decided.promoted for decided in judged) / len(judged)
    return f"{promoted:>9.1f}%{sum(decided.runs for decided in judged) / len(judged):>6.0f}"


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


def runs_of(rates: Rates, rounds: int, draws: np.random.Generator) -> Rates:
    """Run every task so many times: 1 where it passes, 0 where not; rounds by tasks."""
    passed: Rates = (draws.random((rounds, len(rates))) < rates).astype(np.float64)
    return passed


def changed(rates: Rates, points: float, *, clip: bool) -> Rates:
    """Move all pass rates, by the room that each has or equally, so that their mean moves by `points`."""
    room = np.ones_like(rates) if clip else (1 - rates if points > 0 else rates)
    after: Rates = np.clip(rates + points * room / max(float(room.mean()), 1e-9), 0, 1)
    return after


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
