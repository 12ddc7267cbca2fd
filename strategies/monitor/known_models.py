"""Models as logs and kept runs name them: when each was seen, and how many of its sessions have an outcome."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError
from strategies.episodes.episode import model_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.rollouts.run.export import FinishedRun

_NAMED: Final = 8
"""Models that are named where another was asked for."""


class ModelSessions(NamedTuple):
    """A model that logs name: its sessions, how many have an outcome, and when they began, first and last."""

    model: str
    sessions: int
    labelled: int
    since: str
    until: str


def models_in(records: Iterable[EpisodeRecord]) -> list[ModelSessions]:
    """List the models that sessions ran under, the one that was seen first at the front."""
    by_model: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        if model := model_of(record):
            by_model[model].append(record)
    rows = []
    for model, own in by_model.items():
        times = sorted(record.started_at for record in own if record.started_at)
        labelled = sum(record.outcome is not None for record in own)
        rows.append(ModelSessions(model, len(own), labelled, *((times[0], times[-1]) if times else ("", ""))))
    return sorted(rows, key=lambda row: (row.since, row.model))


def require_known(models: Sequence[str], records: Iterable[EpisodeRecord], runs: Iterable[FinishedRun]) -> None:
    """Check that logs or kept runs know every one of some models; raises NotFoundError with those they know."""
    known = {row.model for row in models_in(records)} | {run.transcript.model for run in runs}
    for model in models:
        if model not in known:
            listed = ", ".join(sorted(known)[:_NAMED]) or "none"
            more = f" and {len(known) - _NAMED:,} more: germline models list" if len(known) > _NAMED else ""
            raise NotFoundError(f"no session and no run names a model {model}", hint=f"the models: {listed}{more}")
