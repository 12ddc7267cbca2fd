"""What judges may do, in words: calibrations, what ended them, and what scores of runs are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strategies.judge.calibration_rule import JudgeIdentity, identity_of, missing_from, standing_of
from tui.cli.output.facts import LABEL, say_fact, say_folded
from tui.cli.printers.judge_chart import drawn
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count, interval, share, signed
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.judge_events import JudgeCalibrated
    from events.types.judgements import LengthBias, Preferred
    from strategies.gate.stats.correlation import Association
    from strategies.judge.calibration_rule import JudgeStanding
    from strategies.judge.run_scores import Tested
    from tui.cli.output.invocation import Invocation

_BIASED: Final = 0.05
"""The p from which on a judge is said to follow length."""
_PROMOTES: Final = "may promote, veto and annotate"
_ANNOTATES: Final = "annotates and vetoes, promotes nothing"
_YES: Final = ("✓", "good")
_NO: Final = ("✗", "bad")
_WAITS: Final = ("·", "warn")


@dataclass(frozen=True, slots=True)
class Present:
    """The judge that the settings name now: its model, "" for none, its prompt's hash, and its rubric's file."""

    model: str
    prompt: str
    rubric: str

    def standings(self, known: Sequence[JudgeCalibrated]) -> dict[str, JudgeStanding]:
        """Tell what it may do, by the families that were ever calibrated."""
        families = sorted({calibration.family for calibration in known if calibration.family})
        return {name: standing_of(JudgeIdentity(self.model, self.prompt, name), known) for name in families}


def print_calibration(call: Invocation, calibrated: JudgeCalibrated) -> None:
    """Print what one calibration showed, drawn, and what the judge may do for it."""
    missing = missing_from(calibrated)
    mark, says = (_NO, _ANNOTATES) if missing else (_YES, _PROMOTES)
    call.say(f"{call.paint(*mark)} {calibrated.family}: {says}")
    for at, reason in enumerate(missing):
        say_fact(call, "lacks" if at == 0 else "", reason)
    say_fact(call, "judge", f"{calibrated.model}, prompt {calibrated.prompt[:SHOWN_CHARS]}")
    for line in drawn(calibrated):
        call.say(f"  {line}".rstrip())
    items = f"{count(calibrated.items, 'item')} of {count(calibrated.tasks, 'task')} with mixed results"
    unusable = f"; no answer of use to {count(calibrated.unusable, 'pair')}" if calibrated.unusable else ""
    say_fact(call, "items", f"{items}, r {signed(calibrated.correlation, 2)}{unusable}")
    if calibrated.length:
        say_fact(call, "length", _length_words(calibrated.length))
    if calibrated.preferred:
        say_fact(call, "b over a", _preferred_words(calibrated.preferred))
    if calibrated.cost_usd:
        say_fact(call, "cost", f"{calibrated.cost_usd:.4f} USD")


def _length_words(length: LengthBias) -> str:
    biased = "; it follows length" if length.p < _BIASED and length.excess > 0 else ""
    return (
        f"the longer one wins {share(length.longer)}, by the labels {share(length.labelled)}: "
        f"{signed(length.excess, 2)} {interval(length.low, length.high, 2)}, p {length.p:.3f}{biased}"
    )


def _preferred_words(preferred: Preferred) -> str:
    return (
        f"{share(preferred.value)} {interval(preferred.low, preferred.high)}, from "
        f"{count(preferred.labels, 'label')} and {preferred.judged:,} judged; the judge weighs "
        f"{preferred.weight:.2f} (PPI++)"
    )


def print_judges(
    call: Invocation, present: Present, known: Sequence[JudgeCalibrated], scores: Sequence[Tested]
) -> None:
    """Print what the present judge may do on each family and why, and what scores of runs are worth."""
    if present.model:
        rubric = f"rubric {present.rubric}" if present.rubric else "its own rubric"
        call.say(f"judge      {one_line(present.model)}, prompt {present.prompt[:SHOWN_CHARS]}, {rubric}")
    else:
        say_folded(call, "judge      ", 'none is named: judge = "MODEL" under [models] in germline.toml')
    last = {identity_of(calibration): calibration for calibration in known}
    for family, standing in present.standings(known).items():
        call.say()
        if standing.calibration:
            print_calibration(call, standing.calibration)
        else:
            call.say(f"{call.paint(*_WAITS)} {family}: {_ANNOTATES}")
            say_fact(call, "lacks", "; ".join(standing.reasons))
        others = [
            calibration
            for calibration in last.values()
            if calibration.family == family and calibration != standing.calibration
        ]
        for at, calibration in enumerate(others):
            say_fact(call, "others" if at == 0 else "", _in_short(calibration))
    for tested in scores:
        call.say()
        _print_tested(call, tested)
    call.say("\nnext       germline judge calibrate --labels FILE    germline judge score")


def _in_short(calibrated: JudgeCalibrated) -> str:
    """Say of another judge of the family what its last calibration came to."""
    agreement = f"{share(calibrated.agreement)} {interval(calibrated.agreement_low, calibrated.agreement_high, 2)}"
    judge = f"{calibrated.model}, prompt {calibrated.prompt[:SHOWN_CHARS]}"
    return f"{judge}: agreement {agreement} on {count(calibrated.items, 'item')}"


def _print_tested(call: Invocation, tested: Tested) -> None:
    runs = f"{count(tested.runs, 'run')} scored by {tested.model}, prompt {tested.prompt[:SHOWN_CHARS]}"
    say_fact(call, "criteria", f"{runs}: a note, which no verdict looks at")
    call.say(f"  {'':<{LABEL}}{'':<13}mean   r with outcomes, within tasks")
    for criterion in tested.criteria:
        name = criterion.name.replace("_", " ")
        call.say(f"  {'':<{LABEL}}{name:<13}{criterion.mean:.2f}   {_association_words(criterion.association)}")
    length = tested.length
    if length is None:
        say_fact(call, "length", "too few runs to tell whether the marks follow length")
        return
    biased = "; they follow length" if length.p < _BIASED and length.r > 0 else ""
    association = f"marks with length, outcomes held: {_association_words(length)}, p {length.p:.3f}"
    say_fact(call, "length", f"{association}{biased}")


def _association_words(association: Association | None) -> str:
    if association is None:
        return "too few runs to tell"
    figures = f"{signed(association.r, 2)} {interval(association.low, association.high, 2)}"
    return f"{figures}, {count(association.runs, 'run')} of {count(association.tasks, 'task')}"
