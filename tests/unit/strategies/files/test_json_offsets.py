"""Places inside JSON documents: exact, whatever white space, escapes and nesting stand around them."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.files.json_offsets import JsonDocument, JsonPart

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\[{:,}] \n', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='b"\\:', max_size=3), inner),
    max_leaves=12,
)


def assert_places(document: JsonDocument, body: bytes, part: JsonPart, value: object) -> None:
    """Compare every place inside a part with what it should hold."""
    span = document.span(part)
    assert json.loads(body[span.byte_start : span.byte_end]) == value
    assert span.line == 1 + body.count(b"\n", 0, span.byte_start)
    if isinstance(value, dict):
        members = document.members(part)
        assert list(members) == list(value)
        for name, member in members.items():
            assert_places(document, body, member, value[name])
    elif isinstance(value, list):
        for element, inner in zip(document.elements(part), value, strict=True):
            assert_places(document, body, element, inner)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(value=VALUES, indent=st.sampled_from([None, 0, 3]), around=st.sampled_from(["", " ", "\n\t"]))
def test_every_part_is_found_where_it_stands(value: object, indent: int | None, around: str) -> None:
    body = f"{around}{json.dumps(value, indent=indent)}{around}".encode()
    document = JsonDocument(body)
    assert_places(document, body, document.root, value)


def test_key_given_twice_is_refused_not_misplaced() -> None:
    document = JsonDocument(b'{"a": 1, "b": 2, "a": 3}')
    with pytest.raises(msgspec.DecodeError, match="given twice"):
        document.members(document.root)


def test_child_that_is_not_there_is_a_decode_error() -> None:
    document = JsonDocument(b'{"a": [1]}')
    inner = document.child(document.root, "a")
    assert bytes(document.child(inner, 0).raw) == b"1"
    for part, name in ((document.root, "b"), (inner, 5), (inner, "a")):
        with pytest.raises(msgspec.DecodeError):
            document.child(part, name)
