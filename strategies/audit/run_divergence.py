"""Where two runs of a task part: the first step at which the agent did something else."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.clipped_text import clipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.audit.evaluators.evaluator_types import RunRecord

_MOST_CHARS: Final = 400
_NOTHING: Final = "(nothing)"


class Divergence(NamedTuple):
    """What both runs do at the step where they part, counted from 1; step 0 where they do the same."""

    step: int
    with_skill: str
    without_skill: str


def divergence(with_skill: RunRecord, without_skill: RunRecord) -> Divergence:
    """Find where two runs part: step by step, then file by file, then in the answer."""
    pairs = zip_longest(_deeds(with_skill), _deeds(without_skill), fillvalue=_NOTHING)
    for step, (first, second) in enumerate(pairs, start=1):
        if first != second:
            return Divergence(step, clipped(first, _MOST_CHARS), clipped(second, _MOST_CHARS))
    return Divergence(0, "", "")


def _deeds(run: RunRecord) -> Sequence[str]:
    calls = [f"{action.tool} {action.call}{' (failed)' if action.failed else ''}" for action in run.actions]
    files = [f"{path}: {text}" for path, text in sorted(run.files.items())]
    return (*calls, *files, *(f"removes {path}" for path in run.removed), run.answer)
