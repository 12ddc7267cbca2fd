"""What `gate selftest` runs: the gate on A/A data, made from the logs at hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from events.errors import RefusedError
from events.types.claims import AfterError
from strategies.gate.selftest import COMPARISONS, LEAST_TRIALS, against_itself, on_shuffled, trials_of
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard_claims
from strategies.propose.habit import habit_claims
from strategies.propose.mine_claims import action_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.selftest import OnComparison, SelfTest
    from strategies.policy.presets import Preset


def selftest(
    records: Sequence[EpisodeRecord],
    preset: Preset,
    *,
    seed: int,
    comparisons: int = COMPARISONS,
    on_comparison: OnComparison = lambda _: None,
) -> SelfTest:
    """Measure the gate's real rate of false promotions under a preset.

    Where tasks were run several times by one run configuration, their trials play against one another; else the
    claims of every family go to the gate on shuffled outcomes.
    Raises: RefusedError where the logs allow neither.
    """
    trials = trials_of(records)
    if trials:
        return against_itself(
            trials,
            seed=seed,
            comparisons=comparisons,
            policy=preset.rollout_policy(),
            on_comparison=on_comparison,
        )
    try:
        return on_shuffled(
            records,
            tuple(every_claim(records)),
            seed=seed,
            comparisons=comparisons,
            policy=preset.policy(),
            on_comparison=on_comparison,
        )
    except ValueError as error:
        raise RefusedError(
            f"{len(records):,} episodes cannot tell how often the gate is wrong: no task was run "
            f"{LEAST_TRIALS} times by one run configuration, and {error}",
            hint="germline gate selftest --logs PATH   with logs that say how episodes ended",
        ) from error


def every_claim(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List the claims of every family that could be made about these logs; no errors too rare for two arms."""
    actions = action_classes(records)
    met = Counter(template for record in records for template in {s.template for s in record.steps if s.error})
    templates = sorted(template for template, episodes in met.items() if episodes >= 2 * WRITTEN_RULE.least_arm)
    yield from (AfterError(template=template, do=do) for template in templates for do in actions)
    yield from guard_claims("", records)
    yield from habit_claims(records)
