"""Landlock: keep writes and signals inside, and what is hidden unread, where the kernel gives no namespaces."""

from __future__ import annotations

import ctypes
import os

from strategies.sandbox import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Final

    from strategies.sandbox.spec import Spec

_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11
SIGNALS_SINCE: Final = 6
"""The version of Landlock that keeps signals inside (Linux 6.12)."""
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_REMOVE_AND_MAKE: Final = sum(1 << bit for bit in range(4, 13))
_RENAME_ACROSS: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_OF_A_FILE: Final = _WRITE_FILE | _READ_FILE | _TRUNCATE


def version() -> int:
    """Return the version of Landlock that the kernel has, 0 where it has none."""
    try:
        return libc.call("syscall", libc.LANDLOCK_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def keep_inside(spec: Spec) -> None:
    """Let this process and its children write below `writable`, read nothing hidden, and signal nobody outside.

    Files in the folders above what is hidden can be read if they are there now. Names can be listed all the same.
    Root keeps its name and loses its powers: with them it could make the node of a disk in its own folder, and
    write past every file system. Not covered: changes of mode, owner and times of files outside. Raises: OSError
    where Landlock is missing.
    """
    known = version()
    rights = _READ_FILE | _WRITE_FILE | _REMOVE_AND_MAKE
    rights |= _RENAME_ACROSS if known >= 2 else 0  # noqa: PLR2004 - versions of Landlock, as in its manual
    rights |= _TRUNCATE if known >= 3 else 0  # noqa: PLR2004
    scope = _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if known >= SIGNALS_SINCE else 0
    numbers = (rights, 0, scope) if scope else (rights,)
    ruleset = _packed(b"".join(number.to_bytes(8, "little") for number in numbers))
    held = libc.call("syscall", libc.LANDLOCK_CREATE_RULESET, ruleset, len(ruleset), 0)
    for place in _readable("/", (spec.private, *spec.hidden)):
        _allow(held, place, _READ_FILE, os.O_NOFOLLOW)
    if spec.root_is_private:
        for place in _readable(spec.root, spec.hidden):
            _allow(held, place, _READ_FILE, os.O_NOFOLLOW)
    for place in spec.writable:
        _allow(held, place, rights)
    for device in filter(os.path.exists, _DEVICES):
        _allow(held, device, rights & _OF_A_FILE)
    libc.no_new_privileges()
    libc.call("syscall", libc.LANDLOCK_RESTRICT_SELF, held, 0)
    os.close(held)
    libc.drop_capabilities()


def _readable(folder: str, hidden: Iterable[str]) -> Iterator[str]:
    """Yield what to allow below a folder so that everything can be read but what is hidden; no links."""
    below = [place for place in hidden if place.startswith(f"{folder.rstrip('/')}/")]
    if not below:
        yield folder
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # what cannot be listed can hardly be read
    for entry in entries:
        if entry.path not in below and not entry.is_symlink():
            yield from _readable(entry.path, below)


def _allow(held: int, place: str, rights: int, flags: int = 0) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC | flags)
    except OSError:
        if rights == _READ_FILE:
            return  # it has gone meanwhile
        raise
    try:
        rule = _packed(rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little"))
        libc.call("syscall", libc.LANDLOCK_ADD_RULE, held, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _packed(content: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(content, len(content))
