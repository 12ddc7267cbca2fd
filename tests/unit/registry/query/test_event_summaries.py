"""Summaries say in one line what an event did, whatever it holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.errors import CorruptLogError
from events.store.envelope import encode, holds
from events.types.catalogue import EVENT_NAMES, event_type, event_types
from registry.query.event_summaries import _SAY, summary
from tests.golden.add import EVENTS, envelope_of, read_golden
from tests.golden.examples import TEXT, example

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.envelope import Envelope
    from events.types.frozen import Frozen

GOLDEN: Final = sorted(EVENTS.glob("*.json"))


def rehashed(envelope: Envelope, payload: bytes) -> Envelope:
    """Give an event with another payload whose hash holds, as a forger or a germline of another time would."""
    with patch("tests.golden.add.encode", lambda _: payload):
        made = envelope_of(envelope.event)._replace()
    assert holds(made)
    return made


def test_every_type_has_a_summary() -> None:
    assert set(_SAY) == EVENT_NAMES


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_an_event_of_any_age_has_a_summary_in_one_line(path: Path) -> None:
    sentence = summary(read_golden(path))
    assert sentence
    assert sentence != read_golden(path).type


def varied(value: Any, text: str, number: int, share: float) -> Any:  # noqa: ANN401 - JSON of any shape
    """Put other values in the place of those of an example, but for names that an event chooses from."""
    if isinstance(value, dict):
        return {key: varied(inner, text, number, share) for key, inner in value.items()}
    if isinstance(value, list):
        return [varied(inner, text, number, share) for inner in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return text if value.endswith(TEXT) else value
    return number if isinstance(value, int) else share


@pytest.mark.parametrize("kind", event_types(), ids=lambda kind: kind.__name__)
@settings(derandomize=True, deadline=None, max_examples=8)
@given(
    text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1),
    number=st.integers(1, 2**53),
    share=st.floats(0, 1),
    short=st.booleans(),
)
def test_a_summary_is_the_same_for_an_event_just_made_and_for_one_read_back(
    kind: type[Frozen], text: str, number: int, share: float, *, short: bool
) -> None:
    fields = varied(json.loads(encode(example(kind))), text, number, share)
    if short:
        fields = {name: value for name, value in fields.items() if kind.model_fields[name].is_required()}
    event = kind.model_validate_json(json.dumps(fields))
    appended = envelope_of(event)
    assert summary(appended) == summary(appended._replace())


def test_an_event_from_before_a_field_came_is_summed_up_with_its_default() -> None:
    born = envelope_of(example(event_type("GeneBorn")))
    fields = json.loads(born.payload)
    del fields["derived_from"]
    old = rehashed(born, json.dumps(fields).encode())
    assert summary(old) == summary(born).partition(", from ")[0] != summary(born)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"3", b'{"type":"CapsuleVersioned"}', b"[" * 10_000])
def test_a_payload_that_is_no_such_event_is_told_whether_its_hash_holds_or_not(payload: bytes) -> None:
    made = envelope_of(example(event_type("CapsuleVersioned")))
    for broken in (made._replace(payload=payload), rehashed(made, payload)):
        with pytest.raises(CorruptLogError, match=r"event 1 (does not read as CapsuleVersioned|is not what)"):
            summary(broken)


def test_what_is_no_longer_what_was_hashed_is_not_summed_up() -> None:
    made = envelope_of(example(event_type("CapsuleVersioned")))
    changed = made._replace(payload=made.payload.replace(b'"stamped":true', b'"stamped":false'))
    assert changed != made
    with pytest.raises(CorruptLogError, match="event 1 is not what was hashed"):
        summary(changed)
