"""Confine one command and report on it: `main()` of a process of its own, given two descriptors, spec and report.

In namespaces, made by bubblewrap before this starts or else made here, the command gets processes, mounts, network
and devices of its own, and the files of the machine to read. Where the kernel gives none, Landlock keeps writes
and signals inside and a filter of system calls refuses the network. The filter reports every attempt.
"""

from __future__ import annotations

import os
import sys

from strategies.sandbox import landlock, libc, namespaces, processes, supervisor
from strategies.sandbox.disk_use import LEAST_FILES, left_bytes
from strategies.sandbox.spec import PARTS, ConfinementReport, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, NoReturn

_NO_NAMESPACES: Final = 121
"""How the child ends that cannot make namespaces, before anything was started."""


def main() -> NoReturn:
    """Read the spec, confine and run the command, write the report; exit code 0 unless this itself breaks."""
    os._exit(_confined())  # the interpreter's own way out takes 3 ms


def _confined() -> int:
    spec, report = Spec.read(int(sys.argv[1])), int(sys.argv[2])
    os.set_inheritable(report, False)  # noqa: FBT003 - Python's own; a command that has it could report on itself
    sys.dont_write_bytecode = True  # the filter would hand such a write to this process, to wait for itself
    if sys.platform != "linux":
        return _send(report, _unconfined(spec, report).packed())
    libc.die_with_parent()
    if spec.confined:
        return _as_first_process(spec, report)
    child = os.fork()
    if child == 0:
        libc.die_with_parent()
        os._exit(_in_namespaces(spec, report))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return _send(report, _among_others(spec, report).packed()) if code == _NO_NAMESPACES else code


def _in_namespaces(spec: Spec, report: int) -> int:
    """Make namespaces, and run the command in them."""
    try:
        namespaces.leave(network=spec.network)
    except OSError:
        return _NO_NAMESPACES
    first = os.fork()
    if first:
        return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    libc.die_with_parent()
    try:
        namespaces.close(spec)
    except OSError:
        os._exit(_NO_NAMESPACES)
    os._exit(_as_first_process(spec, report))


def _as_first_process(spec: Spec, report: int) -> int:
    """Run the command as a child of the first process of its namespaces: with it, all of them end."""
    libc.no_new_privileges()
    libc.drop_capabilities()
    libc.hide_memory()
    held = Held(processes.all_others, lambda listener: [] if listener >= 0 else ["watch"], apart=True)
    return _send(report, _run(spec, report, held).packed())


def _among_others(spec: Spec, report: int) -> ConfinementReport:
    """Run the command among the processes of the machine, held by Landlock and the filter alone."""
    libc.outlive_parent()  # the closed report says that the parent ended, and then the descendants are ended here
    libc.adopt_orphans()
    libc.hide_memory()
    libc.no_new_privileges()
    libc.drop_capabilities()  # what is done for the command here is done with its own powers
    known = landlock.version()

    def missing(listener: int) -> list[str]:
        lacks = {
            "files": not known or listener < 0,
            "network": listener < 0 and not spec.network,
            "processes": known < landlock.SIGNALS_SINCE,  # the command could kill its supervisor, and get away
            "watch": listener < 0,
        }
        return [part for part in PARTS if lacks[part]]

    try:
        return _run(spec, report, Held(processes.descendants, missing, landlock.keep_inside if known else None))
    finally:
        processes.end(processes.descendants)


def _unconfined(spec: Spec, report: int) -> ConfinementReport:
    """Run the command with its limits and nothing more: all that can be had off Linux."""
    missing = [part for part in PARTS if not (part == "network" and spec.network)]
    return _run(spec, report, Held(list, lambda _: missing))


class Held:
    """How a command is held: `apart` in namespaces, or among others, and then by what `keep_inside` does.

    `others` lists the processes that count as the command's; `missing` names the parts that are missing with a
    listener, -1 for none.
    """

    def __init__(
        self,
        others: Callable[[], list[int]],
        missing: Callable[[int], list[str]],
        keep_inside: Callable[[Spec], None] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        self.others = others
        self.missing = missing
        self.keep_inside = keep_inside
        self.apart = apart


def _run(spec: Spec, report: int, held: Held) -> ConfinementReport:
    """Start the command if nothing that is required is missing, and stay with it."""
    failed, failure = os.pipe()  # Python's pipes end at exec
    command = supervisor.start(spec, failure, held.keep_inside, apart=held.apart)
    os.close(failure)
    missing = held.missing(command.listener)
    if command.failed:
        return ConfinementReport("unstarted", missing, error=os.read(failed, 500).decode(errors="replace"))
    if set(missing) & set(spec.required):
        return ConfinementReport("refused", missing)
    if 0 <= left_bytes(spec.writable, 2 * LEAST_FILES) < 2 * spec.spare_bytes:  # no run takes half of it
        room = f"{2 * spec.spare_bytes:,} bytes and {2 * LEAST_FILES:,} files"
        return ConfinementReport("void", missing, error=f"the disk has no room for {room}")
    _send(report, b"started\n")
    command.go()
    watch = supervisor.Watch(spec, command, held.others, apart=held.apart)
    try:
        watch.stay(report)
    except OSError as error:
        return ConfinementReport(
            "lost", missing, attempts=watch.attempts, error=f"it could not be watched: {error}"
        )
    if watch.code == supervisor.NOT_STARTED and (why := os.read(failed, 500)):
        return ConfinementReport("unstarted", missing, error=why.decode(errors="replace"))
    others_did = "others filled the disk" if watch.ended == "void" else ""
    return ConfinementReport(watch.ended, missing, watch.code, watch.attempts, others_did)


def _send(report: int, content: bytes) -> int:
    try:  # noqa: SIM105 - contextlib costs each start 5 ms
        os.write(report, content)
    except BrokenPipeError:
        pass  # nobody is left to read it
    return 0
