"""The system calls that isolation needs and Python 3.11 does not offer; Linux only."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

AT_FDCWD: Final = -100
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
"""Numbers of seccomp(2); those of the newer calls below are the same on every architecture."""
_MOUNT_SETATTR: Final = 442
LANDLOCK_CREATE_RULESET: Final = 444
LANDLOCK_ADD_RULE: Final = 445
LANDLOCK_RESTRICT_SELF: Final = 446

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_SIGKILL: Final = 9
_SIGPIPE: Final = 13
_CAPABILITY_VERSION_3: Final = 0x20080522

_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)

Argument = int | bytes | None | ctypes.Array[ctypes.c_char]


def call(name: str, *arguments: Argument) -> int:
    """Call a function of the C library; raises OSError with its errno where it returns -1."""
    wide = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = int(getattr(_LIBRARY, name)(*wide))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def machine() -> str:
    """Name the architecture, as in `x86_64`."""
    return os.uname().machine


def seccomp(operation: int, flags: int, program: ctypes.Array[ctypes.c_char]) -> int:
    """Set up a filter of system calls; raises OSError where kernel or architecture have none that we know."""
    if machine() not in _SECCOMP:
        raise OSError(38, f"seccomp: its number on {machine()} is not known")
    return call("syscall", _SECCOMP[machine()], operation, flags, program)


def unshare(flags: int) -> None:
    """Leave the namespaces that are shared with the parent."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or bind a folder to a place."""
    call("mount", source.encode(), os.fsencode(target), kind.encode() or None, flags, options.encode() or None)


def mount_attributes(target: str, *, add: int = 0, clear: int = 0, recursive: bool = False) -> None:
    """Change the attributes of a mount (mount_setattr, Linux 5.12 and newer)."""
    attributes = b"".join(number.to_bytes(8, "little") for number in (add, clear, 0, 0))
    packed = ctypes.create_string_buffer(attributes, len(attributes))
    at_recursive = 0x8000
    flags = at_recursive if recursive else 0
    call("syscall", _MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), flags, packed, len(attributes))


def drop_capabilities() -> None:
    """Give up every capability; together with `no_new_privileges` for good, for root as well."""
    header = _CAPABILITY_VERSION_3.to_bytes(4, "little") + bytes(4)
    call("capset", ctypes.create_string_buffer(header, 8), ctypes.create_string_buffer(24))


def no_new_privileges() -> None:
    """Let no program that is started from here gain a privilege."""
    call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def end_by_pipes() -> None:
    """Let a pipe that nobody reads end its writer: Python ignores that signal, and children inherit this."""
    call("signal", _SIGPIPE, 0)


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    call("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def outlive_parent() -> None:
    """Take `die_with_parent` back."""
    call("prctl", _PR_SET_PDEATHSIG, 0, 0, 0, 0)


def hide_memory() -> None:
    """Let no process of the same user look into this one, or write to its memory."""
    call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
