"""Calibration: a judge is asked about pairs that people compared, and what that shows is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.judge_events import JudgeCalibrated
from events.judgements import Preferred
from registry.commands import Record
from strategies.gate.judging import CODES, Judged, calibration_of, length_bias
from strategies.gate.prediction_powered import LEAST_LABELS, Labelled, prediction_powered_mean
from strategies.models.judge import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from registry.library import Library
    from registry.registry import Registry
    from strategies.gate.judging import JudgeIdentity
    from strategies.labels import LabelFile, LabelledPair
    from strategies.models.judge import PairJudge, Ruling

PAIRS_AT_ONCE: Final = 10
"""Pairs that are asked about between two signs of life (a guess: about a minute)."""
ORDERS: Final = 2
_SHOWN_CHARS: Final = 12


def calibrate(
    registry: Registry,
    judge: PairJudge,
    labels: LabelFile,
    *,
    at_once: int = PAIRS_AT_ONCE,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[JudgeCalibrated]:
    """Calibrate a judge for each family that has labels, record it, and return what was recorded.

    Each pair is asked about in both orders, `at_once` of them in a round; `on_progress` hears how many are done,
    before each.
    Raises: what the model raises; what was answered until then is kept, and not paid for again.
    """
    wanted = to_judge(labels)
    pairs = [pair for each in wanted.values() for pair in each]
    rulings: list[Ruling] = []
    for start in range(0, len(pairs), at_once):
        on_progress(start)
        asked = pairs[start : start + at_once]
        rulings += judge.judge([Pair(one.task, one.a, one.b) for one in asked])
    found, left = [], iter(rulings)
    for family, each in wanted.items():
        found.append(calibrated(judge.identity(family), labels.digest, each, [next(left) for _ in each]))
    registry.execute(Record(tuple(found)))
    return found


def to_judge(labels: LabelFile) -> dict[str, tuple[LabelledPair, ...]]:
    """Give the pairs that a calibration asks about: those with mixed results, of the families that have labels."""
    return {family: pairs for family, pairs in labels.families.items() if any(pair.label for pair in pairs)}


def calibrated(
    judge: JudgeIdentity, labels: str, pairs: Sequence[LabelledPair], rulings: Sequence[Ruling]
) -> JudgeCalibrated:
    """Write down what the answers show; `labels` is the hash of the file."""
    judged = [
        Judged(pair.task, ruling.said, pair.label, pair.longer_by)
        for pair, ruling in zip(pairs, rulings, strict=True)
    ]
    found = calibration_of(judged)
    return JudgeCalibrated(
        judge=f"{judge.model}#{judge.prompt[:_SHOWN_CHARS]} on {judge.family}",
        items=found.agreement.n,
        agreement=found.agreement.value,
        agreement_low=found.agreement.low,
        swap_consistency=found.consistency,
        model=judge.model,
        prompt=judge.prompt,
        family=judge.family,
        tasks=found.agreement.tasks,
        agreement_high=found.agreement.high,
        correlation=found.correlation,
        table=found.table,
        length=length_bias(judged),
        preferred=preferred(judged),
        labels=labels,
        unusable=sum(ruling.said is None for ruling in rulings),
        cost_usd=sum(ruling.cost_usd for ruling in rulings),
    )


def preferred(judged: Sequence[Judged]) -> Preferred | None:
    """Estimate how far b is preferred to a over all pairs; None where all of them are labelled."""
    labelled = [Labelled(CODES[one.label], CODES[one.verdict]) for one in judged if one.label is not None]
    others = [CODES[one.verdict] for one in judged if one.label is None]
    if len(labelled) < LEAST_LABELS or not others:
        return None
    found = prediction_powered_mean(labelled, others)
    return Preferred(
        value=min(max(found.value, 0.0), 1.0),
        low=min(max(found.low, 0.0), 1.0),
        high=min(max(found.high, 0.0), 1.0),
        weight=found.weight,
        labels=len(labelled),
        judged=len(others),
    )


def calibrations(library: Library) -> list[JudgeCalibrated]:
    """List the calibrations of judges, oldest first."""
    events = (envelope.event for envelope in library.log.read(types=("JudgeCalibrated",)))
    return [event for event in events if isinstance(event, JudgeCalibrated)]
