"""Audits as provenance: the moves that an audit made, which its candidate brings together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.audit_events import AUDITOR, AuditEnded, AuditJudged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.audit_events import AuditMove
    from registry.query.library import Library
    from registry.state.candidate import Candidate


def moves_behind(library: Library, candidate: Candidate | None) -> tuple[AuditMove, ...]:
    """List the moves of the drafts that a candidate came of; none where no audit proposed it."""
    if candidate is None or candidate.proposed.proposer != AUDITOR:
        return ()
    ends = (envelope.event for envelope in library.log.read(types=("AuditEnded",)))
    audits = {end.audit for end in ends if isinstance(end, AuditEnded) and end.candidate == candidate.id}
    drafts = (envelope.event for envelope in library.log.read(types=("AuditJudged",)))
    kept = (draft for draft in drafts if isinstance(draft, AuditJudged) and draft.kept and draft.audit in audits)
    return tuple(dict.fromkeys(move for draft in kept for move in draft.moves))


def moves_bringing(moves: Iterable[AuditMove], text: str) -> tuple[AuditMove, ...]:
    """List the moves that brought a line of this text."""
    return tuple(move for move in moves if text.strip() and text.strip() in {line.strip() for line in move.lines})
