"""Usage: of each line of a file how often sessions loaded it, came to it and obeyed it, and what it is worth."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from registry.query.corrected_readings import corrected_readings
from registry.skill_md.navigation_index import index_lines
from registry.skill_md.render import projected_lines
from registry.skill_md.rules import CHARACTERS_PER_TOKEN
from registry.state.line_claims import claims_of
from strategies.episodes.world_outcomes import with_world
from strategies.gate.replay.exposure import moments_of
from strategies.pool.known_episodes import all_episodes, split_groups, world_of
from strategies.pool.splits import Division, divide
from strategies.pool.weights import weighed
from strategies.scope.scope import scope_of
from strategies.usage.action_names import ActionNames
from strategies.usage.handwritten_lines import reading_of, stating
from strategies.usage.line_witnesses import audit_traces, witness_of
from strategies.usage.loaded_sessions import loads_of
from strategies.usage.worth import UNWITNESSED, comparison_of, worth_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.claims import Claim
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from registry.state.line import ProjectedLine
    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.gate.replay.measure import MeasurementStamp
    from strategies.scope.log_globs import LogGlobs
    from strategies.usage.line_witnesses import LineWitness
    from strategies.usage.loaded_sessions import LineId
    from strategies.usage.worth import Verdict, Worth

Origin = Literal["learned", "words", "person", ""]
"""Where a line's claim comes from: the event that brought it, its words, a person; "" where it has none."""


@dataclass(frozen=True)
class LineUsage:
    """What became of one line.

    Units: `tokens` is characters over CHARACTERS_PER_TOKEN, an estimate; `loaded` counts sessions, `applied` those
    of them that came to the claim's moment, `obeyed` those of these that did what it asks.
    """

    line: ProjectedLine
    claim: Claim | None
    origin: Origin
    tokens: int
    loaded: int
    applied: int
    obeyed: int
    worth: Worth
    witness: LineWitness

    @property
    def ignored(self) -> int:
        """The sessions that came to it and did something else."""
        return self.applied - self.obeyed


@dataclass(frozen=True)
class FileUsage:
    """What became of the lines of a file: `sessions` count for it, `loaded` had it, `presumed` perhaps."""

    capsule: Capsule
    sessions: int
    loaded: int
    presumed: int
    lines: tuple[LineUsage, ...]

    @property
    def evolvability(self) -> float | None:
        """The share of lines that something can show to be wrong; None where no line says anything."""
        return sum(bool(line.witness.kind) for line in self.lines) / len(self.lines) if self.lines else None

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many lines are worth what."""
        return Counter(line.worth.verdict for line in self.lines)


class UsageGround(NamedTuple):
    """The episodes by which lines are judged, and the names of actions in them: read once for all files."""

    library: Library
    records: Sequence[EpisodeRecord]
    globs: LogGlobs | None
    names: ActionNames


def usage_ground(
    library: Library, globs: LogGlobs | None = None, sources: tuple[WorldSource, ...] = ()
) -> UsageGround:
    """Read the episodes of a registry; hints of these sources stand for labels where there are none."""
    records = weighed(all_episodes(library))
    if sources:
        records = with_world(records, world_of(library, records), sources)
    return UsageGround(library, records, globs, ActionNames.of(records))


def usage_of(
    ground: UsageGround, name: str, stamp: MeasurementStamp, *, seed: int, number: int | None = None
) -> FileUsage:
    """Tell what became of each line of a skill or of instructions, or of the one with a `number` alone.

    What was learned from logs is judged on the sealed part of them alone. A line that a person wrote was chosen by
    none of them, so all of them may judge it.
    """
    library, capsule = ground.library, ground.library.capsule(name)
    scope = scope_of(library, ground.records, ground.globs)
    records = scope.restricted(name, scope.records)
    loads = loads_of(library, capsule, records)
    claims = claims_by_line(library, capsule, ground.names)
    divided = divide(records, split_groups(library), library.about().split_key)
    by_origin = defaultdict(lambda: Division((), tuple(records), ()), learned=divided)
    comparisons = [comparison_of(claim, by_origin[origin]) if claim else None for _, claim, origin in claims]
    asked = sum(each is not None and each.figures is not None for each in comparisons)
    traces = audit_traces(library, name)
    lines = []
    for (line, claim, origin), comparison in zip(claims, comparisons, strict=True):
        if number not in {None, line.number}:
            continue
        loaded = [record for record, had in loads.sessions if (line.gene, line.id) in had]
        moment_of = moments_of(claim) if claim else None
        moments = [moment for record in loaded if moment_of and (moment := moment_of(record)) is not None]
        worth = UNWITNESSED
        if claim is not None:
            worth = worth_of(claim, by_origin[origin], asked, stamp, seed=seed, comparison=comparison)
        lines.append(
            LineUsage(
                line=line,
                claim=claim,
                origin=origin,
                tokens=tokens_of(line.text),
                loaded=len(loaded),
                applied=len(moments),
                obeyed=sum(moment.obeyed for moment in moments),
                worth=worth,
                witness=witness_of(line.text, claim, traces),
            )
        )
    return FileUsage(capsule, len(records), len(loads.sessions), loads.presumed, tuple(lines))


def tokens_of(text: str) -> int:
    """Estimate how many tokens a text takes: models differ, and none is asked."""
    return -(-len(text.strip()) // CHARACTERS_PER_TOKEN)


def claims_by_line(
    library: Library, capsule: Capsule, names: ActionNames
) -> list[tuple[ProjectedLine, Claim | None, Origin]]:
    """Give each line that states something its claim: the one that it was learned with, else its reading.

    A navigation index states nothing.
    """
    corrected = corrected_readings(library, capsule.name)
    return [_claimed(capsule, line, corrected, names) for line in stating_lines(capsule).values()]


def stating_lines(capsule: Capsule) -> dict[int, ProjectedLine]:
    """Give the lines of a skill that say something, by their number: no heading, no blank, no index."""
    body = [line for line in projected_lines(capsule) if line.gene]
    texts = [line.text for line in body]
    of_index = index_lines(texts)
    return {body[at].number: body[at] for at in stating(texts) if at not in of_index}


def _claimed(
    capsule: Capsule,
    line: ProjectedLine,
    corrected: Mapping[LineId, Claim | None],
    names: ActionNames,
) -> tuple[ProjectedLine, Claim | None, Origin]:
    gene = capsule.gene(line.gene)
    learned = claims_of(gene, line) if gene else ()
    if learned:
        return line, learned[0], "learned"
    place = (line.gene, line.id)
    if place in corrected:
        return line, corrected[place], "person"
    reading = reading_of(line.text, names)
    return line, reading, "words" if reading else ""
