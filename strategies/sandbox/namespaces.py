"""Make namespaces for a command: processes, mounts, network and IPC that end with it."""

from __future__ import annotations

import os

from strategies.sandbox import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from strategies.sandbox.spec import Spec

_NEWNS: Final = 0x0002_0000
_NEWIPC: Final = 0x0800_0000
_NEWUSER: Final = 0x1000_0000
_NEWPID: Final = 0x2000_0000
_NEWNET: Final = 0x4000_0000

_NOSUID: Final = 0x2
_NODEV: Final = 0x4
_NOEXEC: Final = 0x8
_BIND: Final = 0x1000
_RECURSIVE: Final = 0x4000
_PRIVATE: Final = 0x4_0000
_READ_ONLY: Final = 0x1
"""MOUNT_ATTR_RDONLY; MOUNT_ATTR_NOSUID has the value of MS_NOSUID."""

SETTING_OF_THE_KERNEL: Final = "/proc/sys/kernel/core_pattern"
"""Where this can be written, as root can, all of /proc is made read-only."""
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - a file system of its own, mounted here
WRITABLE_OF_ITS_OWN: Final = ("/dev", "/proc")
"""What a command sees there is its own: an attempt to write to it reaches nobody."""


def leave(*, network: bool) -> None:
    """Leave the parent's namespaces; the next child is the first process of its own.

    Raises: OSError where the kernel, or its policy, does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    libc.unshare(_NEWUSER | _NEWNS | _NEWPID | _NEWIPC | (0 if network else _NEWNET))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def close(spec: Spec) -> None:
    """Make every file read-only but those below `writable`, and empty what is private or hidden.

    Processes and devices are the command's own: the nodes of disks, terminals and memory are out of reach, for
    root as well. Called by the first process of the new namespaces. Raises: OSError.
    """
    changeable = () if os.access(SETTING_OF_THE_KERNEL, os.W_OK) else ("/proc",)
    kept = {place: os.open(place, os.O_PATH | os.O_CLOEXEC) for place in (spec.root, *spec.writable)}
    libc.mount("none", "/", "", _RECURSIVE | _PRIVATE)
    libc.mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _own_devices()
    _empty(spec.private)
    if spec.root_is_private:
        os.makedirs(spec.root)  # noqa: PTH103 - pathlib costs the child 5 ms
        libc.mount(f"/proc/self/fd/{kept[spec.root]}", spec.root, "", _BIND)
    for place in spec.hidden:
        _empty(place)
    for place in spec.writable:
        libc.mount(f"/proc/self/fd/{kept[place]}", place, "", _BIND)
    for descriptor in kept.values():
        os.close(descriptor)
    libc.mount_attributes("/", add=_READ_ONLY | _NOSUID, recursive=True)
    for place in (*spec.writable, _SHARED_MEMORY, *changeable):
        libc.mount_attributes(place, clear=_READ_ONLY)


def _empty(place: str) -> None:
    """Cover a folder by an empty one, a file by one that cannot be read."""
    if os.path.isdir(place):  # noqa: PTH112 - the same
        libc.mount("tmpfs", place, "tmpfs", _NOSUID | _NODEV, "size=4k,mode=755")
    else:
        libc.mount(os.devnull, place, "", _BIND)


def _own_devices() -> None:
    """Cover /dev with one that holds the harmless devices only."""
    there = {name: os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC) for name in _DEVICES}
    libc.mount("tmpfs", "/dev", "tmpfs", _NOSUID, "size=64k,mode=755")
    for name, descriptor in there.items():
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY))
        libc.mount(f"/proc/self/fd/{descriptor}", f"/dev/{name}", "", _BIND)
        os.close(descriptor)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/dev/{name}")  # noqa: PTH211 - pathlib costs the child 5 ms
    os.mkdir(_SHARED_MEMORY)  # noqa: PTH102 - the same
    libc.mount("tmpfs", _SHARED_MEMORY, "tmpfs", _NOSUID | _NODEV, "size=64m,mode=1777")
    os.mkdir("/dev/pts")  # noqa: PTH102 - the same
    libc.mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", "/dev/ptmx")  # noqa: PTH211 - the same


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
