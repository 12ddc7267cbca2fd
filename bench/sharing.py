"""Mining and replay of a world of 100,000 episodes by two processes, against one.

Every claim that a guard for one action and a habit could be is held against explore, then one is replayed against
none on sealed and audit, as a candidate is. The sides take turns in one run, each with a new explore, so that two
processes pay for packing, sending and unpacking it; each figure is the best of three. What a pool takes to start,
which `evolve` pays once, is told beside it. The answers of both are compared.

Measured on 2026-11-22 on two quiet cores, best of three: mining 6.0 s against 4.6 (1.32 times as fast), replay
1.7 against 1.7; a pool answers after 0.4 s. Processor time, under load, says what two free cores would give at
most: 33 claims took 10.6 s of one process, or 5.1 and 4.9 of two workers and 0.15 of who asks (2.0 times); replay
2.5 s, or 0.5 and 0.5 of two and 1.5 of who asks (1.25 times: the panels are made and packed there).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from strategies.engines.engine import engine_of
from strategies.engines.engine_settings import EngineSettings
from strategies.engines.share import HERE
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord, StepRecord
from strategies.files.log_records import Span
from strategies.gate.replay.contrast import judged
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.score import compare
from strategies.pool.splits import divide, form_groups
from strategies.propose.guard import guard_claims
from strategies.propose.habit import habit_claims

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.engines.share import Sharing
    from strategies.pool.splits import Division

WORKERS: Final = 2
ROUNDS: Final = 3
ACTIONS: Final = ("sql:SELECT", "sql:SHOW", "sql:DESC", "python:open")
STEPS: Final = 6
RUNS: Final = 6
"""Run configurations that each task is met by."""


def world(episodes: int) -> list[EpisodeRecord]:
    """Make episodes up, in which it helps to begin with SHOW; two calls in five fail."""
    draws = random.Random(1)
    return [episode(number // RUNS, number % RUNS, draws) for number in range(episodes)]


def episode(task: int, run: int, draws: random.Random) -> EpisodeRecord:
    """Make up one episode."""
    steps = tuple(step(at, draws) for at in range(STEPS))
    won = draws.random() < (0.5 if steps[0].action == "sql:SHOW" else 0.3)
    return EpisodeRecord(
        id=f"{task}/{run}",
        name=str(task),
        source="world",
        format="world",
        task=f"task {task}",
        run=f"run {run}",
        difficulty="hard" if task % 2 else "easy",
        labels={},
        prompt_key=f"prompt {task}",
        answer_key="",
        started_at=None,
        outcome=EpisodeOutcome(float(won), "reward"),
        ended_by="agent",
        skills=(),
        steps=steps,
    )


def step(at: int, draws: random.Random) -> StepRecord:
    """Make up one call."""
    failed = draws.random() < 0.4
    return StepRecord(
        turn=at,
        kind="call",
        actor="agent",
        action=draws.choice(ACTIONS),
        template="Table <*> doesn't exist" if failed else "",
        error=failed,
        writes=False,
        same_call=at,
        same_result=at,
        started_at=None,
        duration_ms=None,
        span=Span(at, at + 1, at + 1),
    )


def mined(division: Division, claims: list[Claim], sharing: Sharing, turn: int) -> object:
    """Hold every claim against explore, less an episode a turn: workers remember what they showed of the same."""
    return Explore(division.explore[turn:], sharing).shows_all(claims)


def replayed(division: Division, claims: list[Claim], sharing: Sharing, turn: int) -> object:
    """Replay one claim against none, where the gate does."""
    splits = (judged(division.sealed[turn:]).records, judged(division.audit).records)
    return [compare(records, (), claims[:1], seed=1, sharing=sharing) for records in splits]


def report(episodes: int) -> None:
    """Make the world, measure, and print."""
    records = world(episodes)
    division = divide(records, form_groups({}, records), "1")
    explore = division.explore
    claims = list(dict.fromkeys(chain(guard_claims(ACTIONS[0], explore), habit_claims(explore))))
    splits = {"explore": explore, "sealed": division.sealed, "audit": division.audit}
    sizes = ", ".join(f"{len(split):,} {name}" for name, split in splits.items())
    print(f"{episodes:,} episodes ({sizes}), {len(claims)} claims, {WORKERS} processes, {os.cpu_count()} cores")
    with engine_of(EngineSettings(), processes=WORKERS).sharing() as sharing:
        began = time.perf_counter()
        sharing.map(list, range(WORKERS), seconds=60.0)
        print(f"until a pool answers    {time.perf_counter() - began:>8.2f}   s")
        for name, work in (("mining", mined), ("replay", replayed)):
            spent: dict[Sharing, list[float]] = {HERE: [], sharing: []}
            for turn in range(ROUNDS):
                answers = []
                for side, times in spent.items():
                    began = time.perf_counter()
                    answers.append(work(division, claims, side, turn))
                    times.append(time.perf_counter() - began)
                if answers[0] != answers[1]:
                    raise SystemExit(f"{name}: two processes answer otherwise than one")
            here, shared = (min(times) for times in spent.values())
            print(f"{name}: one process     {here:>8.2f}   s, {WORKERS} processes {shared:.2f}")
            print(f"{name}: times as fast   {here / shared:>8.2f}")


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=100_000)
    asked = parser.parse_args()
    report(asked.episodes)


if __name__ == "__main__":
    main()
