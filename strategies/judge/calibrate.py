"""Calibration: a judge is asked about pairs that people compared, and what that shows is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.judge_events import JudgeCalibrated
from events.types.judgements import Preferred
from registry.decide.commands import RecordFact
from strategies.gate.stats.ppi import LEAST_LABELS, Labelled, prediction_powered_mean
from strategies.judge.ask_judge import Pair
from strategies.judge.calibration_rule import CODES, JudgedPair, calibration_of, length_bias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.judge.ask_judge import PairJudge, Ruling
    from strategies.judge.calibration_rule import JudgeIdentity
    from strategies.judge.labels import LabelFile, LabelledPair

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
        rulings += judge.judge([Pair(pair.task, pair.a, pair.b) for pair in asked])
    results, left = [], iter(rulings)
    for family, each in wanted.items():
        results.append(calibrated(judge.identity(family), labels.digest, each, [next(left) for _ in each]))
    registry.execute(RecordFact(tuple(results)))
    return results


def to_judge(labels: LabelFile) -> dict[str, tuple[LabelledPair, ...]]:
    """Give the pairs that a calibration asks about: those with mixed results, of the families that have labels."""
    return {family: pairs for family, pairs in labels.families.items() if any(pair.label for pair in pairs)}


def calibrated(
    judge: JudgeIdentity, labels: str, pairs: Sequence[LabelledPair], rulings: Sequence[Ruling]
) -> JudgeCalibrated:
    """Write down what the answers show; `labels` is the hash of the file."""
    judged = [
        JudgedPair(pair.task, ruling.orders, pair.label, pair.longer_by)
        for pair, ruling in zip(pairs, rulings, strict=True)
    ]
    calibration = calibration_of(judged)
    return JudgeCalibrated(
        judge=f"{judge.model}#{judge.prompt[:_SHOWN_CHARS]} on {judge.family}",
        items=calibration.agreement.n,
        agreement=calibration.agreement.value,
        agreement_low=calibration.agreement.low,
        swap_consistency=calibration.consistency,
        model=judge.model,
        prompt=judge.prompt,
        family=judge.family,
        tasks=calibration.agreement.tasks,
        agreement_high=calibration.agreement.high,
        correlation=calibration.correlation,
        table=calibration.table,
        length=length_bias(judged),
        preferred=preferred(judged),
        labels=labels,
        unusable=sum(ruling.orders is None for ruling in rulings),
        cost_usd=sum(ruling.cost_usd for ruling in rulings),
    )


def preferred(judged: Sequence[JudgedPair]) -> Preferred | None:
    """Estimate how far b is preferred to a over all pairs; None where all of them are labelled."""
    labelled = [
        Labelled(CODES[judged_pair.label], CODES[judged_pair.verdict])
        for judged_pair in judged
        if judged_pair.label is not None
    ]
    others = [CODES[judged_pair.verdict] for judged_pair in judged if judged_pair.label is None]
    if len(labelled) < LEAST_LABELS or not others:
        return None
    mean = prediction_powered_mean(labelled, others)
    return Preferred(
        value=min(max(mean.value, 0.0), 1.0),
        low=min(max(mean.low, 0.0), 1.0),
        high=min(max(mean.high, 0.0), 1.0),
        weight=mean.weight,
        labels=len(labelled),
        judged=len(others),
    )


def calibrations(library: Library) -> list[JudgeCalibrated]:
    """List the calibrations of judges, oldest first."""
    events = (envelope.event for envelope in library.log.read(types=("JudgeCalibrated",)))
    return [event for event in events if isinstance(event, JudgeCalibrated)]
