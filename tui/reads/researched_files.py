"""Files that are researched: which one a path names, and which experiment each of its lines is from."""

from __future__ import annotations

from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from events.errors import NotFoundError, UsageError
from registry.skill_md.skill_files import main_file
from registry.skill_md.write_places import project_of
from registry.state.line_match import match
from strategies.research.research_record import research_records
from strategies.research.research_surface import ResearchTarget
from tui.reads.skill_paths import cut_lines, find_named, lines_of

if TYPE_CHECKING:
    from events.postgres.address import PostgresAddress
    from registry.query.library import Library
    from strategies.research.research_record import Experiment


class ResearchedLine(NamedTuple):
    """A line of a file outside of any skill, with the kept experiment that it is from, None for none."""

    text: str
    experiment: Experiment | None


def find_target(
    library: Library, named: str, where: Path | PostgresAddress, patterns: tuple[str, ...]
) -> ResearchTarget:
    """Find what is to be researched: a skill by its name, one of its files, or a file outside of any skill.

    Raises: UsageError for a SKILL.md or instructions, which trainings change; NotFoundError for what is neither.
    """
    path = Path(named).expanduser()
    if named in library.names() or not path.is_file():
        return ResearchTarget(library.capsule(named).name, patterns)
    with suppress(NotFoundError):
        capsule, inside = find_named(library, named)
        if inside == main_file(capsule.name):
            raise UsageError(
                f"{named} is the text of {capsule.name}, and research changes files beside it",
                hint=f"germline train {capsule.name}",
            )
        return ResearchTarget(capsule.name, (escape(inside),))
    return ResearchTarget(name_of_file(path, where), file=path.parent.resolve() / path.name, place=path.name)


def name_of_file(path: Path, where: Path | PostgresAddress) -> str:
    """Name a file by its path below the project of a registry, or as a whole where it is not there."""
    project, place = project_of(where), path.parent.resolve() / path.name
    return place.relative_to(project).as_posix() if project and place.is_relative_to(project) else str(place)


def explain_researched_line(library: Library, target: str, path: Path, number: int) -> ResearchedLine | None:
    """Find the experiment that a line of a file is from; None where no research kept anything of that file.

    Raises: NotFoundError beyond its end.
    """
    every = [
        known for record in research_records(library, target) for known in record.experiments if known.in_force
    ]
    kept = sorted((known for known in every if not known.proposed.candidate), key=lambda known: known.position)
    if not kept:
        return None
    lines: list[str] = []
    origins: list[Experiment | None] = []
    for known in kept:
        for entry, origin in ((known.proposed.before[0], None), (known.proposed.after[0], known)):
            lines, origins = _after(lines, origins, lines_of(library, entry.blob, target), origin)
    lines, origins = _after(lines, origins, cut_lines(path.read_bytes().decode(errors="replace")), None)
    if number > len(lines):
        raise NotFoundError(f"{target} has {len(lines)} lines; there is no line {number}")
    return ResearchedLine(lines[number - 1], origins[number - 1])


def _after(
    lines: list[str], origins: list[Experiment | None], new: list[str], origin: Experiment | None
) -> tuple[list[str], list[Experiment | None]]:
    """Give the lines that a file then has, with their origins: what stays keeps its own."""
    kept = {at: origins[was] for was, at in match(lines, new) if lines[was] == new[at]}
    return new, [kept.get(at, origin) for at in range(len(new))]
