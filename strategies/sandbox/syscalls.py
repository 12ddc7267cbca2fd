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


class AttributeCall:
    """A call that changes what a file is called by: its mode, owner or times.

    Shapes: each is the number of an argument, -1 where the call has none: `folder` and `path` as in `PathCall`,
    `value` what is set (a mode, an owner with its group next to it, a pointer to times), `flags` those of `…at`.
    """

    def __init__(
        self, sets: str, folder: int, path: int, value: int, flags: int = -1, *, follows: bool = True
    ) -> None:
        self.sets = sets
        self.folder = folder
        self.path = path
        self.value = value
        self.flags = flags
        self.follows = follows


class Architecture:
    """The numbers of one architecture; `audit` is how seccomp names it (AUDIT_ARCH_…).

    `paths` change what lies at a path. `attributes` are carried out for the command where Landlock alone holds it,
    and `unsupported` are answered then as by a file system that has no such thing. `shared` reach memory and
    queues that outlive a process.
    """

    def __init__(  # noqa: PLR0913 - a record; a dataclass would cost each start 10 ms
        self,
        audit: int,
        paths: dict[int, PathCall],
        *,
        attributes: dict[int, AttributeCall],
        unsupported: tuple[int, ...],
        connect: int,
        sendto: int,
        socket: int,
        socketpair: int,
        clone: int,
        unshare: int,
        setns: int,
        prlimit: int,
        ioctl: int,
        unanswered: tuple[int, ...],
        shared: tuple[int, ...],
    ) -> None:
        self.audit = audit
        self.paths = paths
        self.attributes = attributes
        self.unsupported = unsupported
        self.connect = connect
        self.sendto = sendto
        self.socket = socket
        self.socketpair = socketpair
        self.clone = clone
        self.unshare = unshare
        self.setns = setns
        self.prlimit = prlimit
        self.ioctl = ioctl
        self.unanswered = (*_UNANSWERED, *unanswered)
        self.shared = shared


_UNANSWERED: Final = (425, 435, 437, 463, 466, 469)
"""Answered ENOSYS, and programs fall back: io_uring_setup and openat2, which hide what they open, clone3, which
hides its flags, and what sets attributes since Linux 6.13 (setxattrat, removexattrat, file_setattr)."""

ARCHITECTURES: Final = {
    "x86_64": Architecture(
        0xC000_003E,
        X86_64,
        attributes={
            90: AttributeCall("mode", -1, 0, 1),
            91: AttributeCall("mode", 0, -1, 1),
            268: AttributeCall("mode", 0, 1, 2),
            452: AttributeCall("mode", 0, 1, 2, 3),
            92: AttributeCall("owner", -1, 0, 1),
            93: AttributeCall("owner", 0, -1, 1),
            94: AttributeCall("owner", -1, 0, 1, follows=False),
            260: AttributeCall("owner", 0, 1, 2, 4),
            280: AttributeCall("times", 0, 1, 2, 3),
        },
        unsupported=(132, 188, 189, 190, 197, 198, 199, 235, 261),  # utime, utimes, futimesat and *xattr
        connect=42,
        sendto=44,
        socket=41,
        socketpair=53,
        clone=56,
        unshare=272,
        setns=308,
        prlimit=302,
        ioctl=16,
        unanswered=(319, 248, 249, 250, 64, 68),  # memfd_create, keys of the user, semget, msgget
        shared=(29, 30, 31, 65, 66, 67, 69, 70, 71, 220, 240, 241),  # shm*, sem*, msg*, mq_open, mq_unlink
    ),
    "aarch64": Architecture(
        0xC000_00B7,
        AARCH64,
        attributes={
            52: AttributeCall("mode", 0, -1, 1),
            53: AttributeCall("mode", 0, 1, 2),
            452: AttributeCall("mode", 0, 1, 2, 3),
            54: AttributeCall("owner", 0, 1, 2, 4),
            55: AttributeCall("owner", 0, -1, 1),
            88: AttributeCall("times", 0, 1, 2, 3),
        },
        unsupported=(5, 6, 7, 14, 15, 16),
        connect=203,
        sendto=206,
        socket=198,
        socketpair=199,
        clone=220,
        unshare=97,
        setns=268,
        prlimit=261,
        ioctl=29,
        unanswered=(279, 217, 218, 219, 190, 186),
        shared=(194, 195, 196, 191, 192, 193, 187, 188, 189, 180, 181),
    ),
}
