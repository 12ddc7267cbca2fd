"""Filter system calls: stop those which reach out, and hand them to the supervisor."""

from __future__ import annotations

import ctypes
import fcntl
import struct

from strategies.sandbox import libc
from strategies.sandbox.syscalls import ARCHITECTURES, OPENS_TO_WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from strategies.sandbox.syscalls import Architecture

_SET_MODE_FILTER: Final = 1
_NEW_LISTENER: Final = 1 << 3
_ALLOW: Final = 0x7FFF_0000
_NOTIFY: Final = 0x7FC0_0000
_KILL: Final = 0x8000_0000
_NO_SUCH_CALL: Final = 0x0005_0000 | 38
"""SECCOMP_RET_ERRNO with ENOSYS."""
_DENIED: Final = 0x0005_0000 | 13
"""The same with EACCES."""
_NOT_PERMITTED: Final = 0x0005_0000 | 1
"""The same with EPERM."""
_NO_SUCH_REQUEST: Final = 0x0005_0000 | 25
"""The same with ENOTTY."""

_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_LEAST: Final = 0x35
_ANY_BIT: Final = 0x45
_AND: Final = 0x54
_RETURN: Final = 0x06
_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_X32: Final = 0x4000_0000
"""Calls of the x32 ABI carry this bit: other numbers for the same deeds, used by nobody."""

_UNIX: Final = 1
_NETLINK: Final = 16
_SOCKET_TYPE: Final = 0xF
"""The bits of a socket's type that are no flags."""
_DATAGRAMS: Final = (2, 3)
"""SOCK_DGRAM, and SOCK_RAW, which means the same of a local socket."""

_NAMESPACES: Final = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_TIME_NAMESPACE: Final = 0x80
"""CLONE_NEWTIME, which `clone` takes for a signal."""
_TYPE_OF_REQUEST: Final = 0xFF00
_REQUESTS_OF_FILES: Final = (0x5800, 0x6600, 0x7600, 0x9400)
"""Types of ioctl that change flags, or make copies, by a descriptor that may only read (XFS, ext, all, btrfs)."""

_RECEIVE: Final = 0xC050_2100
_SEND: Final = 0xC018_2101
_STILL_VALID: Final = 0x4008_2102
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
_RESPONSE: Final = struct.Struct("=QqiI")
_CONTINUE: Final = 1

Instruction = tuple[int, int, int, int]


class Notification:
    """A system call that waits for an answer: who made it, its number and its six arguments."""

    def __init__(self, id_: int, pid: int, number: int, arguments: tuple[int, ...]) -> None:
        self.id = id_
        self.pid = pid
        self.number = number
        self.arguments = arguments


def install(*, network: bool, apart: bool) -> int:
    """Filter this process and its children from now on, and return the descriptor that reports their calls.

    Calls that change what lies at a path wait for an answer (not forks: a signal that comes meanwhile would fail
    them); namespaces are not made or entered, and limits of other processes not set. Without `network`, connecting
    waits too, and there are no local sockets for datagrams: each may name another service, in memory that can
    change once it was looked at. What is not `apart`, in namespaces, makes no socket but a local one, shares no
    memory or queue by number or name, and has modes, owners and times changed for it. Raises: OSError where the
    kernel cannot, or the architecture is not known.
    """
    program = _program(network=network, apart=apart)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    held = ctypes.create_string_buffer(code, len(code))
    pointer = struct.pack("@HP", len(program), ctypes.addressof(held))
    libc.no_new_privileges()
    return libc.seccomp(_SET_MODE_FILTER, _NEW_LISTENER, ctypes.create_string_buffer(pointer, len(pointer)))


def receive(listener: int) -> Notification | None:
    """Take the next call that waits; None where its process has gone meanwhile."""
    buffer = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError:
        return None
    number_id, pid, _, number, _, _, *arguments = _NOTIFICATION.unpack(buffer)
    return Notification(number_id, pid, number, tuple(arguments))


def still_waits(listener: int, call: Notification) -> bool:
    """Return whether what was read of the caller was its own: its number is not reused while it waits."""
    try:
        fcntl.ioctl(listener, _STILL_VALID, struct.pack("=Q", call.id))
    except OSError:
        return False
    return True


def answer(listener: int, call: Notification, error: int, *, done: bool = False) -> None:
    """Let the call go on (0), or fail with this errno; one that was carried out for the caller is `done`."""
    response = bytearray(_RESPONSE.pack(call.id, 0, -error, 0 if error or done else _CONTINUE))
    try:
        fcntl.ioctl(listener, _SEND, response)
    except OSError:
        return  # the caller was killed: nobody waits for the answer


