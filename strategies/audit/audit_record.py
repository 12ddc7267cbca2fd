"""What the log holds of audits: where each began, what evaluators reported, what became of the drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from events.types.audit_events import AuditEnded, AuditJudged, AuditStarted, EvaluatorReported
from registry.query.audits import latest_drafts
from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.rollouts.tasks.check_types import Check

if TYPE_CHECKING:
    from registry.query.library import Library

_TYPES: Final = ("AuditStarted", "EvaluatorReported", "AuditJudged", "AuditEnded")
ANCHORS: Final[TypeAdapter[tuple[Check, ...]]] = TypeAdapter(tuple[Check, ...])
REPORTS: Final[TypeAdapter[tuple[EvaluatorReport, ...]]] = TypeAdapter(tuple[EvaluatorReport, ...])


@dataclass(frozen=True)
class AuditRecord:
    """An audit as far as it went; `ended` is None while it goes on, or was interrupted.

    `judged` holds the drafts of each iteration, in order; `reported` all that evaluators ever reported.
    """

    started: AuditStarted
    at: str
    reported: tuple[EvaluatorReported, ...] = ()
    judged: tuple[AuditJudged, ...] = ()
    ended: AuditEnded | None = None

    @property
    def iterations(self) -> tuple[AuditJudged, ...]:
        """The last draft of each iteration, in order."""
        return tuple({judged.iteration: judged for judged in self.judged}.values())

    @property
    def last_reports(self) -> dict[tuple[int, str, str], EvaluatorReported]:
        """By iteration, draft and evaluator: what was reported last, as where lost pairs were run again."""
        return {(event.iteration, event.draft, event.evaluator): event for event in self.reported}


def audit_records(library: Library, skill: str = "") -> list[AuditRecord]:
    """List the audits of a skill, or of all, in the order in which they began."""
    started: dict[str, tuple[AuditStarted, str]] = {}
    reported: dict[str, list[EvaluatorReported]] = {}
    judged: list[AuditJudged] = []
    ended: dict[str, AuditEnded] = {}
    for envelope in library.log.read(types=_TYPES):
        match envelope.event:
            case AuditStarted() as event:
                started.setdefault(event.audit, (event, envelope.at))
            case EvaluatorReported() as event:
                reported.setdefault(event.audit, []).append(event)
            case AuditJudged() as event:
                judged.append(event)
            case AuditEnded() as event:
                ended[event.audit] = event
    drafts = latest_drafts(judged)
    return [
        AuditRecord(event, at, tuple(reported.get(name, ())), drafts.get(name, ()), ended.get(name))
        for name, (event, at) in started.items()
        if skill in {"", event.capsule}
    ]


def audit_record(library: Library, audit: str) -> AuditRecord | None:
    """Give what is known of one audit, None before it began."""
    return next((record for record in audit_records(library) if record.started.audit == audit), None)


def stored_reports(library: Library, blob: str) -> tuple[EvaluatorReport, ...] | None:
    """Read what evaluators reported of one pair; None where it was erased."""
    body = library.log.get_blob(blob)
    return REPORTS.validate_json(body) if body is not None else None


def stored_anchors(library: Library, blob: str) -> tuple[Check, ...] | None:
    """Read the locked anchors of a task; None where they were erased."""
    body = library.log.get_blob(blob)
    return ANCHORS.validate_json(body) if body is not None else None
