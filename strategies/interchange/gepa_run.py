"""The run folder of GEPA: the candidates of `gepa_state.bin` and what each came to on each task of its set.

The file is a pickle, which can run code while it is read; here only plain containers, texts and numbers are made
of it, and nothing is imported or called. Source: gepa-ai/gepa, `GEPAState.save`, schema 4.
"""

from __future__ import annotations

import io
import pickle
from statistics import fmean
from typing import Final, Self

from events.errors import UnreadableLogError
from strategies.interchange.paired_results import SideScore, SideScores

STATE: Final = "gepa_state.bin"
_SEED: Final = "seed"
_BEST: Final = "best"
"""The side of the candidate with the highest mean, beside the number that each has."""


class _Ignored:
    """Stands for a value of a type that is not built in; nothing is imported or called for it."""

    def __new__(cls, *_args: object, **_named: object) -> Self:
        """Take any arguments, and keep none."""
        return super().__new__(cls)

    def __setstate__(self, state: object) -> None:
        """Keep no state."""

    def __setitem__(self, key: object, value: object) -> None:
        """Keep no item."""

    def add(self, item: object) -> None:
        """Keep no item."""

    append = extend = add


class _PlainUnpickler(pickle.Unpickler):
    """Unpickles values of built-in types alone: whatever would have to be imported is left out."""

    def find_class(self, module: str, name: str) -> type:  # noqa: ARG002 - the protocol of pickle
        """Give the stand-in for any type, and import none."""
        return _Ignored

    def persistent_load(self, pid: object) -> _Ignored:  # noqa: ARG002 - the protocol of pickle
        """Leave out objects that lie elsewhere."""
        return _Ignored()


def read_gepa_state(raw: bytes, name: str) -> SideScores:
    """Read the state of a run: the candidate it began with as `seed`, the one of the highest mean as `best`.

    Every candidate is there under its number as well. The best was chosen by these scores, which `choices` says.
    Raises: UnreadableLogError where it is no such state.
    """
    scores = _every_score(_state(raw, name), name)
    runs = [
        SideScore(task, side, "#1", score)
        for side, at in ((_SEED, 0), (_BEST, _best(scores)), *((str(at), at) for at in range(len(scores))))
        for task, score in scores[at].items()
    ]
    return SideScores("GEPA", tuple(runs), max(len(scores) - 1, 1))


def best_candidate(raw: bytes, name: str) -> dict[str, str]:
    """Give the texts of the candidate with the highest mean, by component.

    Raises: UnreadableLogError where it is no such state.
    """
    state = _state(raw, name)
    at, candidates = _best(_every_score(state, name)), state.get("program_candidates")
    texts = candidates[at] if isinstance(candidates, list) and at < len(candidates) else None
    if not isinstance(texts, dict) or not texts or not all(isinstance(text, str) for text in texts.values()):
        raise _broken(name, "it holds no text of its best candidate")
    return {str(component): text for component, text in texts.items()}


def _state(raw: bytes, name: str) -> dict[object, object]:
    try:
        state = _PlainUnpickler(io.BytesIO(raw)).load()
    except Exception as error:  # whatever a pickle that is not one raises
        raise _broken(name, str(error) or type(error).__name__) from error
    if not isinstance(state, dict):
        raise _broken(name, "it is no dictionary")
    return state


def _every_score(state: dict[object, object], name: str) -> list[dict[str, float]]:
    candidates = state.get("prog_candidate_val_subscores")
    if not isinstance(candidates, list) or not candidates:
        raise _broken(name, "it holds no prog_candidate_val_subscores")
    return [_scores(subscores, name) for subscores in candidates]


def _best(scores: list[dict[str, float]]) -> int:
    return max(range(len(scores)), key=lambda at: fmean(scores[at].values()) if scores[at] else -1.0)


def _scores(subscores: object, name: str) -> dict[str, float]:
    """Give the score of each task; states before schema 2 hold a list, in the order of the set."""
    by_task = dict(enumerate(subscores)) if isinstance(subscores, list) else subscores
    if not isinstance(by_task, dict):
        raise _broken(name, "the scores of a candidate are neither a list nor a dictionary")
    scores = {}
    for task, score in by_task.items():
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise _broken(name, f"task {str(task)[:40]} has the score {str(score)[:40]}, which is not in 0 to 1")
        scores[str(task)] = float(score)
    return scores


def _broken(name: str, what: str) -> UnreadableLogError:
    return UnreadableLogError(
        f"{name} does not read as the state of a GEPA run: {what}",
        hint="name the run_dir of gepa.optimize",
    )
