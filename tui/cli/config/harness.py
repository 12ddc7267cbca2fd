"""The harness that settings and options ask for: which tasks, which agent, what it may cost."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from events.errors import UsageError
from registry.skill_md.write_places import REGISTRY_FOLDER
from strategies.engines.engine import engine_of
from strategies.judge.calibrate import calibrations
from strategies.models.thread_desk import Desk
from strategies.pool.known_episodes import split_groups
from strategies.pool.task_sets import split_book
from strategies.rollouts.compare.harness import harness_on_messages, harness_on_tasks
from strategies.rollouts.compare.in_turn import ConfiguredTrials
from strategies.rollouts.compare.metric import harness_on_metric, load_metric
from strategies.rollouts.compare.model_grader import Jury, judged_families, standings_of, with_jury
from strategies.rollouts.compare.remote import sent_elsewhere
from strategies.rollouts.run.agent_templates import MESSAGES, SkillMode
from strategies.rollouts.run.rollout_settings import agent_in, messages_in
from strategies.rollouts.run.runner import RunCaps
from strategies.rollouts.run.task_container import ANNOUNCER
from strategies.rollouts.tasks.load import load_tasks
from strategies.sandbox.confined_run import SandboxPolicy
from strategies.sandbox.container_program import container_program
from tui.cli.config.model_options import rubric_of, some_model
from tui.session.open_registry import reopened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from registry.registry import Registry
    from strategies.models.recorded_model import RecordedModel
    from strategies.models.tape import Tape
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.compare.metric import Metric
    from strategies.rollouts.run.rollout_settings import RolloutSettings
    from strategies.rollouts.run.runner import RunProgress
    from strategies.rollouts.tasks.task import TaskSet
    from tui.cli.config.config import Config


_PAIR = 2
"""Versions that are measured side by side."""


@dataclass(frozen=True, slots=True)
class HarnessOptions:
    """What was typed, in place of what settings say; "" and None where nothing was.

    `model` is who is asked in place of the one for agents, `skill_mode` how it gets the skill; `tape` says where
    its replies come from, `tell` who hears of images that are built.
    """

    tasks: str = ""
    agent: str = ""
    workers: int | None = None
    model: str = ""
    tape: Tape | None = None
    skill_mode: str = ""
    tell: Callable[[str], None] = lambda _: None


def harness_of(registry: Registry, skill: str, config: Config, asked: HarnessOptions) -> Harness:
    """Set up the runs that decide on a skill.

    Raises: UsageError where neither settings nor options say which; UntrustedError where the project says, and
    nobody trusted it; what reading tasks and agents raises.
    """
    config.require("rollouts", "engine")
    settings = config.rollouts.of(skill)
    if settings.metric and not asked.tasks:
        return harness_of_metric(registry, skill, config, asked, load_metric(Path(settings.metric)))
    path = asked.tasks or settings.tasks
    if not path:
        raise UsageError(
            f"no task set is named for {skill}",
            hint='--tasks FILE, or tasks = "FILE" under [rollouts] in germline.toml; docs/rollouts.md shows one',
        )
    containers = partial(container_program, settings.container)
    tasks = load_tasks(Path(path).expanduser(), containers=containers)
    ANNOUNCER.tell = asked.tell
    return harness_on(registry, skill, config, asked, tasks)


def harness_of_metric(
    registry: Registry, skill: str, config: Config, asked: HarnessOptions, metric: Metric
) -> Harness:
    """Set up side-by-side runs of a metric; raises UntrustedError where the project's settings wait for trust."""
    config.require("rollouts", "engine")
    settings = config.rollouts.of(skill)
    caps = RunCaps(settings.cost_cap_usd, settings.time_cap_s)
    workers = (settings.workers if asked.workers is None else asked.workers) or _PAIR
    policy, split_key = sandbox_policy(settings, registry), registry.about().split_key
    return harness_on_metric(metric, policy, split_key, workers=workers, caps=caps)


