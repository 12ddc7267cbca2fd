"""Canonical JSON, and its hash: the names of evaluators, candidates, comparisons and trainings."""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> str:
    """Write a JSON value so that the order of keys makes no difference.

    Raises: ValueError for a number that JSON has not.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """Hash a JSON value in its canonical form (SHA-256, hexadecimal)."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
