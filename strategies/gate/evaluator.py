"""Identities: of an evaluator, by all that a score depends on, and of a candidate, by what was asked of it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from strategies.gate.policy import METHOD, policy_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.claims import Claim
    from strategies.gate.splits import Division


def evaluator_id(division: Division, split_key: str) -> str:
    """Name the replay evaluator that scores on these episodes.

    It is the hash of the sorted (episode hash, outcome) pairs of the splits that are scored, sealed and audit,
    as they stand, with the split key, the claim method and the written rule. Explore is never scored.
    """
    pairs = {
        split: sorted(
            (record.id, None if record.outcome is None else (record.outcome.value, record.outcome.source))
            for record in records
        )
        for split, records in (("sealed", division.sealed), ("audit", division.audit))
    }
    return _digest(["evaluator", "replay", METHOD, policy_text(), split_key, pairs])


def canonical_claims(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Write a claim set so that order, and defaults left unsaid, make no difference."""
    texts = {json.dumps(claim.model_dump(), sort_keys=True, separators=(",", ":")) for claim in claims}
    return tuple(sorted(texts))


def claim_evaluator(evaluator: str, claim: Claim) -> str:
    """Name the evaluator that judges one claim by `recovered`: the claim is part of it (replay_and_gate.md)."""
    return _digest(["evaluator", evaluator, "recovered", policy_text("recovered"), canonical_claims([claim])])


def candidate_id(
    capsule: str, claims: Sequence[Claim], evaluator: str, *, removes: Sequence[Claim] = (), text: str = ""
) -> str:
    """Name a replay candidate by its memory key: the same claims under the same evaluator are asked once.

    `removes` are the live claims that it takes away, `text` the words where no claim says what it is about.
    """
    removal = [canonical_claims(removes)] if removes else [text] if text else []
    return _digest(["candidate", capsule, canonical_claims(claims), evaluator, *removal])


def _digest(value: object) -> str:
    """Hash a JSON value in its canonical form (SHA-256, hexadecimal)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
