"""Places that skills may be written to: a registry may come from a stranger, and its word alone is not enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import UntrustedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.postgres.address import PostgresAddress

REGISTRY_FOLDER: Final = ".germline"
"""The folder of a project that holds its registry."""
_NO_SKILLS: Final = frozenset({".git", REGISTRY_FOLDER})
"""Folders of a project that hold no skill: what lies in them is run, or is the registry itself."""


def _usual() -> str:
    return "germline trust"


@dataclass(frozen=True, slots=True)
class WritePlaces:
    """Where a registry's skills may be written: below its project, and where this machine confirmed it.

    `project` is None for a registry that lies in no project. `confirmed` are folders of skills and files of
    instructions, resolved. `ask` gives the command that confirms another.
    """

    project: Path | None = None
    confirmed: frozenset[str] = frozenset()
    anywhere: bool = False
    ask: Callable[[], str] = _usual

    def is_open(self, folder: Path) -> bool:
        """Tell whether a skill may be written to a folder, or instructions to a file, links followed."""
        return self.anywhere or self._resolved(folder) is not None

    def require(self, folder: Path, skill: str) -> Path:
        """Give the folder without links; raises UntrustedError where nobody here confirmed that place."""
        place = folder if self.anywhere else self._resolved(folder)
        if place is None:
            raise UntrustedError(
                f"{skill} would be written to {folder}, outside the project, and you have not confirmed that",
                hint=f"{self.ask()}    germline --trust-project …",
            )
        return place

    def _resolved(self, folder: Path) -> Path | None:
        try:
            place = folder.resolve()
        except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL in the name
            return None
        if str(place) in self.confirmed:
            return place
        if self.project is None or not place.is_relative_to(self.project):
            return None
        folders = {
            part.casefold() for part in place.relative_to(self.project).parts
        }  # .GIT is .git on some systems
        return None if _NO_SKILLS & folders else place


ANYWHERE: Final = WritePlaces(anywhere=True)
"""No bound: for whoever opens a registry by code, or answers for it."""


def project_of(registry: Path | PostgresAddress) -> Path | None:
    """Give the project that a registry belongs to: the folder that holds its `.germline`; None where none does."""
    if not isinstance(registry, Path) or (folder := registry.resolve().parent).name != REGISTRY_FOLDER:
        return None
    return folder.parent


def recorded_place(place: str, registry: Path) -> str:
    """Write a place as events keep it: relative to the project that it lies in, if any: copies have their own."""
    project, at = project_of(registry), Path(place)
    if project is None or not at.is_absolute() or not WritePlaces(project).is_open(at):
        return place
    return at.resolve().relative_to(project).as_posix()


def place_here(recorded: str, project: Path | None) -> str:
    """Give a place that events keep as it is on this machine: a relative one lies in the registry's project.

    Of a registry that lies in no project, as on a server, it lies in the current folder.
    """
    return recorded if recorded.startswith("/") else str((project or Path.cwd()) / recorded)
