"""Confinement by bubblewrap (`bwrap`), where that is installed and may make namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strategies.sandbox.namespaces import SETTING_OF_THE_KERNEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.sandbox.spec import Spec

_SHARED_MEMORY_BYTES: Final = 64 * 1024**2
_PROBE_S: Final = 10.0
_BASE: Final = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"),
    *("--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108 - its own
)
"""No `--new-session`: the caller starts one already, and one more would leave the process group that it kills."""


@cache
def working_bwrap() -> str:
    """Find a `bwrap` that can make namespaces here, trying it once; "" where there is none."""
    program = shutil.which("bwrap") if sys.platform == "linux" else None
    if program is None:
        return ""
    probe = (program, *_BASE, "--unshare-net", "--", sys.executable, "-I", "-S", "-c", "")
    try:
        ended = subprocess.run(probe, capture_output=True, check=False, timeout=_PROBE_S)  # noqa: S603 - our own list
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return program if ended.returncode == 0 else ""


def bwrap_arguments(program: str, spec: Spec) -> list[str]:
    """Build the command line in front of the launcher: what it may see, write and reach.

    The launcher then is the first process of the new namespaces, so everything in them ends with it.
    """
    return [program, *_BASE, *_options(spec), "--"]


def _options(spec: Spec) -> Iterator[str]:
    if not spec.network:
        yield "--unshare-net"
    if os.access(SETTING_OF_THE_KERNEL, os.W_OK):  # measured: bwrap 0.8 leaves this writable to root
        yield from ("--remount-ro", "/proc")
    yield from ("--size", "4096", "--tmpfs", spec.private)
    if spec.root_is_private:
        yield from ("--ro-bind", spec.root, spec.root)
    yield from ("--remount-ro", spec.private)
    for place in spec.hidden:
        if Path(place).is_dir():
            yield from ("--size", "4096", "--tmpfs", place, "--remount-ro", place)
        else:
            yield from ("--ro-bind", os.devnull, place)
    for place in spec.writable:
        yield from ("--bind", place, place)
