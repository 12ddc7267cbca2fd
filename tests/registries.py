"""Registries for tests: a small skill, and the commands that change it, each in one call."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from events.sqlite.log import SqliteLog
from events.types.candidate_events import CandidateProposed, CandidateScored
from events.types.claims import AfterError
from events.types.parts import Edit
from events.types.registry_events import SignalRaised
from events.types.runs import Rollouts
from events.types.score import Delta, Effect, Score, Unmeasured
from registry.actions.publish import take_in, write_out
from registry.decide.commands import CreateRegistry, Judge, Propose
from registry.projection import projector
from registry.registry import Registry
from registry.skill_md.text import cut
from registry.state.capsule import blank
from registry.state.gene import Gene
from registry.state.line import first_lines
from tui.session.own_registries import keep_registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.clock import Clock
    from events.store.protocol import Receipt, StoredDocument
    from events.types.claims import Claim
    from registry.state.candidate import Verdict
    from registry.state.capsule import Capsule

VIEWS = re.findall(r"^\| ([a-z]+) \| (?!key)", projector.__doc__ or "", re.MULTILINE)
"""Every view, as the docstring of the projection names them."""

NAME = "sql-analyst"
SKILL = """---
name: sql-analyst
description: Answers questions with SQL.
---

Answer with one SQL query.

## Before you answer

- Read the question twice.
- Round nothing.

## Format

Answer with the result alone.
"""
FRONT = 4
"""Lines of front matter in SKILL."""

EVALUATOR = "5ea1ed" + "0" * 58
DO = AfterError(template="Table <*> doesn't exist", do="sql:SHOW")
AVOID = AfterError(template="Table <*> doesn't exist", avoid="sql:SELECT")
LOOK = "After a missing table, list the tables.\n"
NO_GUESS = "Do not guess another name.\n"
SHOWN = Effect(
    risk_difference=0.44,
    low=0.31,
    high=0.57,
    obeyed=166,
    disobeyed=70,
    tasks=200,
    p=1e-9,
    e_value=3.0,
    endpoint="outcome",
    scope=("gpt-3.5_10_turns",),
)
"""What meets the written rule, with PAIRED beside it."""
PAIRED = Delta(value=0.017, low=0.010, high=0.019, tasks=310)


def new_registry(folder: Path, clock: Clock, split_key: str = "key") -> Registry:
    """Create a registry without skills in a folder."""
    path = folder / "registry.db"
    path.touch(0o600)
    path.write_bytes(_without_events())
    registry = Registry(SqliteLog.open(path), clock, "person:ada")
    registry.execute(CreateRegistry(split_key, "balanced"))
    return registry


@cache
def _without_events() -> bytes:
    """Give the file of a registry in which nothing happened yet: to make its tables takes most of the time."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "registry.db")
        SqliteLog.open(path, create=True).close()
        return path.read_bytes()


def listed(registry: Registry, path: Path) -> None:
    """Put a registry that was made by code into the person's list, with the places of its skills."""
    places = [Path(registry.capsule(name).source) for name in registry.names()]
    keep_registry(path, registry.log, "2026-01-01T00:00:00.000000Z", places)


