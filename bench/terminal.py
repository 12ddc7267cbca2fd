"""How long the command line and the screens make a person wait at a million events, beside git.

One registry: 10,000 versions of a skill of 300 lines (long_skill.py), each with its signal, a piece of evidence,
a candidate and a finished cycle; the rest of the million are outcomes that came late, between the versions. git
holds the same 10,000 texts, packed. Everything is a whole process, byte-compiled, on one core where the machine
allows it; the sides take turns, and the figure is the least of all rounds: what others do only adds to it.

First paint is taken from a terminal: from the start of the process to the first frame, and to the one that names
the skill. Jumps and memory come from the History screen of all events without a terminal: a jump ends with the
last frame that is drawn for it; memory is what the process grew by since before it opened them.

Measured 2026-11-23 beside other work, least of 9, since typer reads every command line and pydantic every event:
--version 7 ms over a bare interpreter, --help 78, log 243, show of an old version 246, why 265, git blame 346:
0.70, 0.71 and 0.77 of it. At 20,000 events: first frame 520 ms, with the skill 590; a jump: least 11, median 16,
95 % 81; memory 18 MB. The registry takes 710 MB, and is made in 100 to 220 s.

2026-11-28, alone: --version 6 ms, --help 58, log 187, show 187, why 203, git blame 338: 0.55, 0.55 and 0.60 of it.

Before that, what each command takes of a core on the registry of the demo (2,560 episodes), beside a bare
interpreter and beside three libraries that it might import; this alone with `--start`.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from bench.hooks import Waited, waited
from bench.long_skill import NAME, fingerprint_of, make_git, make_registry
from events.types.registry_events import CycleFinished, OutcomeRecorded, SignalRaised
from registry.evidence.record import LogRecord, keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from events.store.sql_log import EventLog
    from events.types.frozen import Frozen

VERSIONS, EVENTS = 10_000, 1_000_000
PER_VERSION: Final = 7
"""Events of a version: five of its promotion, its signal, and the cycle that it ended."""
ROUNDS, JUMPS = 9, 100
COLUMNS, ROWS = 140, 40
PATIENCE_S: Final = 30.0
GERMLINE: Final = str(Path(sys.executable).with_name("germline"))


@dataclass(frozen=True)
class Side:
    """A process to time: its words, and the budget in ms beyond the `base` side."""

    words: Sequence[str]
    budget_ms: float = 0.0
    base: str = ""
    peer: str = ""
    share: float = 0.0


def beside(log: EventLog, version: int, *, source: str, outcomes: int) -> Iterator[Frozen]:
    """Write what comes before a version: its signal with evidence, the turn it ends, outcomes of episodes."""
    template = f"no such table: t{version}"
    raw = json.dumps({"role": "tool", "content": template}).encode()
    record = LogRecord(source, version, 0, len(raw), raw, template, f"{version:064x}")
    evidence = log.put_blob(keep(record, salt="5a" * 16).to_bytes(), kind="evidence")
    yield SignalRaised(
        fingerprint=fingerprint_of(version),
        kind="error_template",
        calls_for="repair",
        template=template,
        action="sql:SELECT",
        count=12,
        episodes=9,
        runs=("gpt-4/try-1",),
        severity=0.4,
        evidence=(evidence,),
    )
    yield CycleFinished(
        preset="balanced",
        seed=0,
        strategy="repair",
        fingerprint=fingerprint_of(version),
        capsule=NAME,
        evaluator="e" * 64,
        candidate=f"{version:064x}",
        verdict="promote",
        reasons=("the effect is clear",),
        tried=1,
        offered=("repair",),
    )
    for number in range(outcomes):
        episode = hashlib.sha256(f"{version}/{number}".encode()).hexdigest()
        yield OutcomeRecorded(episode=episode, value=float(number % 2), source="ci")


# -- processes ---------------------------------------------------------------------------------------------


def environment(cache: Path) -> dict[str, str]:
    """Give the environment of the measured processes: byte-compiled code, in a place of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GERMLINE"))}
    return {**kept, "PYTHONPYCACHEPREFIX": str(cache), "TERM": "xterm-256color", "PAGER": "cat"}


