"""Consents: which settings of which projects a person trusts, kept in that person's own folder.

A file for each project, so that two commands never write the same one. Source: direnv's `allow` folder.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from platformdirs import user_data_path

from events.clock import SystemClock
from events.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER: Final = "trusted"
_WRITTEN_BY_OTHERS: Final = 0o022


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
    records = [_read(file) for file in _place().glob("*.json")]
    return sorted(consent for consent in records if consent is not None)


def keep_consent(folder: Path, digest: str, values: Mapping[str, str]) -> Consent:
    """Keep a consent in the place of an earlier one; raises StorageError."""
    consent = Consent(str(folder.resolve()), digest, SystemClock().now(), values)
    file = _file(folder)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.parent.chmod(0o700)
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(consent._asdict(), stream, indent=1)
        new.replace(file)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error
    return consent


def revoke_consent(folder: Path) -> bool:
    """Take a consent back; tells whether there was one. Raises: StorageError."""
    file = _file(folder)
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"{file} cannot be removed: {error.strerror}") from error
    return True


def _place() -> Path:
    return user_data_path("germline") / _FOLDER


def _file(folder: Path) -> Path:
    return _place() / f"{sha256(os.fsencode(folder.resolve())).hexdigest()}.json"


def _read(file: Path) -> Consent | None:
    """Read one file; what is no consent, or could be another user's, is none: the person is asked again."""
    with suppress(OSError, ValueError, TypeError), file.open(encoding="utf-8") as stream:
        looked = os.fstat(stream.fileno())
        if looked.st_uid != os.geteuid() or looked.st_mode & _WRITTEN_BY_OTHERS:
            return None
        consent = Consent(**json.load(stream))
        if isinstance(consent.values, dict) and _file(Path(consent.folder)).name == file.name:
            return consent
    return None