def harness_on(registry: Registry, skill: str, config: Config, asked: HarnessOptions, tasks: TaskSet) -> Harness:
    """Set up runs on tasks that are read already; raises as `harness_of`."""
    config.require("rollouts", "engine")
    settings, split_key = config.rollouts.of(skill), registry.about().split_key
    command = asked.agent or settings.agent
    caps = RunCaps(settings.cost_cap_usd, settings.time_cap_s)
    workers = settings.workers if asked.workers is None else asked.workers
    policy, desk = sandbox_policy(settings, registry), _desk(registry, config, asked)
    book = split_book(registry, split_groups(registry))
    if asked.skill_mode:
        settings = _in_mode(settings, asked.skill_mode, command)
    if command == MESSAGES:
        config.require("models")
        model = messages_in(asked.model or config.models.model_for("agent"), settings)
        cores = workers or os.cpu_count() or 1
        harness = harness_on_messages(tasks, model, policy, book, desk, workers=cores, caps=caps)
    else:
        folder = Path.cwd() if asked.agent else config.rollouts.folder
        agent = agent_in(folder, command, settings)
        elsewhere = engine_of(config.engine).elsewhere
        at_once = workers or (elsewhere.places if elsewhere else os.cpu_count()) or 1
        harness = harness_on_tasks(tasks, agent, policy, book, workers=at_once, caps=caps)
        harness = sent_elsewhere(harness, elsewhere) if elsewhere else harness
    jury = _jury(registry, config, judged_families(tasks.tasks), desk)
    return harness if jury is None else with_jury(harness, tasks, jury, split_key)


def _in_mode(settings: RolloutSettings, mode: str, agent: str) -> RolloutSettings:
    """Give the settings with another skill mode; raises UsageError for none, or where the agent is no model."""
    if mode not in get_args(SkillMode):
        raise UsageError(f"no skill mode is named {mode!r}", hint=f"one of {', '.join(get_args(SkillMode))}")
    if agent != MESSAGES:
        raise UsageError(
            f"--skill-mode says how the agent messages gets the skill; {agent or 'no agent'} loads it by itself",
            hint="--agent messages, or leave out --skill-mode",
        )
    return settings.model_copy(update={"skill_mode": mode})


def trials_of(
    registry: Registry,
    config: Config,
    *,
    deferred: bool,
    tape: Tape | None = None,
    tell: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[RunProgress], None] = lambda _: None,
) -> ConfiguredTrials:
    """Set up the runs of a whole evolution; each skill's harness is read once, when it is first needed.

    Raises: UntrustedError.
    """
    config.require("rollouts", "engine")
    asked = HarnessOptions(tape=tape, tell=tell)

    def announced(skill: str) -> Harness:
        harness = harness_of(registry, skill, config, asked)
        for note in harness.notes:
            tell(note)
        return harness

    harness = cache(announced)
    return ConfiguredTrials(lambda skill: config.rollouts.of(skill).decide, harness, deferred, on_progress)


def _desk(registry: Registry, config: Config, asked: HarnessOptions) -> Desk:
    """Set up the asking of models by many runs at once; nothing is opened before the first of them asks."""

    @contextmanager
    def opening() -> Iterator[RecordedModel]:
        with (
            reopened(registry) as own,
            some_model(own, config, tape=asked.tape) as model,
        ):
            yield model

    return Desk(opening)


def _jury(registry: Registry, config: Config, families: Sequence[str], desk: Desk) -> Jury | None:
    """Set up the judge that some tasks ask for; None where none does, or no model is named for it."""
    if families:
        config.require("models", "judge.rubric")
    if not families or not config.models.judge:
        return None
    model, rubric = config.models.judge, rubric_of(config)
    standings = standings_of(families, model, rubric, calibrations(registry))
    return Jury(desk, model, rubric, standings, config.models.timeout_s)


def sandbox_policy(settings: RolloutSettings, registry: Registry) -> SandboxPolicy:
    """Say what commands may do and use, as settings have it; none of them may read the registry."""
    return SandboxPolicy(
        allow_unisolated=settings.allow_unisolated, commands=settings.commands, hidden=_files_of(registry)
    )


def _files_of(registry: Registry) -> tuple[Path, ...]:
    """List what no agent or grader may read: the registry's folder where it has one, else its files."""
    file = registry.log.beside
    return (
        (file.parent,)
        if file.parent.name == REGISTRY_FOLDER
        else tuple(file.parent.glob(f"{glob.escape(file.name)}*"))
    )
