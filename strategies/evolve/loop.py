"""Evolution: turns, one after the other, until no signal is left that a proposer can answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from registry.actions.publish import publish, require_unedited
from registry.actions.untested_claims import drop_untested
from registry.state.capsule import is_skill_name
from strategies.engines.share import HERE
from strategies.evolve.draft import TurnContext, key_of
from strategies.evolve.guidance import guide
from strategies.evolve.results import ModelReport, model_report
from strategies.evolve.rewrite_descriptions import DescriptionRun, rewrite_descriptions
from strategies.evolve.stop_reason import NO_SKILL, NOTHING_READ, Stop, stop_of
from strategies.evolve.turn import run_cycle
from strategies.gate.replay.score_version import measure_live_first
from strategies.gate.replay.skill_grounds import prepare_grounds
from strategies.monitor.rollback import Terms, take_back
from strategies.policy.active_preset import Bound, bound_by
from strategies.policy.auto import AUTO
from strategies.pool.intake_policy import DEFAULT_POLICY
from strategies.pool.known_episodes import all_episodes
from strategies.propose.by_signal import PROPOSERS
from strategies.propose.proposal import ProposalRequest, answer, remembered
from strategies.propose.suggestion_checks import still_fits
from strategies.select.pick import PastPick as Past
from strategies.select.pick import pick
from strategies.select.queue import agenda_on, picks_before
from strategies.tiers.rejudge import RejudgeTerms, forbidden_by, rejudge
from strategies.usage.skill_ledger import ledger_of, propose_retirements

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from events.types.capsule_events import DescriptionJudged, RetirementProposed
    from events.types.parts import Strategy
    from events.types.registry_events import SignalRaised
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.evolve.guidance import Guidance
    from strategies.evolve.reflect import Reflecting
    from strategies.evolve.results import CycleResult
    from strategies.gate.replay.evaluation_set import Ground
    from strategies.gate.replay.skill_grounds import SkillGrounds
    from strategies.gate.rule import NeededTasks
    from strategies.monitor.rollback import TakenBack
    from strategies.policy.presets import Preset
    from strategies.pool.intake_policy import IntakePolicy
    from strategies.propose.proposal import Mined
    from strategies.rollouts.compare.in_turn import Trials
    from strategies.scope.log_globs import LogGlobs
    from strategies.select.queue import Agenda, Resting
    from strategies.tiers.rejudge import TierMove

    Known = Callable[[], list[EpisodeRecord]]

MAX_CYCLES: Final = 10
"""How many turns one run takes at most, by default."""


LEAST_TURNS: Final = 2
"""Turns from which there is a run to look back on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a person asked for. `only` limits the run, and its evaluator, to these episodes by content hash.

    With `skill` only its signals take turns. `write` is false for a rehearsal: nothing goes to disk.
    With `review` nothing is promoted: what the gate lets through is held for a person. With `auto` the preset is
    chosen for each turn, and `preset` is what it would be now. `trials` run candidates of the skills
    that have a harness. With `reflecting` a model proposes, and nobody else does. `sharing` says who works out
    what episodes show, `logs` whose logs are whose by the settings.
    """

    preset: Preset
    seed: int
    skill: str = ""
    cycles: int = MAX_CYCLES
    only: Collection[str] | None = None
    write: bool = True
    review: bool = False
    auto: bool = False
    policy: IntakePolicy = DEFAULT_POLICY
    trials: Trials | None = None
    reflecting: Reflecting | None = None
    sharing: Sharing = HERE
    logs: LogGlobs | None = None


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a run came to. `unrouted` signals name no skill; `stop` says why the run ended.

    `preset` is the name that the run went by; where that is `auto`, `bound` and its reason are the last it chose.
    `resting` signals were left alone, because turn after turn they led to no promotion. `taken_back` are the live
    versions under which outcomes had fallen, `moves` the live lines that climbed or fell on what came since.
    `retirements` ask about skills that do too badly; `misfits` are the signals of descriptions that are surely too
    wide or too narrow, `descriptions` were rewritten and judged.
    """

    preset: str
    seed: int
    cycles: tuple[CycleResult, ...]
    tried: int
    needed: NeededTasks | None
    unrouted: tuple[SignalRaised, ...]
    stop: Stop
    bound: Bound
    resting: tuple[Resting, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()
    moves: tuple[TierMove, ...] = ()
    guidance: tuple[Guidance, ...] = ()
    model: ModelReport | None = None
    retirements: tuple[RetirementProposed, ...] = ()
    misfits: tuple[SignalRaised, ...] = ()
    descriptions: tuple[DescriptionJudged, ...] = ()


def evolve(registry: Registry, plan: Plan, on_cycle: Callable[[CycleResult], None] = lambda _: None) -> Evolution:
    """Take turns until no eligible signal is left, or the plan's number is reached.

    Before that, claims that no log was asked about end, and versions that made things worse are taken back.
    Each promotion is projected to disk at once. `on_cycle` hears of every turn as it ends.
    Raises: NotFoundError for an unknown skill; RefusedError where its files were edited by hand.
    """
    for name in [plan.skill] if plan.skill else registry.live_names():
        if plan.write or plan.skill:
            require_unedited(registry, name)
    since = registry.log.head().position
    grounds, taken_back, moves = _reviewed(registry, plan)
    agenda = agenda_on(
        registry,
        grounds.scope,
        PROPOSERS,
        plan.skill,
        unrouted_too=plan.only is not None,
        drafted=plan.reflecting.drafted if plan.reflecting else (),
    )
    bound = _bound(registry, plan)
    history, promoted = picks_before(registry.cycles(), bound, plan.seed, grounds.evaluators(registry))
    offers = list(agenda.offers)
    results: list[CycleResult] = []
    judged: set[str] = set()
    first = {name: registry.outline(name).version for name in registry.live_names()}
    turn, turns = None, 0
    while turns < plan.cycles:
        done, bound = agenda.answered(registry), _bound(registry, plan)
        offers = [offer for offer in offers if offer.fingerprint not in done or offer.fingerprint in promoted]
        picked = pick(offers, bound.preset.weights, history)
        if picked is None:
            break
        signal = picked.offer
        offers = [offer for offer in offers if offer is not signal]
        if signal.fingerprint in done:
            judged.add(promoted[signal.fingerprint])
        else:
            budget = bound.preset.edit_budget.at(turns / max(plan.cycles - 1, 1))
            skill = agenda.routes[signal.fingerprint]
            ground = grounds.prepared(registry, skill, signal.fingerprint)
            turn = _turn(registry, ground, plan, bound, picked.offered, budget)
            taken = len(results)
            for taken_result in _take(turn, plan, signal, skill, judged):
                first_of_turn = len(results) == taken
                result = replace(taken_result, preset=bound.preset.name, because=bound.because)
                result = replace(result, pick=picked) if first_of_turn else result
                results.append(result)
                on_cycle(result)
                judged |= {result.candidate.id} if result.candidate else set()
            if len(results) == taken and plan.reflecting is None:
                continue  # what another signal led to takes no turn; a model was asked and paid for all the same
        turns += 1
        history.append(Past(signal.calls_for, picked.offered))
    last = _turn(registry, grounds.whole, plan, bound, (), bound.preset.edit_budget.start)
    for written in _written(last, plan, agenda, plan.cycles - turns):
        results.append(written)
        on_cycle(written)
    summary = _summed(plan, results, agenda, bound, ended=turns < plan.cycles)
    summary = replace(summary, taken_back=taken_back, moves=moves, stop=_stop(plan, summary, first, grounds))
    summary = _with_skills(registry, plan, grounds, summary)
    if plan.reflecting is not None:
        plan.reflecting.take_notes(registry)
        return replace(summary, model=model_report(registry, plan.reflecting, results, since=since))
    return replace(summary, guidance=_guided(plan, turn, first, grounds, len(results)))


def what_is_due(registry: Registry, plan: Plan) -> tuple[tuple[TakenBack, ...], tuple[TierMove, ...]]:
    """Tell which versions made things worse, and which lines moved or fell: what `evolve` looks at first.

    It appends what it finds, so a rehearsal is the place to ask.
    """
    return _reviewed(registry, plan)[1:]


def _reviewed(registry: Registry, plan: Plan) -> tuple[SkillGrounds, tuple[TakenBack, ...], tuple[TierMove, ...]]:
    """Look back before the first turn, on what is read once, and prepare the grounds of the turns."""
    known = cache(partial(_known, registry, plan))
    taken_back = _taken_back(registry, plan, known)
    grounds = _grounds(registry, plan)
    return grounds, taken_back, _rejudged(registry, plan, grounds, known)


def _stop(plan: Plan, summary: Evolution, first: Mapping[str, int], grounds: SkillGrounds) -> Stop:
    """Say why a run ended; one without a skill, or without anything read, says that."""
    if not grounds.whole.division.everything:
        return NOTHING_READ
    return summary.stop if first or plan.reflecting else NO_SKILL


def _grounds(registry: Registry, plan: Plan) -> SkillGrounds:
    """Prepare what skills are judged on; a new evaluator measures the live versions first."""
    grounds = prepare_grounds(
        registry, plan.logs, only=plan.only, sharing=plan.sharing, sources=plan.policy.sources
    )
    measure_live_first(registry, grounds, seed=plan.seed)
    return grounds


def _turn(
    registry: Registry, ground: Ground, plan: Plan, bound: Bound, offered: tuple[Strategy, ...], edit_budget: int
) -> TurnContext:
    return TurnContext(
        registry=registry,
        ground=ground,
        preset=bound.preset,
        seed=plan.seed,
        edit_budget=edit_budget,
        offered=offered,
        review=plan.review,
        because=bound.because,
        trials=plan.trials,
    )


def _written(turn: TurnContext, plan: Plan, agenda: Agenda, most: int) -> Iterator[CycleResult]:
    """Let a model draft a skill for each signal that no skill answers, in the turns that are left."""
    if plan.reflecting is None:
        return
    from strategies.evolve.write_skill import written_skills  # noqa: PLC0415 - miners write none

    for written in written_skills(turn, plan.reflecting, agenda.unrouted, most):
        yield replace(written, preset=turn.preset.name, because=turn.because)


def _guided(
    plan: Plan, turn: TurnContext | None, first: Mapping[str, int], grounds: SkillGrounds, turns: int
) -> tuple[Guidance, ...]:
    """Let the slow update have its word about every skill that a run of several turns changed."""
    if turn is None or turns < LEAST_TURNS:
        return ()
    registry = turn.registry
    changed = {name: version for name, version in first.items() if registry.outline(name).version != version}
    updates = []
    for name, version in changed.items():
        ground = grounds.prepared(registry, name)
        other_work = ground.other_work._replace(answered=grounds.scope.answered_elsewhere(name))
        ground = replace(ground, other_work=other_work)
        updates.append(guide(replace(turn, offered=(), ground=ground), name, version, write=plan.write))
    return tuple(update for update in updates if update is not None)


def _taken_back(registry: Registry, plan: Plan, known: Known) -> tuple[TakenBack, ...]:
    """End the claims that no log was asked about, and take back versions under which outcomes fell."""
    names = [plan.skill] if plan.skill else registry.live_names()
    if plan.write and not plan.review:
        drop_untested(registry, names)
    changed = [name for name in names if registry.outline(name).version > 1]
    if not changed:
        return ()
    terms = Terms(plan.policy, _forbidden(registry, plan), write=plan.write)
    return take_back(registry, known(), changed, terms)


def _rejudged(registry: Registry, plan: Plan, grounds: SkillGrounds, known: Known) -> tuple[TierMove, ...]:
    names = [plan.skill] if plan.skill else registry.live_names()
    terms = RejudgeTerms(
        preset=_bound(registry, plan).preset,
        seed=plan.seed,
        records=known,
        grounds=grounds,
        forbidden=_forbidden(registry, plan),
        write=plan.write,
    )
    return rejudge(registry, names, terms)


def _with_skills(registry: Registry, plan: Plan, grounds: SkillGrounds, summary: Evolution) -> Evolution:
    """Add what is asked about whole skills at the end of a run: whether they may stay, and what describes them."""
    retirements = _retirements(registry, plan, grounds)
    misfits, judged = _described(registry, plan, grounds)
    return replace(summary, retirements=retirements, misfits=misfits, descriptions=judged)


def _retirements(registry: Registry, plan: Plan, grounds: SkillGrounds) -> tuple[RetirementProposed, ...]:
    """Propose to retire the skills that sessions surely fare too badly with, by what the preset asks."""
    names = [plan.skill] if plan.skill else registry.live_names()
    rows = [ledger_of(registry, name, grounds.scope) for name in names if is_skill_name(name)]
    return propose_retirements(registry, rows, _bound(registry, plan).preset)


def _described(registry: Registry, plan: Plan, grounds: SkillGrounds) -> DescriptionRun:
    """Rewrite the descriptions that miss what they are for; where a person decides, only say that they do."""
    if plan.only is not None:  # a few logs say little of where a skill is loaded
        return DescriptionRun()
    names = [name for name in ([plan.skill] if plan.skill else registry.live_names()) if is_skill_name(name)]
    may_promote = not plan.review and "supported" in _bound(registry, plan).preset.projected
    return rewrite_descriptions(
        registry, names, grounds.scope, plan.policy, may_promote=may_promote, write=plan.write
    )


def _forbidden(registry: Registry, plan: Plan) -> str:
    """Say why nothing is taken back by itself, "" where it is."""
    if plan.review:
        return "for review: nobody was there to take it back"
    return forbidden_by(_bound(registry, plan).preset)


def _known(registry: Registry, plan: Plan) -> list[EpisodeRecord]:
    known = all_episodes(registry)
    return known if plan.only is None else [record for record in known if record.id in plan.only]


def _bound(registry: Registry, plan: Plan) -> Bound:
    return bound_by(registry, AUTO) if plan.auto else Bound(plan.preset.name, plan.preset)


def _take(
    turn: TurnContext, plan: Plan, signal: SignalRaised, skill: str, judged: Collection[str]
) -> Iterator[CycleResult]:
    """Find what answers one signal, put it through the gate, and project what was promoted.

    A miner has at most one proposal; a model may have several, and each goes through by itself, on what the one
    before left. What another signal of this run led to already takes no turn.
    """
    capsule = turn.registry.capsule(skill)
    for mined in _answers(turn, plan, signal, capsule):
        before = turn.registry.capsule(skill)
        known = mined.proposal is not None and key_of(turn, before, mined.proposal) in judged
        if known or (mined.proposal is not None and not still_fits(before, mined.proposal)):
            continue
        result = run_cycle(turn, signal, before, mined)
        if plan.write and turn.registry.capsule(skill).version != before.version:
            publish(turn.registry, skill)
        yield result
        turn = replace(turn, offered=())  # the pick is reported once


def _answers(turn: TurnContext, plan: Plan, signal: SignalRaised, capsule: Capsule) -> tuple[Mined, ...]:
    if plan.reflecting is not None:
        return plan.reflecting.mined(turn, signal, capsule)
    others = tuple(turn.registry.capsule(name) for name in turn.registry.live_names() if name != capsule.name)
    tried = remembered(turn.registry, capsule.name, turn.ground.evaluator)
    ask = ProposalRequest(signal, turn.ground.explore, capsule, others, tried, other_work=turn.ground.other_work)
    return (answer(ask, PROPOSERS[signal.kind]),)


def _summed(plan: Plan, results: list[CycleResult], agenda: Agenda, bound: Bound, *, ended: bool) -> Evolution:
    needed = [result.needed for result in results if result.needed]
    answered = [result.signal for result in results]
    unrouted = tuple(signal for signal in agenda.unrouted if signal not in answered)
    promoted = any(result.verdict == "promote" for result in results)
    stop = stop_of(results, limit=plan.cycles, capped=not ended, unrouted=len(unrouted))
    if plan.skill and not agenda.routes and not results:
        stop = Stop(f"settled: no signal goes to {plan.skill}", settled=True)
    return Evolution(
        preset=bound.name,
        seed=plan.seed,
        cycles=tuple(results),
        tried=sum(result.tried for result in results),
        needed=min(needed, key=lambda tasks: tasks.needed - tasks.known, default=None) if not promoted else None,
        unrouted=unrouted,
        stop=stop,
        bound=bound,
        resting=agenda.resting,
    )