def alone() -> str:
    """Keep this process and those it starts on one core, before all others; say whether the machine allowed it."""
    try:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except (OSError, AttributeError):
        return "on whatever core, among others"
    return "on one core, before all others"


def among_others() -> None:
    """Take that back for a process of threads, where the one that waits would hold up the one that reads.

    So it did with first paint: behind its reading threads a frame was written, but not read for 2 s.
    """
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def sides(registry: Path, history: Path, versions: int) -> dict[str, Side]:
    """Name the processes that are timed, each with what it is held against."""
    germline = [GERMLINE, "--quiet", "--registry", str(registry)]
    git = ["git", "-C", str(history)]
    middle = versions // 2
    return {
        "python -c pass": Side([sys.executable, "-c", "pass"]),
        "germline --version": Side([GERMLINE, "--version"], 60, base="python -c pass"),
        "germline --help": Side([GERMLINE, "--help"], 250),
        "git log -20": Side([*git, "--no-pager", "log", "-20"]),
        "germline log": Side([*germline, "log", "--limit", "20"], 350, peer="git blame", share=0.75),
        "git show": Side([*git, "--no-pager", "show", f"main~{versions - middle}:SKILL.md"]),
        "germline show": Side([*germline, "show", f"{NAME}@{middle}"], 350, peer="git blame", share=0.75),
        "git blame": Side([*git, "blame", "--porcelain", "SKILL.md"]),
        "germline why": Side([*germline, "why", f"{NAME}:150"], 350, peer="git blame", share=0.75),
    }


def least_ms(timed: Mapping[str, Side], env: Mapping[str, str], rounds: int) -> dict[str, Waited]:
    """Time all sides in turns; a first round compiles and warms, and does not count."""
    least: dict[str, Waited] = {}
    for counted in range(rounds + 1):
        for name, side in timed.items():
            spent = waited(side.words, env=env)
            if counted:
                least[name] = Waited(*map(min, spent, least.get(name, spent)))
    return least


def tell(timed: Mapping[str, Side], least: Mapping[str, Waited]) -> None:
    """Print each process beside its budget and its peer."""
    print(f"{'whole processes, least of all rounds':<38}{'ms':>7}   {'of budget':<22}beside its peer")
    for name, side in timed.items():
        spent = least[name].wall - (least[side.base].wall if side.base else 0.0)
        held = f"{spent / side.budget_ms:>5.2f} of {side.budget_ms:.0f} ms" if side.budget_ms else ""
        over = f" over {side.base}" if side.base else ""
        bound = f", to reach: {side.share}" if side.share else ""
        peer = f"{least[name].wall / least[side.peer].wall:.2f} × {side.peer}{bound}" if side.peer else ""
        print(f"{name + over:<38}{spent:>7.0f}   {held:<22}{peer}".rstrip())


def tell_start(demo: Path, env: Mapping[str, str], rounds: int) -> None:
    """Print the processor time of commands on the registry of the demo, and of what they are held against."""
    germline = [GERMLINE, "--quiet", "--registry", str(demo / ".germline" / "registry.db")]
    bare, imports = "python -c pass", "import typer, pydantic, sqlite_utils"
    commands = {
        "status": ["status"],
        "why": ["why", "sql-analyst:7"],
        "log": ["log"],
        "show": ["show", "sql-analyst"],
    }
    timed = {
        bare: Side([sys.executable, "-c", "pass"]),
        imports: Side([sys.executable, "-c", imports]),
        "germline --version": Side([GERMLINE, "--version"]),
        "germline --help": Side([GERMLINE, "--help"]),
        **{f"germline {name}": Side([*germline, *words]) for name, words in commands.items()},
    }
    least = least_ms(timed, env, rounds)
    print(f"{'of a core, least of all rounds':<38}{'ms':>7}{'over bare':>12}{'× the imports':>15}")
    for name, spent in least.items():
        beyond, times = spent.cpu - least[bare].cpu, spent.cpu / least[imports].cpu
        print(f"{name:<38}{spent.cpu:>7.0f}{beyond:>12.0f}{times:>15.2f}")
    print()


# -- the screens -------------------------------------------------------------------------------------------


