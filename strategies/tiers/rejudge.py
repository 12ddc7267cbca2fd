"""Live lines judged again on what came since: they climb where logs allow, and go where logs are against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.errors import EditError, RefusedError, SkillFormatError
from events.types.candidate_events import SeenLineJudged
from registry.actions.publish import publish
from registry.decide.commands import ChangeTier, JudgeSeenLine
from registry.query.provenance import live_candidates
from registry.skill_md.skill_files import write_place
from registry.state.tiers import supported_by
from strategies.claims.applicability import counted_claims
from strategies.episodes.episode import in_time, moment_s
from strategies.gate.replay.contrast import judged
from strategies.gate.replay.evaluation_set import sent_so_far
from strategies.gate.replay.measure import effect_on, measure
from strategies.gate.replay.recovery_endpoint import endpoint_for
from strategies.gate.verdict import judge
from strategies.pool.frozen_sets import measured_on
from strategies.pool.known_episodes import with_longer_readings
from strategies.tiers.new_evidence import against_supported, is_due, on_seen
from strategies.tiers.withdraw import withdraw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from events.types.tiers import TierFigures
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.skill_grounds import SkillGrounds
    from strategies.policy.presets import Preset

ACTOR: Final = "germline"
_DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class TierMove:
    """A live line whose tier changed, and why.

    Where it fell `version` is the one without it, or `held` says why it was not taken out of its skill. `judged`
    is what outcomes show of one that climbed.
    """

    skill: str
    candidate: str
    text: str
    before: TierFigures | None
    after: TierFigures | None
    reason: str
    version: int | None = None
    held: str = ""
    judged: SeenLineJudged | None = None


@dataclass(frozen=True, slots=True)
class RejudgeTerms:
    """On what terms live lines are judged again.

    `records` reads the sessions that are known, `grounds` say which count for a skill and what its claims are
    judged on. `forbidden` says why nothing is taken out of a skill, "" where it is. `write` is false for a
    rehearsal: nothing goes to disk.
    """

    preset: Preset
    seed: int
    records: Callable[[], Sequence[EpisodeRecord]]
    grounds: SkillGrounds
    forbidden: str = ""
    write: bool = True


def rejudge(registry: Registry, names: Iterable[str], terms: RejudgeTerms) -> tuple[TierMove, ...]:
    """Judge the live lines of skills again, and record what changed.

    A seen line climbs where outcomes support it by all rules of the gate. It goes where its bound no longer holds,
    where other actions did better, or where its time is over. A supported line goes where later labels refute it.
    """
    live = [candidate for name in names for candidate in live_candidates(registry, registry.capsule(name))]
    judgeable = [candidate for candidate in live if candidate.tier and candidate.tier.tier != "proven"]
    records = terms.records() if judgeable else ()
    # Each is asked after the one before was recorded: what that one spent of alpha counts.
    moves = (_rejudged(registry, candidate, records, terms) for candidate in judgeable)
    recorded = [_recorded(registry, move, terms) for move in moves if move is not None]
    fallen = [candidate for candidate in live if candidate.fell and not terms.forbidden]
    return (*recorded, *(_recorded(registry, _move(candidate, *_fall(candidate)), terms) for candidate in fallen))


def _fall(candidate: Candidate) -> tuple[TierFigures | None, None, str]:
    """Give the tier that a line fell from before, and why: it was not taken out of its skill then."""
    change = candidate.tier_change
    return (change.before, None, change.reason) if change else (None, None, "")


def forbidden_by(preset: Preset) -> str:
    """Say that a preset takes nothing back by itself, "" where it does."""
    return "" if preset.auto_revert else f"the preset {preset.name} takes nothing back by itself"


def _rejudged(
    registry: Registry, candidate: Candidate, records: Sequence[EpisodeRecord], terms: RejudgeTerms
) -> TierMove | None:
    figures, claim = candidate.tier, next(iter(candidate.proposed.claims), None)
    if figures is None or figures.tier == "proven":
        return None
    counting = terms.grounds.scope.restricted(candidate.proposed.capsule, records)
    further = _further(registry, candidate, counting)
    if figures.tier == "supported":
        finding = None if claim is None else against_supported(claim, further)
    else:
        climbed = None if claim is None else _supported_now(registry, candidate, terms)
        if climbed is not None:
            return climbed
        now_s, since_s = moment_s(registry.clock.now()) or 0.0, moment_s(candidate.tiered_at) or 0.0
        finding = on_seen(claim, figures, further, terms.preset, (now_s - since_s) / _DAY_S)
    return None if finding is None else _move(candidate, figures, finding.again, finding.reason)


def _move(candidate: Candidate, before: TierFigures | None, after: TierFigures | None, reason: str) -> TierMove:
    proposed = candidate.proposed
    text = " / ".join(line.strip() for line in proposed.new_lines if line.strip())
    return TierMove(proposed.capsule, candidate.id, text, before, after, reason)


def _further(library: Library, candidate: Candidate, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Give the sessions that came since a line has its tier, in the order of time.

    Those that its evaluator was frozen with are none of them; where that does not tell, and where the tier changed
    since, they are those that began later.
    """
    known = measured_on(library, candidate.proposed.evaluator)
    ids = with_longer_readings(library, known or ())
    later = [record for record in records if record.id not in ids]
    changed = candidate.tier_change
    if known is None or (changed is not None and changed.before is not None):
        since_s = moment_s(candidate.tiered_at) or 0.0
        later = [record for record in later if (moment_s(record.started_at) or 0.0) > since_s]
    return in_time(later)


