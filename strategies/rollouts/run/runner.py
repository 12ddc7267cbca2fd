"""Making runs: many at once, each kept as it ends, within what they may cost."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from events.errors import UpstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.store import Bank, PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask

ATTEMPTS: Final = 3
"""How often a run is tried before infrastructure voids it (a guess)."""
GIVE_UP_AFTER: Final = 5
"""Runs that may fail in a row, before any worked, until it is the agent's set-up that is broken (a guess)."""


class Runner(Protocol):
    """Runs one agent once; called from several threads, so it keeps nothing."""

    def __call__(self, job: PlannedRun) -> Trial:
        """Make the run and grade it; raises CapReachedError where it may not be paid for."""
        ...


class CapReachedError(Exception):
    """Ends the making of runs before all were made; `what` says which cap, in words."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True, slots=True)
class RunCaps:
    """What the runs of one command may cost; 0 is no cap. Units: US dollars, seconds on the wall, runs.

    `cost_setting` and its like name what sets a cap, for who reaches it.
    """

    cost_usd: float = 0.0
    time_s: float = 0.0
    runs: int = 0
    cost_setting: str = "rollouts.cost_cap_usd"
    time_setting: str = "rollouts.time_cap_s"
    runs_setting: str = "--max-runs"


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far the runs of the present rounds are, and what all of them cost so far."""

    done: int
    planned: int
    cost_usd: float


@dataclass(slots=True)
class RunSpending:
    """What was spent on one comparison: runs made now, runs found in the bank, dollars, seconds inside agents.

    `unpriced` counts runs whose cost is not known: a cap on cost does not see them.
    """

    runs: int = 0
    reused: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    unpriced: int = 0

    def count(self, trial: Trial) -> None:
        """Count a run that was made."""
        self.runs += 1
        self.seconds += trial.seconds
        self.cost_usd += trial.cost_usd or 0.0
        self.unpriced += trial.cost_usd is None


def spent_on(arms: Sequence[str], by_arm: Mapping[str, RunSpending]) -> dict[str, RunSpending]:
    """Divide what was spent among arms, by their keys: its own runs are an arm's, all others are shared equally.

    What is divided adds up: whole runs that are left over go to the first.
    """
    others = [spent for key, spent in by_arm.items() if key not in arms]
    share = len(arms)
    divided = {}
    for at, key in enumerate(arms):
        own = by_arm.get(key, RunSpending())
        counts = {
            name: getattr(own, name) + _whole_share(sum(getattr(spent, name) for spent in others), share, at)
            for name in ("runs", "reused", "unpriced")
        }
        sums = {
            name: getattr(own, name) + sum(getattr(spent, name) for spent in others) / share
            for name in ("cost_usd", "seconds")
        }
        divided[key] = RunSpending(**counts, **sums)
    return divided


def _whole_share(total: int, shares: int, at: int) -> int:
    return total // shares + (at < total % shares)


@dataclass(slots=True)
class Meter:
    """What one command has spent, over all that it compares: what caps are held against."""

    began_s: float | None = None
    runs: int = 0
    cost_usd: float = 0.0


