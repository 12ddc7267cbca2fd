"""Advice: claims that a person could follow, that no error explains, and that no narrower one says as well."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from events.types.claims import (
    CHECK,
    LOOK,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    StartWith,
)
from strategies.claims.action_phrases import with_examples
from strategies.claims.applicability import live_claims, matches, previous_action
from strategies.claims.catalogue import sentence
from strategies.episodes.action_class import is_class, is_hand_in, overlap
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import moments_of
from strategies.gate.stats.fixed_effects import GroupedRows, residuals
from strategies.policy.written_rules import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
    from strategies.gate.replay.contrast import Contrast
    from strategies.gate.replay.explore_split import Explore
    from strategies.propose.proposal import ProposalRequest

ClaimT = TypeVar("ClaimT", bound="Claim")

ASKED_FOR: Final = (LOOK, CHECK)
"""The meanings that a line may ask for: to change something, whatever it is, is no advice."""
EXAMPLES: Final = 3
"""Actions that a line names behind a meaning, the commonest."""
OFTEN: Final = 0.1
"""The share of those who obeyed from which a line names their action (a guess)."""
BORNE_OUT_Z: Final = 1.645
"""How surely a claim must hold where no narrower one explains it (p .05): the gate asks for the rest."""
_SAME_TASK: Final = 0.5
"""The share of rows on tasks that several tried from which tasks are compared with themselves."""


class _Row(NamedTuple):
    """One episode at a claim's moment: its run and task, the error met there, whether it obeyed, its outcome."""

    run: str
    task: str
    error: str
    obeyed: bool
    outcome: float


def is_usable(claim: Claim) -> bool:
    """Tell whether a person could use a claim as advice.

    Handing in is an agent's own end. What not to do next, after a call that worked, names no way to go on.
    """
    if any(is_hand_in(getattr(claim, name, None) or "") for name in ("do", "avoid")):
        return False
    return not isinstance(claim, After) or claim.failing or claim.identical


def is_advice(claim: Claim, ask: ProposalRequest) -> bool:
    """Tell whether a claim is usable, and holds where no rule about one error explains it.

    A habit must hold where nothing had failed just before: what follows a failure is the answer to an error. What
    is to be done after every failure, or never twice unchanged, must hold for errors too rare to have a rule of
    their own, or where nothing failed.
    """
    live = live_claims(ask.capsule) if ask.capsule else ()
    if not is_usable(claim) or any(_says_the_same(claim, other) for other in live):
        return False
    if isinstance(claim, (StartWith, Before, AnytimeBefore, FinishWith)) or _is_unprompted(claim):
        return ask.explore.once(("unprompted", claim), lambda: _bears_out(_unprompted(claim, ask.explore)))
    if isinstance(claim, (After, AfterCall)) and (claim.failing or getattr(claim, "identical", False)):
        return ask.explore.once(
            ("rare errors", claim, live), lambda: _holds_for_rare_errors(claim, ask.explore, live)
        )
    return True


def said_better(best: ClaimT, holding: Mapping[ClaimT, Contrast]) -> list[ClaimT]:
    """List finer claims that hold as well as a coarse one, and what names what to do instead, the surest first.

    As well means: short of the coarser by less than the least difference that matters to the gate, and obeyed by
    most of those who obeyed that; of several small classes one is always better by chance.
    """
    whole = holding[best]
    finer = [
        claim
        for claim, part in holding.items()
        if _is_finer(claim, best)
        and part.difference.value > whole.difference.value - WRITTEN_RULE.least_difference
        and 2 * part.obeyed >= whole.obeyed
    ]
    instead = [claim for claim in holding if _names_instead(claim, best)]
    return sorted([*finer, *instead], key=lambda claim: -holding[claim].z)


def coarser(classes: Iterable[str]) -> list[str]:
    """List the meanings that several of these classes have, and that a line may ask for."""
    every = set(classes)
    return [meaning for meaning in ASKED_FOR if sum(is_class(action, meaning) for action in every) > 1]


def worded(claim: Claim, records: Sequence[EpisodeRecord]) -> str:
    """Write a claim as a line; behind the meaning that it asks for stand the actions by which agents did that."""
    line, meaning = sentence(claim), getattr(claim, "do", None)
    if meaning not in ASKED_FOR:
        return line
    moment_of = moments_of(claim)
    obeying = [
        (record, moment) for record in records if (moment := moment_of(record)) is not None and moment.obeyed
    ]
    later = isinstance(claim, (AfterError, AfterCall))
    steps = (
        record.steps[moment.step + 1 :] if later else reversed(record.steps[: moment.step + 1])
        for record, moment in obeying
    )
    done = (next((step.action for step in near if is_class(step.action, meaning)), "") for near in steps)
    counts = Counter(action for action in done if action)
    often = [action for action, count in counts.items() if count >= OFTEN * len(obeying)]
    return with_examples(line, meaning, sorted(often, key=lambda action: (-counts[action], action))[:EXAMPLES])


