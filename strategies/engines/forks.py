"""The process that workers are forked from: it has loaded what they need, and never had a registry open."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing import forkserver, resource_tracker
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

LOADED: Final = ("strategies.logs.scan_parallel", "strategies.gate.replay.explore_split")
"""Where the calls are that every worker may get: to load them takes 0.3 s of a processor."""


def forks(*loaded: str) -> ForkServerContext:
    """Start the process that loads modules once for all workers, where none runs yet; give what forks from it.

    Ctrl-C reaches every process of a terminal; this one does not hear it, nor does a worker until it unblocks it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*loaded])
    resource_tracker.ensure_running()  # which unblocks Ctrl-C, where it has to start
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context
