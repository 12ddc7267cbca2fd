"""A file that somebody names, read as a whole up to a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import NotFoundError, StorageError

if TYPE_CHECKING:
    from pathlib import Path


def read_up_to(path: Path, most: int, *, hint: str) -> bytes:
    """Read a file, and one byte more than `most` of a larger one, so that the caller can refuse it.

    Raises: NotFoundError, with the `hint`, where it is not there; StorageError where it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(most + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}", hint=hint) from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error
