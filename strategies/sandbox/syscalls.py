"""List the system calls that reach out of a copy, and which of their arguments hold the paths."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class PathCall:
    """A call that changes what lies at a path.

    Shapes: `paths` pairs the argument that holds the folder's descriptor, -1 where there is none, with the one
    that points to the path; `flags` is the argument that says how a file is opened, -1 where the call always
    changes. `follows` is whether a link at the end of the path is followed.
    """

    def __init__(
        self, name: str, paths: tuple[tuple[int, int], ...], *, flags: int = -1, follows: bool = False
    ) -> None:
        self.name = name
        self.paths = paths
        self.flags = flags
        self.follows = follows


OPENS_TO_WRITE: Final = 0o3 | 0o100 | 0o1000
"""O_WRONLY, O_RDWR, O_CREAT and O_TRUNC: any of them asks for more than reading."""

_FIRST: Final = ((-1, 0),)
_AT: Final = ((0, 1),)

X86_64: Final[dict[int, PathCall]] = {
    2: PathCall("open", _FIRST, flags=1, follows=True),
    76: PathCall("truncate", _FIRST, follows=True),
    82: PathCall("rename", ((-1, 0), (-1, 1))),
    83: PathCall("mkdir", _FIRST),
    84: PathCall("rmdir", _FIRST),
    85: PathCall("creat", _FIRST, follows=True),
    86: PathCall("link", ((-1, 1),)),
    87: PathCall("unlink", _FIRST),
    88: PathCall("symlink", ((-1, 1),)),
    90: PathCall("chmod", _FIRST, follows=True),
    92: PathCall("chown", _FIRST, follows=True),
    94: PathCall("lchown", _FIRST),
    132: PathCall("utime", _FIRST, follows=True),
    133: PathCall("mknod", _FIRST),
    188: PathCall("setxattr", _FIRST, follows=True),
    189: PathCall("lsetxattr", _FIRST),
    235: PathCall("utimes", _FIRST, follows=True),
    257: PathCall("openat", _AT, flags=2, follows=True),
    258: PathCall("mkdirat", _AT),
    259: PathCall("mknodat", _AT),
    260: PathCall("fchownat", _AT),
    261: PathCall("futimesat", _AT, follows=True),
    263: PathCall("unlinkat", _AT),
    264: PathCall("renameat", ((0, 1), (2, 3))),
    265: PathCall("linkat", ((2, 3),)),
    266: PathCall("symlinkat", ((1, 2),)),
    268: PathCall("fchmodat", _AT, follows=True),
    280: PathCall("utimensat", _AT),
    316: PathCall("renameat2", ((0, 1), (2, 3))),
    452: PathCall("fchmodat2", _AT),
}
_GENERIC: Final = {
    "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "truncate": 45,
    "fchmodat": 53, "fchownat": 54, "openat": 56, "setxattr": 5, "lsetxattr": 6, "utimensat": 88, "renameat2": 276,
    "fchmodat2": 452,
}  # fmt: skip
AARCH64: Final[dict[int, PathCall]] = {
    _GENERIC[call.name]: call for call in X86_64.values() if call.name in _GENERIC
}


class Architecture:
    """The numbers of one architecture; `audit` is how seccomp names it (AUDIT_ARCH_…)."""

    def __init__(
        self, audit: int, paths: dict[int, PathCall], *, connect: int, sendto: int, socket: int, socketpair: int
    ) -> None:
        self.audit = audit
        self.paths = paths
        self.connect = connect
        self.sendto = sendto
        self.socket = socket
        self.socketpair = socketpair


ARCHITECTURES: Final = {
    "x86_64": Architecture(0xC000_003E, X86_64, connect=42, sendto=44, socket=41, socketpair=53),
    "aarch64": Architecture(0xC000_00B7, AARCH64, connect=203, sendto=206, socket=198, socketpair=199),
}
UNANSWERED: Final = (425, 437)
"""io_uring_setup and openat2, which hide what they open: they are answered ENOSYS, and programs fall back."""
