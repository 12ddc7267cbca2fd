"""What a person says in sessions: which words carry what they ask for, kept without text, and how they put it.

Sessions are read again once, when they come in; what is kept of them are keys of words, too short to find a word
by. The words themselves are read from the few logs that say something again and again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from registry.evidence.gitleaks import leaks_in
from registry.evidence.redaction import redact
from registry.query.signals import erased_records
from strategies.episodes.episode import moment_s
from strategies.pool.person_steps import PersonSteps, person_places
from strategies.signals.open_signals import REPEATED_WISH
from strategies.signals.wishes import Clause, ClauseKind, SpokenClause, clauses_of, wishes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.pool.person_steps import PersonStep
    from strategies.signals.wishes import Wish

PERSON_WORDS: Final = "person-words"
"""The stored map of the clauses that a person wrote, by episode; an episode is in it once it was read."""
MOST_READ: Final = 500
"""Sessions that are read again at once, the newest: what a person stopped asking for is no wish (a guess)."""
_QUOTED_FROM: Final = 5
"""Sessions in which the words of a wish are looked for, the shortest ones first."""
KeptClause = tuple[int, ClauseKind, int, tuple[int, ...]]
"""The step, the kind of clause, its length and the keys of its words."""


def note_person_words(registry: Registry, records: Sequence[EpisodeRecord], steps: PersonSteps) -> None:
    """Read what a person wrote in the sessions that were not read yet, and keep which words carry it."""
    kept = _kept(registry)
    unread = [record for record in records if record.id not in kept and person_places(record)]
    unread.sort(key=lambda record: (-(moment_s(record.started_at) or 0.0), record.id))
    first = unread[:MOST_READ]
    known = {record.id: kept[record.id] for record in records if record.id in kept}
    known |= {record.id: () for record in unread}
    known |= read_clauses(first, steps)
    if known != kept:
        _keep(registry, known)


def read_clauses(records: Sequence[EpisodeRecord], steps: PersonSteps) -> dict[str, tuple[KeptClause, ...]]:
    """Read the clauses that a person wrote in these episodes, of each by its id."""
    return {name: tuple(_clauses(spoken)) for name, spoken in steps.of(records).items()}


def known_wishes(
    library: Library,
    records: Sequence[EpisodeRecord],
    *,
    gitleaks: str = "",
    personal_data: bool = True,
    steps: PersonSteps | None = None,
) -> list[Wish]:
    """Find what a person asks for again and again, quoted without secrets and, if asked so, personal data.

    One that was raised as a signal keeps the words that it was raised with.
    """
    kept = _kept(library)
    if not kept:
        return []
    raised = (signal.event.template for signal in library.signals() if signal.event.kind == REPEATED_WISH)
    known = [clause._replace(quote=quote) for quote in raised for clause in islice(clauses_of(quote), 1)]
    every = wishes_in(records, kept, known, steps=steps or PersonSteps(erased_records(library)))
    leaks = leaks_in([wish.quote for wish in every], gitleaks, personal_data=personal_data)
    return [wish._replace(quote=redact(wish.quote, leaks)[0]) for wish in every]


def wishes_in(
    records: Sequence[EpisodeRecord],
    kept: Mapping[str, Sequence[KeptClause]],
    known: Sequence[Clause] = (),
    *,
    steps: PersonSteps,
) -> list[Wish]:
    """Find what a person asks for again and again in these episodes, as far as a log still holds the words."""
    spoken = (
        SpokenClause(record, step, kind, frozenset(words), chars)
        for record in records
        for step, kind, chars, words in kept.get(record.id, ())
        if 0 <= step < len(record.steps)
    )
    every = wishes(spoken, known)
    new = iter(_quotes([wish for wish in every if not wish.quote], steps))
    quoted = (wish if wish.quote else wish._replace(quote=next(new)) for wish in every)
    return [wish for wish in quoted if wish.quote]


def forget_person_words(registry: Registry, episodes: frozenset[str]) -> None:
    """Forget which words a person used in these episodes."""
    kept = _kept(registry)
    if not episodes.isdisjoint(kept):
        _keep(registry, {name: clauses for name, clauses in kept.items() if name not in episodes})


def _kept(library: Library) -> Mapping[str, tuple[KeptClause, ...]]:
    """Read the map; one that is damaged is made again from the logs."""
    with suppress(ValueError, TypeError, AttributeError):
        stored = json.loads(library.log.get_map(PERSON_WORDS) or b"{}")
        return {
            name: tuple((int(step), kind, int(chars), tuple(words)) for step, kind, chars, words in clauses)
            for name, clauses in stored.items()
        }
    return {}


def _keep(registry: Registry, clauses: Mapping[str, Sequence[KeptClause]]) -> None:
    registry.log.put_map(PERSON_WORDS, json.dumps(clauses, sort_keys=True, separators=(",", ":")).encode())


def _clauses(spoken: Mapping[int, PersonStep]) -> Iterator[KeptClause]:
    for at, step in spoken.items():
        for clause in clauses_of(step.words):
            yield at, clause.kind, len(clause.quote), tuple(sorted(clause.words))


def _quotes(unquoted: Sequence[Wish], steps: PersonSteps) -> list[str]:
    """Read how a person put each of these wishes, "" where no log holds it any more."""
    spoken = steps.of(clause.record for wish in unquoted for clause in wish.clauses[:_QUOTED_FROM])
    return [
        next(filter(None, (_put(clause, spoken[clause.record.id]) for clause in wish.clauses[:_QUOTED_FROM])), "")
        for wish in unquoted
    ]


def _put(clause: SpokenClause, spoken: Mapping[int, PersonStep]) -> str:
    """Find the words of one clause, "" where its text is gone."""
    written = clauses_of(spoken[clause.step].words) if clause.step in spoken else ()
    return next((each.quote for each in written if each.words == clause.words), "")