def _says_the_same(claim: Claim, live: Claim) -> bool:
    """Tell whether a line says already, in general or of a narrower case, what another would say beside it."""
    for wide, narrow in ((claim, live), (live, claim)):
        if isinstance(wide, After) and isinstance(narrow, AfterCall) and not wide.identical:
            return (wide.action, wide.failing) == (narrow.action, narrow.failing)
    ours, theirs = getattr(claim, "do", None), getattr(live, "do", None)
    if not ours or not theirs or not overlap(ours, theirs):
        return False
    if isinstance(claim, (Before, AnytimeBefore)) and isinstance(live, (Before, AnytimeBefore)):
        return claim.action == live.action
    return type(claim) is type(live) and claim.model_copy(update={"do": theirs}) == live


def _names_instead(claim: Claim, best: Claim) -> bool:
    """Tell whether a claim says what to do where the other only says what not to do again."""
    if not isinstance(best, After) or best.identical:
        return False
    return isinstance(claim, AfterCall) and (claim.action, claim.failing) == (best.action, best.failing)


def _is_unprompted(claim: Claim) -> bool:
    return isinstance(claim, AfterCall) and not claim.failing


def _is_finer(claim: Claim, best: Claim) -> bool:
    """Tell whether a claim asks for one class of those that another asks for by their meaning."""
    do, meaning = getattr(claim, "do", None), getattr(best, "do", None)
    if not do or meaning not in ASKED_FOR or not is_class(do, meaning):
        return False
    return claim != best and claim == best.model_copy(update={"do": do})


def _unprompted(claim: Claim, explore: Explore) -> list[_Row]:
    """List the decisions about a habit that answer no error, nor does the action that it comes before.

    What was done at any time before may have answered any error before.
    """
    held = explore.held(claim, "outcome")
    rows = []
    for record, moment, made in zip(held.records, held.moments, held.decisions, strict=True):
        if not made:
            continue
        decision = made[-1]
        if _answers_error(record, decision.at):
            continue
        if isinstance(claim, AnytimeBefore) and any(step.error for step in record.steps[: decision.at]):
            continue
        used = moment if isinstance(claim, Before) else None
        if used is None or not _answers_error(record, used.step):
            rows.append(_Row(record.run, record.task, "", decision.obeyed, outcome_of(record)))
    return rows


def _answers_error(record: EpisodeRecord, at: int) -> bool:
    earlier = previous_action(record, at)
    return earlier is not None and record.steps[earlier].error


def _failing(held: ClaimedEpisodes) -> list[_Row]:
    """List the failures that a claim is about, each with its error."""
    return [
        _Row(record.run, record.task, record.steps[at.step].template, at.obeyed, outcome_of(record))
        for record, at in zip(held.records, held.moments, strict=True)
        if at is not None
    ]


def _holds_for_rare_errors(claim: After | AfterCall, explore: Explore, live: Sequence[Claim]) -> bool:
    """Tell whether an effect shows where no rule about a single error is live, or could be tried."""
    rows = _failing(explore.held(claim, explore.shows(claim).endpoint))
    answered = [claim.template for claim in live if isinstance(claim, AfterError)]
    left = [row for row in rows if not any(matches(template, row.error) for template in answered)]
    arms: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in left:
        arms[row.error][row.obeyed] += 1
    if len(left) == len(rows) and len(arms) == 1:
        return True  # here "any failure" and this error are one
    rare = {error for error, counts in arms.items() if not error or min(counts) < WRITTEN_RULE.least_arm}
    return _bears_out([row for row in left if row.error in rare])


def _bears_out(rows: Sequence[_Row]) -> bool:
    """Tell whether those who obeyed did better, within run and, where tasks repeat, within task."""
    obeyed = sum(row.obeyed for row in rows)
    if min(obeyed, len(rows) - obeyed) < WRITTEN_RULE.least_arm:
        return False
    tried = Counter(row.task for row in rows)
    tasks, runs = [row.task for row in rows], [row.run for row in rows]
    repeat = sum(count for count in tried.values() if count > 1) >= _SAME_TASK * len(rows)
    groupings = [runs, tasks] if repeat else [runs]
    left = residuals(
        [row.outcome for row in rows], [row.obeyed for row in rows], [], GroupedRows(groupings, tasks)
    )
    slope = left.slope() if left else None
    return slope is not None and slope.z >= BORNE_OUT_Z
