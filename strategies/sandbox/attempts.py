"""Read what a system call that waits for an answer reaches for, and whether that is the command's own."""

from __future__ import annotations

import os

from strategies.sandbox import libc
from strategies.sandbox.namespaces import WRITABLE_OF_ITS_OWN
from strategies.sandbox.syscalls import ARCHITECTURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from strategies.sandbox.seccomp import Notification
    from strategies.sandbox.spec import Spec
    from strategies.sandbox.syscalls import PathCall

_PAGE: Final = 4096
_SHOWN_CHARS: Final = 200
_SELF: Final = "/proc/self/"
_INTERNET: Final = 2
_INTERNET_6: Final = 10
_UNREACHABLE: Final = 101
"""ENETUNREACH, what a machine without a network says."""
_DENIED: Final = 13
_TRIES_TO_WRITE: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
"""SQLite asks for this, without O_TRUNC, for every database, and reads if it is refused."""
_MAKES_FOLDERS: Final = ("mkdir", "mkdirat")
"""`mkdir -p` asks for each folder above as well: of one that is there nothing is written."""


class AttemptedReach:
    """What to report of a call ("" for nothing), and the errno with which it is refused here, 0 where it goes on.

    Files are left to the kernel: mounts and Landlock hold whatever a path means by the time it is looked at, and
    what a command that made mounts of its own means by one cannot be known here.
    """

    def __init__(self, text: str = "", *, error: int = 0) -> None:
        self.text = text
        self.error = error


def reached(call: Notification, spec: Spec) -> AttemptedReach:
    """Judge a call by what its arguments say at this moment; files are held by the kernel."""
    known = ARCHITECTURES[libc.machine()]
    if call.number == known.connect:
        return _address(call, call.arguments[1], call.arguments[2])
    if call.number == known.sendto:
        return _address(call, call.arguments[4], call.arguments[5])
    if call.number == known.socket:
        return AttemptedReach("tried to open a network socket", error=_UNREACHABLE)
    what = known.paths.get(call.number)
    return _paths(call, what, spec) if what else AttemptedReach()


def _address(call: Notification, at: int, size: int) -> AttemptedReach:
    """Refuse every address; those of the network are reported, those of this machine's services are not."""
    content = memory_of(call.pid, at, min(size, 128))
    family = int.from_bytes(content[:2], "little")
    port = int.from_bytes(content[2:4])
    if family == _INTERNET:
        return AttemptedReach(f"tried to reach {'.'.join(map(str, content[4:8]))}:{port}", error=_UNREACHABLE)
    if family == _INTERNET_6:
        groups = ":".join(f"{int.from_bytes(content[at : at + 2]):x}" for at in range(8, 24, 2))
        return AttemptedReach(f"tried to reach [{groups}]:{port}", error=_UNREACHABLE)
    return AttemptedReach(error=_UNREACHABLE)


def _paths(call: Notification, what: PathCall, spec: Spec) -> AttemptedReach:
    for folder, pointer in what.paths:
        if call.arguments[pointer] == 0:
            continue  # utimensat without a path: the file is open already
        path = path_of(call, folder, pointer)
        try:
            place = _resolved(path, follows=what.follows)
        except OSError:  # as behind the root link of another process
            return AttemptedReach(f"tried to write {_shown(path, spec)}", error=_DENIED)
        if place and not own(place, (*spec.writable, *WRITABLE_OF_ITS_OWN)):
            flags = call.arguments[what.flags] if what.flags >= 0 else 0
            if what.name in _MAKES_FOLDERS and os.path.isdir(place):  # noqa: PTH112 - pathlib costs the child 3 ms
                continue
            quiet = flags & _TRIES_TO_WRITE == _TRIES_TO_WRITE and not flags & os.O_TRUNC and os.path.exists(place)  # noqa: PTH110 - the same
            return AttemptedReach("" if quiet else f"tried to write {_shown(place, spec)}")
    return AttemptedReach()


def own(place: str, folders: Iterable[str]) -> bool:
    """Return whether a place is one of these folders, or below one."""
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


def _shown(place: str, spec: Spec) -> str:
    inside = f"{spec.root}/"
    return (place.removeprefix(inside) if place.startswith(inside) else place)[:_SHOWN_CHARS]


def _resolved(path: str, *, follows: bool) -> str:
    """Resolve the links of a path; raises OSError for one that this process may not follow."""
    if not path or follows:
        return path and os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))  # noqa: PTH118, PTH119, PTH120


def path_of(call: Notification, folder: int, pointer: int) -> str:
    """Give the path that a call means, by the arguments that hold a folder's descriptor and point to the path.

    Either is -1 where the call has none. "" where the caller has gone.
    """
    raw = _text(call.pid, call.arguments[pointer]) if pointer >= 0 else ""
    if raw.startswith("/"):
        return f"/proc/{call.pid}/{raw.removeprefix(_SELF)}" if raw.startswith(_SELF) else raw
    descriptor = libc.AT_FDCWD if folder < 0 else _signed(call.arguments[folder])
    link = f"/proc/{call.pid}/{'cwd' if descriptor == libc.AT_FDCWD else f'fd/{descriptor}'}"
    return f"{link}/{raw}" if raw else link


def _signed(word: int) -> int:
    low = word & 0xFFFF_FFFF
    return low - (1 << 32) if low >> 31 else low


def _text(pid: int, at: int) -> str:
    """Read a text that ends with a zero byte, page by page: the next page may not be there."""
    content = b""
    while len(content) < _PAGE:
        more = memory_of(pid, at + len(content), _PAGE - (at + len(content)) % _PAGE)
        content += more
        if not more or b"\0" in more:
            break
    return os.fsdecode(content.partition(b"\0")[0])


def memory_of(pid: int, at: int, size: int) -> bytes:
    """Read the memory of a process; less where there is less, or it has gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(descriptor, size, at)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(descriptor)
