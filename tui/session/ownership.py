"""Ownership: files that a registry and its settings are found in belong to the person, else they are refused.

A file in a parent folder is used without being named, so another user of the machine could plant one in a shared
folder. Source: safe.directory of git (CVE-2022-24765).
"""

from __future__ import annotations

import os
import pwd
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from events.errors import UntrustedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VOUCHED: Final[ContextVar[bool]] = ContextVar("VOUCHED", default=False)
"""Whether `--trust-project` was typed: for one command the person answers for the project."""


def _unheard(_: str) -> None:
    """Say nothing: threads that only read for a screen have nobody to speak to."""


NOTED: Final[ContextVar[Callable[[str], None]]] = ContextVar("NOTED", default=_unheard)
"""Where a message beside the answer goes: set by the command line, and by the screens."""


def foreign_owner(*paths: Path) -> str:
    """Name the other user that one of these paths belongs to, links and what they lead to alike; "" for none.

    Root can do everything anyway; under sudo the files of the person who typed it are their own.
    """
    own = {os.geteuid(), 0}
    if os.geteuid() == 0 and (sudo := os.environ.get("SUDO_UID", "")).isdecimal():
        own.add(int(sudo))
    owners = (looked.st_uid for path in paths for looked in (path.lstat(), path.stat()))
    return next((_name_of(uid) for uid in owners if uid not in own), "")


def require_own(path: Path, hint: Callable[[], str]) -> None:
    """Raise UntrustedError for a file, or its folder, of another user, unless the person answers for it."""
    owner = "" if VOUCHED.get() else foreign_owner(path.parent, path)
    if owner:
        raise UntrustedError(f"{path} belongs to {owner}, and is not used unasked", hint=hint())


def require_inside(path: Path, folder: Path, hint: Callable[[], str]) -> None:
    """Raise UntrustedError for a path that links lead out of its folder: a clone would choose what is written."""
    if VOUCHED.get():
        return
    place = path.resolve()
    if not place.is_relative_to(folder.resolve()):
        raise UntrustedError(f"{path} leads out of its folder, to {place}", hint=hint())


def _name_of(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
