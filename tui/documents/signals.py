"""Signals in documents: as they were raised, as they were picked, and what they are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from events.types.parts import Strategy
from tui.documents.document import ABSENT, Absent, Document, Part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.registry_events import SignalRaised
    from strategies.select.pick import Pick
    from strategies.signals.quality import Quality


class SignalRow(Part):
    """A signal in short, without its evidence."""

    kind: str
    fingerprint: str
    template: str
    action: str
    count: int
    episodes: int


class RaisedSignal(Part):
    """A signal as it was raised, without its evidence."""

    fingerprint: str
    kind: str
    calls_for: Strategy
    template: str
    action: str
    count: int
    episodes: int
    runs: tuple[str, ...]
    severity: float


def raised_signals(signals: Iterable[SignalRaised]) -> tuple[RaisedSignal, ...]:
    """Describe signals that came up."""
    return tuple(map(RaisedSignal.model_validate, signals))


class FirstFigures(Part):
    """The figures with which a signal was first raised."""

    count: int
    episodes: int
    severity: float


class SignalListed(RaisedSignal):
    """A signal as it is counted now; `raised_with` are the figures of its event."""

    evidence: tuple[str, ...]
    open: bool
    raised_with: FirstFigures
    position: int
    at: str


class ProportionRow(Part):
    """A share of n, with its 95 % interval."""

    value: float
    low: float
    high: float
    hits: int
    n: int


class KindQuality(Part):
    """What one kind of signal says about failure."""

    kind: str
    precision: ProportionRow
    recall: ProportionRow
    lift: float | None


class SignalQuality(Part):
    """What one signal says about failure."""

    fingerprint: str
    template: str
    action: str
    kind: str
    precision: ProportionRow
    recall: ProportionRow
    lift: float | None


class QualityFigures(Part):
    """How signals compare with outcomes."""

    episodes: int
    failed: int
    kinds: tuple[KindQuality, ...]
    signals: tuple[SignalQuality, ...]


class SignalsDocument(Document):
    """List the signals that were raised, with counts and evidence."""

    schema_: Literal["germline/signals/1"] = "germline/signals/1"
    signals: Absent[tuple[SignalListed, ...]] = ABSENT
    quality: Absent[QualityFigures] = ABSENT

    @classmethod
    def of_quality(cls, quality: Quality) -> SignalsDocument:
        """Answer `signals --quality`."""
        return cls(quality=QualityFigures.model_validate(quality))


class PickReason(Part):
    """Why a signal was picked: what each kind was owed, how many of each waited, how severe it is."""

    owed: dict[Strategy, float]
    waiting: dict[Strategy, int]
    severity: float

    @classmethod
    def of(cls, pick: Pick[SignalRaised]) -> PickReason:
        """Read it from the pick."""
        return cls(owed=pick.owed, waiting=pick.waiting, severity=pick.offer.severity)


class RestingSignal(Part):
    """A signal that is not picked for a while."""

    signal: SignalRow
    failures: int
    turns_left: int
