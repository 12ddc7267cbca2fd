"""How fast a line says where it comes from, and how fast the past comes back, beside git on the same history.

One skill of 300 lines, 10,000 versions, each a promotion that replaces one line drawn uniformly: the five events
of a promotion, appended with the projector of every command. git gets the same texts, one commit each, packed.
*First look* reads everything anew, as a process does that just opened the registry; *again* is what a screen
pays for every further look, where events that were read once are remembered. git can only be asked through a
process, so the whole `germline why` stands beside it. The size of loose objects is what `git count-objects` says.

Measured 2026-11-21 (two cores, in use by others), medians: blame 0.92 ms at first look and 0.35 ms again; time
travel to a random version 0.69 ms; git blame 344 ms, germline why 267 ms (both processes). The registry takes
104 MB, 0.85 of git's loose objects; packed git takes 3.8 MB.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.sample_scores import score
from events.candidate_events import CandidatePromoted, CandidateProposed, CandidateScored
from events.capsule_events import CapsuleVersioned
from events.clock import SystemClock
from events.envelope import Draft
from events.gene_events import GeneMutated
from events.parts import Edit, Pin
from events.score import Delta
from events.sqlite_log import SqliteLog
from registry.commands import CreateRegistry
from registry.library import Library
from registry.projection import projecting
from registry.provenance import blame
from registry.publish import take_in
from registry.registry import Registry
from registry.rendering import skill_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from events.base import Frozen
    from registry.capsule import Capsule

NAME = "long-skill"
LINES, VERSIONS = 300, 10_000
BATCH = 200
"""Versions appended in one transaction."""

REACH_MS = 1.0
"""trust.md: blame and time travel in process, at 10,000 versions."""

WORDS = ("check", "list", "the", "tables", "before", "next", "query", "show", "errors", "after", "read", "schema")


@dataclass(frozen=True)
class Change:
    """What one version changes: a line of a gene, and where that line stands in the file, from 0."""

    gene: str
    line: int
    at: int
    text: str


def sentence(draws: random.Random) -> str:
    """Draw a line as skills have them."""
    return f"- {' '.join(draws.choices(WORDS, k=9))}.\n"


def first_text(draws: random.Random) -> str:
    """Write the skill that everything begins with: a section every 30 lines."""
    front = ["---\n", f"name: {NAME}\n", "description: A long skill.\n", "---\n", "\n"]
    body = [f"## Part {n // 30}\n" if n % 30 == 0 else sentence(draws) for n in range(LINES - len(front))]
    return "".join(front + body)


def changes(capsule: Capsule, draws: random.Random, count: int) -> list[Change]:
    """Draw one-line replaces, uniformly over all lines that are neither front matter nor headings."""
    places = [(gene.id, line) for gene in capsule.genes for line in gene.lines]
    first = len(capsule.front)
    pool = [(g, line.id, at) for at, (g, line) in enumerate(places, first) if line.text.startswith("- ")]
    return [Change(*draws.choice(pool), sentence(draws)) for _ in range(count)]


def promotion(version: int, change: Change, pins: dict[str, int], scored_id: str) -> list[tuple[str, Frozen]]:
    """Write the events that make the next version, with their streams."""
    candidate, gene = f"{version:064x}", change.gene
    pins[gene] += 1
    before, after, delta = score(0.44), score(0.46), Delta(value=0.02, low=0.01, high=0.03, tasks=118)
    edit = Edit(op="replace", gene=gene, target=(change.line,), text=(change.text,))
    reason = "explore: 593 episodes took the action next, 1,300 did not; risk difference +0.44"
    cause = {"before": before, "after": after, "candidate": candidate, "scored": scored_id}
    proposed = CandidateProposed(
        candidate=candidate,
        capsule=NAME,
        base_version=version - 1,
        strategy="repair",
        preset="balanced",
        proposer="recovery",
        fingerprint=f"{version:016x}",
        edits=(edit,),
        claims=(),
        triggers=(),
        reason=reason,
        evaluator="e" * 64,
    )
    scored = CandidateScored(
        candidate=candidate,
        capsule=NAME,
        base_version=version - 1,
        before=before,
        after=after,
        delta=delta,
        effect=None,
        audit_before=before,
        audit_after=after,
        sent=version,
    )
    promoted = CandidatePromoted(
        candidate=candidate, capsule=NAME, version=version, reasons=("the effect is clear",)
    )
    mutated = GeneMutated(**cause, gene=gene, capsule=NAME, version=pins[gene], edits=(edit,), strategy="repair")
    versioned = CapsuleVersioned(
        **cause,
        capsule=NAME,
        version=version,
        genes=tuple(Pin(gene=name, version=number) for name, number in pins.items()),
        cause="promotion",
        summary=reason,
        stamped=True,
        delta=delta,
    )
    stream = f"candidate:{candidate}"
    judged: list[tuple[str, Frozen]] = [(stream, proposed), (stream, scored), (stream, promoted)]
    return [*judged, (f"gene:{gene}", mutated), (f"capsule:{NAME}", versioned)]


def make_registry(path: Path, folder: Path, versions: int) -> tuple[str, list[Change]]:
    """Write the history into a registry; returns the first text and every change after it."""
    draws = random.Random(7)
    folder.mkdir()
    text = first_text(draws)
    (folder / "SKILL.md").write_text(text)
    with closing(SqliteLog.open(path, create=True)) as log:
        registry = Registry(log, SystemClock(), "person:bench")
        registry.execute(CreateRegistry("key", "balanced"))
        take_in(registry, folder)
        capsule = registry.capsule(NAME)
        made = changes(capsule, draws, versions - 1)
        pins = {gene.id: gene.version for gene in capsule.genes}
        for first in range(0, len(made), BATCH):
            append(registry, first + 2, made[first : first + BATCH], pins)
    return text, made


def append(registry: Registry, first: int, made: list[Change], pins: dict[str, int]) -> None:
    """Append a batch of versions in one transaction."""
    clock = registry.clock
    drafts = []
    for version, change in enumerate(made, first):
        scored_id = clock.new_id()
        for stream, event in promotion(version, change, pins, scored_id):
            event_id = scored_id if isinstance(event, CandidateScored) else clock.new_id()
            drafts.append(Draft(stream, event, event_id, clock.now(), "miner:recovery"))
    expected = registry.log.stream_versions(sorted({draft.stream for draft in drafts}))
    registry.log.append(drafts, expected=expected, project=projecting(registry.log))


def texts(first: str, made: list[Change]) -> Iterator[str]:
    """Yield the file at every version."""
    lines = first.splitlines(keepends=True)
    yield first
    for change in made:
        lines[change.at] = change.text
        yield "".join(lines)


def git(folder: Path, *words: str) -> str:
    """Run git and return what it says."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True, text=True)
    return done.stdout


