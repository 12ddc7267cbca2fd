"""Late truth: outcomes that were recorded after their logs were read, and the episodes that people name for it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeVar

from events.errors import NotFoundError, UsageError
from registry.projection.stored_documents import fields, read_back
from strategies.episodes.episode import EpisodeOutcome
from strategies.episodes.episode_records import with_outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, WorldSource

T = TypeVar("T")

_COMMIT_LABELS: Final = frozenset(["commit", "sha", "revision"])
_ABBREVIATED_CHARS: Final = 7
"""As short as git abbreviates the hash of a commit; CI knows the whole one, a log often only this."""


def late_outcomes(
    library: Library, *, upto: int | None = None, of: Collection[str] | None = None
) -> dict[str, EpisodeOutcome]:
    """Return the outcomes that were recorded, by episode, the last one of each; up to an event's position.

    With `of` those of these episodes at least: where more were recorded, they alone are read.
    """
    documents = library.log.documents("outcome", upto=upto, limit=-1 if of is None else len(of))
    if of is not None and len(documents) == len(of):
        documents = library.log.documents_of("outcome", of, upto=upto)
    documents.sort(key=lambda document: document.seq)
    return {document.key: read_back(library.log, document, _outcome_in) for document in documents}


def hints_looked_up(library: Library, *, upto: int | None = None) -> dict[str, dict[WorldSource, float]]:
    """Return what git lists of the commits of episodes, the last of each source; up to an event's position."""
    known: dict[str, dict[WorldSource, float]] = defaultdict(dict)
    for document in sorted(library.log.documents("hint", upto=upto), key=lambda document: document.seq):
        hint = read_back(library.log, document, _outcome_in)
        if hint.source == "commit" or hint.source == "merged":  # noqa: PLR1714 - so that mypy sees it
            known[document.key][hint.source] = hint.value
    return known


def carried_over(known: Mapping[str, T], longer: Mapping[str, str]) -> dict[str, T]:
    """Give what was recorded of episodes to their longer readings as well, which `longer` names."""
    carried = dict(known)
    for episode, recorded in known.items():
        reading = longer.get(episode)
        while reading is not None and reading not in known:
            carried[reading] = recorded
            reading = longer.get(reading)
    return carried


def _outcome_in(body: bytes) -> EpisodeOutcome:
    outcome = fields(body, source=str)
    if not 0.0 <= outcome["value"] <= 1.0:
        raise ValueError(body)
    return EpisodeOutcome(outcome["value"], outcome["source"])


def with_late_outcomes(
    records: Iterable[EpisodeRecord], outcomes: Mapping[str, EpisodeOutcome], longer: Mapping[str, str]
) -> list[EpisodeRecord]:
    """Give the records with the outcomes that arrived late in place of those that their logs tell.

    `longer` names the longer reading of an episode: what was recorded of the shorter one holds for it.
    """
    known = carried_over(outcomes, longer)
    return [with_outcome(record, known[record.id]) if record.id in known else record for record in records]


def named_episodes(records: Sequence[EpisodeRecord], stated: str) -> list[EpisodeRecord]:
    """Find the episode of an id, of the beginning of one, or of a name; or all with a label, as in `pr=12`.

    Raises: NotFoundError where there is none; UsageError where an id or a name fits several.
    """
    label, equals, value = stated.partition("=")
    if equals:
        named = [record for record in records if _has(record, label, value)]
        if not named:
            raise NotFoundError(f"no episode has the label {stated}", hint=_labels_hint(records))
        return named
    named = [record for record in records if record.name == stated] or [
        record for record in records if stated and record.id.startswith(stated.lower())
    ]
    if not named:
        raise NotFoundError(
            f"no episode {stated or '(empty)'} is known", hint="give an id, its beginning, a name, or LABEL=VALUE"
        )
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} episodes are called {stated}: {', '.join(record.id for record in named[:3])} …",
            hint="write more of the id",
        )
    return named


def _has(record: EpisodeRecord, label: str, value: str) -> bool:
    known = record.labels.get(label, "")
    if label in _COMMIT_LABELS and min(len(known), len(value)) >= _ABBREVIATED_CHARS:
        return known.startswith(value) or value.startswith(known)
    return bool(known) and known == value


def _labels_hint(records: Sequence[EpisodeRecord]) -> str:
    labels = sorted({label for record in records for label in record.labels})
    return f"labels of the known episodes: {', '.join(labels)}" if labels else "no known episode has any label"
