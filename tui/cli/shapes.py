"""Shapes: events and scores as the JSON that scripts may rely on (terminal.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from events.fields import is_score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.base import Frozen
    from events.candidate_events import CandidateScored
    from events.score import Measured


def score_json(measured: Measured | None) -> dict[str, Any] | None:
    """Give a score as JSON, null for what nobody measured."""
    return measured.model_dump(mode="json") if is_score(measured) else None


def why_unmeasured(measured: Measured | None) -> str | None:
    """Say why there is no score; null where there is one."""
    return getattr(measured, "reason", None)


def model_json(model: Frozen | None) -> dict[str, Any] | None:
    """Give a frozen value as JSON."""
    return model.model_dump(mode="json") if model is not None else None


def models_json(models: Iterable[Frozen]) -> list[dict[str, Any]]:
    """Give frozen values as JSON."""
    return [model.model_dump(mode="json") for model in models]


def audit_json(scored: CandidateScored | None) -> dict[str, Any] | None:
    """Give what the audit split says of a candidate as JSON; null before it was measured."""
    if scored is None:
        return None
    return {
        "before": score_json(scored.audit_before),
        "after": score_json(scored.audit_after),
        "delta": model_json(scored.audit_delta),
    }
