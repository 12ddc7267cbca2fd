"""The rules about runs: no claim rests on one run in silence, and none of them is harmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.gate.replay.replicates import is_carried, without_one_run
from strategies.gate.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.score import Effect


def each_run(effect: Effect) -> Iterator[Rule]:
    """Ask that more than one run shows an effect, or that the line names those that do, and that none is harmed.

    Nothing where that was not measured.
    """
    shown = effect.replicates
    if shown is None:
        return
    yield Rule(
        "runs",
        without_one_run(shown),
        "shown without any single run, or by a run alone of which the line then speaks",
        not is_carried(shown) or bool(shown.scope),
        f"{without_one_run(shown)}, and no run shows it by itself",
    )
    yield Rule(
        "no run harmed",
        f"{shown.harmed} ends worse" if shown.harmed else "none is surely harmed",
        "no run that surely ends worse",
        not shown.harmed,
        f"{shown.harmed} surely ends worse where it obeys",
    )
    yield every_part(shown.turned)


def every_part(against: str) -> Rule:
    """Ask that no part of the logs surely shows the opposite; `against` names one that does."""
    return Rule(
        "every part",
        f"the opposite where {against}" if against else "no part of the logs speaks against it",
        "no part of the logs surely shows the opposite",
        not against,
        f'where "{against}", obeying goes with the opposite',
    )
