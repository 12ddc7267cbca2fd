"""The harness that settings and options ask for: which tasks, which agent, what it may cost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from events.errors import UsageError
from strategies.rollouts.harness import harness_on_tasks
from strategies.rollouts.metric import harness_on_metric, load_metric
from strategies.rollouts.running import Caps
from strategies.rollouts.sandbox import SandboxPolicy
from strategies.rollouts.settings import agent_in
from strategies.rollouts.task_files import load_tasks
from strategies.rollouts.trials import ConfiguredTrials

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.library import Library
    from strategies.rollouts.harness import Harness
    from strategies.rollouts.running import Progress
    from strategies.rollouts.settings import RolloutConfig, RolloutSettings


_PAIR = 2
"""Versions that are measured side by side."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed, in place of what settings say; "" and None where nothing was."""

    tasks: str = ""
    agent: str = ""
    workers: int | None = None


def harness_of(library: Library, skill: str, config: RolloutConfig, asked: Asked) -> Harness:
    """Set up the runs that decide on a skill.

    Raises: UsageError where neither settings nor options say which; what reading tasks and agents raises.
    """
    settings, split_key = config.of(skill), library.about().split_key
    caps = Caps(settings.cost_cap_usd, settings.time_cap_s)
    workers = settings.workers if asked.workers is None else asked.workers
    if settings.metric and not asked.tasks:
        metric = load_metric(Path(settings.metric))
        return harness_on_metric(metric, _policy(settings), split_key, workers=workers or _PAIR, caps=caps)
    workers = workers or os.cpu_count() or 1
    path = asked.tasks or settings.tasks
    if not path:
        raise UsageError(
            f"no task set is named for {skill}",
            hint='--tasks FILE, or tasks = "FILE" under [rollouts] in germline.toml; docs/rollouts.md shows one',
        )
    folder = Path.cwd() if asked.agent else config.folder
    agent = agent_in(folder, asked.agent or settings.agent, settings)
    tasks = load_tasks(Path(path).expanduser())
    return harness_on_tasks(tasks, agent, _policy(settings), split_key, workers=workers, caps=caps)


def trials_of(
    library: Library,
    config: RolloutConfig,
    *,
    deferred: bool,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> ConfiguredTrials:
    """Set up the runs of a whole evolution; each skill's harness is read once, when it is first needed."""
    harness = cache(lambda skill: harness_of(library, skill, config, Asked()))
    return ConfiguredTrials(lambda skill: config.of(skill).decide, harness, deferred, on_progress)


def _policy(settings: RolloutSettings) -> SandboxPolicy:
    return SandboxPolicy(allow_unisolated=settings.allow_unisolated, commands=settings.commands)
