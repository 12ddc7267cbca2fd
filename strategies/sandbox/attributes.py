"""Change modes and times of the command's own files for it, where Landlock alone holds it: that covers neither.

Letting a call go on that was looked at would not do: what a path means can change between the two. So each file is
opened here once, looked at where it lies, and changed by that descriptor.
"""

from __future__ import annotations

import ctypes
import os

from strategies.sandbox import libc
from strategies.sandbox.attempts import memory_of, own, path_of
from strategies.sandbox.syscalls import ARCHITECTURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from strategies.sandbox.seccomp import Notification
    from strategies.sandbox.spec import Spec
    from strategies.sandbox.syscalls import AttributeCall

_NOT_PERMITTED: Final = 1
_NOT_THERE: Final = 2
DENIED: Final = 13
_NO_ADDRESS: Final = 14
_UNSUPPORTED: Final = 95
_TIMES_BYTES: Final = 32
_NO_FOLLOW: Final = 0x100
"""AT_SYMLINK_NOFOLLOW."""
_EMPTY_PATH: Final = 0x1000
"""AT_EMPTY_PATH."""
_UNCHANGED: Final = 0xFFFF_FFFF


def carried_out(call: Notification, spec: Spec) -> int | None:
    """Do what the call asks for, and return its errno, 0 where it is done; None for any other call."""
    known = ARCHITECTURES[libc.machine()]
    if call.number in known.unsupported:
        return _UNSUPPORTED
    what = known.attributes.get(call.number)
    if what is None:
        return None
    if what.sets == "owner":
        given = [number & _UNCHANGED for number in call.arguments[what.value : what.value + 2]]
        same = given[0] in {_UNCHANGED, os.getuid()} and given[1] in {_UNCHANGED, os.getgid()}
        return 0 if same else _NOT_PERMITTED
    try:
        place = _opened(call, what)
        try:
            return _changed(call, what, f"/proc/self/fd/{place}", spec)
        finally:
            os.close(place)
    except OSError as error:
        return error.errno or DENIED


def _opened(call: Notification, what: AttributeCall) -> int:
    """Open the file that a call means, to name it only."""
    flags = call.arguments[what.flags] if what.flags >= 0 else 0
    named = what.path >= 0 and call.arguments[what.path] != 0  # times are set without a path by a descriptor
    held = path_of(call, what.folder, -1)
    path = path_of(call, what.folder, what.path) if named else held
    if named and path == held and not flags & _EMPTY_PATH:
        raise OSError(_NOT_THERE, "a path that is empty")
    link = 0 if path == held or (what.follows and not flags & _NO_FOLLOW) else os.O_NOFOLLOW
    return os.open(path, os.O_PATH | os.O_CLOEXEC | link)


def _changed(call: Notification, what: AttributeCall, place: str, spec: Spec) -> int:
    if not own(os.readlink(place), spec.writable):  # noqa: PTH115 - pathlib costs the child 3 ms
        return DENIED
    value = call.arguments[what.value]
    if what.sets == "mode":
        os.chmod(place, value & 0o7777)  # noqa: PTH101 - the same
        return 0
    times = memory_of(call.pid, value, _TIMES_BYTES) if value else b""
    if value and len(times) < _TIMES_BYTES:
        return _NO_ADDRESS
    held = ctypes.create_string_buffer(times, _TIMES_BYTES) if value else None
    libc.call("utimensat", libc.AT_FDCWD, place.encode(), held, 0)
    return 0