@dataclass
class Runs:
    """Runs of one session: made in parallel, kept as each finishes, found again by place.

    `executor` makes up to `workers` of them at once; `prepare` is called for each arm before it runs, and the bank
    is written, by the caller's thread alone. What comes out does not depend on the order in which runs end.
    """

    run: Runner
    prepare: Callable[[Arm], object]
    bank: Bank
    executor: Executor
    workers: int
    now_s: Callable[[], float]
    caps: RunCaps = field(default_factory=RunCaps)
    on_progress: Callable[[RunProgress], None] = lambda _: None
    meter: Meter = field(default_factory=Meter)
    spent: RunSpending = field(default_factory=RunSpending)

    def __post_init__(self) -> None:
        self.meter.began_s = self.now_s() if self.meter.began_s is None else self.meter.began_s
        self._done: dict[tuple[str, str, int], Trial] = {}
        self._void: dict[tuple[str, str, int], str] = {}
        self._by_arm: dict[str, RunSpending] = {}
        self._failed_first = 0
        self._capped = ""

    def of(self, arm: Arm, task: RolloutTask, rounds: Iterable[int]) -> list[Trial | None]:
        """Return what some rounds of an arm on a task gave; None for a run that was not made or is void."""
        key = arm.key
        return [self._done.get((key, task.id, at)) for at in rounds]

    def why_void(self, arm: Arm, task: RolloutTask, at: int) -> str:
        """Say why infrastructure lost a run, "" for one that it did not lose."""
        return self._void.get((arm.key, task.id, at), "")

    def taken(self) -> dict[str, RunSpending]:
        """Return what was spent on each arm, by its key, since this was asked last."""
        spent, self._by_arm = self._by_arm, {}
        return spent

    def make(self, jobs: Sequence[PlannedRun]) -> None:
        """Make the runs that were not made yet, in this order as far as there are workers.

        Raises: CapReachedError once a cap is reached, after the runs in flight have ended and were kept;
        UpstreamError where the agent never gets going; what the runner raises.
        """
        left = deque((job, 1) for job in jobs if not self._find(job))
        planned = len(left)
        for arm in {job.arm.key: job.arm for job, _ in left}.values():
            self.prepare(arm)
        flying: dict[Future[Trial], tuple[PlannedRun, int]] = {}
        try:
            while left or flying:
                while left and len(flying) < self.workers and not self.cap_reached(len(flying)):
                    job, attempt = left.popleft()
                    flying[self.executor.submit(self.run, job)] = job, attempt
                self._require_room(flying)
                left.extend(self._land(flying))
                self.on_progress(RunProgress(planned - len(left) - len(flying), planned, self.spent.cost_usd))
        except BaseException:  # Ctrl-C as well: what has ended is kept, what has not begun never will
            for future, (job, _) in flying.items():
                if not future.cancel() and future.done() and future.exception() is None:
                    self._keep(job, future.result())
            raise

    def cap_reached(self, flying: int = 0) -> str:
        """Say which cap is reached, "" while none is; `flying` runs have no end yet."""
        if self._capped:
            return self._capped
        meter, caps = self.meter, self.caps
        if caps.cost_usd and meter.cost_usd >= caps.cost_usd:
            return (
                f"the cost cap of {caps.cost_usd:g} USD ({caps.cost_setting}) is reached: "
                f"{meter.runs} runs cost {meter.cost_usd:.2f} USD; they are kept, a higher cap goes on from there"
            )
        if caps.runs and meter.runs + flying >= caps.runs:
            return (
                f"the cap on runs ({caps.runs_setting}) is reached: {meter.runs + flying:,} were made now; "
                "they are kept, and a higher one goes on from there"
            )
        if caps.time_s and self.now_s() - (meter.began_s or 0.0) >= caps.time_s:
            return (
                f"the time cap of {caps.time_s:g} s ({caps.time_setting}) is reached after {meter.runs} runs; "
                "they are kept, and the next run goes on from there"
            )
        return ""

    def _require_room(self, flying: Mapping[Future[Trial], object]) -> None:
        """Raise CapReachedError where a cap let nothing fly."""
        if not flying:
            raise CapReachedError(self.cap_reached())

    def _find(self, job: PlannedRun) -> bool:
        """Take a run from what was made before, if it was."""
        if job.place in self._done:
            return True
        known = self.bank.find(job)
        if known is None:
            return False
        self._done[job.place] = known
        self.spent.reused += 1
        self._of(job).reused += 1
        return True

    def _of(self, job: PlannedRun) -> RunSpending:
        return self._by_arm.setdefault(job.arm.key, RunSpending())

    def _land(self, flying: dict[Future[Trial], tuple[PlannedRun, int]]) -> Iterable[tuple[PlannedRun, int]]:
        """Wait for some runs, keep those that ended, and give those that must be tried again."""
        again, failed = [], []
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            job, attempt = flying.pop(future)
            error = future.exception()
            if isinstance(error, CapReachedError):  # the runs in flight go on: each has room of its own, or none
                self._capped = error.what
                again.append((job, attempt))
                continue
            if error is not None:
                failed.append(error)
                continue
            trial = future.result()
            self._count(job, trial)
            self._keep(job, trial)
            if trial.status == "infrastructure" and job.arm.files is not None:
                self._require_going(trial)
                again += [(job, attempt + 1)] if attempt < ATTEMPTS else []
        for error in failed:
            raise error
        return again

    def _keep(self, job: PlannedRun, trial: Trial) -> None:
        """Keep what a run gave; where infrastructure lost it there is nothing to keep but why."""
        if trial.status == "infrastructure":
            self._void[job.place] = trial.note or "the agent never got going"
        else:
            self.bank.keep(job, trial)
            self._done[job.place] = trial
            self._void.pop(job.place, None)

    def _count(self, job: PlannedRun, trial: Trial) -> None:
        self.spent.count(trial)
        self._of(job).count(trial)
        self.meter.runs += 1
        self.meter.cost_usd += trial.cost_usd or 0.0
        if trial.status != "infrastructure":
            self._failed_first = -1

    def _require_going(self, trial: Trial) -> None:
        """Raise UpstreamError where the agent failed again and again before it ever worked."""
        if self._failed_first >= 0:
            self._failed_first += 1
        if self._failed_first >= GIVE_UP_AFTER:
            raise UpstreamError(
                f"the agent never got going in {self._failed_first} runs: {trial.note or 'it said nothing'}",
                hint="try the agent's command by hand, then type the same again",
            )
