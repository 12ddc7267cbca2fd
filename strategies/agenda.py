"""The agenda: which signals wait for an answer, where each would go, and which of them rest. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.recounts import raised_as_counted
from strategies.answering import PROPOSERS, Sightings
from strategies.attribution import under_versions
from strategies.drafts import live_claims
from strategies.routing import routes
from strategies.select import Turn, answers, failures_of, preview, rest_of
from strategies.settled import settled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.registry_events import CycleFinished, SignalRaised
    from registry.library import Library
    from strategies.binding import Bound
    from strategies.ground import Ground
    from strategies.select import Pick


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
        names = {self.routes[one.fingerprint] for one in self.offers}
        live = {name: live_claims(library.capsule(name)) for name in names}
        return frozenset(
            one.fingerprint for one in self.offers if answers(live[self.routes[one.fingerprint]], one)
        )


def agenda_on(library: Library, ground: Ground, skill: str = "") -> Agenda:
    """Look through the raised signals; with `skill` all of them go there."""
    sightings = Sightings(under_versions(library, ground.division.everything))
    cycles = [one for one in library.cycles() if one.offered or one.verdict == "promote"]  # one for each turn
    raised = [one.event for one in raised_as_counted(library)]
    over = settled(library, raised)
    signals = [
        one for one in raised if one.kind in PROPOSERS and one.fingerprint not in over and sightings.of(one)
    ]
    to = {one.fingerprint: skill for one in signals} if skill else routes(library, signals, sightings)
    left = {one.fingerprint: rest_of(cycles, one.fingerprint) for one in signals}
    return Agenda(
        routes=to,
        offers=tuple(one for one in signals if to[one.fingerprint] and not left[one.fingerprint]),
        resting=tuple(
            Resting(one, failures_of(cycles, one.fingerprint), left[one.fingerprint])
            for one in signals
            if left[one.fingerprint]
        ),
        unrouted=tuple(one for one in signals if not to[one.fingerprint] and not _has_draft(library, one)),
    )


def _has_draft(library: Library, signal: SignalRaised) -> bool:
    """Tell whether a skill that was drafted for a signal waits for a person."""
    return any(
        one.proposed.skill is not None and one.verdict == "hold" for one in library.answers(signal.fingerprint)
    )


def picks_before(
    cycles: Sequence[CycleFinished], bound: Bound, seed: int, ground: Ground
) -> tuple[list[Turn], dict[str, str]]:
    """Give the picks before a preset and seed first met these logs, and by signal what was promoted since.

    The same command on the same logs takes the same turns again, and finds each of them remembered: a signal that
    it answered takes its turn in silence.
    """
    mine = [
        (cycle.evaluator, cycle.seed) == (ground.evaluator, seed)
        and (bool(cycle.because) if bound.because else cycle.preset == bound.name)
        for cycle in cycles
    ]
    first = mine.index(True) if any(mine) else len(cycles)
    since = (cycle for cycle, own in zip(cycles[first:], mine[first:], strict=True) if own)
    promoted = {one.fingerprint: one.candidate or "" for one in since if one.verdict == "promote"}
    picks = [Turn(cycle.strategy, cycle.offered) for cycle in cycles[:first] if cycle.offered]
    return picks, promoted  # a slow update was no pick: nothing was on offer


def foreseen(
    library: Library, agenda: Agenda, bound: Bound, *, seed: int, ground: Ground, count: int
) -> list[Pick[SignalRaised]]:
    """Tell what `evolve` would pick next under a preset, and why; nothing is mined, measured or written.

    Each pick is taken for answered. A signal that was answered when these turns were first taken takes its turn
    here as well, in silence.
    """
    history, promoted = picks_before(library.cycles(), bound, seed, ground)
    silent = agenda.answered(library)
    offers = [one for one in agenda.offers if one.fingerprint not in silent or one.fingerprint in promoted]
    picks = preview(offers, bound.preset.weights, history, count + len(silent))
    return [pick for pick in picks if pick.offer.fingerprint not in silent][:count]
