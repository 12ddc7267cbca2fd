"""Repair: what to do next after an error, and what not to, mined from explore without any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.claims import AfterError
from strategies.gate.after_error import first_failure
from strategies.gate.contrast import Case, Contrast, contrast
from strategies.gate.outcomes import judged, outcome_of
from strategies.gate.policy import WRITTEN_RULE
from strategies.gate.strata import Stratum, stratifier, survivors, two_sided_p
from strategies.proposers.phrases import also_avoid_line, avoid_line, do_line
from strategies.proposers.proposal import LearnedLine, Mined, Proposal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord

FALSE_DISCOVERIES: Final = 0.05
"""The rate that Benjamini-Yekutieli holds on explore (replay_and_gate.md, Offline miner)."""


class _Answer(NamedTuple):
    """What one episode did next after the error."""

    stratum: Stratum
    task: str
    action: str
    outcome: float


def recovery(template: str, explore: Sequence[EpisodeRecord]) -> Mined:
    """Compare, for each action class that follows an error, those who took it with those who did not.

    Tries the classes with 20 episodes on either side in strata that hold both; keeps what survives
    Benjamini-Yekutieli over all tried. Proposes the best to do, with the worst to avoid behind it.
    """
    answers = _answers(template, judged(explore).records)
    actions = sorted({answer.action for answer in answers})
    compared = {action: figures for action in actions if (figures := _compared(answers, action)) is not None}
    tried = [action for action, figures in compared.items() if _large_enough(figures)]
    kept = survivors([two_sided_p(compared[action].z) for action in tried], FALSE_DISCOVERIES)
    surviving = {tried[index]: compared[tried[index]] for index in sorted(kept)}
    return Mined(
        proposal=_proposal(template, surviving, len(tried)),
        tried=len(tried),
        strongest=max(compared.values(), key=lambda figures: abs(figures.z), default=None),
    )


def _answers(template: str, records: Sequence[EpisodeRecord]) -> list[_Answer]:
    stratum_of = stratifier(records)
    found = ((record, first_failure(record, template)) for record in records)
    return [
        _Answer(stratum_of(record), record.task, record.steps[at[1]].action, outcome_of(record))
        for record, at in found
        if at is not None
    ]


def _compared(answers: Sequence[_Answer], action: str) -> Contrast | None:
    return contrast(Case(one.stratum, one.task, one.action == action, one.outcome) for one in answers)


def _large_enough(figures: Contrast) -> bool:
    return min(figures.obeyed, figures.disobeyed) >= WRITTEN_RULE.least_arm


def _proposal(template: str, surviving: dict[str, Contrast], tried: int) -> Proposal | None:
    """Write the line to do, the line to avoid, or both."""
    do = max(surviving, key=lambda action: surviving[action].z, default="")
    avoid = min(surviving, key=lambda action: surviving[action].z, default="")
    lines: list[LearnedLine] = []
    if do and surviving[do].z > 0:
        lines.append(LearnedLine(do_line(template, do), AfterError(template=template, do=do)))
    if avoid and surviving[avoid].z < 0:
        write = also_avoid_line if lines else avoid_line
        lines.append(LearnedLine(write(template, avoid), AfterError(template=template, avoid=avoid)))
    if not lines:
        return None
    figures = surviving[do] if surviving[do].z > 0 else surviving[avoid]
    return Proposal("recovery", tuple(lines), _reason(figures, tried, len(surviving)))


def _reason(figures: Contrast, tried: int, kept: int) -> str:
    """Say what explore showed for the action that the first line names."""
    return (
        f"explore: {figures.obeyed} episodes took the action next, {figures.disobeyed} did not; "
        f"risk difference {figures.difference.value:+.2f}, z {figures.z:+.1f}; "
        f"{kept} of {tried} claims tried survive Benjamini-Yekutieli at q = {FALSE_DISCOVERIES:g}"
    )
