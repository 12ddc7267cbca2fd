"""Known episodes: every session that came in as it is read by now, in its longest reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.episode_records import decode, header_in, settled, templates_in
from strategies.episodes.longer_readings import longest
from strategies.pool.late_outcomes import carried_over, hints_looked_up, late_outcomes, with_late_outcomes
from strategies.pool.moved_logs import WHEREABOUTS, as_they_lie, map_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.episode_records import EpisodeHeader
    from strategies.episodes.world_outcomes import World

TEMPLATES: Final = "templates"
"""The stored map that says what each template of a stored step has become, where that is another."""

GROUPS: Final = "split-groups"
"""The stored map that says which tasks belong together; for ever, once something was judged on them."""

SUPERSEDED: Final = "superseded"
"""The stored map that says which episodes have a longer reading, and which one.

Only of those that something still refers to: an evaluator that was frozen with them, evidence, or an outcome.
"""


def all_episodes(
    library: Library,
    *,
    upto: int | None = None,
    with_folders: bool = False,
    only: Callable[[EpisodeHeader], bool] | None = None,
) -> list[EpisodeRecord]:
    """Return every episode that the registry knows, in its longest reading, ordered by content hash.

    An outcome that was recorded late, up to an event's position, takes the place of the one in the log. An episode
    whose log is found no more lies nowhere, or `with_folders` in the folder where it was read, in no file: a copy
    of that log may come into sight only now. `only` says by its header which ones are asked for.
    """
    longer = superseded(library)
    bodies = (episode.body for episode in library.log.episodes() if episode.episode not in longer)
    if only is not None:
        bodies = (body for body in bodies if only(header_in(body)))
    stored = map(decode, bodies)
    return _with_outcomes(library, _as_known_now(library, stored, with_folders=with_folders), longer, upto)


def every_reading(library: Library, *, upto: int | None = None) -> list[EpisodeRecord]:
    """Return all episodes in all the readings that are kept, with the outcomes recorded up to an event's position.

    An evaluator stays frozen with the readings and the outcomes that it was made from.
    """
    stored = (decode(episode.body) for episode in library.log.episodes())
    return _with_outcomes(library, _as_known_now(library, stored), superseded(library), upto)


def world_of(library: Library, records: Sequence[EpisodeRecord], *, upto: int | None = None) -> dict[str, World]:
    """Return what the world hints at of each episode, by id: no labels, and only where it hints at anything."""
    from strategies.episodes.world_outcomes import world_outcomes  # noqa: PLC0415 - `status` asks for no hints

    looked_up = carried_over(hints_looked_up(library, upto=upto), superseded(library))
    return world_outcomes(records, looked_up)


def known_templates(library: Library) -> set[str]:
    """Give the templates of all errors that are known, as they are by now."""
    longer, now = superseded(library), sharper_templates(library)
    bodies = (episode.body for episode in library.log.episodes() if episode.episode not in longer)
    return {now.get(template, template) for body in bodies for template in templates_in(body)}


def split_groups(library: Library) -> dict[str, str]:
    """Return which split group each known task belongs to."""
    return map_in(library.log.get_map(GROUPS))


def sharper_templates(library: Library) -> dict[str, str]:
    """Say what templates have become, by how they were stored; those that stayed are left out."""
    return map_in(library.log.get_map(TEMPLATES))


def as_sharpened(records: Iterable[EpisodeRecord], known: Mapping[str, str]) -> Iterator[EpisodeRecord]:
    """Give the records with the templates of their errors as they are by now."""
    if not known:
        yield from records
        return
    for record in records:
        stored = {step.template for step in record.steps}
        if stored.isdisjoint(known):
            yield record
        else:
            yield settled(record, {template: known.get(template, template) for template in stored})


def with_longer_readings(library: Library, episodes: Collection[str]) -> frozenset[str]:
    """Add to episodes, by id, those that are their longer readings."""
    longer = superseded(library)
    return frozenset(episodes) | {longest(episode, longer) for episode in episodes if episode in longer}


def superseded(library: Library) -> dict[str, str]:
    """Return which episodes have a longer reading, and which one that is."""
    return map_in(library.log.get_map(SUPERSEDED))


def _with_outcomes(
    library: Library, stored: Iterable[EpisodeRecord], longer: Mapping[str, str], upto: int | None
) -> list[EpisodeRecord]:
    records = list(stored)
    outcomes = late_outcomes(library, upto=upto, of={record.id for record in records} | longer.keys())
    return with_late_outcomes(records, outcomes, longer)


def _as_known_now(
    library: Library, stored: Iterable[EpisodeRecord], *, with_folders: bool = False
) -> Iterable[EpisodeRecord]:
    lying = as_they_lie(stored, map_in(library.log.get_map(WHEREABOUTS)), with_folders=with_folders)
    return as_sharpened(lying, sharper_templates(library))
