"""Evolution: turns, one after the other, until no signal is left that a proposer can answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.publish import publish, require_unedited
from strategies.answering import PROPOSERS, shows_in
from strategies.cycle import run_cycle
from strategies.drafts import Turn, key_of, live_claims
from strategies.ground import prepare
from strategies.proposers.proposal import Ask, answer
from strategies.routing import route
from strategies.select import Turn as Pick
from strategies.select import answers, deficits, rest_of, select

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from events.registry_events import CycleFinished, SignalRaised
    from registry.registry import Registry
    from strategies.ground import Ground
    from strategies.presets import Preset
    from strategies.shown import CycleResult

MAX_CYCLES: Final = 10
"""How many turns one run takes at most, unless told otherwise (replay_and_gate.md, Presets)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a person asked for. `only` limits the run, and its evaluator, to these episodes by content hash.

    `skill` is "" where each signal finds its own way. `write` is false for a rehearsal: nothing goes to disk.
    With `review` nothing is promoted: what the gate lets through is held for a person.
    """

    preset: Preset
    seed: int
    skill: str = ""
    cycles: int = MAX_CYCLES
    only: Collection[str] | None = None
    write: bool = True
    review: bool = False


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a run came to. `unrouted` signals name no skill; `stopped` says why the run ended.

    `cooling` signals rest, because turn after turn they led to no promotion.
    """

    preset: str
    seed: int
    cycles: tuple[CycleResult, ...]
    tried: int
    needed_tasks: int | None
    unrouted: tuple[SignalRaised, ...]
    stopped: str
    cooling: tuple[SignalRaised, ...] = ()


def evolve(registry: Registry, plan: Plan, on_cycle: Callable[[CycleResult], None] = lambda _: None) -> Evolution:
    """Take turns until no eligible signal is left, or the plan's number is reached.

    Each promotion is projected to disk at once. `on_cycle` hears of every turn as it ends.

    Raises: NotFoundError for an unknown skill; RefusedError where its files were edited by hand.
    """
    for name in [plan.skill] if plan.skill else registry.names():
        if plan.write or plan.skill:
            require_unedited(registry, name)
    ground = prepare(registry, only=plan.only)
    signals = _answerable(registry, ground)
    episodes = ground.division.everything
    routes = {one.fingerprint: plan.skill or route(registry, one, episodes) for one in signals}
    history, promoted = _before(registry.cycles(), plan, ground)
    cooling = tuple(one for one in signals if rest_of(registry.cycles(), one.fingerprint))
    offers = [one for one in signals if routes[one.fingerprint] and one not in cooling]
    results: list[CycleResult] = []
    judged: set[str] = set()
    turns = 0
    while turns < plan.cycles:
        live = {name: live_claims(registry.capsule(name)) for name in set(routes.values()) if name}
        done = {one.fingerprint for one in offers if answers(live[routes[one.fingerprint]], one)}
        offers = [one for one in offers if one.fingerprint not in done or one.fingerprint in promoted]
        picked = select(offers, plan.preset.weights, deficits(history, plan.preset.weights))
        if picked is None:
            break
        offered = tuple(sorted({offer.calls_for for offer in offers}))
        offers.remove(picked)
        if picked.fingerprint in done:
            judged.add(promoted[picked.fingerprint])
        else:
            budget = plan.preset.edit_budget.at(turns / max(plan.cycles - 1, 1))
            turn = Turn(registry, ground, plan.preset, plan.seed, budget, offered, plan.review)
            result = _take(turn, picked, routes[picked.fingerprint], judged, write=plan.write)
            if result is None:
                continue
            results.append(result)
            on_cycle(result)
            judged |= {result.candidate.id} if result.candidate else set()
        turns += 1
        history.append(Pick(picked.calls_for, offered))
    unrouted = tuple(signal for signal in signals if not routes[signal.fingerprint])
    return _summed(plan, results, (unrouted, cooling), ended=turns < plan.cycles)


def _before(cycles: Sequence[CycleFinished], plan: Plan, ground: Ground) -> tuple[list[Pick], dict[str, str]]:
    """Give the picks before this plan first met these logs, and what it promoted on them since, by signal.

    The same command on the same logs takes the same turns again, and finds each of them remembered: a signal that
    it answered takes its turn in silence.
    """
    mine = [
        (cycle.evaluator, cycle.preset, cycle.seed) == (ground.evaluator, plan.preset.name, plan.seed)
        for cycle in cycles
    ]
    first = mine.index(True) if any(mine) else len(cycles)
    since = (cycle for cycle, own in zip(cycles[first:], mine[first:], strict=True) if own)
    promoted = {one.fingerprint: one.candidate or "" for one in since if one.verdict == "promote"}
    return [Pick(cycle.strategy, cycle.offered) for cycle in cycles[:first]], promoted


def _answerable(registry: Registry, ground: Ground) -> list[SignalRaised]:
    """List the raised signals that a proposer answers and that this ground holds."""
    episodes = ground.division.everything
    return [
        one
        for one in (raised.event for raised in registry.signals())
        if one.kind in PROPOSERS and any(shows_in(one, record) for record in episodes)
    ]


def _take(
    turn: Turn, signal: SignalRaised, skill: str, judged: Collection[str], *, write: bool
) -> CycleResult | None:
    """Mine one signal, put what was found through the gate, and project what was promoted.

    Answers None where another signal of this run led to the same candidate: it takes no turn.
    """
    before = turn.registry.capsule(skill)
    others = tuple(turn.registry.capsule(name) for name in turn.registry.names() if name != skill)
    mined = answer(Ask(signal, turn.ground.division.explore, before, others), PROPOSERS[signal.kind])
    if mined.proposal is not None and key_of(turn, before, mined.proposal) in judged:
        return None
    result = run_cycle(turn, signal, before, mined)
    after = turn.registry.capsule(skill)
    if write and after.version != before.version:
        publish(turn.registry, skill)
    return result


def _summed(
    plan: Plan,
    results: list[CycleResult],
    left: tuple[tuple[SignalRaised, ...], tuple[SignalRaised, ...]],
    *,
    ended: bool,
) -> Evolution:
    needed = [result.needed_tasks for result in results if result.needed_tasks]
    promoted = any(result.verdict == "promote" for result in results)
    return Evolution(
        preset=plan.preset.name,
        seed=plan.seed,
        cycles=tuple(results),
        tried=sum(result.tried for result in results),
        needed_tasks=min(needed, default=None) if not promoted else None,
        unrouted=left[0],
        stopped="no eligible signal is left" if ended else f"the limit of {plan.cycles} cycles was reached",
        cooling=left[1],
    )
