"""The one log of a trial that tells what its agent did, and what the trial's result says of the episode in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import UnreadableLogError
from strategies.episodes.benchmark_trial import BenchmarkTrial
from strategies.episodes.usage import NOTHING_SPENT, Usage, usage_of
from strategies.files.benchmark_results import TrialResult, agent_folder, read_result, result_beside
from strategies.files.log_file import LogFile
from strategies.logs.formats_table import reader_for

if TYPE_CHECKING:
    from collections.abc import Collection

_FIRST: Final = "trajectory.json"
"""The trajectory that Harbor writes of whatever the agent wrote: where it is there, nothing else counts."""

_NO_EPISODES: Final = frozenset(["plain-text"])
_OF_SUB_AGENTS: Final = "subagents"
_LIMITS: Final = ("timeout", "limit", "contextlength", "context_length")


def agent_log(folder: Path, folders: Collection[str], files: Collection[str]) -> Path | None:
    """Give the log of the agent where a folder is that of a trial, the folder of its logs where none is known.

    None where the folder is none of a trial. A trial has one episode: what else was logged tells the same again.
    """
    logs = agent_folder(folder, folders, files)
    if logs is None:
        return None
    below = [Path(base, name) for base, _, names in os.walk(logs) for name in names]
    candidates = [file for file in below if _OF_SUB_AGENTS not in file.parts and _is_plain(file)]
    candidates.sort(key=lambda file: (file.name != _FIRST, len(file.parts), file.as_posix()))
    return next((file for file in candidates if _is_log(file)), logs)


def log_meant(file: Path) -> Path:
    """Give the log of the agent where the result of a trial is named, else the file itself."""
    if file.name not in {"result.json", "results.json"}:
        return file
    beside = list(file.parent.iterdir())
    folders = [entry.name for entry in beside if entry.is_dir()]
    log = agent_log(file.parent, folders, [file.name])
    return log if log and log.is_file() else file


def trial_of(log: Path) -> BenchmarkTrial | None:
    """Give what its result says of the trial whose agent wrote a log; None where it was in none, or still is."""
    file = result_beside(log)
    result = read_result(file) if file else None
    if result is None or not result.task:
        return None
    failure = result.failure
    limit = any(word in failure.lower() for word in _LIMITS)
    return BenchmarkTrial(
        name=result.trial_name,
        dataset=result.source or "",
        task=result.task,
        agent=result.agent_info.name if result.agent_info else "",
        model=result.agent_info.model_info.name if result.agent_info and result.agent_info.model_info else "",
        reward=result.reward,
        failure=failure,
        usage=_usage(result),
        ended_by=("limit" if limit else "environment") if failure else None,
    )


def _usage(result: TrialResult) -> Usage:
    """Give what a trial took; a harness that does not count writes zeros."""
    used = result.agent_result
    if used is None:
        return NOTHING_SPENT
    read, cached, wrote = used.n_input_tokens or None, used.n_cache_tokens or None, used.n_output_tokens or None
    return usage_of(read, wrote, cached, cost=used.cost_usd)


def why_no_log(file: Path) -> str:
    """Say why a trial gives no episode; "" for a file that is no result of one."""
    result = read_result(file) if file.name in {"result.json", "results.json"} else None
    if result is None or not result.task:
        return ""
    broke = f"; the trial broke: {result.failure}" if result.failure else ""
    return f"no log of a known format lies in the folder of the agent beside it{broke}"


def _is_plain(file: Path) -> bool:
    """Tell a file from a link, which may lead anywhere, and from a pipe."""
    return file.is_file() and not file.is_symlink()


def _is_log(file: Path) -> bool:
    try:
        reader = reader_for(LogFile(file))
    except (OSError, UnreadableLogError):
        return False
    return reader is not None and reader.name not in _NO_EPISODES
