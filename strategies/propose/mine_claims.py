"""Fitting claims on explore, the mechanism of every proposer without a model, and the actions they are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from strategies.claims.applicability import (
    first_action,
    first_use,
    hands_in,
    last_action,
    next_action,
    previous_action,
)
from strategies.claims.catalogue import in_short_form
from strategies.episodes.action_class import is_class, is_hand_in
from strategies.gate.stats.mantel_haenszel import one_sided_p, survivors, two_sided_p
from strategies.gate.stats.two_stage import charged
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.advice import coarser, is_advice, said_better, worded
from strategies.propose.proposal import LearnedLine, Mined, NewLines, OwnSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.claims import Claim
    from events.types.score import Endpoint
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast
    from strategies.propose.proposal import Copied, Proposal, ProposalRequest

ClaimT = TypeVar("ClaimT", bound="Claim")

NO_ADVICE: Final = (
    "what survives explore is no advice of its own: rules about single errors, or the tasks, explain it"
)
"""Why nothing is proposed where claims go with better outcomes and all the same are none (advice.py)."""
FALSE_DISCOVERIES: Final = 0.05
"""The rate that Benjamini-Yekutieli holds on explore."""


FUTILE_P: Final = 0.2
"""Above this p, charged for the choice, nothing is sent: sealed logs would have to show z 2.7 (alpha .01)."""


class MinedClaims(NamedTuple):
    """What was compared on explore: those that survive, how many were tried, and the strongest of all."""

    surviving: dict[Claim, Contrast]
    compared: dict[Claim, Contrast]
    tried: int
    strongest: Contrast | None


def fitted(compared: Mapping[Claim, Contrast | None], *, tried_before: int = 0) -> MinedClaims:
    """Try what has 20 episodes on either side, and keep what survives Benjamini-Yekutieli over all tried.

    `tried_before` claims of the same cycle did not survive: they count as tried with p = 1.
    """
    known = {claim: figures for claim, figures in compared.items() if figures is not None}
    tried = [claim for claim, figures in known.items() if _large_enough(figures)]
    p_values = [*(two_sided_p(known[claim].z) for claim in tried), *([1.0] * tried_before)]
    kept = survivors(p_values, FALSE_DISCOVERIES)
    return MinedClaims(
        surviving={claim: known[claim] for index, claim in enumerate(tried) if index in kept},
        compared={claim: known[claim] for claim in tried},
        tried=len(tried),
        strongest=max(known.values(), key=lambda figures: abs(figures.z), default=None),
    )


def is_open(z: float, tried: int) -> bool:
    """Tell whether a claim that explore chose of so many may still be shown by the sealed logs."""
    return charged(one_sided_p(z), tried) <= FUTILE_P


def mine(
    proposer: str,
    ask: ProposalRequest,
    claims: Iterable[Claim],
    *,
    written: Mapping[Claim, tuple[str, Copied | None]] = MappingProxyType({}),
    general: bool = False,
) -> Mined:
    """Fit claims on explore, and propose the one that goes with better outcomes most surely, of those not refused.

    Claims that the skill makes already are passed over. `written` are the words of claims that stand in another
    skill, and where; the others get the sentence of their kind.
    """
    live = (
        {in_short_form(learned.claim) for gene in ask.capsule.genes for learned in gene.claims}
        if ask.capsule
        else set()
    )
    shown = ask.explore.shows_all(claim for claim in claims if claim not in live and ask.other_work.allows(claim))
    mined = fitted(
        {claim: shown_claim.figures for claim, shown_claim in shown.items()}, tried_before=ask.tried_before
    )
    tried = mined.tried + ask.tried_before
    better = {claim: figures for claim, figures in mined.compared.items() if is_open(figures.z, tried)}
    helping = {claim: figures for claim, figures in better.items() if is_advice(claim, ask)}
    left = [claim for claim in helping if claim not in ask.refused]
    best = best_of(ask, {claim: (helping[claim], shown[claim].endpoint) for claim in left})
    if best is None:
        return Mined(None, mined.tried, mined.strongest, len(helping), NO_ADVICE if better and not helping else "")
    reason = explained(helping[best], tried, len(mined.surviving), shown[best].endpoint)
    text, copied = written.get(best, ("", None))
    lines, endpoint = (LearnedLine(text or worded(best, ask.explore.records), best),), shown[best].endpoint
    proposal: Proposal
    if copied is None:
        proposal = NewLines(
            proposer=proposer, reason=reason, lines=lines, endpoint=endpoint, general=general, chosen_of=tried
        )
    else:
        proposal = OwnSection(
            proposer=proposer, reason=reason, lines=lines, endpoint=endpoint, copied=copied, chosen_of=tried
        )
    return Mined(proposal, mined.tried, mined.strongest)


def best_of(ask: ProposalRequest, claims: Mapping[ClaimT, tuple[Contrast, Endpoint]]) -> ClaimT | None:
    """Choose the claim that helps most surely, of those that hold without the logs of any one origin, if any do.

    So the logs of one writer, however many, put nothing in the place of what all others show. What shows the
    opposite in some part of the logs comes behind what holds in all of them, as a narrower claim does.
    """
    ranked = sorted(claims, key=lambda claim: -claims[claim][0].z)
    firm = [claim for claim in ranked if ask.explore.replicates(claim, claims[claim][1])]
    whole = (claim for claim in firm if not ask.explore.turns(claim, claims[claim][1]))
    best = next(whole, next(iter(firm or ranked), None))
    better = said_better(best, {claim: claims[claim][0] for claim in firm or ranked}) if best is not None else ()
    return next((claim for claim in better if not ask.explore.turns(claim, claims[claim][1])), best)


def explained(figures: Contrast, tried: int, kept: int, endpoint: Endpoint = "outcome") -> str:
    """Say what explore showed for the claim that is judged, and by what."""
    alone = "by `recovered` alone (whether the next attempt works): " if endpoint == "recovered" else ""
    return (
        f"{alone}explore: {figures.obeyed} episodes obeyed, {figures.disobeyed} did not; "
        f"risk difference {figures.difference.value:+.2f}, z {figures.z:+.1f}; "
        f"{kept} of {tried} claims tried survive Benjamini-Yekutieli at q = {FALSE_DISCOVERIES:g}"
    )


def _large_enough(figures: Contrast) -> bool:
    return min(figures.obeyed, figures.disobeyed) >= WRITTEN_RULE.least_arm


def action_classes(records: Iterable[EpisodeRecord]) -> list[str]:
    """List the classes that agents called, handing in apart: a line could teach nothing about it."""
    called = {step.action for record in records for step in record.steps if step.kind == "call"}
    return sorted(action for action in called if action and not is_hand_in(action))


def first_classes(records: Sequence[EpisodeRecord]) -> list[str]:
    """List the classes that episodes often begin with, and the meanings that several of them have."""
    firsts = ((record, first_action(record)) for record in records)
    return _often(record.steps[at].action for record, at in firsts if at is not None)


def last_classes(records: Sequence[EpisodeRecord]) -> list[str]:
    """List the classes that often stand last but one where agents end episodes themselves, and their meanings."""
    ends = ((record, last_action(record)) for record in records if record.ended_by == "agent")
    lasts = ((record, previous_action(record, at)) for record, at in ends if at is not None)
    return _often(record.steps[at].action for record, at in lasts if at is not None)


def classes_before(records: Sequence[EpisodeRecord], actions: Iterable[str]) -> list[tuple[str, str]]:
    """List what often comes immediately before the first use of these classes: pairs of (class, before it)."""
    wanted = set(actions)
    pairs: list[tuple[str, str]] = []
    for record in records:
        seen: set[str] = set()
        for index, step in enumerate(record.steps):
            if step.kind != "call" or step.action not in wanted or step.action in seen:
                continue
            seen.add(step.action)
            at = previous_action(record, index)
            if at is not None and record.steps[at].action != step.action:
                pairs.append((step.action, record.steps[at].action))
    return _with_meanings(pairs)


def classes_earlier(records: Sequence[EpisodeRecord], actions: Iterable[str]) -> list[tuple[str, str]]:
    """List what often comes at any time before the first use of these classes: pairs of (class, before it)."""
    pairs = []
    for action in actions:
        for record in records:
            first = first_use(record, action)
            earlier = (step for step in record.steps[:first] if step.kind == "call") if first else ()
            pairs += [(action, do) for do in sorted({step.action for step in earlier} - {action})]
    return _with_meanings(pairs)


def classes_after_failing(records: Sequence[EpisodeRecord], actions: Iterable[str]) -> list[tuple[str, str]]:
    """List what often comes next after the first failure of these classes: pairs of (class, what comes next)."""
    wanted = set(actions)
    pairs = []
    for record in records:
        failed: dict[str, int] = {}
        for index, step in enumerate(record.steps):
            if step.error and step.action in wanted:
                failed.setdefault(step.action, index)
        for action, first in failed.items():
            at = next_action(record, first)
            if at is not None and not hands_in(record, at) and record.steps[at].action != action:
                pairs.append((action, record.steps[at].action))
    return _with_meanings(pairs)


def _with_meanings(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the pairs that enough episodes show to fill an arm, and those with a meaning of several classes."""
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for action, other in pairs:
        beside[action].add(other)
    meanings = {action: coarser(others) for action, others in beside.items()}
    meant = [
        (action, meaning)
        for action, other in pairs
        for meaning in meanings[action]
        if is_class(other, meaning) and not is_class(action, meaning)
    ]
    counts = Counter([*pairs, *meant])
    return sorted(pair for pair, count in counts.items() if count >= WRITTEN_RULE.least_arm)


def _often(taken: Iterable[str]) -> list[str]:
    """Keep the classes that enough episodes show to fill an arm, and the meanings that several classes have."""
    actions = [action for action in taken if action and not is_hand_in(action)]
    counts = Counter(actions)
    counts.update(meaning for meaning in coarser(counts) for action in actions if is_class(action, meaning))
    return sorted(action for action, count in counts.items() if count >= WRITTEN_RULE.least_arm)
