"""The document of `germline why`: one line, and everything that led to it."""

from typing import TYPE_CHECKING, Any, Literal

from events.types.audit_events import AuditMove
from events.types.capsule_events import VersionMerged
from events.types.claims import Claim
from events.types.model_events import TokenUsage
from events.types.parts import ModelRole
from events.types.score import Delta, Effect, Score
from events.types.tiers import TierFigures
from registry.query.tier_sentences import line_sentence
from registry.state.candidate import Verdict
from registry.state.tiers import LineTier
from tui.documents.document import ABSENT, Absent, Document, Part
from tui.documents.evidence import ErasedRow, EvidenceRow, erased_rows, evidence_rows
from tui.documents.scores import AuditScores, score_of
from tui.documents.signals import SignalRow
from tui.documents.trials import TrialLine
from tui.facts.scores import why_unmeasured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope
    from events.types.registry_events import SignalRaised
    from registry.query.library import Raised
    from registry.query.model_prompts import ModelPrompt
    from registry.query.provenance import Earlier, Why
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from tui.reads.file_history import FileLine
    from tui.reads.skill_paths import Named


class LineBirth(Part):
    """The event that wrote a line."""

    event: str
    position: int
    type: str
    at: str
    actor: str
    strategy: str | None
    preset: str | None
    proposer: str | None
    derived_from: str | None
    hash: str

    @classmethod
    def of(cls, origin: "Envelope", candidate: "Candidate | None") -> "LineBirth":
        """Read it from the event, and from the candidate that caused it."""
        proposed = candidate.proposed if candidate else None
        return cls.described(
            origin,
            event=origin.event_id,
            strategy=proposed.strategy if proposed else None,
            preset=proposed.preset if proposed else None,
            proposer=proposed.proposer if proposed else None,
            derived_from=getattr(origin.event, "derived_from", None),
        )


class CountedSignal(Part):
    """How often a signal was seen by now."""

    count: int
    episodes: int


class AssignmentRow(Part):
    """The skill that a person gave the signal to: who, when, by which event."""

    skill: str
    actor: str
    at: str
    position: int


class LineSignal(SignalRow):
    """The signal that a line answers, as it was raised and as it is counted by now."""

    runs: tuple[str, ...]
    position: int
    by_now: CountedSignal | None

    @classmethod
    def of(cls, raised: "Raised", counted: "SignalRaised | None") -> "LineSignal":
        """Read it from the signal; `counted` is the same with the figures of now."""
        event = raised.event
        return cls.described(
            event, position=raised.position, by_now=CountedSignal.model_validate(counted) if counted else None
        )


class PromptRow(Part):
    """A prompt that went out to a model, with its reply and what it cost."""

    name: str
    role: ModelRole
    prompt: str
    reply: str
    usage: TokenUsage | None
    tokens: int
    cost_usd: float | None
    replayed: bool
    at: str
    event: int

    @classmethod
    def of(cls, asked: "ModelPrompt") -> "PromptRow":
        """Read it from the event of the prompt."""
        event = asked.event
        return cls.described(
            event,
            name=event.model,
            prompt=event.prompt_hash,
            tokens=event.usage.total if event.usage else event.most_tokens,
            at=asked.at,
            event=asked.position,
        )


class Undoing(Part):
    """The version that took a line back."""

    version: int
    event: int
    at: str
    actor: str
    reason: str

    @classmethod
    def of(cls, row: "VersionRow") -> "Undoing":
        """Read it from the version."""
        return cls(version=row.version, event=row.position, at=row.at, actor=row.actor, reason=row.summary)


class EarlierText(Part):
    """The text of a line in an earlier version."""

    version: int
    text: str
    event: int

    @classmethod
    def of(cls, earlier: "Earlier") -> "EarlierText":
        """Read it from the earlier form of the line."""
        return cls(version=earlier.version, text=earlier.text.rstrip("\r\n"), event=earlier.event)


class OtherCandidate(Part):
    """Another candidate for the same signal."""

    candidate: str
    verdict: Verdict | None
    reasons: tuple[str, ...]
    event: int | None

    @classmethod
    def of(cls, candidate: "Candidate") -> "OtherCandidate":
        """Read it from the candidate."""
        return cls(
            candidate=candidate.id, verdict=candidate.verdict, reasons=candidate.reasons, event=candidate.judged
        )


