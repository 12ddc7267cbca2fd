"""The noise of a metric, measured on files as they are, before anything is changed in them."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

from events.errors import UsageError
from events.types.research_events import NoiseMeasured
from strategies.research.research_plan import TIME_SETTING
from strategies.rollouts.compare.comparison import runs_of
from strategies.rollouts.compare.rounds import batched, in_random_order
from strategies.rollouts.run.arms import incumbent

if TYPE_CHECKING:
    from strategies.research.research_surface import Surface
    from strategies.rollouts.compare.comparison import Rig

_MAD: Final = 1.4826
"""The deviation of a normal distribution in median absolute deviations."""


def measure_noise(rig: Rig, surface: Surface, research: str) -> NoiseMeasured:
    """Measure the files as they are beside themselves, in as many pairs as an experiment begins with.

    Raises: UsageError where the metric gives no number for them; what making runs raises, a cap too.
    """
    live = incumbent(rig.registry.log, surface.base)
    arms = tuple(
        replace(live, standing=f"{live.standing} for noise, {side} of {surface.content[:16]}")
        for side in ("one", "other")
    )
    tasks, caps = rig.harness.divided.sealed, rig.harness.caps
    if caps.time_setting == TIME_SETTING:  # which experiments have, and their noise has not
        rig = replace(rig, harness=replace(rig.harness, caps=replace(caps, time_s=0.0)))
    with runs_of(rig) as runs:
        for pair in batched(in_random_order(arms, tasks, (0,), rig.seed), len(arms)):
            runs.make(pair)
        trials = [runs.of(arm, task, (0,))[0] for task in tasks for arm in arms]
    numbers = [trial.number for trial in trials if trial and trial.number is not None]
    if len(numbers) < len(trials):
        notes = [trial.note for trial in trials if trial and trial.note]
        raise UsageError(
            f"the metric gives no number in {len(trials) - len(numbers)} of {len(trials)} runs of unchanged "
            f"files: {''.join(notes[:1]) or 'runs were lost'}",
            hint="run its command by hand; docs/rollouts.md shows a metric file",
        )
    middle = median(numbers)
    deviation = _MAD * median(abs(number - middle) for number in numbers)
    return NoiseMeasured(
        research=research,
        content=surface.content,
        runs=len(numbers),
        middle=middle,
        deviation=deviation,
    )
