"""A file of labels: how many sessions ended, as rows that a person writes."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

from events.errors import NotFoundError, UsageError
from strategies.episodes.episode import OutcomeSource
from strategies.pool.late_outcomes import named_episodes
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord

EPISODE: Final = "episode"
VALUE: Final = "value"
SOURCE: Final = "source"
UNSURE: Final = "unsure"
"""A row that says this is left out: nobody knows."""
_WORDS: Final = {"good": 1.0, "bad": 0.0}
_SOURCES: Final = tuple(source for source in get_args(OutcomeSource) if source != "heuristic")
_SHOWN: Final = 3
"""Mistakes of a file that are named one by one."""


class Label(NamedTuple):
    """A row of a file of labels: what it calls the episode, how that ended, who says so; `line` counts from 1."""

    line: int
    episode: str
    value: float
    source: str


def labels_in(text: str, name: str, source: str) -> list[Label]:
    """Read a file of labels: columns `episode`, `value` (0 to 1, good, bad or unsure) and, if it likes, `source`.

    `source` says who speaks where no row does. Raises: UsageError that names the first mistakes by their line.
    """
    rows = csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline=""), skipinitialspace=True)
    heads = [head.strip().lower() for head in rows.fieldnames or ()]
    rows.fieldnames = heads
    missing = [head for head in (EPISODE, VALUE) if head not in heads]
    if missing:
        raise UsageError(
            f"{name} has no column {' and no column '.join(missing)}: it begins with {', '.join(heads) or '–'}",
            hint="its first line is episode,value,source, and then each line is a session",
        )
    labels, mistakes = list[Label](), list[str]()
    for row in rows:
        try:
            label = _label(rows.line_num, row, source)
        except ValueError as error:
            mistakes.append(f"line {rows.line_num}: {error}")
            continue
        if label is not None:
            labels.append(label)
    _require_none(mistakes, name)
    return labels


def labelled_sessions(
    records: Sequence[EpisodeRecord], labels: Sequence[Label], name: str
) -> list[tuple[EpisodeRecord, Label]]:
    """Find the sessions of the labels of a file, each once.

    Raises: UsageError that names the first lines that fit no session, several, or one that another line judges
    otherwise.
    """
    by_id = {record.id: record for record in records}
    chosen: dict[str, tuple[EpisodeRecord, Label]] = {}
    mistakes = []
    for label in labels:
        try:
            known = by_id.get(label.episode)
            matching = [known] if known else named_episodes(records, label.episode)
        except (NotFoundError, UsageError) as error:
            mistakes.append(f"line {label.line}: {error.message}")
            continue
        for record in matching:
            _, first = chosen.setdefault(record.id, (record, label))
            if (first.value, first.source) != (label.value, label.source):
                mistakes.append(f"line {label.line}: {label.episode} is {first.value:g} in line {first.line}")
    _require_none(mistakes, name)
    return list(chosen.values())


def _require_none(mistakes: Sequence[str], name: str) -> None:
    if mistakes:
        more = f"; and {len(mistakes) - _SHOWN} more" if len(mistakes) > _SHOWN else ""
        raise UsageError(
            f"{count(len(mistakes), 'line')} of {name} cannot be taken in: {'; '.join(mistakes[:_SHOWN])}{more}",
            hint="nothing was recorded; mend the file, and give it again",
        )


def _label(line: int, row: Mapping[str, str | None], default: str) -> Label | None:
    """Read a row; None where it is unsure. Raises ValueError that says what is wrong with it."""
    episode, word = (row.get(EPISODE) or "").strip(), (row.get(VALUE) or "").strip().lower()
    source = (row.get(SOURCE) or "").strip().lower() or default
    if not episode:
        raise ValueError("it names no episode")
    if word == UNSURE:
        return None
    if source not in _SOURCES:
        who = f"{source!r} is no source" if source else "nobody says so: no source, and no --source"
        raise ValueError(f"{who}, one of {', '.join(_SOURCES)}")
    try:
        value = _WORDS[word] if word in _WORDS else float(word)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{word!r} is no value from 0 to 1, nor good, bad or {UNSURE}")
    return Label(line, episode, value, source)
