"""How often the rollout gate promotes a line that is for some tasks, alone and in company: for bench/gate.py.

A line fixes 4 of 30 sealed tasks, each of which passed less often than not and passes in 19 of 20 runs then. Its
tag has 4, 6 or 8 of the 30 tasks. Beside it stand lines that change nothing, memorisers (six tasks that the gate
never sees), memorisers that know one sealed task as well, lines that fix 4 tasks and break 4 others, and lines
that harm. To reach null and memorisers at most 1 %, found at least 88 % for at most 150 runs of the candidate,
null for at most 40.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.gate_runs import HARM, Decided, changed, rule_before, rule_now, runs_of
from strategies.gate.aimed_rule import FRESH_ROUNDS, look_at_aim, look_at_fresh
from strategies.gate.rollout_rule import LOOKS, look
from strategies.gate.stats.balanced_rounds import balanced_signs, noise_beside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import ProcessPoolExecutor

    from numpy.typing import NDArray

    from bench.gate_runs import Rates
    from events.types.runs import AimFigures

CHUNK = 100
"""Lines that are judged together."""
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
    after = changed(before, HARM, clip=False) if kind == "harmful" else before.copy()
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
