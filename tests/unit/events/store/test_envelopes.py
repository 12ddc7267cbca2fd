"""Events as bytes: what is written, what is refused, what an old or unknown one reads as."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.errors import CorruptLogError, UsageError
from events.store import envelope
from events.store.contents import content_hash
from events.store.envelope import GENESIS, Envelope, EventDraft, encode, holds, seal
from events.types import catalogue
from events.types.catalogue import event_types
from events.types.registry_events import PresetSwitched
from tests.golden.add import envelope_of
from tests.golden.examples import example

if TYPE_CHECKING:
    from events.types.frozen import Frozen

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


def switched(reason: str = "why not") -> PresetSwitched:
    return PresetSwitched(preset="bold", previous="balanced", reason=reason)


def stored(payload: bytes, kind: str = "PresetSwitched") -> Envelope:
    header = (7, "id", "registry", 1, kind, 1, "now", "germline", "", "")
    digest = sha256((GENESIS + "\x1f".join(map(str, header))).encode() + payload).hexdigest()
    return Envelope(*header, GENESIS, digest, payload)


def test_a_row_of_a_source_table_is_hashed_by_the_written_formula() -> None:
    """What registries hold already: by another formula every one of them would be found damaged."""
    assert content_hash("e1", "a.jsonl", body=b"{}") == sha256(b"e1\x1fa.jsonl\x1f{}").hexdigest()
    assert content_hash("e1", body=b"a") != content_hash("e1a", body=b"")


def test_an_event_is_hashed_once_however_often_it_is_read_and_a_changed_copy_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[Envelope] = []
    monkeypatch.setattr(envelope, "holds", lambda read_event: hashed.append(read_event) or holds(read_event))  # type: ignore[func-returns-value]
    event = envelope.require_whole(stored(encode(switched())))
    assert (event.event, event.fields["preset"]) == (switched(), "bold")
    assert hashed == [event]
    for changed in (event._replace(actor="person:mallory"), event._replace(payload=encode(switched("else")))):
        with pytest.raises(CorruptLogError, match="not what was hashed"):
            _ = changed.event


def test_a_payload_is_compact_json_in_declared_order() -> None:
    assert encode(switched("é")) == (
        '{"type":"PresetSwitched","preset":"bold","previous":"balanced","reason":"é"}'.encode()
    )


@settings(derandomize=True, deadline=None)
@given(TEXT)
def test_any_text_without_nul_survives(text: str) -> None:
    payload = encode(switched(text[:2_000]))
    assert json.loads(payload)["reason"] == text[:2_000]
    assert stored(payload).event == switched(text[:2_000])


@settings(derandomize=True, deadline=None)
@given(TEXT, TEXT)
def test_a_nul_is_refused_wherever_it_stands(before: str, after: str) -> None:
    with pytest.raises(UsageError, match="NUL"):
        encode(PresetSwitched.model_construct(preset="p", previous="q", reason=f"{before}\x00{after}"))


def test_an_event_class_that_was_never_validated_can_be_written() -> None:
    script = (
        "from events.store.envelope import encode; from events.types.registry_events import SignalRaised as S;"
        "print(encode(S.model_construct(fingerprint='f', kind='k', calls_for='repair', count=1, episodes=1,"
        " runs=('a',), severity=0.5)).decode())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["runs"] == ["a"]


def test_every_event_class_is_known_by_its_name() -> None:
    assert {cls.__name__ for cls in event_types()} == {cls.model_fields["type"].default for cls in event_types()}
    assert all(stored(b"", cls.__name__).is_known for cls in event_types())


def test_every_event_class_is_in_the_list_of_kinds() -> None:
    modules = [
        import_module(f"events.types.{path.stem}") for path in Path(catalogue.__file__).parent.glob("*_events.py")
    ]
    every = {
        (module.__name__, name)
        for module in modules
        for name, member in vars(module).items()
        if isinstance(member, type)
        and member.__module__ == module.__name__
        and "type" in getattr(member, "model_fields", ())
    }
    assert {(kind.__module__, kind.__name__) for kind in event_types()} == every


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"type":"PresetSwitched"}', b'{"type":"GeneBorn"}'])
def test_a_payload_that_is_no_such_event_is_named_by_its_position(payload: bytes) -> None:
    with pytest.raises(CorruptLogError, match="event 7 does not read as PresetSwitched") as caught:
        _ = stored(payload).event
    assert (caught.value.position, caught.value.hint) == (7, "germline verify")


def test_an_event_of_an_unknown_type_is_kept_and_known_to_be_unknown() -> None:
    later = stored(b'{"type":"GeneSplit"}', "GeneSplit")
    assert not later.is_known
    with pytest.raises(CorruptLogError, match="GeneSplit"):
        _ = later.event


def test_sealing_counts_on_from_where_the_log_stands() -> None:
    pairs = [
        (EventDraft(stream, switched(), f"id-{stream}-{n}", "now", "germline"), encode(switched()))
        for n, stream in enumerate(["a", "b", "a"])
    ]
    versions = {"a": 4, "b": 0}
    sealed = seal(pairs, position=10, previous="f" * 64, versions=versions)
    assert [(e.position, e.stream, e.version) for e in sealed] == [(11, "a", 5), (12, "b", 1), (13, "a", 6)]
    assert [e.previous_hash for e in sealed] == ["f" * 64, sealed[0].hash, sealed[1].hash]
    assert versions == {"a": 4, "b": 0}


@pytest.mark.parametrize("kind", event_types(), ids=lambda kind: kind.__name__)
def test_an_event_that_was_just_made_is_the_one_that_its_bytes_read_as(kind: type[Frozen]) -> None:
    made = example(kind)
    appended = envelope_of(made)
    assert appended.event is made
    read = Envelope(*appended)
    assert read.event == made
    assert read.event is read.event
