"""Versions as lists and timelines show them: how each came, and what was measured of it, by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from events.errors import CorruptLogError
from events.types.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from events.store.envelope import Envelope
    from events.types.capsule_events import CapsuleVersioned, VersionScored
    from events.types.score import Delta, Measured


class VersionRow(NamedTuple):
    """One version of a capsule.

    `before` and `after` were measured when it came, by one evaluator; `rescored` is what was measured last since
    then, at the event `rescored_at`: by another evaluator, as a rule.
    """

    capsule: str
    version: int
    position: int
    at: str
    actor: str
    cause: str
    summary: str
    before: Measured
    after: Measured
    delta: Delta | None
    candidate: str
    rescored: Score | None = None
    rescored_at: int = 0

    @property
    def score(self) -> Measured:
        """What was measured of it last."""
        return self.rescored or self.after

    @property
    def scores(self) -> tuple[Measured, ...]:
        """Every measurement that a timeline draws; between two evaluators it draws a seam."""
        if self.rescored is None:
            return (self.after,)
        return (self.after, self.rescored) if isinstance(self.after, Score) else (self.rescored,)


def version_row(
    envelope: Envelope, scored: Envelope | None = None, following: Envelope | None = None
) -> VersionRow:
    """Read a version from its event, with the event that measured it last since then, if there is one.

    `following` made the next version: a promotion measured its base as well, which counts where nothing else did.
    """
    event: CapsuleVersioned = event_of("CapsuleVersioned", envelope)
    row = VersionRow(
        capsule=event.capsule,
        version=event.version,
        position=envelope.position,
        at=envelope.at,
        actor=envelope.actor,
        cause=event.cause,
        summary=event.summary,
        before=event.before,
        after=event.after,
        delta=event.delta,
        candidate=event.candidate,
        rescored=scored_by(scored).score if scored else None,
        rescored_at=scored.position if scored else 0,
    )
    if following is None or isinstance(row.score, Score):
        return row
    promoted: CapsuleVersioned = event_of("CapsuleVersioned", following)
    if not promoted.candidate or not isinstance(promoted.before, Score):
        return row
    return row._replace(rescored=promoted.before, rescored_at=following.position)


def scored_by(envelope: Envelope) -> VersionScored:
    """Read what measured a version."""
    event: VersionScored = event_of("VersionScored", envelope)
    return event


def event_of(kind: str, envelope: Envelope) -> Any:  # noqa: ANN401 - of the kind that the caller names
    """Read an event of a kind that the log was asked for; raises CorruptLogError for another."""
    if envelope.type != kind:
        raise CorruptLogError(f"event {envelope.position} is no {kind}", position=envelope.position)
    return envelope.event


def under_one_evaluator(rows: Iterable[VersionRow]) -> dict[int, Score]:
    """Give the scores of the evaluator that measured last, by version: only those can be compared.

    A promotion measured its base as well, which counts where nothing else measured that one. A version that went
    back repeats an old score, and measured nothing.
    """
    measurements = sorted(_measurements(rows), key=lambda measurement: measurement.position)
    same = [
        measurement
        for measurement in measurements
        if measurement.score.evaluator == measurements[-1].score.evaluator
    ]
    bases = {measurement.version: measurement.score for measurement in same if measurement.as_base}
    return bases | {measurement.version: measurement.score for measurement in same if not measurement.as_base}


class _Measurement(NamedTuple):
    position: int
    version: int
    score: Score
    as_base: bool = False


def _measurements(rows: Iterable[VersionRow]) -> Iterator[_Measurement]:
    for row in rows:
        if row.candidate and isinstance(row.before, Score):
            yield _Measurement(row.position, row.version - 1, row.before, as_base=True)
        if row.cause != "revert" and isinstance(row.after, Score):
            yield _Measurement(row.position, row.version, row.after)
        if row.rescored:
            yield _Measurement(row.rescored_at, row.version, row.rescored)
