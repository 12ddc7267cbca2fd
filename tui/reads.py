"""What the Skills and Why screens show, read from a library in one go; runs in the reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.gene_events import GeneBorn, GeneMutated
from registry.front_matter import read_front
from registry.provenance import blame
from registry.recounts import raised_as_counted
from registry.rendering import projected_lines
from registry.summaries import summary
from strategies.settled import settled
from tui.cli.open_signals import is_open
from tui.views.chain import Link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.envelope import Envelope, Origin
    from events.registry_events import SignalRaised
    from events.score import Delta
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.library import Library
    from registry.line import ProjectedLine
    from registry.provenance import Why
    from registry.versions import VersionRow
    from tui.views.markdown import Tones

TREND: Final = 40
"""Versions that a trend looks back on: more than any screen is wide enough for."""

_CAUSES: Final = {"import": "import", "adoption": "by hand", "revert": "revert", "override": "override"}
"""What the blame calls a line that no strategy wrote, by the cause of its version."""


_STEPS: Final = {
    "CandidateProposed": "proposed",
    "ComparisonFrozen": "frozen",
    "CandidateScored": "measured",
    "CandidateReviewed": "reviewed",
    "CandidatePromoted": "promoted",
    "CandidateRejected": "rejected",
    "CandidateHeld": "held",
}
"""What the chain of causes calls the events of a candidate."""


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A skill as the Skills screen shows it.

    `versions` are the last ones, oldest first; `learned` counts lines that carry a claim.
    """

    capsule: Capsule
    description: str
    lines: int
    learned: int
    versions: tuple[VersionRow, ...]
    last: Envelope
    last_summary: str


@dataclass(frozen=True, slots=True)
class SkillWork:
    """What was tried for a skill, and what is open: signals that it was tried for and no live claim answers."""

    open: tuple[SignalRaised, ...] = ()
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """The work of all skills, by name; `loose` counts open signals that no skill was tried for yet."""

    by_skill: Mapping[str, SkillWork]
    loose: int

    def of(self, skill: str) -> SkillWork:
        """Return the work of one skill."""
        return self.by_skill.get(skill, SkillWork())


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A line of a skill with where it comes from; `word` is the strategy, or what stands for one."""

    line: ProjectedLine
    at: str
    word: str
    delta: Delta | None
    row: VersionRow


@dataclass(frozen=True, slots=True)
class BlamePage:
    """A skill at one version, line by line; `latest` is the number of its newest version."""

    capsule: Capsule
    latest: int
    lines: tuple[BlameLine, ...]

    def number_of(self, gene: str, line: int) -> int:
        """Find where the line with an identity stands now, 0 where it is not."""
        return next((b.line.number for b in self.lines if (b.line.gene, b.line.id) == (gene, line)), 0)


def read_skills(library: Library) -> tuple[SkillCard, ...]:
    """Read every skill with its scores and its last event."""
    return tuple(_card(library, library.capsule(name)) for name in library.names())


def read_work(library: Library) -> Work:
    """Read what was tried for every skill, and what is open; takes as long as the registry is old."""
    capsules = [library.capsule(name) for name in library.names()]
    open_by_skill = _open_signals(library, capsules)
    proposed: dict[str, list[Candidate]] = {}
    for one in library.candidates():
        proposed.setdefault(one.proposed.capsule, []).append(one)
    found = {
        capsule.name: SkillWork(tuple(open_by_skill.get(capsule.name, ())), tuple(proposed.get(capsule.name, ())))
        for capsule in capsules
    }
    return Work(found, len(open_by_skill.get("", ())))


def _card(library: Library, capsule: Capsule) -> SkillCard:
    first = max(capsule.version - TREND + 1, 1)
    (mention,) = library.log.documents("mention", capsule.name, limit=1, newest_first=True)
    (last,) = library.log.at([mention.seq])
    claimed = {live.origin for gene in capsule.genes for live in gene.claims}
    lines = projected_lines(capsule)
    return SkillCard(
        capsule=capsule,
        description=_description(capsule),
        lines=len(lines),
        learned=sum(line.origin in claimed and bool(line.text.strip()) for line in lines),
        versions=tuple(library.version(capsule.name, v) for v in range(first, capsule.version + 1)),
        last=last,
        last_summary=summary(last),
    )


def _description(capsule: Capsule) -> str:
    front = read_front([line.text for line in capsule.front][1:-1], 2)
    return next((e.value for e in front.entries if e.key == "description" and isinstance(e.value, str)), "")


def _open_signals(library: Library, capsules: Sequence[Capsule]) -> dict[str, list[SignalRaised]]:
    """List the signals that no live claim answers, by the skill they were tried for, else under ""."""
    tried = {cycle.fingerprint: cycle.capsule for cycle in library.cycles()}
    live = tuple(one.claim for capsule in capsules for gene in capsule.genes for one in gene.claims)
    names = {capsule.name for capsule in capsules}
    found: dict[str, list[SignalRaised]] = {}
    raised = [one.event for one in raised_as_counted(library)]
    over = settled(library, raised)
    for signal in raised:
        if is_open(signal, live, over):
            skill = tried.get(signal.fingerprint, "")
            found.setdefault(skill if skill in names else "", []).append(signal)
    for signals in found.values():
        signals.sort(key=lambda signal: (-signal.severity, signal.fingerprint))
    return found


def read_blame(library: Library, skill: str, ref: str) -> BlamePage:
    """Read a skill at a version, each line with its origin; raises NotFoundError for an unknown one."""
    capsule = library.capsule(skill, ref)
    rows: dict[int, VersionRow] = {}
    lines = []
    for line, origin in blame(library, capsule):
        version = line.version or 1
        if version not in rows:
            rows[version] = library.version(skill, version)
        row = rows[version]
        lines.append(BlameLine(line, origin.at, _word(line, origin, row), row.delta, row))
    return BlamePage(capsule, library.capsule(skill).version, tuple(lines))


def _word(line: ProjectedLine, origin: Origin, row: VersionRow) -> str:
    """Name what wrote a line."""
    if not line.id:
        return "stamp"
    event = origin.event
    strategy = event.strategy if isinstance(event, (GeneBorn, GeneMutated)) else None
    return strategy or _CAUSES.get(row.cause, row.cause)


def read_chain(library: Library, why: Why) -> tuple[Link, ...]:
    """Read what led to a line, step by step: evidence, signal, candidate, version, and the line at the end."""
    links = [Link("evidence")] if why.evidence or why.erased else []
    links += [Link("signal", why.signal.position)] if why.signal else []
    if why.candidate:
        stream = library.log.read(stream=f"candidate:{why.candidate.id}")
        steps = [one for one in stream if one.type in _STEPS and one.position <= why.row.position]
        links += [Link(_STEPS[one.type], one.position) for one in steps]
    links += [Link("edit", why.origin.position)] if why.origin.position != why.row.position else []
    return (*links, Link(f"version {why.row.version}", why.row.position), Link(f"line {why.line.number}"))


def read_tones(texts: Sequence[str]) -> tuple[Tones, ...]:
    """Read lines of a skill as Markdown: the tones of each."""
    from tui.views.markdown import markdown_tones  # noqa: PLC0415 - Pygments is for those who look at a skill

    return markdown_tones(texts)
