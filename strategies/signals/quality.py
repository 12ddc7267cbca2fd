"""How far each signal can be trusted: its precision, recall and lift against outcomes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.signals.proportion import wilson
from strategies.signals.survey import lost, truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal

OF_OUTCOMES: Final = frozenset(["regression", "success_streak", "uncovered_failure"])
"""Signals that are made of outcomes: measured against outcomes they would only repeat them."""


class Proportion(NamedTuple):
    """A share of n, with its 95 % Wilson interval; value is 0 where n is."""

    value: float
    low: float
    high: float
    hits: int
    n: int


@dataclass(frozen=True, kw_only=True)
class QualityRow:
    """What one kind of signal, or one signal of it, says about failure.

    `fingerprint` is "" for the row of a kind; `template` and `action` are those of the one signal. `precision` is
    the share of failures among the episodes in which it shows (its n counts those with an outcome), `recall` the
    share of all failures in which it shows. `lift` is precision over the rate of failure: 1 says nothing, less
    than 1 speaks for success; None where no episode failed.
    """

    kind: str
    fingerprint: str = ""
    template: str = ""
    action: str = ""
    precision: Proportion
    recall: Proportion
    lift: float | None


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Signals measured against outcomes: the episodes that have one, how many failed, and a row for each.

    `kinds` and `signals` hold the rows of signals that show in an episode with an outcome, the most precise first.
    """

    episodes: int
    failed: int
    kinds: tuple[QualityRow, ...]
    signals: tuple[QualityRow, ...]


def quality(records: Sequence[EpisodeRecord], signals: Iterable[Signal]) -> Quality:
    """Measure signals against the outcomes of the episodes that they were found in.

    An outcome below 1 is a failure. Outcomes that are guessed from signals count as none, and signals that are
    made of outcomes are left out.
    """
    known = frozenset(record.id for record in records if truth(record) is not None)
    failed = frozenset(record.id for record in records if lost(record))
    rate = len(failed) / max(len(known), 1)
    measured = [
        signal for signal in signals if signal.kind not in OF_OUTCOMES and not known.isdisjoint(signal.seen_in)
    ]
    seen: dict[str, set[str]] = defaultdict(set)
    for signal in measured:
        seen[signal.kind] |= signal.seen_in

    def row(kind: str, shown: AbstractSet[str], signal: Signal | None = None) -> QualityRow:
        in_known = shown & known
        precision = _proportion(len(in_known & failed), len(in_known))
        return QualityRow(
            kind=kind,
            fingerprint=signal.fingerprint if signal else "",
            template=signal.template if signal else "",
            action=signal.action if signal else "",
            precision=precision,
            recall=_proportion(precision.hits, len(failed)),
            lift=precision.value / rate if rate else None,
        )

    return Quality(
        episodes=len(known),
        failed=len(failed),
        kinds=_ordered(row(kind, shown) for kind, shown in seen.items()),
        signals=_ordered(row(signal.kind, signal.seen_in, signal) for signal in measured),
    )


def _ordered(rows: Iterable[QualityRow]) -> tuple[QualityRow, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.precision.value, -row.precision.n, row.kind, row.fingerprint)))


def _proportion(hits: int, n: int) -> Proportion:
    low, high = wilson(hits, n)
    return Proportion(hits / n if n else 0.0, low, high, hits, n)