def make_git(folder: Path, first: str, made: list[Change]) -> None:
    """Write the same history into a packed git repository."""
    git(folder.parent, "init", "--quiet", "--initial-branch=main", str(folder))
    stream = folder / "history"
    with stream.open("w") as written:
        for version, text in enumerate(texts(first, made), 1):
            note = f"version {version}"
            written.write(f"commit refs/heads/main\ncommitter bench <bench@x> {1_790_000_000 + version} +0000\n")
            written.write(f"data {len(note)}\n{note}\nM 100644 inline SKILL.md\ndata {len(text)}\n{text}\n")
    with stream.open("rb") as history:
        subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], stdin=history, check=True)
    stream.unlink()
    git(folder, "reset", "--quiet", "--hard", "main")
    git(folder, "gc", "--quiet")


def git_sizes(folder: Path, loose: Path) -> tuple[int, int]:
    """Return the bytes that git takes on disk for the objects, loose and packed."""
    (pack,) = (folder / ".git" / "objects" / "pack").glob("*.pack")
    git(loose.parent, "init", "--quiet", str(loose))
    with pack.open("rb") as stream:
        subprocess.run(["git", "-C", str(loose), "unpack-objects", "-q"], stdin=stream, check=True)
    counted = dict(row.split(": ") for row in git(loose, "count-objects", "-v").splitlines())
    return int(counted["size"]) * 1024, sum(file.stat().st_size for file in pack.parent.iterdir())


def spent_ms(action: Callable[[], object], times: int) -> list[float]:
    """Time an action several times; sorted."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        spent.append((time.perf_counter() - started) * 1_000)
    return sorted(spent)


def row(name: str, spent: list[float], peer_ms: float, reach: str = "") -> None:
    """Print a median, the 95th percentile, and how many times faster than the peer that is."""
    median = statistics.median(spent)
    print(
        f"{name:<28}{median:>9.2f} ms{spent[int(0.95 * len(spent))]:>9.2f} ms{peer_ms / median:>9.1f} ×  {reach}"
    )


def looks(library: Library, versions: int) -> dict[str, Callable[[], object]]:
    """Name what is timed in process."""
    draws = random.Random(11)

    def first_look() -> object:
        fresh = Library(library.log)
        return blame(fresh, fresh.capsule(NAME))

    return {
        "blame, first look": first_look,
        "blame, again": lambda: blame(library, library.capsule(NAME)),
        "time travel, random version": lambda: library.capsule(NAME, str(draws.randint(1, versions))),
    }


def measure(path: Path, versions: int, peer: list[float]) -> Capsule:
    """Print the figures of one registry beside those of git; returns the live version."""
    with closing(SqliteLog.open(path, read_only=True)) as log:
        library = Library(log)
        peer_ms = statistics.median(peer)
        print(f"{'':<28}{'median':>12}{'95 %':>12}{'git blame ÷':>12}")
        row("git blame, process", peer, peer_ms)
        for name, look in looks(library, versions).items():
            row(name, spent_ms(look, 300), peer_ms, f"to reach: {REACH_MS} ms")
        command = str(Path(sys.executable).with_name("germline"))
        why = [command, "--registry", str(path), "why", f"{NAME}:150", "--json"]
        ask = spent_ms(lambda: subprocess.run(why, capture_output=True, check=True), len(peer))
        row("germline why, process", ask, peer_ms, "to reach: 1.5 × git blame (terminal.md)")
        return library.capsule(NAME)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 versions: a glance, not a figure")
    versions = 500 if parser.parse_args().quick else VERSIONS
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as made_in:
        folder = Path(made_in)
        path = folder / "registry.db"
        started = time.perf_counter()
        first, made = make_registry(path, folder / NAME, versions)
        print(f"{versions:,} versions of {LINES} lines, appended in {time.perf_counter() - started:.0f} s")
        make_git(folder / "git", first, made)
        peer = spent_ms(lambda: git(folder / "git", "blame", "--porcelain", "SKILL.md"), 9)
        live = measure(path, versions, peer)
        *_, last = texts(first, made)
        if skill_text(replace(live, stamped=False)) != last:
            raise SystemExit("the registry and git do not hold the same text")
        loose, packed = git_sizes(folder / "git", folder / "loose")
        shutil.rmtree(folder / "loose")
        ours = path.stat().st_size
        print(
            f"registry {ours / 1e6:.1f} MB; git loose {loose / 1e6:.1f} MB, packed {packed / 1e6:.1f} MB;", end=" "
        )
        print(f"ratio to loose {ours / loose:.2f}, to reach: 1.0")


if __name__ == "__main__":
    main()
