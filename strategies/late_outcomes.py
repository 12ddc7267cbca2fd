"""Late truth: outcomes that were recorded after their logs were read, and the episodes that people name for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, UsageError
from registry.documents import fields, read_back
from strategies.logs.episode import Outcome
from strategies.logs.records import with_outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.library import Library
    from strategies.logs.episode import EpisodeRecord

_COMMIT_LABELS: Final = frozenset(["commit", "sha", "revision"])
_ABBREVIATED_CHARS: Final = 7
"""As short as git abbreviates the hash of a commit; CI knows the whole one, a log often only this."""


def late_outcomes(library: Library, *, upto: int | None = None) -> dict[str, Outcome]:
    """Return the outcomes that were recorded, by episode, the last one of each; up to an event's position."""
    told = sorted(library.log.documents("outcome", upto=upto), key=lambda document: document.seq)
    return {document.key: read_back(library.log, document, _outcome_in) for document in told}


def _outcome_in(body: bytes) -> Outcome:
    told = fields(body, source=str)
    if not 0.0 <= told["value"] <= 1.0:
        raise ValueError(body)
    return Outcome(told["value"], told["source"])


def with_late_outcomes(
    records: Iterable[EpisodeRecord], outcomes: Mapping[str, Outcome], longer: Mapping[str, str]
) -> list[EpisodeRecord]:
    """Give the records with the outcomes that arrived late in place of those that their logs tell.

    `longer` names the longer reading of an episode: what was said of the shorter one holds for it.
    """
    known = dict(outcomes)
    for episode, outcome in outcomes.items():
        reading = longer.get(episode)
        while reading is not None and reading not in outcomes:
            known[reading] = outcome
            reading = longer.get(reading)
    return [with_outcome(one, known[one.id]) if one.id in known else one for one in records]


def named_episodes(records: Sequence[EpisodeRecord], stated: str) -> list[EpisodeRecord]:
    """Find the episode of an id, of the beginning of one, or of a name; or all with a label, as in `pr=12`.

    Raises: NotFoundError where there is none; UsageError where an id or a name fits several.
    """
    label, equals, value = stated.partition("=")
    if equals:
        found = [record for record in records if _has(record, label, value)]
        if not found:
            raise NotFoundError(f"no episode has the label {stated}", hint=_labels_hint(records))
        return found
    found = [record for record in records if record.name == stated] or [
        record for record in records if stated and record.id.startswith(stated.lower())
    ]
    if not found:
        raise NotFoundError(
            f"no episode {stated or '(empty)'} is known", hint="give an id, its beginning, a name, or LABEL=VALUE"
        )
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} episodes are called {stated}: {', '.join(one.id for one in found[:3])} …",
            hint="write more of the id",
        )
    return found


def _has(record: EpisodeRecord, label: str, value: str) -> bool:
    known = record.labels.get(label, "")
    if label in _COMMIT_LABELS and min(len(known), len(value)) >= _ABBREVIATED_CHARS:
        return known.startswith(value) or value.startswith(known)
    return bool(known) and known == value


def _labels_hint(records: Sequence[EpisodeRecord]) -> str:
    labels = sorted({label for record in records for label in record.labels})
    return f"labels of the known episodes: {', '.join(labels)}" if labels else "no known episode has any label"
