"""A model as judge: what its two answers come to, how it compares with people's labels, and what it may do then.

A judge sees two outputs in both orders and does not know whose they are. It may always annotate, and veto; it may
promote only while it is calibrated, by this model and this prompt on this family of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.types.judgements import LengthBias
from strategies.gate.rule import Rule
from strategies.gate.stats.clopper_pearson import Share, share_of
from strategies.gate.stats.correlation import pearson
from strategies.gate.stats.mantel_haenszel import Z95

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.judge_events import JudgeCalibrated

Preference = Literal["a", "tie", "b"]
"""Which of two outputs is better, a or b."""
Place = Literal["first", "tie", "second"]
"""Which of two outputs is better, by the place where it was shown: all that a judge can say."""
Power = Literal["annotate", "veto", "promote"]

PREFERENCES: Final[tuple[Preference, ...]] = ("a", "tie", "b")
CODES: Final[dict[Preference, float]] = {"a": 0.0, "tie": 0.5, "b": 1.0}
"""A preference as an outcome of b: lost, drawn, won."""

LEAST_ITEMS: Final = 40
LEAST_AGREEMENT: Final = 0.6
LEAST_CONSISTENCY: Final = 0.8
"""What a calibrated judge must show."""


class BothOrders(NamedTuple):
    """What a judge answered about one pair: with a shown first, and with b shown first."""

    forward: Place
    backward: Place

    @property
    def answers(self) -> tuple[Preference, Preference]:
        """The two answers in terms of the outputs."""
        straight: dict[Place, Preference] = {"first": "a", "tie": "tie", "second": "b"}
        turned: dict[Place, Preference] = {"first": "b", "tie": "tie", "second": "a"}
        return straight[self.forward], turned[self.backward]

    @property
    def consistent(self) -> bool:
        """Whether the order changed nothing."""
        first, second = self.answers
        return first == second

    @property
    def verdict(self) -> Preference:
        """What both answers say; a disagreement is a tie."""
        return self.answers[0] if self.consistent else "tie"


class JudgedPair(NamedTuple):
    """One pair that was judged; `label` is the label that a person gave, None where nobody did.

    `orders` is None where the judge gave no answer of use, which agrees with nobody and holds in no order.
    Units: `longer_by` is the length of b less that of a, in characters.
    """

    task: str
    orders: BothOrders | None
    label: Preference | None = None
    longer_by: int = 0

    @property
    def verdict(self) -> Preference:
        """What the judge says in both orders; a tie where it says nothing."""
        return self.orders.verdict if self.orders else "tie"

    @property
    def agrees(self) -> bool:
        """Whether it says what the label says."""
        return self.orders is not None and self.verdict == self.label


@dataclass(frozen=True)
class Calibration:
    """Compare a judge with labels, on items on which results are mixed.

    `agreement` is the share of items with the verdict of the label, `consistency` that of items on which the order
    changed nothing, `correlation` Pearson's r of verdicts and labels (0, .5, 1). `table` counts items by label and
    verdict, both in the order of PREFERENCES, and leaves out those without an answer.
    """

    agreement: Share
    consistency: float
    correlation: float
    table: tuple[tuple[int, int, int], ...]


def calibration_of(judged: Iterable[JudgedPair]) -> Calibration:
    """Measure a judge on the items that have a label, of those on which results are mixed.

    The lower limit of agreement is that of the exact two-sided 95 % interval (exact.py): a judge that agrees in .6
    passes by luck in at most 2.5 % of calibrations; by Wilson's interval in up to 3 % (computed, 40 to 100 items).
    """
    labelled = [(judgement, judgement.label) for judgement in judged if judgement.label is not None]
    table = [[0, 0, 0] for _ in PREFERENCES]
    for judgement, label in labelled:
        table[PREFERENCES.index(label)][PREFERENCES.index(judgement.verdict)] += judgement.orders is not None
    consistent = [judgement.orders is not None and judgement.orders.consistent for judgement, _ in labelled]
    return Calibration(
        agreement=share_of((judgement.task, judgement.agrees) for judgement, _ in labelled),
        consistency=fmean(consistent) if labelled else 0.0,
        correlation=pearson(
            [CODES[judgement.verdict] for judgement, _ in labelled], [CODES[label] for _, label in labelled]
        ),
        table=tuple((row[0], row[1], row[2]) for row in table),
    )


def calibration_rules(items: int, agreement_low: float, consistency: float) -> Iterator[Rule]:
    """Ask what a judge must show before it may promote."""
    yield Rule(
        "labels",
        f"{items} labelled items with mixed results",
        f"at least {LEAST_ITEMS}",
        items >= LEAST_ITEMS,
        f"{items} labelled items with mixed results, {LEAST_ITEMS} are needed",
    )
    yield Rule(
        "agreement",
        f"at least {agreement_low:.2f}, with 95 % confidence",
        f"a lower limit of at least {LEAST_AGREEMENT:g}",
        agreement_low >= LEAST_AGREEMENT,
        f"the lower limit of its agreement with the labels is {agreement_low:.2f}, below {LEAST_AGREEMENT:g}",
    )
    yield Rule(
        "swapped",
        f"the same answer in both orders for {consistency:.0%}",
        f"at least {LEAST_CONSISTENCY:.0%}",
        consistency >= LEAST_CONSISTENCY,
        f"the order changed nothing for {consistency:.0%} of the items, {LEAST_CONSISTENCY:.0%} are needed",
    )


class JudgeIdentity(NamedTuple):
    """What a calibration holds for: a model, the hash of its prompt, and a family of tasks."""

    model: str
    prompt: str
    family: str


@dataclass(frozen=True)
class JudgeStanding:
    """What a judge may do, and why no more than that."""

    powers: frozenset[Power]
    reasons: tuple[str, ...] = ()
    calibration: JudgeCalibrated | None = None

    @property
    def promotes(self) -> bool:
        """Whether its verdict may count for a promotion."""
        return "promote" in self.powers


WITHOUT: Final = frozenset[Power](["annotate", "veto"])
"""What a judge may do that is not calibrated."""


def standing_of(judge: JudgeIdentity, calibrations: Sequence[JudgeCalibrated]) -> JudgeStanding:
    """Tell what a judge may do by the calibrations so far, oldest first; of its own the last one counts."""
    own = [calibration for calibration in calibrations if identity_of(calibration) == judge]
    if not own:
        return JudgeStanding(WITHOUT, (_why_none(judge, calibrations),))
    last = own[-1]
    missing = missing_from(last)
    return JudgeStanding(WITHOUT if missing else WITHOUT | {"promote"}, missing, last)


def missing_from(calibrated: JudgeCalibrated) -> tuple[str, ...]:
    """Say what a calibration lacks for the right to promote; nothing where it has it."""
    rules = calibration_rules(calibrated.items, calibrated.agreement_low, calibrated.swap_consistency)
    return tuple(rule.missing for rule in rules if not rule.holds)


def identity_of(calibrated: JudgeCalibrated) -> JudgeIdentity:
    """Tell which judge a calibration is of."""
    return JudgeIdentity(calibrated.model, calibrated.prompt, calibrated.family)


def _why_none(judge: JudgeIdentity, calibrations: Sequence[JudgeCalibrated]) -> str:
    """Say what ended the calibration that came nearest, or that there was none."""
    of_family = [calibration for calibration in calibrations if calibration.family == judge.family]
    if not of_family:
        others = sorted({calibration.family for calibration in calibrations})
        elsewhere = f"; it was for {', '.join(others)}" if others else ""
        return f"never calibrated on tasks of the family {judge.family}{elsewhere}"
    by_model = [calibration for calibration in of_family if calibration.model == judge.model]
    if not by_model:
        return f"its model changed since it was calibrated: {of_family[-1].model} then, {judge.model} now"
    return f"its prompt changed since it was calibrated: {by_model[-1].prompt[:12]} then, {judge.prompt[:12]} now"


def length_bias(judged: Iterable[JudgedPair]) -> LengthBias | None:
    """Test whether a judge prefers longer outputs more than people do; None where no lengths differ.

    Shapes: only items with a label and two lengths count. Source: the sign test over the items on which judge and
    label differ about the longer one (McNemar's test, exact), the interval by the normal distribution.
    """
    pairs = [
        (_of_longer(judgement.verdict, judgement.longer_by), _of_longer(judgement.label, judgement.longer_by))
        for judgement in judged
        if judgement.orders is not None and judgement.label is not None and judgement.longer_by
    ]
    if not pairs:
        return None
    apart = [judged - label for judged, label in pairs]
    excess = fmean(apart)
    margin = Z95 * stdev(apart) / sqrt(len(apart)) if len(apart) > 1 else 1.0
    more, fewer = sum(difference > 0 for difference in apart), sum(difference < 0 for difference in apart)
    return LengthBias(
        items=len(pairs),
        longer=fmean(judged for judged, _ in pairs),
        labelled=fmean(label for _, label in pairs),
        excess=excess,
        low=max(excess - margin, -1.0),
        high=min(excess + margin, 1.0),
        p=sign_test(more, fewer),
    )


def sign_test(more: int, fewer: int) -> float:
    """Give the two-sided p of so many signs one way and so many the other, were both as likely; exact."""
    n, least = more + fewer, min(more, fewer)
    term = below = 1
    for k in range(1, least + 1):
        term = term * (n - k + 1) // k
        below += term
    return min(1.0, 2 * below / 2**n) if n else 1.0


def _of_longer(preference: Preference, longer_by: int) -> float:
    """Give a preference as the outcome of the longer output."""
    return CODES[preference] if longer_by > 0 else 1 - CODES[preference]
