"""The bank of finished runs: kept as each one ends, so that nothing that was paid for is run again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.types.frozen import Frozen
from strategies.rollouts.run.trial import Trial

if TYPE_CHECKING:
    from events.store.sql_log import EventLog
    from strategies.rollouts.run.agent_sessions import Watch
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.tasks.task import RolloutTask

_PREFIX: Final = "runs:"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to be made: an arm on a task, for a round (from 0).

    With `watch` what the agent does is kept as well, as it writes that down: where somebody may see it.
    """

    arm: Arm
    task: RolloutTask
    round: int
    watch: Watch | None = None

    @property
    def place(self) -> tuple[str, str, int]:
        """What tells it from the other runs of one comparison."""
        return self.arm.key, self.task.id, self.round


class KeptRun(Frozen):
    """A finished run as it is kept: under which key, which arm by its name, in which round (from 0)."""

    key: str
    arm: str
    round: int
    trial: Trial


class Bank:
    """The finished runs of a registry, under one harness.

    A run is found by all that its result depends on: the text of the arm and its standing, the task with its
    files, graders and limits, the harness (agent, model, sandbox) and the round. Each is a blob of kind `run`;
    which key leads to which blob is kept in maps, one for an arm, a round and a session, so that processes
    side by side never write the same one.
    """

    def __init__(self, log: EventLog, harness: str, session: str) -> None:
        self._log = log
        self._harness = harness
        self._session = session
        self._tasks: dict[str, str] = {}
        self._mine: dict[str, dict[str, str]] = {}
        self._known = _index(log)

    def find(self, job: PlannedRun) -> Trial | None:
        """Return what a run gave, None where it was never finished."""
        name = self._known.get(self._key(job))
        kept = kept_run(self._log, name) if name else None
        return kept.trial if kept else None

    def keep(self, job: PlannedRun, trial: Trial) -> None:
        """Keep a finished run, on disk before this returns; in a transaction of its own."""
        key = self._key(job)
        place = f"{_PREFIX}{_hash(job.arm.key)[:16]}:{job.round}:{self._session}"
        with self._log.transaction():
            if trial.work:
                work_kept = self._log.put_blob(trial.work.encode(errors="replace"), kind="transcript")
                trial = trial.model_copy(update={"work_kept": work_kept})
            body = KeptRun(key=key, arm=job.arm.name, round=job.round, trial=trial).model_dump_json().encode()
            name = self._log.put_blob(body, kind="run")
            mine = {**self._mine.get(place, {}), key: name}
            self._log.put_map(place, json.dumps(mine, separators=(",", ":")).encode())
        self._mine[place] = mine
        self._known[key] = name

    def _key(self, job: PlannedRun) -> str:
        task = self._tasks.get(job.task.id)
        if task is None:
            task = self._tasks[job.task.id] = _hash(job.task.model_dump_json())
        return _hash(json.dumps([job.arm.key, task, self._harness, job.round]))


def kept_runs(log: EventLog) -> dict[str, KeptRun]:
    """Return every finished run that is kept, by the name of its blob; of each key the one that counts."""
    runs = {name: kept_run(log, name) for name in sorted(_index(log).values())}
    return {name: run for name, run in runs.items() if run}


def kept_run(log: EventLog, name: str) -> KeptRun | None:
    """Return a finished run by the name of its blob; None where that is gone."""
    body = log.get_blob(name)
    return KeptRun.model_validate_json(body) if body else None


def _index(log: EventLog) -> dict[str, str]:
    """Read which key leads to which blob; of two runs that raced for a key the smaller name counts, for all."""
    blobs: dict[str, str] = {}
    for name, body in log.maps().items():
        if name.startswith(_PREFIX):
            for key, blob in json.loads(body).items():
                blobs[key] = min(blobs.get(key, blob), blob)
    return blobs


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