def _supported_now(registry: Registry, candidate: Candidate, terms: RejudgeTerms) -> TierMove | None:
    """Hold lines that are only seen to the rules of the gate, on outcomes; None where they do not pass them.

    Each time counts as one more claim that was sent, whatever comes of it: so they are asked seldom. What is far
    from passing is not measured whole.
    """
    name, claims, policy = candidate.proposed.capsule, candidate.proposed.claims, terms.preset.policy()
    ground = terms.grounds.prepared(registry, name)
    sealed = judged(ground.division.sealed)
    if endpoint_for(claims[0], ground.division.sealed) != "outcome" or sealed.heuristic:
        return None
    effect = effect_on(claims[0], sealed.records)
    if effect is None or not is_due(effect, candidate.asked.decisions if candidate.asked else 0, policy):
        return None
    sent, climbed = sent_so_far(registry) + 1, None
    if effect.p <= policy.alpha:
        live = tuple(other for other in counted_claims(registry, registry.capsule(name)) if other not in claims)
        measured = measure(claims, live, ground.division, ground.stamp(registry.clock.now()), seed=terms.seed)
        figures = measured.figures
        if judge(figures, policy, sent).decision == "promote" and measured.kept == claims and figures.effect:
            climbed = supported_by(figures.effect)
    outcomes = SeenLineJudged(
        candidate=candidate.id,
        capsule=name,
        sent=sent,
        decisions=effect.obeyed + effect.disobeyed,
        p=effect.p,
        supported=climbed is not None,
    )
    if climbed is None:
        registry.execute(JudgeSeenLine(outcomes), actor=ACTOR)
        return None
    move = _move(candidate, candidate.tier, climbed, "outcomes support it now, by all rules of the gate")
    return replace(move, judged=outcomes)


def _recorded(registry: Registry, move: TierMove, terms: RejudgeTerms) -> TierMove:
    """Record that a line climbed, was seen again or fell; what fell is taken out of its skill, where it may be."""
    with registry.log.transaction():
        if move.judged is not None:
            registry.execute(JudgeSeenLine(move.judged), actor=ACTOR)
        registry.execute(ChangeTier(move.candidate, move.skill, move.after, move.reason), actor=ACTOR)
        if move.after is not None:
            return move
        held, version = terms.forbidden, None
        if not held:
            try:
                if terms.write:
                    source = registry.capsule(move.skill).source
                    registry.places.require(write_place(move.skill, source), move.skill)
                version = withdraw(registry, move.candidate, move.reason)
            except (EditError, RefusedError, SkillFormatError) as error:  # a protected line is in the way, say
                held = error.message
    if version is not None and terms.write:
        publish(registry, move.skill)
    return replace(move, version=version, held=held)
