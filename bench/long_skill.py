"""The history that blame.py and terminal.py measure: one skill, thousands of versions, and the same in git.

A skill of 300 lines; each version is a promotion that replaces one line drawn uniformly, the five events of a
promotion, appended with the projector of every command. git gets the same texts, one commit each, packed.
"""

from __future__ import annotations

import random
import subprocess
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.sample_scores import scored
from events.clock import SystemClock
from events.sqlite.log import SqliteLog
from events.store.envelope import EventDraft
from events.types.candidate_events import CandidatePromoted, CandidateProposed, CandidateScored
from events.types.capsule_events import CapsuleVersioned
from events.types.gene_events import GeneMutated
from events.types.parts import Edit, Pin
from registry.actions.publish import take_in
from registry.decide.commands import CreateRegistry
from registry.decide.dispatch import Decided
from registry.decide.version_hash import with_projected_hash
from registry.projection.projector import projecting
from registry.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from events.store.sql_log import EventLog
    from events.types.frozen import Frozen
    from registry.state.capsule import Capsule

NAME: Final = "long-skill"
LINES: Final = 300
BATCH: Final = 200
"""Versions appended in one transaction."""

WORDS: Final = (
    *("check", "list", "the", "tables", "before", "next"),
    *("query", "show", "errors", "after", "read", "schema"),
)


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
    measured = scored(candidate, NAME, version - 1, version)
    edit = Edit(op="replace", gene=gene, target=(change.line,), text=(change.text,))
    reason = "explore: 593 episodes took the action next, 1,300 did not; risk difference +0.44"
    cause = {"before": measured.before, "after": measured.after, "candidate": candidate, "scored": scored_id}
    proposed = CandidateProposed(
        candidate=candidate,
        capsule=NAME,
        base_version=version - 1,
        strategy="repair",
        preset="balanced",
        proposer="recovery",
        fingerprint=fingerprint_of(version),
        edits=(edit,),
        claims=(),
        triggers=(),
        reason=reason,
        evaluator="e" * 64,
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
        delta=measured.delta,
    )
    stream = f"candidate:{candidate}"
    judged: list[tuple[str, Frozen]] = [(stream, proposed), (stream, measured), (stream, promoted)]
    return [*judged, (f"gene:{gene}", mutated), (f"capsule:{NAME}", versioned)]


def fingerprint_of(version: int) -> str:
    """Name the signal that a version answers."""
    return f"{version:016x}"


def nothing(_log: EventLog, _version: int) -> tuple[Frozen, ...]:
    """Put nothing beside a version."""
    return ()


def make_registry(
    path: Path, folder: Path, versions: int, beside: Callable[[EventLog, int], Iterable[Frozen]] = nothing
) -> tuple[str, list[Change]]:
    """Write the history into a registry; returns the first text and every change after it.

    `beside` gives the events of the registry as a whole that come right before a version.
    """
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
            with log.transaction():
                append(registry, first + 2, made[first : first + BATCH], pins, beside)
    return text, made


def append(
    registry: Registry,
    first: int,
    made: list[Change],
    pins: dict[str, int],
    beside: Callable[[EventLog, int], Iterable[Frozen]],
) -> None:
    """Append a batch of versions, each behind what comes beside it."""
    clock, log = registry.clock, registry.log
    decided = []
    for version, change in enumerate(made, first):
        decided += [Decided("registry", event) for event in beside(log, version)]
        scored_id = clock.new_id()
        decided += [
            Decided(stream, event, scored_id if isinstance(event, CandidateScored) else "")
            for stream, event in promotion(version, change, pins, scored_id)
        ]
    drafts = [
        EventDraft(
            item.stream,
            item.event,
            item.event_id or clock.new_id(),
            clock.now(),
            "germline" if item.stream == "registry" else "miner:recovery",
        )
        for item in with_projected_hash(decided, registry.capsule(NAME))
    ]
    expected = log.stream_versions(sorted({draft.stream for draft in drafts}))
    log.append(drafts, expected=expected, project=projecting(log))


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
