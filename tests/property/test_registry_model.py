"""Random walks over the commands of a registry: after every step, everything that must hold holds."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Final

import pytest

from events.errors import ConflictError, UsageError
from events.types.parts import Edit
from registry.actions.publish import publish, standing, take_in_edits
from registry.decide.commands import MoveAlias, Protect, Release, RevertVersion
from registry.projection.projector import rebuild
from registry.projection.snapshots import freeze, thaw
from registry.projection.time_travel import latest
from registry.query.provenance import blame
from registry.skill_md.render import projected_lines, skill_bytes, skill_text
from registry.skill_md.text import cut
from tests.clocks import TickingClock
from tests.registries import AVOID, DO, NAME, documents, imported, judged, new_registry, proposal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.candidate import Verdict
    from registry.state.capsule import Capsule

STEPS: Final = 30
REFUSALS: Final = (UsageError, ConflictError)
"""What a command may answer on a random state: it must then have changed nothing."""

WORDS: Final = (
    "look",
    "first",
    "never",
    "guess",
    "count",
    "rows",
    "café",
    "→",
    "`x`",
    "- item",
    "> quote",
    "1. one",
)
VERDICTS: Final[tuple[Verdict, ...]] = ("promote", "promote", "promote", "reject", "hold")
HEADINGS: Final = ("# Top", "## Format", "## Format", "### Deep", "## Checks")


class Walk:
    """A registry with one skill, and the commands that a walk may take."""

    def __init__(self, registry: Registry, folder: Path, seed: int) -> None:
        self.registry = registry
        self.skill = imported(registry, folder, files={"a.txt": "a\n"}) / "SKILL.md"
        self.draw = random.Random(seed)
        self.projected: dict[int, bytes] = {1: self.skill.read_bytes()}
        self.taken = 0
        self.steps: tuple[Callable[[], None], ...] = (
            *(self.judge,) * 4,
            *(self.adopt,) * 4,
            *(self.revert,) * 2,
            self.alias,
            self.protect,
            self.release,
        )

    @property
    def capsule(self) -> Capsule:
        return self.registry.capsule(NAME)

    def sentence(self) -> str:
        return " ".join(self.draw.choices(WORDS, k=3)) + "\n"

    def step(self) -> None:
        """Take one command, and see that a refusal leaves everything as it was."""
        before = self.registry.log.head(), documents(self.registry), self.skill.read_bytes()
        try:
            self.draw.choice(self.steps)()
            self.taken += 1
        except REFUSALS:
            publish(self.registry, NAME, discard=True)
            assert (self.registry.log.head(), documents(self.registry), self.skill.read_bytes()) == before

    def judge(self) -> None:
        capsule = self.capsule
        gene = self.draw.choice([gene for gene in capsule.genes if gene.lines])
        edits = [self.edit(capsule, gene.id) for _ in range(self.draw.choice((1, 1, 2)))]
        claims = self.draw.choice(((), (DO,), (DO, AVOID))) if edits[0].op == "append" else ()
        name = f"c{self.registry.log.head().position}"
        verdict = self.draw.choice(VERDICTS)
        with self.registry.log.transaction():
            judged(self.registry, proposal(capsule, *edits, candidate=name, claims=claims), verdict)
        publish(self.registry, NAME)

    def edit(self, capsule: Capsule, name: str) -> Edit:
        gene = capsule.gene(name)
        assert gene is not None
        op = self.draw.choice(("append", "insert_after", "replace", "replace", "delete"))
        start = self.draw.randrange(len(gene.lines))
        size = 1 if op == "insert_after" else self.draw.choice((1, 1, 2))
        target = tuple(line.id for line in gene.lines[start : start + size])
        text = tuple(self.sentence() for _ in range(self.draw.choice((1, 1, 2))))
        return Edit(
            op=op,
            gene=name,
            target=() if op == "append" else target,
            text=() if op == "delete" else text,
        )

    def adopt(self) -> None:
        lines = self.skill.read_text().splitlines(keepends=True)
        body = lines.index("---\n", 1) + 1
        for _ in range(self.draw.choice((1, 1, 2, 5))):
            at = self.draw.randrange(body, len(lines)) if len(lines) > body else body
            change = self.draw.choice(("insert", "insert", "change", "remove", "head", "swap", "describe"))
            if change == "insert":
                lines.insert(at, self.sentence())
            elif change == "head":
                lines[at:at] = ["\n", f"{self.draw.choice(HEADINGS)}\n", "\n"]
            elif change == "describe":
                lines[2] = f"description: Answers {self.draw.randrange(9)} questions.\n"
            elif change == "swap":
                lines[body:] = lines[at:] + lines[body:at]
            else:
                lines[at : at + 1] = [self.sentence()] if change == "change" else []
        self.skill.write_text("".join(lines))
        (self.skill.parent / "a.txt").write_text(self.sentence() if self.draw.random() < 0.3 else "a\n")
        edited = self.skill.read_bytes()
        take_in_edits(self.registry, NAME, keep_claims=self.draw.random() < 0.5)
        assert without_stamp(self.skill.read_bytes()) == without_stamp(edited)

    def revert(self) -> None:
        self.registry.execute(RevertVersion(NAME, self.draw.randint(0, self.capsule.version), "worse"))
        publish(self.registry, NAME)

    def alias(self) -> None:
        name = self.draw.choice(("production", "canary"))
        self.registry.execute(MoveAlias(NAME, name, self.draw.randint(0, self.capsule.version + 1)))

    def protect(self) -> None:
        gene = self.draw.choice([gene for gene in self.capsule.genes if gene.lines])
        lines = () if self.draw.random() < 0.2 else (self.draw.choice(gene.lines).id,)
        self.registry.execute(Protect(NAME, gene.id, lines, "settled"))

    def release(self) -> None:
        for gene in self.capsule.genes:
            self.registry.execute(Release(NAME, gene.id, "open again"))


def without_stamp(content: bytes) -> bytes:
    return re.sub(rb'(metadata:\n)?  germline: "[^"]*"\n', b"", content)


def check_projection(walk: Walk) -> None:
    """What is on disk is the live version."""
    capsule = walk.capsule
    assert standing(walk.registry, NAME) == "projected"
    assert walk.skill.read_bytes() == skill_bytes(capsule)
    walk.projected.setdefault(capsule.version, skill_bytes(capsule))


def check_rebuilding(walk: Walk) -> None:
    """A rebuild of the documents changes no byte."""
    before = documents(walk.registry)
    rebuild(walk.registry.log)
    assert documents(walk.registry) == before


def check_reading(walk: Walk) -> None:
    """A state that is written and read back is the same skill, and it is cut into the genes that it has."""
    capsule = walk.capsule
    assert thaw(freeze(capsule)) == capsule == latest(walk.registry.log, NAME)
    genes = [(gene.title, tuple(line.text for line in gene.lines)) for gene in capsule.genes if gene.lines]
    assert list(cut(skill_text(capsule)).sections) == genes


def check_lines(walk: Walk) -> None:
    """Every line has one origin that exists and wrote it, and every identity stands once."""
    capsule = walk.capsule
    lines = projected_lines(capsule)
    assert "".join(line.text for line in lines).encode() == skill_bytes(capsule)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    named = [(line.gene, line.id) for line in lines if line.id]
    assert len(set(named)) == len(named)
    origins = sorted({line.origin for line in lines})
    streams = {envelope.position: envelope.stream for envelope in walk.registry.log.at(origins)}
    for line, origin in blame(walk.registry, capsule):
        assert 1 <= line.origin <= capsule.position
        assert 1 <= line.version <= capsule.version
        if line.gene:
            assert streams[origin.position] == f"gene:{line.gene}"
        else:
            assert streams[origin.position] == f"capsule:{NAME}"


def check_claims(walk: Walk) -> None:
    """Every live claim belongs to a line that stands there."""
    for gene in walk.capsule.genes:
        assert {claim.origin for claim in gene.claims} <= {line.origin for line in gene.lines}


@pytest.mark.parametrize("seed", range(4))
def test_after_every_command_all_that_must_hold_holds(tmp_path: Path, seed: int) -> None:
    registry = new_registry(tmp_path, TickingClock(seed=seed + 1))
    walk = Walk(registry, tmp_path, seed)
    for number in range(1, STEPS + 1):
        walk.step()
        check_projection(walk)
        if number % 3 == 0:  # it folds the whole log, and what went wrong two steps ago still is
            check_rebuilding(walk)
        check_reading(walk)
        check_lines(walk)
        check_claims(walk)
    at_random = {v: skill_bytes(registry.capsule(NAME, str(v))) for v in walk.draw.sample(list(walk.projected), 5)}
    assert at_random.items() <= walk.projected.items()
    assert {v: skill_bytes(registry.capsule(NAME, str(v))) for v in walk.projected} == walk.projected
    assert set(walk.projected) == set(range(1, walk.capsule.version + 1))
    assert registry.log.verify().problems == ()
    assert walk.taken > STEPS // 2
    registry.log.close()
