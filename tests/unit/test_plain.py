"""A plain event says what the whole one says, and never more than the log vouches for."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, get_args
from zlib import compress, decompress

import pytest

from events import upcasters
from events.base import Frozen
from events.claims import After, AfterError, Before, Claim, FinishWith, Output, PluginClaim, StartWith
from events.clock import SystemClock
from events.envelope import GENESIS, Draft, Envelope, seal
from events.errors import CorruptLogError, StorageError
from events.fields import is_score, new_lines, type_of
from events.kinds import class_of
from events.log import Document
from events.parts import Edit
from events.plain import EVENTS, PARTS, OtherShapeError, Plain, PlainEnvelope, is_plain, plain, plainly
from events.score import Unmeasured
from registry.commands import Revert
from registry.library import Library
from registry.provenance import blame, why
from registry.publish import take_in_edits
from registry.rendering import projected_lines
from registry.snapshots import freeze, thaw
from registry.thawing import thaw_plainly
from registry.travel import latest, latest_sheet
from tests.clocks import TickingClock
from tests.golden.add import EVENTS as GOLDEN
from tests.golden.add import envelope_of, read_golden
from tests.golden.examples import example
from tests.registries import AVOID, DO, NAME, NO_GUESS, imported, judged, learn, new_registry, proposal, rewrite
from tests.terminal import Terminal
from tests.unit.test_provenance import raise_signal
from tui.bootstrap import open_library
from tui.cli import explaining, reading
from tui.cli.blamed import skill_json
from tui.cli.explained import why_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from events.log import EventLog
    from registry.registry import Registry

GOLDEN_EVENTS = sorted(path for path in GOLDEN.glob("*.json") if path.stem.partition(".")[0] in EVENTS)
OF_RUNS = {"Rollouts", "TagFigures", "JudgeFigures", "Advantage", "AgainstNoSkill"}
"""What is not listed: a candidate with figures of runs is read by its class."""
OTHER_CLAIMS: tuple[Claim, ...] = (
    After(action="bash:ls", k=2, failing=True, avoid="bash:ls"),
    After(action="edit", identical=True, avoid="edit"),
    Before(action="edit", do="read"),
    StartWith(do="read"),
    FinishWith(do="test"),
    Output(pattern="^[0-9]+$"),
    PluginClaim(name="budget", terms=(("most", "3"),)),
    PluginClaim(name="unnamed"),
)


def plainly_read(envelope: Envelope) -> Frozen:
    return PlainEnvelope(*envelope).event


def sealed(event: Frozen, payload: bytes) -> Envelope:
    """Give a payload as an event of that type whose hash holds."""
    one = envelope_of(event)
    draft = Draft(one.stream, event, one.event_id, one.at, one.actor, one.causation, one.correlation)
    (found,) = seal([(draft, payload)], position=0, previous=GENESIS, versions={one.stream: 0})
    return found


def looks_like(one: object, whole: object) -> bool:
    """Compare a plain value with a whole one, field by field, lists and tuples apart."""
    if isinstance(whole, Frozen):
        fields = type(whole).model_fields
        return vars(one).keys() == fields.keys() and all(
            looks_like(getattr(one, name), getattr(whole, name)) for name in fields
        )
    if isinstance(whole, tuple):
        return isinstance(one, tuple) and len(one) == len(whole) and all(map(looks_like, one, whole))
    return type(one) is type(whole) and one == whole


# -- one event -----------------------------------------------------------------------------------------


def test_the_fields_that_are_listed_are_those_of_the_classes() -> None:
    found: dict[str, str] = {}

    def walk(kind: object) -> None:
        if isinstance(kind, type) and issubclass(kind, Frozen) and kind.__name__ not in found:
            found[kind.__name__] = " ".join(kind.model_fields)
            for field in kind.model_fields.values():
                walk(field.annotation)
        for inner in get_args(kind):
            walk(inner)

    for name in EVENTS:
        walk(class_of(name))
    assert {name: fields for name, fields in found.items() if name not in OF_RUNS} == EVENTS | PARTS
    assert found.keys() > OF_RUNS


@pytest.mark.parametrize("path", GOLDEN_EVENTS, ids=lambda path: path.stem)
def test_an_event_of_any_age_says_plainly_what_it_says_as_a_whole(path: Path) -> None:
    golden = read_golden(path)
    read, whole = plainly_read(golden), golden.event
    assert isinstance(read, Plain)
    assert looks_like(read, whole)
    assert read.model_dump(mode="json") == whole.model_dump(mode="json")
    assert type_of(read) == type_of(whole) == golden.type
    assert read == plainly_read(golden)
    assert hash(read) == hash(plainly_read(golden))


def test_an_event_is_read_once_however_many_lines_ask_it() -> None:
    envelope = PlainEnvelope(*envelope_of(example(class_of("GeneBorn"))))
    assert envelope.event is envelope.event


@pytest.mark.parametrize("kind", sorted(EVENTS.keys() - {"CandidateScored"}))
def test_what_is_written_now_is_read_without_its_class(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    envelope = envelope_of(example(class_of(kind)))
    monkeypatch.setattr(Envelope, "event", property(lambda _: pytest.fail("it was read by its class")))
    assert isinstance(plainly_read(envelope), Plain)


def test_of_other_types_an_event_is_what_its_class_says() -> None:
    event = example(class_of("ModelAsked"))
    assert plainly_read(envelope_of(event)) == event


def test_what_an_event_lacked_when_it_was_written_is_filled_in_by_its_class() -> None:
    event = example(class_of("CandidateHeld"))
    older = event.model_dump(mode="json", exclude={"preset"})
    held = plainly_read(sealed(event, json.dumps(older).encode()))
    assert looks_like(held, event.model_copy(update={"preset": ""}))


def test_an_event_of_an_older_schema_is_brought_to_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    envelope = envelope_of(example(class_of("AliasMoved")))
    monkeypatch.setitem(upcasters.UPCASTERS, "AliasMoved", (lambda fields: {**fields, "alias": "renamed"},))
    read = plainly_read(envelope)
    assert vars(read)["alias"] == "renamed"
    with pytest.raises(StorageError, match="newer germline"):
        plainly_read(envelope._replace(schema=3))


@pytest.mark.parametrize("damage", [b"{", b'{"type":"AliasMoved"}', b'"AliasMoved"', b"\xff"])
def test_what_does_not_have_its_hash_is_for_its_class_to_judge(damage: bytes) -> None:
    envelope = envelope_of(example(class_of("AliasMoved")))._replace(payload=damage)
    with pytest.raises(CorruptLogError, match="does not read as AliasMoved"):
        plainly_read(envelope)


def test_what_was_recorded_cannot_change() -> None:
    unmeasured = plain({"reason": "an import"})
    with pytest.raises(AttributeError, match="cannot change"):
        unmeasured.reason = "another"
    assert unmeasured.model_copy(update={"reason": "another"}) == plain({"reason": "another"})
    assert unmeasured == plain({"reason": "an import"}) != Unmeasured(reason="an import")
    with pytest.raises(OtherShapeError):
        plain({"cause": "an import"})


@pytest.mark.parametrize("read", [lambda event: event, lambda event: plainly_read(envelope_of(event))])
def test_a_question_is_answered_whichever_way_an_event_was_read(read: Callable[[Frozen], Frozen]) -> None:
    event = example(class_of("CandidateProposed"))
    proposed = read(event)
    assert new_lines(proposed) == event.new_lines  # type: ignore[arg-type, attr-defined] # as it was written
    scored = read(example(class_of("VersionScored")))
    assert is_score(scored.score)  # type: ignore[attr-defined]
    assert not is_score(Unmeasured(reason="none"))
    assert not is_score(plain({"reason": "none"}))


# -- a registry ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lived(own_folder: Path) -> Iterator[Registry]:
    """Give a registry whose skill went through everything that a line can come from."""
    registry = new_registry(own_folder, TickingClock())
    place = imported(registry, own_folder)
    raise_signal(registry, b"no such table: users")
    learn(registry, claims=(DO, AVOID))
    capsule = registry.capsule(NAME)
    other = Edit(op="append", gene=capsule.genes[0].id, text=("Another.\n",))
    judged(registry, proposal(capsule, other, candidate="c2"), "reject")
    rewrite(place, "Answer with one SQL query.", "Answer with a query.")
    take_in_edits(registry, NAME)
    learn(registry, NO_GUESS, candidate="c3", claims=(AfterError(template="column", do="sql:SHOW"),))
    registry.execute(Revert(NAME, 2, "enough"))
    for number, claim in enumerate(OTHER_CLAIMS):
        learn(registry, f"Lesson {number}.\n", candidate=f"d{number}", claims=(claim,))
    yield registry
    registry.log.close()


def test_every_version_is_plainly_what_it_is_as_a_whole(lived: Registry) -> None:
    read = Library(plainly(lived.log))
    for ref in ["", *(str(version) for version in range(1, lived.capsule(NAME).version + 1))]:
        whole, found = lived.capsule(NAME, ref), read.capsule(NAME, ref)
        assert freeze(found) == freeze(whole)
        assert projected_lines(found) == projected_lines(whole)
        assert skill_json(read, found) == skill_json(lived, whole)
    assert lived.log.documents("snapshot", NAME), "some are reached from one, some from the beginning"
    assert (is_plain(read.log), is_plain(lived.log)) == (True, False)


def test_every_line_is_explained_plainly_as_it_is_as_a_whole(lived: Registry) -> None:
    read = Library(plainly(lived.log))
    skill, found = lived.capsule(NAME), read.capsule(NAME)
    assert [one.position for _, one in blame(read, found)] == [one.position for _, one in blame(lived, skill)]
    told = set()
    for line in projected_lines(skill):
        whole, plainer = why(lived, skill, line.number), why(read, found, line.number)
        there = [False] * len(whole.evidence)
        counted = whole.signal.event if whole.signal else None
        assert why_json(plainer, there, counted) == why_json(whole, there, counted)
        told.add((whole.claim is not None, bool(whole.tried), bool(whole.previous)))
    assert len(told) > 2, "with and without a claim, earlier forms and other tries"


def test_the_commands_say_the_same_whichever_way_events_are_read(
    lived: Registry, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    germline = Terminal(own_folder, GERMLINE_REGISTRY=str(own_folder / "registry.db"))
    monkeypatch.setattr(SystemClock, "now", lambda _: "2026-12-24T12:00:00.000000Z")
    newest = lived.capsule(NAME).version
    asked = [("show", f"{NAME}@{ref}", *more) for ref in (2, newest) for more in ((), ("--blame",), ("--json",))]
    for line in projected_lines(lived.capsule(NAME)):
        asked += [("why", f"{NAME}:{line.number}", *more) for more in ((), ("--all",), ("--json",))]
    plainer = [germline.does(*words) for words in asked]
    for command in (reading, explaining):
        monkeypatch.setattr(command, "open_library", lambda path, **_: open_library(path))
    assert [germline.does(*words) for words in asked] == plainer


def test_a_state_that_lacks_what_is_written_now_is_read_by_its_classes(lived: Registry) -> None:
    body = freeze(lived.capsule(NAME))
    older = compress(decompress(body).replace(b',"avoid":null', b""))
    assert decompress(older) != decompress(body)
    assert freeze(thaw_plainly(older)) == freeze(thaw(older)) == body


@pytest.mark.parametrize("read", [lambda log: log, plainly])
def test_a_line_whose_event_is_missing_is_told_either_way(
    lived: Registry, monkeypatch: pytest.MonkeyPatch, read: Callable[[EventLog], EventLog]
) -> None:
    library = Library(read(lived.log))
    skill = library.capsule(NAME)
    monkeypatch.setattr(lived.log, "at", lambda _: [])
    monkeypatch.setattr(lived.log, "origins", lambda _: [])
    for look in (lambda: blame(library, skill), lambda: why(library, skill, 1)):
        with pytest.raises(CorruptLogError, match=r"event \d+ is missing"):
            look()


@pytest.mark.parametrize("damage", [b"{", compress(b"{"), compress(b"{}"), compress(b"[]")])
def test_a_damaged_state_is_told_either_way_with_what_mends_it(
    lived: Registry, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr(lived.log, "document", lambda view, key, **_: Document(view, key, 0, damage))
    for library in (lived, Library(plainly(lived.log))):
        for look in (partial(latest, library.log), partial(latest_sheet, library.log), library.outline):
            with pytest.raises(StorageError, match=f"state of {NAME} .* damaged") as told:
                look(NAME)
            assert told.value.hint.startswith("germline copy")


def test_the_best_version_and_all_candidates_are_found_plainly_too(lived: Registry) -> None:
    read = Library(plainly(lived.log))
    assert read.best(NAME).version == lived.best(NAME).version
    assert [row.version for row in read.versions(NAME)] == [row.version for row in lived.versions(NAME)]
    assert [one.id for one in read.candidates()] == [one.id for one in lived.candidates()]
