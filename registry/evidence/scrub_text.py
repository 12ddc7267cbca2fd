"""Scrubbing: secrets leave every text inside a JSON value, before it is sent or kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from registry.evidence.redaction import may_hold_secret, named_secret, redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from registry.evidence.redaction import Leak


def scrubbed(value: JsonValue, leaks: Sequence[Leak] = (), *, name: str = "") -> JsonValue:
    """Replace every secret in the texts of a value; `name` is the key that it is under.

    `leaks` are secrets that another scanner found in any of the texts.
    """
    if isinstance(value, str):
        return "[assigned-secret]" if value and named_secret(name) else plain(value, leaks)
    if isinstance(value, dict):
        return {key: scrubbed(inner, leaks, name=key) for key, inner in value.items()}
    if isinstance(value, list):
        return [scrubbed(inner, leaks, name=name) for inner in value]
    return value


def plain(text: str, leaks: Sequence[Leak] = ()) -> str:
    """Replace every secret in a text; in one that is a JSON object, inside its strings, so that it stays one."""
    if not leaks and not may_hold_secret(text):
        return text
    if text.lstrip().startswith("{"):
        try:
            return compact(scrubbed(json.loads(text), leaks))
        except (ValueError, RecursionError):
            pass  # a text that only looks like JSON
    return redact(text, leaks)[0]


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield every text inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


def compact(value: JsonValue) -> str:
    """Write a value as compact JSON, in the order it has."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
