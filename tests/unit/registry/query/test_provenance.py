"""Every line answers: who put you here, why, on what evidence, and what were you before?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import NotFoundError
from events.types.parts import Edit
from registry.actions.publish import take_in_edits
from registry.decide.commands import RecordFact, RevertVersion
from registry.evidence.record import LogRecord, keep
from registry.query.provenance import blame, why
from registry.skill_md.render import projected_lines
from tests.registries import AVOID, DO, LOOK, NAME, NO_GUESS, judged, learn, proposal, raised_signal, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from registry.query.provenance import Why
    from registry.registry import Registry

FINGERPRINT = "error_template:table"


def why_of(registry: Registry, text: str, ref: str = "") -> Why:
    """Explain the one line that holds a text."""
    capsule = registry.capsule(NAME, ref)
    (number,) = [line.number for line in projected_lines(capsule) if text in line.text]
    return why(registry, capsule, number)


def raise_signal(registry: Registry, *raws: bytes) -> None:
    """Raise the signal that `learn` answers, with evidence."""
    with registry.log.transaction():
        names = []
        for number, raw in enumerate(raws, start=1):
            record = LogRecord("run.jsonl", number, 0, len(raw), raw, raw.decode(), "e1")
            names.append(registry.log.put_blob(keep(record, salt=f"{number:032x}").to_bytes(), kind="evidence"))
        event = raised_signal(
            fingerprint=FINGERPRINT,
            template=DO.template,
            count=9,
            episodes=5,
            runs=("r1",),
            severity=1.5,
            evidence=(*names, "0" * 64),
        )
        registry.execute(RecordFact((event,)), actor="germline")


# -- blame ---------------------------------------------------------------------------------------------


def test_every_line_has_exactly_one_origin_event(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "description: Answers", "license: MIT\ndescription: Answers")
    rewrite(place, "Round nothing", "Round")
    take_in_edits(registry, NAME)
    types = {line.text: envelope.type for line, envelope in blame(registry, registry.capsule(NAME))}
    assert types["license: MIT\n"] == "CapsuleDescribed"
    assert types["name: sql-analyst\n"] == "CapsuleImported"
    assert types["- Read the question twice.\n"] == "GeneBorn"
    assert types["- Round.\n"] == types[LOOK] == "GeneMutated"
    assert types['  germline: "sql-analyst@3"\n'] == "CapsuleVersioned"
    assert set(types) == {line.text for line in projected_lines(registry.capsule(NAME))}


@pytest.mark.usefixtures("place")
def test_blame_is_that_of_the_version_asked_for(registry: Registry) -> None:
    learn(registry)
    first = registry.capsule(NAME, "1")
    assert [(line.text, line.version) for line, _ in blame(registry, first)] == [
        (line.text, 1) for line in projected_lines(first)
    ]


@pytest.mark.usefixtures("place")
def test_events_seen_once_are_not_read_again_and_remembering_is_bounded(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(registry)
    now = registry.capsule(NAME)
    first = blame(registry, now)
    with monkeypatch.context() as patched:
        patched.setattr(registry.log, "at", None)
        assert blame(registry, now) == first
    monkeypatch.setattr("registry.query.library._MOST_SEEN", 2)
    assert blame(registry, registry.capsule(NAME)) == first


# -- why -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_a_learned_line_names_candidate_signal_claim_and_scores(registry: Registry) -> None:
    raise_signal(registry, b"Table 'x' doesn't exist", b"Table 'y' doesn't exist")
    learn(registry)
    provenance = why_of(registry, "list the tables")
    assert provenance.origin.type == "GeneMutated"
    assert provenance.candidate is not None
    assert provenance.candidate.scored is not None
    assert (provenance.row.version, provenance.row.before, provenance.row.after) == (
        2,
        provenance.candidate.scored.before,
        provenance.candidate.scored.after,
    )
    assert provenance.claim == DO
    assert provenance.signal is not None
    assert provenance.signal.event.fingerprint == FINGERPRINT
    assert [kept.evidence.text for kept in provenance.evidence] == [
        "Table 'x' doesn't exist",
        "Table 'y' doesn't exist",
    ]
    assert provenance.previous == ()
    assert provenance.origin.actor == "miner:recovery"


@pytest.mark.usefixtures("place")
def test_each_line_of_a_candidate_has_its_own_claim(registry: Registry) -> None:
    learn(registry, "\n", LOOK, NO_GUESS, claims=(DO, AVOID))
    assert why_of(registry, "list the tables").claim == DO
    assert why_of(registry, "Do not guess").claim == AVOID
    number = next(line.number for line in projected_lines(registry.capsule(NAME)) if line.text == LOOK)
    assert why(registry, registry.capsule(NAME), number - 1).claim is None


@pytest.mark.usefixtures("place")
def test_an_imported_line_was_brought_by_a_person_and_nothing_else(registry: Registry) -> None:
    provenance = why_of(registry, "Round nothing")
    assert (provenance.candidate, provenance.claim, provenance.signal, provenance.evidence, provenance.tried) == (
        None,
        None,
        None,
        (),
        (),
    )
    assert (provenance.row.cause, provenance.origin.actor) == ("import", "person:ada")


def test_a_line_edited_by_hand_says_what_it_was_before_and_who_wrote_that(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "list the tables", "show the tables")
    take_in_edits(registry, NAME)
    provenance = why_of(registry, "show the tables")
    assert (provenance.candidate, provenance.claim, provenance.row.cause) == (None, None, "adoption")
    (before,) = provenance.previous
    assert (before.version, before.text) == (2, LOOK)
    assert registry.log.at([before.event])[0].actor == "miner:recovery"


@pytest.mark.usefixtures("place")
def test_a_line_remembers_everything_it_said_newest_first(registry: Registry) -> None:
    gene = registry.capsule(NAME).genes[1]
    line = gene.lines[2].id
    for number in (2, 3, 5):
        while registry.capsule(NAME).version < number - 1:
            learn(registry, "Elsewhere.\n", candidate="elsewhere", claims=())
        edit = Edit(op="replace", gene=gene.id, target=(line,), text=(f"- Read it {number} times.\n",))
        judged(registry, proposal(registry.capsule(NAME), edit, candidate=f"c{number}"))
    provenance = why_of(registry, "- Read it 5 times.")
    assert [(wording.version, wording.text) for wording in provenance.previous] == [
        (4, "- Read it 3 times.\n"),
        (2, "- Read it 2 times.\n"),
        (1, "- Read the question twice.\n"),
    ]
    assert why(registry, provenance.capsule, provenance.line.number, earlier=2).previous == provenance.previous[:2]


def test_a_line_of_front_matter_remembers_as_well(registry: Registry, place: Path) -> None:
    rewrite(place, "Answers questions with SQL.", "Answers questions.")
    take_in_edits(registry, NAME)
    (before,) = why_of(registry, "description:").previous
    assert before.text == "description: Answers questions with SQL.\n"


@pytest.mark.usefixtures("place")
def test_a_line_that_came_back_has_its_first_origin(registry: Registry) -> None:
    learn(registry)
    before = why_of(registry, "list the tables")
    registry.execute(RevertVersion(NAME, 1, "worse"))
    registry.execute(RevertVersion(NAME, 2, "better after all"))
    after = why_of(registry, "list the tables")
    assert (after.origin, after.row, after.claim) == (before.origin, before.row, before.claim)


@pytest.mark.usefixtures("place")
def test_what_was_tried_for_the_same_signal_and_is_not_live_is_told(registry: Registry) -> None:
    learn(registry, "Taken back.\n", candidate="c1")
    registry.execute(RevertVersion(NAME, 1, "worse"))
    capsule = registry.capsule(NAME)
    judged(registry, proposal(capsule, candidate="c2"), "reject")
    judged(registry, proposal(capsule, candidate="c3", fingerprint="error_template:column"), "reject")
    learn(registry, candidate="c4")
    assert [candidate.id for candidate in why_of(registry, "list the tables").tried] == ["c1", "c2"]


@pytest.mark.usefixtures("place")
def test_the_stamp_comes_from_its_version_and_has_no_past(registry: Registry) -> None:
    learn(registry)
    learn(registry, NO_GUESS, candidate="c2", claims=(AVOID,))
    provenance = why_of(registry, "germline:")
    assert (provenance.origin.type, provenance.row.version, provenance.previous, provenance.claim) == (
        "CapsuleVersioned",
        3,
        (),
        None,
    )


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("number", [-1, 0, 16])
def test_a_line_out_of_range_is_an_error_that_says_how_many_there_are(registry: Registry, number: int) -> None:
    with pytest.raises(NotFoundError, match="sql-analyst@1 has 15 lines") as caught:
        why(registry, registry.capsule(NAME), number)
    assert caught.value.hint == "germline show sql-analyst@1 --blame"
