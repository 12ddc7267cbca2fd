"""Searching: an event is passed over unread only where it cannot hold the text."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from events.store.envelope import encode
from events.types.catalogue import EVENT_NAMES, event_type
from events.types.registry_events import PresetSwitched
from registry.query.search import MOST_CHARS, REASONED, Query

ODD = 'ssß ẞſsKkİiﬁfi"\\/\t\n\x7f\u2028é'
"""Letters that are others when their case is folded, and what JSON writes otherwise than a text has it."""


@settings(derandomize=True, deadline=None)
@given(st.text(ODD, min_size=1, max_size=3), st.text(ODD, max_size=9))
@example("strasse", "Hauptstraße")
@example("k", "\N{KELVIN SIGN}")
@example("É", "é")
def test_an_event_that_says_the_text_in_any_case_is_never_passed_over(wanted: str, text: str) -> None:
    query = Query(wanted)
    payload = encode(PresetSwitched(preset="a", previous="", reason=f"{text}."))
    if query.tester()(text):
        assert query.may_hold()(payload)


def test_an_event_that_cannot_hold_the_text_is_passed_over() -> None:
    payload = encode(PresetSwitched(preset="a", previous="", reason="worse"))
    for wanted in ("better", "größer", "x" * MOST_CHARS):
        assert not Query(wanted).may_hold()(payload)


def test_every_event_that_gives_a_reason_is_looked_through() -> None:
    reasoned = {name for name in EVENT_NAMES if {"reason", "reasons"} & event_type(name).model_fields.keys()}
    assert reasoned
    assert reasoned - set(REASONED) == {"CycleFinished"}