def _program(*, network: bool, apart: bool) -> list[Instruction]:
    known = ARCHITECTURES.get(libc.machine())
    if known is None:
        raise OSError(38, f"the system calls of {libc.machine()} are not known")
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, known.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        *(_on(_LEAST, _X32, _KILL) if libc.machine() == "x86_64" else ()),
        *_of_processes(known),
        *(() if apart else _among_others(known)),
    ]
    for number in known.unanswered:
        program += _on(_EQUAL, number, _NO_SUCH_CALL)
    for number, call in known.paths.items():
        if call.flags < 0:
            program += _on(_EQUAL, number, _NOTIFY)
        else:
            program += _when(number, [(_LOAD, 0, 0, _low(call.flags)), *_on(_ANY_BIT, OPENS_TO_WRITE, _NOTIFY)])
    if not network:
        program += _on(_EQUAL, known.connect, _NOTIFY)
        addressed = [(_LOAD, 0, 0, _low(4)), *_unless_equal(0), (_LOAD, 0, 0, _low(4) + 4), *_unless_equal(0)]
        program += _when(known.sendto, addressed)
        program += _when(known.socketpair, _no_local_datagrams())
        local = [*_on(_EQUAL, _UNIX, _ALLOW), *_on(_EQUAL, _NETLINK, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
        kept = [] if apart else [(_LOAD, 0, 0, _low(0)), *local]
        program += _when(known.socket, [*_no_local_datagrams(), *kept])
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _of_processes(known: Architecture) -> Iterator[Instruction]:
    """Keep processes in their namespaces, and from the limits of others."""
    flags = (_LOAD, 0, 0, _low(0))
    yield from _when(known.clone, [flags, *_on(_ANY_BIT, _NAMESPACES, _NOT_PERMITTED)])
    yield from _when(known.unshare, [flags, *_on(_ANY_BIT, _NAMESPACES | _TIME_NAMESPACE, _NOT_PERMITTED)])
    yield from _on(_EQUAL, known.setns, _NOT_PERMITTED)
    given = [
        step
        for half in (_low(2), _low(2) + 4)
        for step in ((_LOAD, 0, 0, half), *_unless_equal(0, _NOT_PERMITTED))
    ]
    own = [(_LOAD, 0, 0, _low(0)), *_on(_EQUAL, 0, _ALLOW)]
    yield from _when(known.prlimit, [*own, *given])


def _among_others(known: Architecture) -> Iterator[Instruction]:
    """Hold what neither namespaces nor Landlock do: attributes of files, and memory shared by number or name."""
    for number in (*known.attributes, *known.unsupported):
        yield from _on(_EQUAL, number, _NOTIFY)
    for number in known.shared:
        yield from _on(_EQUAL, number, _NO_SUCH_CALL)
    refused = [step for kind in _REQUESTS_OF_FILES for step in _on(_EQUAL, kind, _NO_SUCH_REQUEST)]
    yield from _when(known.ioctl, [(_LOAD, 0, 0, _low(1)), (_AND, 0, 0, _TYPE_OF_REQUEST), *refused])


def _no_local_datagrams() -> list[Instruction]:
    """Refuse a local socket, or a pair of them, for datagrams, and go on with any other."""
    of_datagrams = [step for kind in _DATAGRAMS for step in _on(_EQUAL, kind, _DENIED)]
    kind = [(_LOAD, 0, 0, _low(1)), (_AND, 0, 0, _SOCKET_TYPE), *of_datagrams]
    return [(_LOAD, 0, 0, _low(0)), (_EQUAL, 0, len(kind), _UNIX), *kind]


def _on(test: int, value: int, verdict: int) -> Iterator[Instruction]:
    """Return the verdict where the test holds."""
    yield (test, 0, 1, value)
    yield (_RETURN, 0, 0, verdict)


def _unless_equal(value: int, verdict: int = _NOTIFY) -> Iterator[Instruction]:
    """Hand the call over, or return another verdict, where the loaded word is anything else."""
    yield (_EQUAL, 1, 0, value)
    yield (_RETURN, 0, 0, verdict)


def _when(number: int, steps: list[Instruction]) -> list[Instruction]:
    """Take the steps for the call of this number, and allow it after them."""
    return [(_EQUAL, 0, len(steps) + 1, number), *steps, (_RETURN, 0, 0, _ALLOW)]


def _low(argument: int) -> int:
    """Return where the lower half of an argument lies (little-endian, as both architectures are)."""
    return 16 + 8 * argument
