"""The agenda: which signals wait for an answer, which skill each goes to, and which of them rest. Reads only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.query.signals import raised_as_counted
from strategies.claims.applicability import live_claims
from strategies.episodes.skill_version import under_versions
from strategies.select.pick import PastPick, failures_of, preview, rest_of
from strategies.signals.open_signals import Sightings, answers, settled, version_about

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from events.types.registry_events import CycleFinished, SignalRaised
    from registry.query.library import Library
    from strategies.gate.replay.evaluation_set import Ground
    from strategies.policy.active_preset import Bound
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


def agenda_on(library: Library, ground: Ground, kinds: Collection[str], skill: str = "") -> Agenda:
    """Look through the raised signals of kinds that a proposer answers; with `skill` all of them go there."""
    sightings = Sightings(under_versions(library, ground.division.everything))
    cycles = [
        cycle for cycle in library.cycles() if cycle.offered or cycle.verdict == "promote"
    ]  # one for each turn
    raised = [raised_signal.event for raised_signal in raised_as_counted(library)]
    over = settled(library, raised)
    signals = [
        signal
        for signal in raised
        if signal.kind in kinds and signal.fingerprint not in over and sightings.of(signal)
    ]
    to = {signal.fingerprint: skill for signal in signals} if skill else routes(library, signals, sightings)
    left = {signal.fingerprint: rest_of(cycles, signal.fingerprint) for signal in signals}
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
    cycles: Sequence[CycleFinished], bound: Bound, seed: int, ground: Ground
) -> tuple[list[PastPick], dict[str, str]]:
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
    promoted = {cycle.fingerprint: cycle.candidate or "" for cycle in since if cycle.verdict == "promote"}
    picks = [PastPick(cycle.strategy, cycle.offered) for cycle in cycles[:first] if cycle.offered]
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
    offers = [offer for offer in agenda.offers if offer.fingerprint not in silent or offer.fingerprint in promoted]
    picks = preview(offers, bound.preset.weights, history, count + len(silent))
    return [pick for pick in picks if pick.offer.fingerprint not in silent][:count]


def routes(library: Library, signals: Iterable[SignalRaised], sightings: Sightings) -> dict[str, str]:
    """Name the skill each signal goes to, by fingerprint; the episodes stand under the versions they ran under.

    A regression goes to the skill that it is about; any other to one whose triggers name it, else to the one most
    of its episodes ran under. "" where there is none: a person names the skill then.
    """
    names = library.names()
    triggers = [
        (trigger.fingerprint, name)
        for name in names
        for gene in library.capsule(name).genes
        for trigger in gene.triggers
    ]
    answering = dict(reversed(triggers))  # the first skill by name counts
    return {signal.fingerprint: _route(signal, set(names), answering, sightings) for signal in signals}


def _route(signal: SignalRaised, names: set[str], answering: dict[str, str], sightings: Sightings) -> str:
    about = version_about(signal)
    if about and about[0] in names:
        return about[0]
    if signal.fingerprint in answering:
        return answering[signal.fingerprint]
    ran_under = Counter(skill for record in sightings.of(signal) for skill, _ in record.skills if skill in names)
    return min(ran_under, key=lambda name: (-ran_under[name], name), default="")
