"""Trials as their events tell them: the arms of every unit, what was counted, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError
from events.types.trial_events import TrialAssigned, TrialEnded, TrialLooked, TrialStarted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.store.envelope import Envelope
    from events.types.frozen import Frozen
    from events.types.trial_events import CountedUnit, TrialFactor, TrialFigures

TRIAL_STREAM: Final = "trial:"
"""How the streams of trials begin; the name of the trial follows."""
Given = tuple[bool, ...]
"""For each factor of a trial, whether it is given."""
EVEN: Final = 0.5
_COIN_BYTES: Final = 8
_MOST_DIGITS: Final = 9
MOST_FACTORS: Final = 4
"""Sixteen arms: with more, hardly a session would have the same text as another (a guess)."""


@dataclass(frozen=True)
class SkillTrial:
    """A trial as far as it went.

    `assigned` holds the arms of sessions by their ids, or of blocks by their numbers, as they were written down;
    `block` is the block of the last one, -1 where there is none, and `in_folder` the arms that the folder was last
    to hold, None before the first switch. `problem` says why the folder was not switched last.
    """

    started: TrialStarted
    at: str
    assigned: Mapping[str, TrialAssigned] = field(default_factory=dict)
    block: int = -1
    in_folder: Given | None = None
    problem: str = ""
    counted: tuple[CountedUnit, ...] = ()
    results: tuple[TrialFigures, ...] = ()
    ended: TrialEnded | None = None
    ended_at: str = ""

    @property
    def id(self) -> str:
        """Its name."""
        return self.started.trial

    @property
    def by_block(self) -> bool:
        """Whether the folder is switched, block by block; else sessions are given folders of their own."""
        return self.started.unit == "block"

    def block_at(self, moment_s: float) -> int:
        """Tell which block a moment, in seconds since 1970, lies in; negative before the first."""
        return int((moment_s - self.block_start(0)) // self.started.block_s)

    @property
    def missed(self) -> int:
        """How many blocks up to the last one nobody switched in, or something forbade it; they count as meant."""
        if not self.by_block:
            return 0
        switched = {int(unit) for unit, event in self.assigned.items() if not event.problem}
        return sum(block not in switched for block in range(self.block + 1))

    def block_start(self, block: int) -> float:
        """Tell when a block begins, in seconds since 1970."""
        return datetime.fromisoformat(self.started.starts_at).timestamp() + block * self.started.block_s

    def meant(self, block: int) -> Given:
        """Tell what a block was meant to hold: a coin says in which block of a pair a line is."""
        pair, second = divmod(block, 2)
        return tuple(
            (coin(self.started.seed, at, f"pair {pair}") < EVEN) != bool(second)
            for at in range(len(self.started.factors))
        )

    def drawn(self, unit: str, shares: tuple[float, ...]) -> Given:
        """Draw the arms of a session, each factor by a coin of its own; the same session draws the same."""
        return tuple(coin(self.started.seed, at, unit) < share for at, share in enumerate(shares))

    def arms(self, given: Given) -> Given:
        """Give the arms as they are handed out: a factor that is decided already is no longer up to a coin."""
        if not self.results:
            return given
        factors = zip(given, self.results, self.started.factors, strict=True)
        return tuple(
            at_coin if result.decision == "running" else self.stays(result, factor)
            for at_coin, result, factor in factors
        )

    def stays(self, result: TrialFigures, factor: TrialFactor) -> bool:
        """Tell whether a factor is given once it is decided: where it is proven, or was there and does no harm."""
        was_there = factor.live or factor.given == self.started.base_version
        return result.decision == "proven" or (was_there and result.decision != "harmful")


def coin(seed: str, factor: int, unit: str) -> float:
    """Toss a coin in [0, 1) that its seed, its factor and its unit fix for ever."""
    digest = sha256(f"{seed}:{factor}:{unit}".encode()).digest()
    return int.from_bytes(digest[:_COIN_BYTES]) / (1 << 8 * _COIN_BYTES)


def fold_trials(envelopes: Iterable[Envelope]) -> list[SkillTrial]:
    """Fold the events of trials, in order, into their states, in the order they began."""
    trials: dict[str, list[Envelope]] = {}
    for envelope in envelopes:
        trials.setdefault(envelope.stream, []).append(envelope)
    return [_folded(began, later) for began, *later in trials.values()]


def _require_fit(envelope: Envelope, started: Frozen) -> TrialStarted:
    """Return the beginning of a trial; raises CorruptLogError where an event is none of such a trial."""
    event, fits = envelope.event, isinstance(started, TrialStarted)
    if isinstance(event, TrialStarted):
        timed = event.unit == "session" or (event.block_s > 0 and _is_moment(event.starts_at))
        fits = fits and timed and 1 <= len(event.factors) <= MOST_FACTORS
    elif isinstance(event, TrialAssigned) and isinstance(started, TrialStarted):
        named = started.unit == "session" or (event.unit.isdecimal() and len(event.unit) <= _MOST_DIGITS)
        fits = named and len(event.given) == len(event.shares) == len(started.factors)
    elif isinstance(event, TrialLooked) and isinstance(started, TrialStarted):
        fits = len(event.results) == len(started.factors)
    if not fits or not isinstance(started, TrialStarted):
        raise CorruptLogError(
            f"event {envelope.position} ({envelope.type}) fits no trial that began before it",
            position=envelope.position,
            hint="germline verify",
        )
    return started


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _folded(began: Envelope, later: Iterable[Envelope]) -> SkillTrial:
    started = _require_fit(began, began.event)
    trial = SkillTrial(started, began.at)
    assigned: dict[str, TrialAssigned] = {}
    counted: list[CountedUnit] = []
    for envelope in later:
        _require_fit(envelope, started)
        event = envelope.event
        if isinstance(event, TrialAssigned):
            assigned[event.unit] = event
            if trial.by_block:
                there = trial.in_folder if event.problem else event.given
                trial = replace(trial, block=int(event.unit), in_folder=there, problem=event.problem)
        elif isinstance(event, TrialLooked):
            counted += event.counted
            trial = replace(trial, results=event.results)
        elif isinstance(event, TrialEnded):
            trial = replace(trial, ended=event, ended_at=envelope.at, results=event.results)
    return replace(trial, assigned=assigned, counted=tuple(counted))
