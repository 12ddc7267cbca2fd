"""Slow: what a whole run of cycles left undone, shown by the same tasks under its first and its last version."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import AfterError, OutputClaim, StartWith
from strategies.claims.catalogue import contradicts
from strategies.gate.replay.contrast import judged
from strategies.gate.replay.panel import panel_of
from strategies.gate.replay.score import by_task
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.advice import is_advice, worded
from strategies.propose.mine_claims import explained, fitted
from strategies.propose.proposal import Copied, LearnedLine, Mined, OwnSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from events.types.parts import Strategy
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import ProposalRequest

SLOW: Final = "slow"
"""The name of the proposer, and the keeper of its gene."""
TITLE: Final = "Standing guidance"
"""What the gene is called that only slow updates may edit."""
TASKS: Final = 20
"""How many explore tasks are compared."""
WORKS: Final = 0.5
"""The mean outcome from which a task counts as fine (a guess: more often than not)."""


class TaskChanges(NamedTuple):
    """The same explore tasks under the first and the last version of a run, each in one of four groups."""

    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    still_failing: tuple[str, ...]
    still_fine: tuple[str, ...]

    @property
    def open(self) -> frozenset[str]:
        """The tasks that call for more: worse than before, or no better than failing."""
        return frozenset((*self.regressed, *self.still_failing))


def changes_between(
    explore: Sequence[EpisodeRecord],
    first: Sequence[Claim],
    last: Sequence[Claim],
    *,
    seed: int,
) -> TaskChanges | None:
    """Replay some explore tasks under the claims of two versions; None where no outcome is known.

    What is imputed is fitted on all of explore. A task improved or regressed where its mean outcome moved by at
    least the difference that matters to the gate.
    """
    records = judged(explore).records
    if not records:
        return None
    every = sorted({record.task for record in records})
    before = dict(zip(every, by_task(panel_of(records, first)), strict=True))
    after = dict(zip(every, by_task(panel_of(records, last)), strict=True))
    drawn = random.Random(seed).sample(every, min(TASKS, len(every)))  # noqa: S311 - a seeded draw, not a secret
    groups: dict[str, list[str]] = {name: [] for name in TaskChanges._fields}
    for task in sorted(drawn):
        groups[_group(before[task], after[task])].append(task)
    return TaskChanges(**{name: tuple(members) for name, members in groups.items()})


def _group(before: float, after: float) -> str:
    if abs(after - before) >= WRITTEN_RULE.least_difference:
        return "improved" if after > before else "regressed"
    return "still_fine" if after >= WORKS else "still_failing"


def slow(ask: ProposalRequest, claims: Iterable[Claim], live: Sequence[Claim], changes: TaskChanges) -> Mined:
    """Propose the claim that would lift the open tasks most, of those that survive explore and help.

    What the live claims ask for already lifts nothing. Shapes: claims of any family; live are those of the last
    version, which it may neither repeat nor contradict.
    """
    compared = ask.explore.all_by_outcome(claim for claim in claims if claim not in live)
    mined = fitted(compared, tried_before=ask.tried_before)
    helping = {
        claim: figures for claim, figures in mined.surviving.items() if figures.z > 0 and is_advice(claim, ask)
    }
    fitting = [claim for claim in helping if not any(contradicts(claim, other) for other in live)]
    left = [claim for claim in fitting if claim not in ask.refused]
    lift = _lifts(ask.explore.judged, live, left, changes.open)
    best = max(left, key=lambda claim: (lift[claim], helping[claim].z), default=None)
    if best is None or lift[best] < WRITTEN_RULE.least_difference:
        return Mined(None, mined.tried, mined.strongest, refused=len(fitting) - len(left))
    figures = explained(helping[best], mined.tried, len(mined.surviving))
    reason = f"lifts the {len(changes.open)} tasks that got worse or still fail by {lift[best]:+.2f}; {figures}"
    line = LearnedLine(worded(best, ask.explore.records), best)
    copied, chosen_of = Copied("", TITLE, keeper=SLOW), mined.tried + ask.tried_before
    proposal = OwnSection(proposer=SLOW, reason=reason, lines=(line,), copied=copied, chosen_of=chosen_of)
    return Mined(proposal, mined.tried, mined.strongest)


def _lifts(
    records: Sequence[EpisodeRecord], live: Sequence[Claim], claims: Iterable[Claim], tasks: frozenset[str]
) -> dict[Claim, float]:
    """Estimate how much each claim, beside the live ones, would lift the mean outcome of some tasks."""
    every = sorted({record.task for record in records})

    def mean(asked: Sequence[Claim]) -> float:
        values = zip(every, by_task(panel_of(records, asked)), strict=True)
        wanted = [value for task, value in values if task in tasks]
        return sum(wanted) / len(wanted) if wanted else 0.0

    before = mean(live)
    return {claim: mean((*live, claim)) - before for claim in claims}


def strategy_of(claim: Claim) -> Strategy:
    """Tell what kind of change a claim is: what to do after an error repairs, a habit is new, the rest hardens."""
    if isinstance(claim, AfterError):
        return "repair"
    return "innovate" if isinstance(claim, StartWith | OutputClaim) else "harden"
