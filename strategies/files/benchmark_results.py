"""Folders of trials as Harbor and Terminal-Bench write them: where the result is, and where what the agent left.

Source: Harbor's documentation, "Run evals"; terminal_bench/harness of laude-institute/terminal-bench, 2025.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.files.log_records import UNREADABLE, NotObject

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_LAYOUTS: Final = (("result.json", "agent"), ("results.json", "agent-logs"))
"""What the file is called that holds the result, and the folder beside it that the agent's logs lie in."""

_CONFIG: Final = "config.json"
"""What Harbor writes when a trial begins: it names the trial before there is a result."""

Amount = NotObject | dict[str, msgspec.Raw]
"""A number, or whatever is in its place."""

_MARKS: Final = (b'"trial_name"', b'"is_resolved"', b'"verifier_result"')
_MOST_BYTES: Final = 16 * 1024 * 1024


class _Rewards(msgspec.Struct):
    rewards: dict[str, float | int | bool | None] | None = None


class _Named(msgspec.Struct):
    name: str = ""


class _AgentInfo(msgspec.Struct):
    name: str = ""
    model_info: _Named | None = None


class _Exception(msgspec.Struct):
    exception_type: str = ""


class _AgentResult(msgspec.Struct):
    n_input_tokens: Amount = None
    n_cache_tokens: Amount = None
    n_output_tokens: Amount = None
    cost_usd: Amount = None


class TrialResult(msgspec.Struct):
    """What the result of a trial says, in either layout."""

    trial_name: str = ""
    task_name: str = ""
    task_id: object = None
    source: str | None = None
    agent_info: _AgentInfo | None = None
    agent_result: _AgentResult | None = None
    verifier_result: _Rewards | None = None
    exception_info: _Exception | None = None
    is_resolved: bool | None = None
    failure_mode: str | None = None

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.task_name or (self.task_id if isinstance(self.task_id, str) else "")

    @property
    def reward(self) -> float | None:
        """What the verifier gave, None where it gave nothing: a trial that broke says nothing of the task."""
        rewards = (self.verifier_result.rewards if self.verifier_result else None) or {}
        alone = next(iter(rewards.values())) if len(rewards) == 1 else None
        reward = rewards.get("reward", alone)
        return self.is_resolved if reward is None else reward

    @property
    def failure(self) -> str:
        """What broke the trial, "" where nothing did."""
        named = self.exception_info.exception_type if self.exception_info else self.failure_mode or ""
        return "" if named in {"unset", "none"} else named


_AGENT_FOLDERS: Final = frozenset(agent for _, agent in _LAYOUTS)
_RESULT: Final = msgspec.json.Decoder(TrialResult)


def result_beside(log: Path) -> Path | None:
    """Give the result of the trial whose agent wrote a log, as far as there is a file of that name."""
    if _AGENT_FOLDERS.isdisjoint(log.parts):
        return None
    for parent in log.parents:
        for result, agent in _LAYOUTS:
            if parent.name == agent and (parent.parent / result).is_file():
                return parent.parent / result
    return None


def read_result(file: Path) -> TrialResult | None:
    """Read the result of a trial; None for a file that is none, such as that of a job."""
    if not file.is_file():
        return None  # a pipe or a device would keep us waiting
    try:
        with file.open("rb") as opened:
            body = opened.read(_MOST_BYTES)
        return _RESULT.decode(body) if any(mark in body for mark in _MARKS) else None
    except (OSError, *UNREADABLE):
        return None


def agent_folder(folder: Path, folders: Collection[str], files: Collection[str]) -> Path | None:
    """Give the folder of the agent's logs where a folder is that of a trial, which may still run; else None."""
    for result, agent in _LAYOUTS:
        beginning = next((name for name in (result, _CONFIG) if name in files), "")
        if agent in folders and beginning and read_result(folder / beginning):
            return folder / agent
    return None
