"""Consents: which settings of which projects a person trusts, kept in that person's own folder.

A file for each project, so that two commands never write the same one. Source: direnv's `allow` folder.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.clock import SystemClock
from tui.session.own_records import keep_record, read_record, record_file, records, remove_record

if TYPE_CHECKING:
    from collections.abc import Mapping

_KIND: Final = "trusted"


class Consent(NamedTuple):
    """A person's consent to the settings of the project in `folder`, which have this hash; `values` are they."""

    folder: str
    sha256: str
    at: str
    values: Mapping[str, str]


def consent_for(folder: Path) -> Consent | None:
    """Read the consent to a project's settings; None where there is none, or others could have written it."""
    return _read(_file(folder))


def consents() -> list[Consent]:
    """List every consent, by folder."""
    return sorted(consent for file in records(_KIND) if (consent := _read(file)) is not None)


def keep_consent(folder: Path, digest: str, values: Mapping[str, str]) -> Consent:
    """Keep a consent in the place of an earlier one; raises StorageError."""
    consent = Consent(str(folder.resolve()), digest, SystemClock().now(), values)
    keep_record(_file(folder), consent._asdict())
    return consent


def revoke_consent(folder: Path) -> bool:
    """Take a consent back; tells whether there was one. Raises: StorageError."""
    return remove_record(_file(folder))


def _file(folder: Path) -> Path:
    return record_file(_KIND, str(folder.resolve()))


def _read(file: Path) -> Consent | None:
    """Read one file; what is no consent, or was copied from another folder, is none: the person is asked again."""
    with suppress(TypeError):
        consent = Consent(**read_record(file))
        if isinstance(consent.values, dict) and _file(Path(consent.folder)).name == file.name:
            return consent
    return None
