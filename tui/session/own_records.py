"""Own records: what a person agreed to, kept in that person's own data folder, where no project can write it.

A file for each thing, so that two commands never write the same one. Source: direnv's `allow` folder.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from events.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WRITTEN_BY_OTHERS: Final = 0o022


def own_data() -> Path:
    """Give the person's own data folder, as platformdirs does, which takes 5 ms to load."""
    usual = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    stated = Path(os.environ.get("XDG_DATA_HOME", "").strip())
    return (stated if stated.is_absolute() else Path(usual).expanduser()) / "germline"


def record_file(kind: str, name: str) -> Path:
    """Give the place of a record."""
    return own_data() / kind / f"{sha256(os.fsencode(name)).hexdigest()}.json"


def records(kind: str) -> Iterator[Path]:
    """List the records of a kind."""
    return (own_data() / kind).glob("*.json")


def read_record(file: Path) -> dict[str, Any]:
    """Read a record; empty where there is none, it is damaged, or others could have written it."""
    with suppress(OSError, ValueError), file.open(encoding="utf-8") as stream:
        looked = os.fstat(stream.fileno())
        if looked.st_uid == os.geteuid() and not looked.st_mode & _WRITTEN_BY_OTHERS:
            record = json.load(stream)
            return record if isinstance(record, dict) else {}
    return {}


def keep_record(file: Path, record: Mapping[str, object]) -> None:
    """Keep a record in the place of an earlier one, readable to the person alone; raises StorageError."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.parent.chmod(0o700)
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=1)
        new.replace(file)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error


def remove_record(file: Path) -> bool:
    """Remove a record; tells whether there was one. Raises: StorageError."""
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"{file} cannot be removed: {error.strerror}") from error
    return True
