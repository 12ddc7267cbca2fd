"""Audits as provenance: the moves that an audit made, which its candidate brings together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.candidate_events import AUDITOR
from registry.query.versions import event_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.audit_events import AuditJudged, AuditMove
    from registry.query.library import Library
    from registry.state.candidate import Candidate


def latest_drafts(judged: Iterable[AuditJudged]) -> dict[str, tuple[AuditJudged, ...]]:
    """List the drafts of each audit in the order of iterations, as they were judged last.

    An audit that goes on may take another way, as where lost pairs were run again: a draft that is judged again
    takes the place of the earlier one and of all that followed from it.
    """
    drafts: dict[str, tuple[AuditJudged, ...]] = {}
    for event in judged:
        at = event.iteration, event.attempt
        before = (draft for draft in drafts.get(event.audit, ()) if (draft.iteration, draft.attempt) < at)
        drafts[event.audit] = (*before, event)
    return drafts


def moves_behind(library: Library, candidate: Candidate | None) -> tuple[AuditMove, ...]:
    """List the moves of the drafts that a candidate came of; none where no audit proposed it."""
    if candidate is None or candidate.proposed.proposer != AUDITOR:
        return ()
    ends = (event_of("AuditEnded", envelope) for envelope in library.log.read(types=("AuditEnded",)))
    audits = {end.audit for end in ends if end.candidate == candidate.id}
    events = (event_of("AuditJudged", envelope) for envelope in library.log.read(types=("AuditJudged",)))
    drafts = latest_drafts(event for event in events if event.audit in audits)
    rolled_back = {draft.draft for path in drafts.values() for draft in path if not draft.kept}
    kept = (d for path in drafts.values() for d in path if d.kept and d.draft not in rolled_back)
    return tuple(dict.fromkeys(move for draft in kept for move in draft.moves))


def moves_bringing(moves: Iterable[AuditMove], text: str) -> tuple[AuditMove, ...]:
    """List the moves that brought a line of this text."""
    return tuple(move for move in moves if text.strip() and text.strip() in {line.strip() for line in move.lines})
