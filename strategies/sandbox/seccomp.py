"""Filter system calls: stop those which reach out, and hand them to the supervisor."""

from __future__ import annotations

import ctypes
import fcntl
import struct

from strategies.sandbox import libc
from strategies.sandbox.syscalls import ARCHITECTURES, OPENS_TO_WRITE, UNANSWERED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

_SET_MODE_FILTER: Final = 1
_NEW_LISTENER: Final = 1 << 3
_ALLOW: Final = 0x7FFF_0000
_NOTIFY: Final = 0x7FC0_0000
_KILL: Final = 0x8000_0000
_NO_SUCH_CALL: Final = 0x0005_0000 | 38
"""SECCOMP_RET_ERRNO with ENOSYS."""
_DENIED: Final = 0x0005_0000 | 13
"""The same with EACCES."""

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


def install(*, network: bool, sockets: bool) -> int:
    """Filter this process and its children from now on, and return the descriptor that reports their calls.

    Calls that change what lies at a path wait for an answer; without `network`, connecting does too, and without
    `sockets` making any socket but a local one. Without `network` there are no local sockets for datagrams: each
    datagram may name another service, in memory that can change once it was looked at. Raises: OSError where the
    kernel cannot, or the architecture is not known.
    """
    program = _program(network=network, sockets=sockets)
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


def answer(listener: int, call: Notification, error: int) -> None:
    """Let the call go on (0), or fail with this errno."""
    response = bytearray(_RESPONSE.pack(call.id, 0, -error, 0 if error else _CONTINUE))
    try:
        fcntl.ioctl(listener, _SEND, response)
    except OSError:
        return  # the caller was killed: nobody waits for the answer


def _program(*, network: bool, sockets: bool) -> list[Instruction]:
    known = ARCHITECTURES.get(libc.machine())
    if known is None:
        raise OSError(38, f"the system calls of {libc.machine()} are not known")
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, known.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        *(_on(_LEAST, _X32, _KILL) if libc.machine() == "x86_64" else ()),
    ]
    for number in UNANSWERED:
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
        kept = [] if sockets else [(_LOAD, 0, 0, _low(0)), *local]
        program += _when(known.socket, [*_no_local_datagrams(), *kept])
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _no_local_datagrams() -> list[Instruction]:
    """Refuse a local socket, or a pair of them, for datagrams, and go on with any other."""
    of_datagrams = [step for kind in _DATAGRAMS for step in _on(_EQUAL, kind, _DENIED)]
    kind = [(_LOAD, 0, 0, _low(1)), (_AND, 0, 0, _SOCKET_TYPE), *of_datagrams]
    return [(_LOAD, 0, 0, _low(0)), (_EQUAL, 0, len(kind), _UNIX), *kind]


def _on(test: int, value: int, verdict: int) -> Iterator[Instruction]:
    """Return the verdict where the test holds."""
    yield (test, 0, 1, value)
    yield (_RETURN, 0, 0, verdict)


def _unless_equal(value: int) -> Iterator[Instruction]:
    """Hand the call over where the loaded word is anything else."""
    yield (_EQUAL, 1, 0, value)
    yield (_RETURN, 0, 0, _NOTIFY)


def _when(number: int, steps: list[Instruction]) -> list[Instruction]:
    """Take the steps for the call of this number, and allow it after them."""
    return [(_EQUAL, 0, len(steps) + 1, number), *steps, (_RETURN, 0, 0, _ALLOW)]


def _low(argument: int) -> int:
    """Return where the lower half of an argument lies (little-endian, as both architectures are)."""
    return 16 + 8 * argument
