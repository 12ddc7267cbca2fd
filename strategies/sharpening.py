"""Sharper templates: until something is judged, errors of earlier scans go by what later ones show to vary.

So it does not matter in how many parts logs were read before the first turn. From then on a template stands:
evaluators were frozen, and claims live, by what it meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.kept_map import body_of, map_in
from strategies.logs.records import settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from registry.library import Library
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord

_NAME: Final = "templates"
"""The checkpoint that keeps what each template of a stored step has become, where that is another."""


def was_judged(library: Library) -> bool:
    """Tell whether anything was judged on these logs: what was divided and called by then stays so."""
    return any(library.log.documents("evaluator"))


def sharpen(registry: Registry, sharper: Mapping[str, str]) -> None:
    """Keep what templates have become; inside a transaction, with the episodes that showed it."""
    if sharper:
        before = sharpened(registry.log.checkpoints())
        now = dict(sharper) | {stored: sharper.get(template, template) for stored, template in before.items()}
        registry.log.put_checkpoint(_NAME, body_of(now))


def sharpened(checkpoints: Mapping[str, bytes]) -> dict[str, str]:
    """Read what templates have become out of the checkpoints of a registry."""
    return map_in(checkpoints.get(_NAME))


def as_sharpened(records: Iterable[EpisodeRecord], known: Mapping[str, str]) -> Iterator[EpisodeRecord]:
    """Give the records with the templates of their errors as they are by now."""
    for record in records:
        found = {step.template for step in record.steps}
        yield settled(record, {one: known.get(one, one) for one in found}) if found & known.keys() else record