def imported(
    registry: Registry,
    folder: Path,
    text: str = SKILL,
    *,
    name: str = NAME,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a skill folder below `folder`, import it, and return where it lies."""
    place = folder / name
    place.mkdir()
    (place / "SKILL.md").write_text(text)
    for path, content in (files or {}).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content)
    take_in(registry, place)
    return place


def live_text(registry: Registry) -> str:
    """All lines of the small skill as it is now, without its front matter."""
    return "".join(line.text for gene in registry.capsule(NAME).genes for line in gene.lines)


def capsule_of(text: str, name: str = "s") -> Capsule:
    """Read a skill, or instructions of that name, from its text alone."""
    pieces = cut(text)
    genes = tuple(
        Gene(f"{name}.{at}", name, 1, title, first_lines(lines, origin=1, version=1), len(lines) + 1)
        for at, (title, lines) in enumerate(pieces.sections, start=1)
    )
    front = first_lines(pieces.front, origin=1, version=1)
    return replace(blank(name, f"/{name}", Unmeasured(reason="")), front=front, genes=genes)


def raised_signal(kind: str = "error_template", **fields: Any) -> SignalRaised:  # noqa: ANN401 - those of the event
    """A signal that logs raised; what a test does not say of it is plausible."""
    usual = {"fingerprint": kind, "calls_for": "repair", "count": 3, "episodes": 3, "runs": (), "severity": 0.5}
    return SignalRaised(kind=kind, **(usual | fields))


def rollouts(**changes: Any) -> Rollouts:  # noqa: ANN401 - fields of the event
    """What runs came to that show a gain; what a test does not say of them is plausible."""
    gain = Rollouts(
        comparison="c", rounds=4, tasks=40, pairs=160, void=0, evidence=40.0, p=0.01, difference=0.2, low=0.05,
        high=0.35, detectable=0.19, runs=160, reused=0, cost_usd=0.0, seconds=1.0,
    )  # fmt: skip
    return gain.model_copy(update=changes)


def score(value: float, evaluator: str = EVALUATOR) -> Score:
    """A replay score on the sealed split."""
    return Score(
        value=value,
        n=400,
        low=value - 0.02,
        high=value + 0.02,
        kind="replay",
        endpoint="outcome",
        evaluator=evaluator,
        split="sealed",
        coverage=0.9,
        measured_at="2026-11-01T12:00:00.000000Z",
    )


def proposal(
    capsule: Capsule,
    *edits: Edit,
    candidate: str = "c1",
    claims: tuple[Claim, ...] = (),
    fingerprint: str = "error_template:table",
) -> CandidateProposed:
    """A candidate for the capsule as it is."""
    return CandidateProposed(
        candidate=candidate,
        capsule=capsule.name,
        base_version=capsule.version,
        strategy="repair",
        preset="balanced",
        proposer="recovery",
        fingerprint=fingerprint,
        edits=edits,
        claims=claims,
        triggers=(),
        reason="what goes with success after that error",
        evaluator=EVALUATOR,
    )


def measured(proposed: CandidateProposed, *, value: float = 0.46, evaluator: str = EVALUATOR) -> CandidateScored:
    """The measurement of a candidate, up from .44."""
    return CandidateScored(
        candidate=proposed.candidate,
        capsule=proposed.capsule,
        base_version=proposed.base_version,
        before=score(0.44, evaluator),
        after=score(value, evaluator),
        delta=Delta(value=value - 0.44, low=value - 0.45, high=value - 0.43, tasks=120),
        effect=None,
        audit_before=score(0.44, evaluator),
        audit_after=score(value, evaluator),
        sent=1,
    )


def judged(
    registry: Registry,
    proposed: CandidateProposed,
    verdict: Verdict = "promote",
    *,
    value: float = 0.46,
    evaluator: str = EVALUATOR,
) -> Receipt:
    """Propose a candidate and record its measurement and verdict."""
    registry.execute(Propose(proposed), actor="miner:recovery")
    scored = measured(proposed, value=value, evaluator=evaluator)
    command = Judge(scored, registry.clock.new_id(), verdict, (f"{verdict}, says the test",))
    return registry.execute(command, actor="miner:recovery")


def learn(
    registry: Registry,
    *texts: str,
    candidate: str = "c1",
    claims: Sequence[Claim] = (DO,),
    gene: int = 0,
    value: float = 0.46,
) -> Capsule:
    """Promote lines at the end of a gene, project them, and return the capsule."""
    capsule = registry.capsule(NAME)
    edit = Edit(op="append", gene=capsule.genes[gene].id, text=texts or (LOOK,))
    judged(registry, proposal(capsule, edit, candidate=candidate, claims=tuple(claims)), value=value)
    capsule = registry.capsule(NAME)
    write_out(registry, capsule)
    return capsule


def rewrite(place: Path, old: str, new: str) -> None:
    """Edit a projected SKILL.md by hand; what is replaced must stand there once."""
    skill = place / "SKILL.md"
    text = skill.read_text()
    assert text.count(old) == 1, text
    skill.write_text(text.replace(old, new))


def documents(registry: Registry) -> list[StoredDocument]:
    """List all that is projected."""
    return [document for view in VIEWS for document in registry.log.documents(view)]