class WhyDocument(Document):
    """Explain one line: who, when, on what evidence, did it help?"""

    schema_: Literal["germline/why/1"] = "germline/why/1"
    skill: str
    version: int
    path: Absent[str] = ABSENT
    line: int
    text: str
    since_version: int
    origin: LineBirth
    signal: LineSignal | None
    assigned: Absent[AssignmentRow] = ABSENT
    tier: LineTier
    sentence: str
    figures: TierFigures | None
    claim: Claim | None
    evidence: tuple[EvidenceRow, ...]
    erased: Absent[tuple[ErasedRow, ...]] = ABSENT
    before: Score | None
    after: Score | None
    unproven: bool
    unmeasured: Absent[str | None] = ABSENT
    candidate: Absent[str | None] = ABSENT
    delta: Absent[Delta | None] = ABSENT
    endpoint: Absent[str | None] = ABSENT
    effect: Absent[Effect | None] = ABSENT
    outcome_effect: Absent[Effect | None] = ABSENT
    audit: Absent[AuditScores | None] = ABSENT
    verdict: Verdict | None
    reasons: Absent[tuple[str, ...]] = ABSENT
    scope: Absent[tuple[str, ...]] = ABSENT
    reverted: Absent[bool] = ABSENT
    model: Absent[PromptRow | None] = ABSENT
    taken_back: Absent[Undoing | None] = ABSENT
    trials: Absent[tuple[TrialLine, ...]] = ABSENT
    moves: Absent[tuple[AuditMove, ...]] = ABSENT
    merged: Absent[VersionMerged] = ABSENT
    previous: tuple[EarlierText, ...]
    tried: Absent[tuple[OtherCandidate, ...]] = ABSENT

    @classmethod
    def of(cls, why: "Why", there: "Sequence[bool]", counted: "SignalRaised | None") -> "WhyDocument":
        """Describe a line of SKILL.md; `counted` is its signal with the figures of now."""
        candidate, event = why.candidate, why.origin.event
        after = getattr(event, "after", None)
        return cls(
            skill=why.capsule.name,
            version=why.capsule.version,
            line=why.line.number,
            text=why.line.text.rstrip("\r\n"),
            since_version=why.line.version,
            origin=LineBirth.of(why.origin, candidate),
            signal=LineSignal.of(why.signal, counted) if why.signal else None,
            **({"assigned": AssignmentRow.model_validate(why.assigned)} if why.assigned else {}),
            tier=why.tier,
            sentence=line_sentence(why.tier, candidate),
            figures=candidate.tier if candidate else None,
            claim=why.claim,
            evidence=evidence_rows(why.evidence, there),
            erased=erased_rows(why.erased),
            before=score_of(getattr(event, "before", None)),
            after=score_of(after),
            unproven=candidate is None or score_of(after) is None,
            unmeasured=why_unmeasured(after),
            **_judged(candidate),
            model=PromptRow.of(why.asked) if why.asked else None,
            taken_back=Undoing.of(why.taken_back) if why.taken_back else None,
            trials=tuple(map(TrialLine.of, why.trials)),
            **({"moves": why.moves} if why.moves else {}),
            **({"merged": why.merged} if why.merged else {}),
            previous=tuple(map(EarlierText.of, why.previous)),
            tried=tuple(map(OtherCandidate.of, why.tried)),
        )

    @classmethod
    def of_file(cls, named: "Named", number: int, line: "FileLine") -> "WhyDocument":
        """Describe a line of a file beside SKILL.md."""
        event, candidate = line.origin.event, line.candidate
        after = score_of(getattr(event, "after", None))
        return cls(
            skill=named.capsule.name,
            version=named.capsule.version,
            path=named.path,
            line=number,
            text=line.text.rstrip("\r\n"),
            since_version=line.row.version,
            origin=LineBirth.of(line.origin, candidate),
            signal=None,
            tier=line.tier,
            sentence=line.sentence,
            figures=line.figures,
            claim=None,
            evidence=(),
            before=score_of(getattr(event, "before", None)),
            after=after,
            unproven=candidate is None or after is None,
            **(_judged(candidate) if candidate else {"verdict": None}),
            previous=(),
        )


def _judged(candidate: "Candidate | None") -> dict[str, Any]:
    scored = candidate.scored if candidate else None
    effect = scored.effect if scored else None
    return {
        "candidate": candidate.id if candidate else None,
        "delta": scored.delta if scored else None,
        "endpoint": effect.endpoint if effect else None,
        "effect": effect,
        "outcome_effect": scored.outcome_effect if scored else None,
        "audit": AuditScores.of(scored) if scored else None,
        "verdict": candidate.verdict if candidate else None,
        "reasons": candidate.reasons if candidate else (),
        "scope": effect.scope if effect else (),
        "reverted": candidate.reverted if candidate else False,
    }
