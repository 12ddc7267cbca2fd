"""Own registries: those that this person created or trusts, each with the confirmed places outside its project.

One that came with a clone is not among them (F2): it is read-only until the person trusts it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import UntrustedError
from registry.query.deployed_folders import deployed_folders
from registry.skill_md.skill_files import write_place
from registry.skill_md.write_places import ANYWHERE, WritePlaces, project_of
from strategies.files.git_index import git_above, paths_in_index
from tui.session.own_records import keep_record, read_record, record_file, records, remove_record
from tui.session.ownership import VOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from events.postgres.address import PostgresAddress
    from events.store.sql_log import EventLog
    from registry.query.library import Library

    Standing = Literal["trusted", "answered for", "changed", "untrusted"]

_KIND: Final = "registries"


class OwnRegistry(NamedTuple):
    """A registry of the person: where it lies, the hash of its first event, since when, the confirmed places."""

    place: str
    created: str
    at: str
    skills: tuple[str, ...] = ()


class RegistryTrust(NamedTuple):
    """A registry beside what the person's own list says of its place; `created` is the hash of its first event."""

    where: Path | PostgresAddress
    created: str
    own: OwnRegistry | None

    @property
    def state(self) -> Standing:
        """How things stand; one on a server is named by the person, which is their word."""
        is_own = self.own is not None and self.own.created == self.created
        if is_own or not isinstance(self.where, Path):
            return "trusted"
        if VOUCHED.get():
            return "answered for"
        return "changed" if self.own else "untrusted"

    @property
    def is_writable(self) -> bool:
        """Whether commands may write to it."""
        return self.state in {"trusted", "answered for"}

    @property
    def summary(self) -> str:
        """Say in one line why it is read-only; "" where it is not."""
        if self.state == "changed":
            return f"{self.where} is another registry than the one you trusted there"
        if self.state == "untrusted":
            return f"{self.where} {self.origin or 'was not created by you on this machine'}"
        return ""

    @property
    def origin(self) -> str:
        """Say which registry of the person it is a copy of, by its first event; "" where it is none."""
        same = [own.place for own in own_registries() if own.created == self.created != ""]
        there = next((place for place in same if Path(place).is_file()), "")
        return f"is a copy of {there}" if there else f"was {same[0]} before it was moved" if same else ""

    @property
    def places(self) -> WritePlaces:
        """Where its skills may be written."""
        if VOUCHED.get():
            return ANYWHERE
        return WritePlaces(project_of(self.where), frozenset(self.confirmed))

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The places outside its project that the person confirmed."""
        return self.own.skills if self.own and self.own.created == self.created else ()

    def require(self, hint: str) -> None:
        """Raise UntrustedError where commands may only read it."""
        if not self.is_writable:
            raise UntrustedError(f"{self.summary}: it is read-only until you trust it", hint=hint)


class SkillPlace(NamedTuple):
    """A folder outside the project that a skill is written to, or would be once a candidate is approved.

    Of instructions it is the file itself.
    """

    skill: str
    folder: str
    confirmed: bool


def skill_places(library: Library, trust: RegistryTrust) -> tuple[SkillPlace, ...]:
    """List the places outside the project that a registry would write skills to, links followed."""
    sources = [(name, library.capsule(name).source) for name in library.names()]
    sources += [(name, place) for name in library.names() for place in deployed_folders(library, name).values()]
    proposed = [candidate.proposed for candidate in library.held()]
    sources += [(coming.capsule, library.place_here(coming.skill.source)) for coming in proposed if coming.skill]
    inside = WritePlaces(project_of(trust.where))
    places = [(name, write_place(name, source)) for name, source in sources]
    outside = [(name, _leads_to(place)) for name, place in places if not inside.is_open(place)]
    return tuple(sorted(SkillPlace(skill, folder, folder in trust.confirmed) for skill, folder in outside))


def unconfirmed_words(places: Iterable[SkillPlace]) -> str:
    """Say which skills are not written because of where they lie; "" where none is kept back."""
    kept_back = [place for place in places if not place.confirmed and not VOUCHED.get()]
    first = f"{kept_back[0].skill} in {kept_back[0].folder}" if kept_back else ""
    more = f" and {len(kept_back) - 1:,} more" if len(kept_back) > 1 else ""
    return f"not written outside the project before you confirm it, {first}{more}" if kept_back else ""


def trust_in(where: Path | PostgresAddress, log: EventLog) -> RegistryTrust:
    """Look up a registry in the person's own list: one small file is read, and one hash."""
    return RegistryTrust(where, _created(log), own_registry(where))


def own_registry(where: Path | PostgresAddress) -> OwnRegistry | None:
    """Look a place up in the list."""
    return _read(_file(where))


def own_registries() -> list[OwnRegistry]:
    """List the person's own registries, by place."""
    return sorted(own for file in records(_KIND) if (own := _read(file)) is not None)


def keep_registry(where: Path | PostgresAddress, log: EventLog, at: str, places: Iterable[Path] = ()) -> None:
    """Put a registry into the list, and confirm places outside its project; those confirmed before stay.

    Raises: StorageError where the list cannot be written.
    """
    trust = trust_in(where, log)
    inside = WritePlaces(project_of(where))
    new = {str(place.resolve()) for place in places if not inside.is_open(place)}
    own = OwnRegistry(_place(where), trust.created, at, tuple(sorted(new.union(trust.confirmed))))
    if trust.own is None or own != trust.own._replace(at=at):
        keep_record(_file(where), own._asdict())


def forget_registry(where: Path | PostgresAddress) -> bool:
    """Take a registry out of the list; tells whether it was there. Raises: StorageError."""
    return remove_record(_file(where))


def words_file(where: Path | PostgresAddress) -> Path:
    """Give the file that keeps the words of a registry's skills, where nothing that came with a project lies."""
    return record_file("words", _place(where)).with_suffix(".db")


def is_ignored_by_git(file: Path) -> bool:
    """Tell whether a file lies in a work tree of git, and no path like its own is tracked: no clone brought it.

    Whatever is not certain (no repository, a submodule, a split index) counts as tracked.
    """
    git = git_above(file.resolve().parent)
    if git is None or not (git / "objects").is_dir():
        return False
    index = paths_in_index(git)
    return index is not None and os.fsencode(file.name.lower()) not in index.lower()


def _leads_to(place: Path) -> str:
    try:
        return str(place.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL: nothing can be written there
        return str(place)


def _created(log: EventLog) -> str:
    return next(iter(log.hashes(upto=1)), b"").hex()


def _place(where: Path | PostgresAddress) -> str:
    return str(where.resolve() if isinstance(where, Path) else where.slug)


def _file(where: Path | PostgresAddress) -> Path:
    return record_file(_KIND, _place(where))


def _read(file: Path) -> OwnRegistry | None:
    """Read one file; what is no record of a registry, or was copied from another place, counts for nothing."""
    with suppress(TypeError):
        own = OwnRegistry(**read_record(file))
        if record_file(_KIND, own.place).name == file.name:
            return own._replace(skills=tuple(map(str, own.skills)))
    return None
