"""The agenda: which signals wait for an answer, which skill each goes to, and which of them rest. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.query.signals import raised_as_counted
from strategies.claims.applicability import live_claims
from strategies.scope.scope import Route
from strategies.select.pick import PastPick, preview
from strategies.select.resting_signals import failures_of, rest_of
from strategies.signals.open_signals import answers, settled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from events.types.registry_events import CycleFinished, SignalRaised
    from registry.query.library import Library
    from strategies.policy.active_preset import Bound
    from strategies.scope.scope import Scope
    from strategies.select.pick import Pick


@dataclass(frozen=True, slots=True)
class Resting:
    """A signal that is not picked for a while: turns in a row that led to nothing, and turns of others left."""

    signal: SignalRaised
    failures: int
    turns_left: int


@dataclass(frozen=True, slots=True)
class Agenda:
    """The signals that a proposer answers and that the ground holds.

    `routes` names the skill of each by fingerprint, "" where none is found; `offers` may be picked. Those that a
    skill was drafted for are not `unrouted` while it waits for a person.
    """

    routes: Mapping[str, str]
    offers: tuple[SignalRaised, ...]
    resting: tuple[Resting, ...]
    unrouted: tuple[SignalRaised, ...]

    def answered(self, library: Library) -> frozenset[str]:
        """Name the signals on offer that live claims of their skill answer by now."""
        names = {self.routes[offer.fingerprint] for offer in self.offers}
        live = {name: live_claims(library.capsule(name)) for name in names}
        return frozenset(
            offer.fingerprint for offer in self.offers if answers(live[self.routes[offer.fingerprint]], offer)
        )


def agenda_on(
    library: Library,
    scope: Scope,
    kinds: Collection[str],
    skill: str = "",
    *,
    unrouted_too: bool = False,
    drafted: Collection[str] = (),
) -> Agenda:
    """Look through the raised signals of kinds that a proposer answers, among the episodes of a scope.

    With `skill` those of other skills are left out, but for what they answer and it might as well; `unrouted_too`
    gives it what no skill answers to. Of `drafted`
    kinds, for which a model writes a skill, none goes to a skill only because there is no other.
    """
    cycles = [
        cycle for cycle in library.cycles() if cycle.offered or cycle.verdict == "promote"
    ]  # one for each turn
    raised = [raised_signal.event for raised_signal in raised_as_counted(library)]
    over = settled(library, raised)
    signals = [
        signal
        for signal in raised
        if signal.kind in kinds and signal.fingerprint not in over and scope.sightings.of(signal)
    ]
    route_of = {signal.fingerprint: scope.route(signal) for signal in signals}
    for signal in signals:
        if not skill and signal.kind in drafted and route_of[signal.fingerprint].by == "only":
            route_of[signal.fingerprint] = Route("", "", "it asks for a skill of its own")
    for signal in signals if skill else ():
        route = route_of[signal.fingerprint]
        answered = route.by == "trigger" and route.skill != skill
        if (answered and scope.route(signal, answered=False).skill in {"", skill}) or (
            unrouted_too and not route.skill
        ):
            route_of[signal.fingerprint] = Route(skill, "person", "the skill that was named")
    if skill:
        signals = [signal for signal in signals if route_of[signal.fingerprint].skill in {"", skill}]
    left = {signal.fingerprint: rest_of(cycles, signal.fingerprint) for signal in signals}
    to = {signal.fingerprint: route_of[signal.fingerprint].skill for signal in signals}
    return Agenda(
        routes=to,
        offers=tuple(signal for signal in signals if to[signal.fingerprint] and not left[signal.fingerprint]),
        resting=tuple(
            Resting(signal, failures_of(cycles, signal.fingerprint), left[signal.fingerprint])
            for signal in signals
            if left[signal.fingerprint]
        ),
        unrouted=tuple(
            signal for signal in signals if not to[signal.fingerprint] and not _has_draft(library, signal)
        ),
    )


def _has_draft(library: Library, signal: SignalRaised) -> bool:
    """Tell whether a skill that was drafted for a signal waits for a person."""
    return any(
        answer.proposed.skill is not None and answer.verdict == "hold"
        for answer in library.answers(signal.fingerprint)
    )


def picks_before(
    cycles: Sequence[CycleFinished], bound: Bound, seed: int, evaluators: Collection[str]
) -> tuple[list[PastPick], dict[str, str]]:
    """Give the picks before a preset and seed first met these logs, and by signal what was promoted since.

    `evaluators` are those that the logs make: of all of them, and of the part of each skill.

    The same command on the same logs takes the same turns again, and finds each of them remembered: a signal that
    it answered takes its turn in silence.
    """
    mine = [
        (cycle.evaluator in evaluators and cycle.seed == seed)
        and (bool(cycle.because) if bound.because else cycle.preset == bound.name)
        for cycle in cycles
    ]
    first = mine.index(True) if any(mine) else len(cycles)
    since = (cycle for cycle, own in zip(cycles[first:], mine[first:], strict=True) if own)
    promoted = {cycle.fingerprint: cycle.candidate or "" for cycle in since if cycle.verdict == "promote"}
    picks = [PastPick(cycle.strategy, cycle.offered) for cycle in cycles[:first] if cycle.offered]
    return picks, promoted  # a slow update was no pick: nothing was on offer


def foreseen(
    library: Library, agenda: Agenda, bound: Bound, *, seed: int, evaluators: Collection[str], count: int
) -> list[Pick[SignalRaised]]:
    """Tell what `evolve` would pick next under a preset, and why; nothing is mined, measured or written.

    Each pick is taken for answered. A signal that was answered when these turns were first taken takes its turn
    here as well, in silence.
    """
    history, promoted = picks_before(library.cycles(), bound, seed, evaluators)
    silent = agenda.answered(library)
    offers = [offer for offer in agenda.offers if offer.fingerprint not in silent or offer.fingerprint in promoted]
    picks = preview(offers, bound.preset.weights, history, count + len(silent))
    return [pick for pick in picks if pick.offer.fingerprint not in silent][:count]
