"""Evolution: turns, one after the other, until no signal is left that a proposer can answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.publish import publish, require_unedited
from strategies.cycle import Turn, live_claims, run_cycle
from strategies.gate.moment import matches
from strategies.ground import prepare
from strategies.proposers.recovery import recovery
from strategies.routing import route
from strategies.select import Turn as Pick
from strategies.select import answered, deficits, select

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from events.registry_events import SignalRaised
    from registry.registry import Registry
    from strategies.ground import Ground
    from strategies.presets import Preset
    from strategies.proposers.proposal import Proposer
    from strategies.shown import CycleResult

PROPOSERS: Final[Mapping[str, Proposer]] = {"error_template": recovery}
"""Which proposer answers which kind of signal."""

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
    """What a run came to. `unrouted` signals name no skill; `stopped` says why the run ended."""

    preset: str
    seed: int
    cycles: tuple[CycleResult, ...]
    tried: int
    needed_tasks: int | None
    unrouted: tuple[SignalRaised, ...]
    stopped: str


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
    offers = [signal for signal in signals if routes[signal.fingerprint]]
    results: list[CycleResult] = []
    while len(results) < plan.cycles:
        live = {name: live_claims(registry.capsule(name)) for name in set(routes.values()) if name}
        offers = [one for one in offers if not answered(one.template, live[routes[one.fingerprint]])]
        picks = [Pick(cycle.strategy, cycle.offered) for cycle in registry.cycles()]
        picked = select(offers, plan.preset.weights, deficits(picks, plan.preset.weights))
        if picked is None:
            break
        offered = tuple(sorted({offer.calls_for for offer in offers}))
        budget = plan.preset.edit_budget.at(len(results) / max(plan.cycles - 1, 1))
        turn = Turn(registry, ground, plan.preset, plan.seed, budget, offered, plan.review)
        result = _take(turn, picked, routes[picked.fingerprint], write=plan.write)
        results.append(result)
        on_cycle(result)
        offers.remove(picked)
    unrouted = tuple(signal for signal in signals if not routes[signal.fingerprint])
    return _summed(plan, results, unrouted, ended=len(results) < plan.cycles)


def _answerable(registry: Registry, ground: Ground) -> list[SignalRaised]:
    """List the raised signals that a proposer answers and that this ground holds."""
    met = {step.template for record in ground.division.everything for step in record.steps if step.error}
    return [
        one
        for one in (raised.event for raised in registry.signals())
        if one.kind in PROPOSERS and any(matches(one.template, template) for template in met)
    ]


def _take(turn: Turn, signal: SignalRaised, skill: str, *, write: bool) -> CycleResult:
    """Mine one signal, put what was found through the gate, and project what was promoted."""
    mined = PROPOSERS[signal.kind](signal.template, turn.ground.division.explore)
    before = turn.registry.capsule(skill)
    result = run_cycle(turn, signal, before, mined)
    after = turn.registry.capsule(skill)
    if write and after.version != before.version:
        publish(turn.registry, skill)
    return result


def _summed(
    plan: Plan, results: list[CycleResult], unrouted: tuple[SignalRaised, ...], *, ended: bool
) -> Evolution:
    needed = [result.needed_tasks for result in results if result.needed_tasks]
    promoted = any(result.verdict == "promote" for result in results)
    return Evolution(
        preset=plan.preset.name,
        seed=plan.seed,
        cycles=tuple(results),
        tried=sum(result.tried for result in results),
        needed_tasks=min(needed, default=None) if not promoted else None,
        unrouted=unrouted,
        stopped="no eligible signal is left" if ended else f"the limit of {plan.cycles} cycles was reached",
    )
