"""Work shared among workers: the answers of one process, few workers and none for little, and none left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import forkserver
from typing import TYPE_CHECKING

import pytest

from events.types.claims import AfterError
from strategies.engines.engine import engine_of
from strategies.engines.engine_settings import EngineSettings
from strategies.engines.share import HERE, START_S, Sharing, Workers
from strategies.gate.replay.evaluation_set import Ground
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.exposure import Inverse
from strategies.gate.replay.measure import measure
from strategies.propose.guard import guard_claims
from tests.worlds import NO_TABLE, division_of, recovering, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from strategies.episodes.episode import EpisodeRecord
    from strategies.pool.splits import Division

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
AT_ONCE = {"start_s": 0.0, "part_s": 1e-9}
"""For work that would never be worth it."""


class Threads:
    """Workers that note when they are started and let go."""

    def __init__(self, places: int = 3) -> None:
        self.seen: list[str] = []
        self.workers = Workers(lambda: places, self.started)

    @contextmanager
    def started(self) -> Iterator[Executor]:
        self.seen.append("started")
        try:
            with ThreadPoolExecutor(3) as executor:
                yield executor
        finally:
            self.seen.append("let go")


def doubled(numbers: Sequence[int]) -> list[int]:
    return [2 * number for number in numbers]


def parent_of_whoever_hears_ctrl_c(_: int) -> int:
    return os.getppid() * (signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def doubled_by_the_living(home: int, numbers: Sequence[int]) -> list[int]:
    """Kill the worker that is asked about 1."""
    if 1 in numbers and os.getpid() != home:
        os.kill(os.getpid(), signal.SIGKILL)
    return doubled(numbers)


def shown_by(division: Division, sharing: Sharing) -> tuple[object, ...]:
    """Mine and measure all there is to share."""
    ground = Ground(division, "evaluator", sharing=sharing)
    claims = [LOOK, *guard_claims("", division.explore)]
    shown = ground.explore.shows_all(claims)
    outcomes = ground.explore.all_by_outcome([*claims, Inverse(LOOK)])
    stamp = ground.stamp("2026-01-01T00:00:00.000000Z")
    measured = measure([LOOK], (), division, stamp, seed=7, endpoint=shown[LOOK].endpoint)
    return [*shown.items()], [*outcomes.items()], measured


@pytest.mark.parametrize("items", [0, 1, 2, 7])
def test_answers_come_in_the_order_of_what_was_asked(items: int) -> None:
    with Sharing(Threads().workers, **AT_ONCE) as sharing:
        assert sharing.map(doubled, range(items), seconds=9.0) == doubled(range(items))


@pytest.mark.parametrize("world", [world_with_a_rule(3, tasks=60), recovering(3)], ids=["outcomes", "none"])
def test_shared_figures_are_those_of_one_process(world: list[EpisodeRecord]) -> None:
    division, threads = division_of(world, "1"), Threads()
    with Sharing(threads.workers, **AT_ONCE) as sharing:
        assert shown_by(division, sharing) == shown_by(division, HERE)
    assert threads.seen == ["started", "let go"]


def test_processes_answer_alike_and_where_one_is_killed_the_rest_is_done_here() -> None:
    division = division_of(world_with_a_rule(3, tasks=60), "1")
    workers = engine_of(EngineSettings(), processes=2).workers
    with Sharing(workers, **AT_ONCE) as sharing:
        assert shown_by(division, sharing) == shown_by(division, HERE)
        assert len(multiprocessing.active_children()) == 2
        killing = partial(doubled_by_the_living, os.getpid())
        assert sharing.map(killing, range(4), seconds=9.0) == doubled(range(4))
        assert sharing.map(killing, range(4), seconds=9.0) == doubled(range(4))
    assert multiprocessing.active_children() == []


def test_workers_are_forked_from_a_process_that_has_loaded_what_they_need_and_hear_ctrl_c() -> None:
    with engine_of(EngineSettings(), processes=2).workers.started() as executor:
        parents = {*executor.map(parent_of_whoever_hears_ctrl_c, range(8))}
    (parent,) = parents
    assert parent == forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]


def test_an_explore_travels_as_its_episodes_and_is_unpacked_once() -> None:
    explore = Explore(division_of(world_with_a_rule(3, tasks=20), "1").explore)
    unpack, sent = explore.__reduce__()
    there = unpack(*sent)
    assert tuple(there.records) == tuple(explore.records)
    assert unpack(*sent) is there


def test_little_work_starts_nobody_and_once_they_run_less_is_enough() -> None:
    threads = Threads()
    with Sharing(threads.workers) as sharing:
        sharing.map(doubled, range(9), seconds=0.99 * START_S)
        assert threads.seen == []
        sharing.map(doubled, range(9), seconds=START_S)
        assert threads.seen == ["started"]


def test_one_place_is_no_reason_to_start_a_worker() -> None:
    threads = Threads(places=1)
    with Sharing(threads.workers, **AT_ONCE) as sharing:
        assert sharing.map(doubled, range(4), seconds=9.0) == doubled(range(4))
    assert threads.seen == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_workers_are_let_go_whatever_ends_the_command(error: type[BaseException]) -> None:
    threads = Threads()
    with pytest.raises(error), Sharing(threads.workers, **AT_ONCE) as sharing:  # noqa: PT012 - it ends in between
        sharing.map(doubled, range(4), seconds=9.0)
        raise error
    assert threads.seen == ["started", "let go"]
