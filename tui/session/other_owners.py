"""Other owners: a skill folder that two registries of one person would both write."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from events.errors import GermlineError, RefusedError
from registry.query.library import Library
from registry.skill_md.skill_files import write_place
from registry.skill_md.write_places import WritePlaces, project_of
from tui.session.open_registry import open_log
from tui.session.own_registries import own_registries, trust_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from tui.session.open_registry import Where


def require_unowned(where: Where, places: Collection[Path]) -> None:
    """Raise RefusedError where another registry of the person writes one of these places already.

    Shapes: a place is the folder of a skill, or a file of instructions. What cannot be read owns nothing.
    """
    here = where.resolve() if isinstance(where, Path) else where
    for own in own_registries():
        file = Path(own.place)
        if file == here or not file.is_file():
            continue
        reach = WritePlaces(project_of(file), frozenset(own.skills))
        asked = {place.resolve() for place in places if reach.is_open(place)}
        taken = sorted(asked & _written_by(file, reach)) if asked else []
        if taken:
            take_over = f"germline import {quote(str(taken[0]))} --yes takes it over"
            raise RefusedError(
                f"{taken[0]} is written by another registry of yours, {file}: each would undo the other",
                hint=f"germline --registry {quote(own.place)} …    {take_over}",
            )


def _written_by(file: Path, reach: WritePlaces) -> set[Path]:
    """List the places that a registry may write and does; none where it is another one than the person trusts."""
    try:
        with closing(open_log(file, read_only=True)) as log:
            if trust_in(file, log).state != "trusted":
                return set()
            library = Library(log)
            places = [write_place(name, library.capsule(name).source) for name in library.names()]
            return {place.resolve() for place in places if reach.is_open(place)}
    except GermlineError:
        return set()
