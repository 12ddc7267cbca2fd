"""Documents on usage: what became of each line of a skill or of instructions, and how one is read."""

from typing import TYPE_CHECKING, Literal

from events.types.claims import Claim
from events.types.score import Effect
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.facts.usage import worth_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.usage.line_usage import FileUsage, LineUsage


class LineWitnessRow(Part):
    """What can show that a line is wrong (`kind` and `what`); of "" `what` says what would."""

    kind: Literal["claim", "anchor", "evaluator", ""]
    what: str


class LineUsageRow(Part):
    """A line: sessions that loaded it, came to its moment, obeyed and ignored it; its effect where both did.

    Units: tokens are estimated, at four characters each. `claim` is null where it is read as nothing that logs
    hold; `claim_from` says whether it was `learned`, read from its `words`, or given by a `person`.
    """

    line: int
    text: str
    verdict: Literal["helps", "hurts", "inert", "unknown", "unwitnessed"]
    why: str
    would_tell: str
    claim: Claim | None
    claim_from: Literal["learned", "words", "person", ""]
    tokens: int
    loaded: int
    applied: int
    obeyed: int
    ignored: int
    effect: Effect | None
    witness: LineWitnessRow

    @classmethod
    def of(cls, usage: "LineUsage") -> "LineUsageRow":
        """Describe what became of a line."""
        return cls.described(
            usage,
            line=usage.line.number,
            text=usage.line.text.rstrip("\r\n"),
            verdict=usage.worth.verdict,
            why=usage.worth.why,
            would_tell=usage.worth.tell,
            claim_from=usage.origin,
            effect=usage.worth.effect,
            witness=LineWitnessRow.model_validate(usage.witness),
        )


class FileUsageRow(Part):
    """A skill or a file of instructions: sessions that count for it, and that loaded it, as far as is known.

    `evolvability` is the share of its lines that something can show to be wrong, null where it has none.
    """

    skill: str
    version: int
    sessions: int
    loaded: int
    presumed: int
    evolvability: float | None
    verdicts: dict[str, int]
    lines: tuple[LineUsageRow, ...]


class UsageDocument(Document):
    """Say which lines earn their place: how often each was loaded, met and obeyed, and what that went with."""

    schema_: Literal["germline/usage/1"] = "germline/usage/1"
    summary: str
    files: tuple[FileUsageRow, ...]

    @classmethod
    def of(cls, files: "Sequence[FileUsage]") -> "UsageDocument":
        """Describe the lines of some files."""
        rows = (
            FileUsageRow(
                skill=file.capsule.name,
                version=file.capsule.version,
                sessions=file.sessions,
                loaded=file.loaded,
                presumed=file.presumed,
                evolvability=file.evolvability,
                verdicts=dict(file.verdicts),
                lines=tuple(map(LineUsageRow.of, file.lines)),
            )
            for file in files
        )
        return cls(summary=worth_sentence(files), files=tuple(rows))


class UsageCorrectDocument(Document):
    """Say what a line asks for, as logs can hold it; saying the same again adds nothing."""

    schema_: Literal["germline/usage-correct/1"] = "germline/usage-correct/1"
    previous: Absent[Claim | None] = ABSENT
    line: Absent[LineUsageRow] = ABSENT
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]
