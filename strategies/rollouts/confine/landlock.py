"""Landlock: writes and signals that stay inside, where the kernel knows no other way to keep them there."""

from __future__ import annotations

import ctypes
import os

from strategies.rollouts.confine import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11
SIGNALS_SINCE: Final = 6
"""The version of Landlock that keeps signals inside (Linux 6.12)."""
_WRITE_FILE: Final = 1 << 1
_REMOVE_AND_MAKE: Final = sum(1 << bit for bit in range(4, 13))
_RENAME_ACROSS: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_OF_A_FILE: Final = _WRITE_FILE | _TRUNCATE


def version() -> int:
    """Tell the version of Landlock that the kernel has, 0 where it has none."""
    try:
        return libc.call("syscall", libc.LANDLOCK_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def keep_inside(writable: Iterable[str]) -> None:
    """Let this process and its children write below these folders only, and signal nobody outside.

    Root keeps its name and loses its powers: with them it could make the node of a disk in its own folder, and
    write past every file system. Not covered: changes of mode, owner and times of files outside. Raises: OSError
    where Landlock is missing.
    """
    known = version()
    rights = _WRITE_FILE | _REMOVE_AND_MAKE
    rights |= _RENAME_ACROSS if known >= 2 else 0  # noqa: PLR2004 - versions of Landlock, as in its manual
    rights |= _TRUNCATE if known >= 3 else 0  # noqa: PLR2004
    scope = _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if known >= SIGNALS_SINCE else 0
    numbers = (rights, 0, scope) if scope else (rights,)
    ruleset = _packed(b"".join(number.to_bytes(8, "little") for number in numbers))
    held = libc.call("syscall", libc.LANDLOCK_CREATE_RULESET, ruleset, len(ruleset), 0)
    for place in writable:
        _allow(held, place, rights)
    for device in filter(os.path.exists, _DEVICES):
        _allow(held, device, rights & _OF_A_FILE)
    libc.no_new_privileges()
    libc.call("syscall", libc.LANDLOCK_RESTRICT_SELF, held, 0)
    os.close(held)
    libc.drop_capabilities()


def _allow(held: int, place: str, rights: int) -> None:
    descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _packed(rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little"))
        libc.call("syscall", libc.LANDLOCK_ADD_RULE, held, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _packed(content: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(content, len(content))