def first_paint_ms(registry: Path, env: Mapping[str, str]) -> tuple[float, float]:
    """Open the screens in a terminal; returns the ms to the first frame, and to the one that names the skill."""
    mother, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = time.perf_counter()
    words = [GERMLINE, "--registry", str(registry), "ui"]
    screens = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, env=env, start_new_session=True)
    os.close(child)
    try:
        seen, times = b"", []
        for mark in (b"Skills", NAME.encode()):
            while mark not in seen:
                if not select.select([mother], [], [], PATIENCE_S)[0] or screens.poll() is not None:
                    raise SystemExit(
                        f"the screens never showed {mark.decode()}: {seen[-2_000:].decode(errors='replace')}"
                    )
                seen += os.read(mother, 65_536)
            times.append((time.perf_counter() - started) * 1_000)
    finally:
        screens.kill()
        screens.wait()
        os.close(mother)
    return times[0], times[1]


def jumps_elsewhere(registry: Path, env: Mapping[str, str], count: int) -> tuple[list[float], float]:
    """Jump in a process of its own, which nothing else has made grow."""
    words = [sys.executable, "-m", "bench.jumps", str(registry), str(count)]
    here = {**env, "PYTHONPATH": str(Path(__file__).parent.parent)}
    printed = subprocess.run(words, env=here, capture_output=True, check=True, text=True).stdout
    spent, grown = json.loads(printed)
    return spent, grown


def tell_screens(registry: Path, env: Mapping[str, str], rounds: int) -> None:
    """Print first paint, jumps and memory, each beside its budget."""
    among_others()
    first_paint_ms(registry, env)
    frames, named = zip(*(first_paint_ms(registry, env) for _ in range(rounds)), strict=True)
    spent, grown = jumps_elsewhere(registry, env, JUMPS)
    print(f"\n{'the screens':<38}{'ms':>7}")
    print(f"{'first frame':<38}{min(frames):>7.0f}   {min(frames) / 800:>5.2f} of 800 ms")
    print(f"{'first frame with the skill':<38}{min(named):>7.0f}   {min(named) / 800:>5.2f} of 800 ms")
    middle, late = statistics.median(spent), spent[int(0.95 * len(spent))]
    print(f"{'jump in History, least':<38}{spent[0]:>7.1f}   {spent[0] / 80:>5.2f} of 80 ms")
    print(f"{'jump in History, median':<38}{middle:>7.1f}   {middle / 80:>5.2f} of 80 ms")
    print(f"{'jump in History, 95 %':<38}{late:>7.1f}   {late / 80:>5.2f} of 80 ms")
    print(f"{f'memory after {len(spent)} jumps':<38}{grown:>7.1f} MB {grown / 80:>4.2f} of 80 MB")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200 versions, 20,000 events: a glance, not a figure")
    parser.add_argument("--start", action="store_true", help="nothing but what commands take of a core")
    asked = parser.parse_args()
    versions, events = (200, 20_000) if asked.quick else (VERSIONS, EVENTS)
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as made_in:
        folder = Path(made_in)
        subprocess.run([GERMLINE, "demo", str(folder / "demo")], capture_output=True, check=True)
        tell_start(folder / "demo", environment(folder / "compiled"), 3 if asked.quick else ROUNDS)
        if asked.start:
            return
        make(folder, versions, events)
        measure(folder, versions, 3 if asked.quick else ROUNDS)


def make(folder: Path, versions: int, events: int) -> None:
    """Write the registry and the git history."""
    started = time.perf_counter()
    outcomes = events // versions - PER_VERSION

    def before(log: EventLog, version: int) -> Iterator[Frozen]:
        return beside(log, version, source=str(folder / "runs.jsonl"), outcomes=outcomes)

    first, made = make_registry(folder / "registry.db", folder / NAME, versions, before)
    appended = time.perf_counter() - started
    make_git(folder / "git", first, made)
    whole = time.perf_counter() - started
    print(f"{events:,} events, {versions:,} versions, made in {appended:.0f} s; git in {whole - appended:.0f} s")


def measure(folder: Path, versions: int, rounds: int) -> None:
    """Print the figures of what `make` wrote."""
    print(f"measured {alone()}\n")
    env = environment(folder / "compiled")
    timed = sides(folder / "registry.db", folder / "git", versions)
    tell(timed, least_ms(timed, env, rounds))
    tell_screens(folder / "registry.db", env, rounds)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
