"""The front of an event tells the projection what reading all of it would have told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types import EVENT_TYPES
from registry import apply, fronts
from registry.fronts import FRONTS, front
from registry.projection import Projector
from tests.golden.add import envelope_of
from tests.golden.examples import TEXT, example

if TYPE_CHECKING:
    from events.envelope import Envelope
    from events.log import Document
    from registry.registry import Registry

CLASSES = {kind.__name__: kind for kind in EVENT_TYPES}


def projected(registry: Registry, envelope: Envelope) -> list[Document]:
    return Projector(registry.log)([envelope])


@pytest.mark.parametrize("stream", ["registry", "candidate:c1"])
@pytest.mark.parametrize("kind", FRONTS)
def test_a_front_gives_the_documents_that_the_whole_event_gives(
    kind: str, stream: str, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = example(CLASSES[kind])
    plain = {name: f"{name}-1" for name, value in event if isinstance(value, str) and TEXT in value}
    envelope = envelope_of(event.model_copy(update=plain))._replace(stream=stream)
    assert front(envelope), "the fields are written in another order than FRONTS says"
    by_front = projected(registry, envelope)
    monkeypatch.setattr(fronts, "FRONTS", {})
    assert not front(envelope)
    assert by_front == projected(registry, envelope)


@pytest.mark.parametrize("kind", FRONTS)
def test_no_event_that_changes_a_skill_is_known_by_its_front(kind: str) -> None:
    assert not apply.changes_capsule(example(CLASSES[kind]))


@pytest.mark.parametrize("name", ['a"b', "a\\b", "Größe", "tab\there"])
def test_a_name_that_is_written_in_other_than_plain_letters_is_read_with_the_whole_event(
    name: str, registry: Registry
) -> None:
    event = example(CLASSES["CandidateHeld"]).model_copy(update={"capsule": name})
    envelope = envelope_of(event)
    assert front(envelope) == ()
    assert [(one.view, one.key) for one in projected(registry, envelope)] == [("mention", name)]


def test_a_field_of_the_same_name_inside_another_is_not_taken_for_it() -> None:
    held = envelope_of(example(CLASSES["CandidateHeld"]))
    inside = b'{"type":"CandidateHeld","candidate":{"capsule":"another"},"capsule":"one"}'
    assert front(held._replace(payload=inside)) == ()
    assert front(held._replace(schema=held.schema + 1)) == ()
