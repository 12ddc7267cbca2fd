"""What `gate selftest` runs: the gate on placebos and controls, made from the logs at hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from events.errors import RefusedError
from events.types.claims import ANY, After, AfterError
from strategies.gate.placebos import actions_relabelled, tasks_permuted, templates_relabelled
from strategies.gate.replay.contrast import judged
from strategies.gate.selftest import (
    ALLOWED,
    COMPARISONS,
    LEAST_TRIALS,
    able_claims,
    against_itself,
    on_shuffled,
    trials_of,
    unheard,
)
from strategies.gate.selftest_controls import in_runs_left_out, on_earlier_outcomes, shown_claims
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard_claims
from strategies.propose.habit import habit_claims
from strategies.propose.mine_claims import action_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.selftest import Deal, Kind, OnComparison, SelfTest
    from strategies.policy.presets import Preset

QUICK: Final = 50
"""Comparisons of each kind in a quick self-test, and of a kind without a stated rate."""
CLAIMS: Final = 20
"""Claims that are asked about what came before them and about each run, at most."""
QUICK_CLAIMS: Final = 5
"""The same in a quick self-test."""


def selftests(
    records: Sequence[EpisodeRecord],
    preset: Preset,
    *,
    seed: int,
    comparisons: int = COMPARISONS,
    claims_at_most: int = CLAIMS,
    on_comparison: OnComparison = unheard,
) -> list[SelfTest]:
    """Measure the gate's real error rates under a preset, each kind that these logs allow.

    First, where tasks were run several times by one run configuration, their trials play against one another. Then
    the claims of every family go to the gate on shuffled outcomes and on placebos, and those that these logs show
    are asked about what came before them, and in each run left out.
    Raises: RefusedError where the logs allow nothing.
    """
    tests, trials, claims = [], trials_of(records), list(every_claim(records))
    if trials:
        tests.append(
            against_itself(
                trials,
                seed=seed,
                comparisons=comparisons,
                policy=preset.rollout_policy(),
                on_comparison=on_comparison,
            )
        )
    try:
        tests.append(
            on_shuffled(
                records,
                claims,
                seed=seed,
                comparisons=comparisons,
                policy=preset.policy(),
                on_comparison=on_comparison,
            )
        )
    except ValueError as error:
        if tests:
            return tests
        raise RefusedError(
            f"{len(records):,} episodes cannot tell how often the gate is wrong: no task was run "
            f"{LEAST_TRIALS} times by one run configuration, and {error}",
            hint="germline gate selftest --logs PATH   with logs that say how episodes ended",
        ) from error
    firm = judged(records)
    if not firm.records:
        return tests
    claims = claims if len(firm.records) == len(records) else list(every_claim(firm.records))
    tests += _on_placebos(firm.records, claims, preset, seed, comparisons, on_comparison)
    return tests + _on_what_is_shown(firm.records, claims, preset, claims_at_most, on_comparison)


def _on_placebos(
    records: Sequence[EpisodeRecord],
    every: Sequence[Claim],
    preset: Preset,
    seed: int,
    comparisons: int,
    on_comparison: OnComparison,
) -> Iterator[SelfTest]:
    """Send claims to the gate on each kind of placebo that these logs can be made into.

    Whole tasks are dealt out where they repeat, else they are episodes. Relabelling changes nothing of claims
    about identical calls, or about any action. A template that names any failure may carry what helps after each:
    no rate is stated there, and it is asked less often, since the costly replay then follows more often.
    """
    actions, templates = actions_relabelled(records, seed), templates_relabelled(records, seed)
    of_classes, of_errors = list(filter(_names_class, every_claim(actions))), list(after_error_claims(templates))
    kinds: list[tuple[Kind, Deal, list[EpisodeRecord], Sequence[Claim], float | None]] = [
        ("placebo_actions", actions_relabelled, actions, of_classes, ALLOWED),
        ("placebo_templates", templates_relabelled, templates, of_errors, None),
    ]
    if len({record.task for record in records}) < len(records):
        kinds.insert(0, ("permuted", tasks_permuted, tasks_permuted(records, seed), every, ALLOWED))
    for kind, deal, dealt, claims, limit in kinds:
        able = able_claims(dealt, claims, preset.policy())
        if able:
            result = on_shuffled(
                records,
                able,
                seed=seed,
                deal=deal,
                kind=kind,
                comparisons=comparisons if limit else min(comparisons, QUICK),
                policy=preset.policy(),
                on_comparison=on_comparison,
            )
            yield result if limit else replace(result, limit=None, mean_rises=None)


def _names_class(claim: Claim) -> bool:
    return not (isinstance(claim, After) and (claim.identical or ANY in {claim.action, claim.avoid}))


def _on_what_is_shown(
    records: Sequence[EpisodeRecord],
    every: Sequence[Claim],
    preset: Preset,
    at_most: int,
    on_comparison: OnComparison,
) -> list[SelfTest]:
    """Ask the claims that these logs show about what came before them; and runs, about what all others show."""
    shown = shown_claims(records, able_claims(records, every, preset.policy()), at_most)
    earlier = on_earlier_outcomes(records, shown, policy=preset.policy(), on_comparison=on_comparison)
    runs = in_runs_left_out(records, shown, policy=preset.policy(), on_comparison=on_comparison)
    return [result for result in (earlier, *runs) if result.n]


def every_claim(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List the claims of every family that could be made about these logs."""
    yield from after_error_claims(records)
    yield from guard_claims("", records)
    yield from habit_claims(records)


def after_error_claims(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List what could be done after each error that is not too rare for two arms."""
    actions = action_classes(records)
    met = Counter(template for record in records for template in {s.template for s in record.steps if s.error})
    templates = sorted(template for template, episodes in met.items() if episodes >= 2 * WRITTEN_RULE.least_arm)
    yield from (AfterError(template=template, do=do) for template in templates for do in actions)
