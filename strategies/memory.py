"""Memory: what was proposed before and not promoted, in the terms that a proposer may know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.proposers.proposal import Tried
from strategies.signals.regression import fingerprint_of

if TYPE_CHECKING:
    from events.candidate_events import CandidateProposed
    from registry.candidate import Candidate
    from registry.library import Library


def remembered(library: Library, capsule: str, evaluator: str) -> tuple[Tried, ...]:
    """List what one evaluator rejected or held for a capsule, in the order it was proposed.

    A promotion that was taken back counts as rejected. Where nothing could be measured a person decided, and that
    holds under every evaluator.
    """
    return tuple(
        Tried(
            claims=one.proposed.claims,
            verdict="reject" if one.reverted or one.verdict == "reject" else "hold",
            removes=one.proposed.removes,
            edits=one.proposed.edits,
        )
        for one in library.candidates(capsule)
        if (one.verdict in {"reject", "hold"} or one.reverted)
        and (one.proposed.evaluator == evaluator or not _is_measurable(one))
    )


def relapse(library: Library, proposed: CandidateProposed) -> str:
    """Name the version by which the same claims came before and made things worse, "" where there is none.

    What agents did under it says more than any replay, under whatever evaluator.
    """
    if not (proposed.claims or proposed.removes):
        return ""
    for one in library.candidates(proposed.capsule):
        same = set(one.proposed.claims) == set(proposed.claims) and one.proposed.removes == proposed.removes
        if same and one.reverted and library.signal(fingerprint_of(proposed.capsule, str(one.version))):
            return f"{proposed.capsule}@{one.version}"
    return ""


def _is_measurable(candidate: Candidate) -> bool:
    return bool(candidate.proposed.claims or candidate.proposed.removes)
