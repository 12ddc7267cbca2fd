"""What `gate selftest` runs: the gate on A/A data, made from the logs at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.claims import AfterError
from strategies.gate.selftest import COMPARISONS, against_itself, on_shuffled, trials_of
from strategies.proposers.guard import guard_claims
from strategies.proposers.habit import habit_claims
from strategies.proposers.sequences import action_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.claims import Claim
    from strategies.gate.selftest import SelfTest
    from strategies.logs.episode import EpisodeRecord
    from strategies.presets import Preset


def selftest(
    records: Sequence[EpisodeRecord], preset: Preset, *, seed: int, comparisons: int = COMPARISONS
) -> SelfTest:
    """Measure the gate's real rate of false promotions under a preset.

    Where tasks were run several times by one run configuration, their trials play against one another; else the
    claims of every family go to the gate on shuffled outcomes.
    Raises: ValueError where the logs allow neither.
    """
    trials = trials_of(records)
    if trials:
        return against_itself(trials, seed=seed, comparisons=comparisons, policy=preset.rollout_policy())
    return on_shuffled(
        records, tuple(every_claim(records)), seed=seed, comparisons=comparisons, policy=preset.policy()
    )


def every_claim(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List the claims of every family that could be made about these logs."""
    actions = action_classes(records)
    templates = sorted({step.template for record in records for step in record.steps if step.error})
    yield from (AfterError(template=template, do=do) for template in templates for do in actions)
    yield from guard_claims("", records)
    yield from habit_claims(records)
