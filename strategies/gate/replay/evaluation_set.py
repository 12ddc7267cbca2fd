"""The ground that candidates are judged on: episodes in splits, under one evaluator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from events.types.candidate_events import CandidatePromoted, CandidateScored, SeenLineJudged
from events.types.registry_events import CycleFinished, EvaluatorRegistered
from registry.decide.commands import RecordFact
from strategies.engines.share import HERE, Sharing
from strategies.episodes.episode_records import with_outcome
from strategies.episodes.world_outcomes import with_world
from strategies.gate.replay.contrast import hints_in
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.measure import MeasurementStamp, evaluator_id
from strategies.policy.written_rules import METHOD, policy_text
from strategies.pool.frozen_sets import freeze, frozen_with, sources_of
from strategies.pool.known_episodes import all_episodes, every_reading, split_groups, world_of
from strategies.pool.splits import divide
from strategies.pool.weights import weighed
from strategies.scope.other_work import NO_OTHER_WORK, OtherWork
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.pool.splits import Division

_ASKING: Final = ("CandidateScored", "CandidatePromoted", "CycleFinished", "SeenLineJudged")

GROWTH: Final = 1.25
"""Sealed tasks must have grown by a quarter before the pool gets a new evaluator."""


@dataclass(frozen=True)
class Ground:
    """Episodes divided once and for all, and the evaluator that they make.

    `fresh` marks an evaluator of the pool that was registered only now: it measures live versions first. `within`
    is the evaluator of which it is a skill's part, "" for a whole; `other_work` is what it holds of other skills,
    and `others_alone` tells that the person's own logs are all in other parts. Hints of these `sources` stand for
    labels. `sharing` says who works out its figures, which come to the same.
    """

    division: Division
    evaluator: str
    fresh: bool = False
    within: str = ""
    other_work: OtherWork = NO_OTHER_WORK
    others_alone: bool = False
    sources: tuple[WorldSource, ...] = ()
    sharing: Sharing = field(default=HERE, compare=False)

    @cached_property
    def explore(self) -> Explore:
        """What proposers may look at, with what it showed of claims so far: one for all turns on this ground."""
        return Explore(self.division.explore, self.sharing)

    def stamp(self, measured_at: str) -> MeasurementStamp:
        """Give what all figures share that are measured on this ground now."""
        return MeasurementStamp(self.evaluator, measured_at, self.sharing)


def prepare(
    registry: Registry,
    *,
    only: Collection[str] | None = None,
    refresh: bool = False,
    sources: Sequence[WorldSource] | None = None,
) -> Ground:
    """Find or register the evaluator for these episodes, or for the whole pool where none are named.

    For the pool the last evaluator stays in force, on the episodes and outcomes it was frozen with, until the
    sealed tasks have grown by a quarter: new logs and late outcomes wait. A task counts as grown when it is new,
    or when it has its first outcome since; with `refresh` any growth will do. Naming episodes freezes exactly
    those, as they are known now. Of no episode none is made. Hints from the world stand for labels where there are
    none, the first of `sources` that speaks; None leaves that as it was for the last evaluator. Other sources make
    a new one, and so does another method: figures of two cannot be compared.
    """
    upto = registry.log.head().position
    ground = ground_of(registry, only=only, upto=upto, refresh=refresh, sources=sources)
    if ground.division.everything and registry.log.document("evaluator", ground.evaluator) is None:
        scope: Literal["pool", "named"] = "pool" if only is None else "named"
        if not register(registry, ground, scope=scope, upto=upto):
            return prepare(registry, only=only, refresh=refresh, sources=sources)
        return replace(ground, fresh=scope == "pool")
    return ground


def ground_of(
    library: Library,
    *,
    only: Collection[str] | None = None,
    upto: int | None = None,
    refresh: bool = False,
    sources: Sequence[WorldSource] | None = None,
) -> Ground:
    """Tell what `prepare` would judge on now, whether or not its evaluator is registered; writes nothing."""
    upto = library.log.head().position if upto is None else upto
    every = weighed(all_episodes(library, upto=upto))
    last = next((event for event in reversed(library.evaluators()) if event.scope == "pool"), None)
    before = sources_of(library, last.evaluator) if last else ()
    chosen = before if sources is None else tuple(sources)
    if chosen:
        every = with_world(every, world_of(library, every, upto=upto), chosen)
    if only is not None:
        return _ground(library, _divided(library, [record for record in every if record.id in only]), chosen)
    now = _divided(library, every)
    if last is not None and not refresh and (chosen, METHOD) == (before, last.method):
        frozen = _as_frozen(library, last.evaluator)
        if _grown(frozen, now) < last.sealed_tasks * GROWTH:
            return Ground(frozen, last.evaluator, sources=chosen)
    return _ground(library, now, chosen)


def _ground(library: Library, division: Division, sources: tuple[WorldSource, ...]) -> Ground:
    return Ground(division, evaluator_id(division, library.about().split_key), sources=sources)


def _grown(before: Division, now: Division) -> int:
    """Count the sealed tasks that are known now, those twice that an outcome reached since."""
    answered = _answered_tasks(now) & _tasks(before) - _answered_tasks(before)
    return len(_tasks(now)) + len(answered)


def _tasks(division: Division) -> set[str]:
    return {record.task for record in division.sealed}


def _answered_tasks(division: Division) -> set[str]:
    return {record.task for record in division.sealed if truth(record) is not None}


def _divided(library: Library, records: Sequence[EpisodeRecord]) -> Division:
    return divide(records, split_groups(library), library.about().split_key)


def register(
    registry: Registry, ground: Ground, *, scope: Literal["pool", "named", "skill"], upto: int | None = None
) -> bool:
    """Freeze an evaluator, once; false where a watcher put a longer reading in the place of an episode meanwhile.

    `upto` is the last event that recorded outcomes for it, None for that of the ground that it is a part of.
    """
    division, records = ground.division, ground.division.everything
    event = EvaluatorRegistered(
        evaluator=ground.evaluator,
        kind="replay",
        scope=scope,
        method=METHOD,
        policy=policy_text(),
        episodes=len(records),
        tasks=len({record.task for record in records}),
        sealed_tasks=len(_tasks(division)),
        within=ground.within,
        hints=hints_in((*division.sealed, *division.audit)),
    )
    with registry.log.transaction():
        if registry.log.document("evaluator", ground.evaluator) is not None:
            return True  # registered before, with the same episodes
        upto = frozen_with(registry, ground.within).upto if upto is None else upto
        if not freeze(registry, ground.evaluator, upto, records, ground.sources):
            return False
        registry.execute(RecordFact((event,)), actor="germline")
    return True


def _as_frozen(library: Library, evaluator: str) -> Division:
    """Return the episodes that an evaluator was frozen with, with the outcomes that were known then."""
    frozen = frozen_with(library, evaluator)
    every = every_reading(library, upto=frozen.upto)
    kept = [record for record in every if record.id in frozen.episodes]
    return _divided(
        library,
        [
            with_outcome(record, frozen.hints[record.id]) if record.id in frozen.hints else record
            for record in kept
        ],
    )


def sent_so_far(library: Library) -> int:
    """Count the questions that logs were asked so far and did not answer: what shares one error rate.

    What logs promote gives its share back; mere words are no question. All evaluators count: logs that grew give
    no claim a fresh rate, it may be asked again for the next share. A bundle sends several claims at once, as its
    measurement says; a line that is only seen is sent each time that outcomes are asked about it. A signal counts
    too of whose claims explore let none through: chance had its turn there as well, and shares for those alone
    that explore let through would add up to more than the whole.
    """
    every = (candidate.proposed for candidate in library.candidates())
    claims = {of.candidate: bool(of.claims) for of in every if of.claims or of.removes}
    count, measured, answered = 0, set[str](), ""
    for envelope in library.log.read(types=_ASKING):
        match envelope.event:
            case CycleFinished() as cycle:
                count += cycle.candidate is None and cycle.tried > 0
            case CandidateScored() as scored if scored.sent and scored.candidate in claims:
                is_new = scored.candidate not in measured
                by_logs = is_new and claims[scored.candidate] and scored.rollouts is None
                count, answered = max(count + is_new, scored.sent), scored.candidate if by_logs else ""
                measured.add(scored.candidate)
            case CandidatePromoted() as promoted if promoted.preset and promoted.candidate == answered:
                count, answered = count - 1, ""
            case SeenLineJudged() as asked:
                count = max(count + 1, asked.sent) - asked.supported
            case _:
                pass
    return count
