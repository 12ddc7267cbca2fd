"""Candidates folded once: what is asked again is read on from where it was, and forgets what was taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import AnytimeBefore
from registry.decide.commands import Propose, RevertVersion
from registry.query.library import Library
from registry.state.candidate import EVENTS, fold_candidates, outline_of
from tests.registries import DO, NAME, learn, proposal

if TYPE_CHECKING:
    from events.types.claims import Claim
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def test_candidates_asked_for_again_are_those_that_a_whole_fold_gives(registry: Registry) -> None:
    for name in ("first", "second"):
        learn(registry, f"Look at {name}.\n", candidate=name)
        assert registry.candidates() == fold_candidates(registry.log.read(types=EVENTS))
        assert [candidate.times_scored for candidate in registry.candidates()] == [1] * len(registry.candidates())
    assert len(registry.candidates()) == 2


def test_outlines_say_what_whole_candidates_say(registry: Registry) -> None:
    before = AnytimeBefore(action="make", do="look")
    of: dict[str, list[Claim]] = {"first": [DO], "second": [before], "third": [DO, before]}
    for name, claims in of.items():
        learn(registry, f"Look at {name}.\n", candidate=name, claims=claims)
    registry.execute(Propose(proposal(registry.capsule(NAME), candidate="waits")))
    registry.execute(RevertVersion(NAME, 2, "worse"))
    outlines, whole = registry.candidate_outlines(), registry.candidates()
    assert [replace(outline_of(candidate), reverted=candidate.reverted) for candidate in whole] == outlines
    for field in ("id", "capsule", "position", "judged", "version", "verdict", "reverted", "fell"):
        assert [getattr(outline, field) for outline in outlines] == [
            getattr(candidate, field) for candidate in whole
        ]
    assert [outline.is_decided for outline in outlines] == [True, True, True, False]
    assert [outline.taken_back for outline in outlines] == [False, True, True, False]
    assert [outline.goes_first for outline in outlines] == [False, True, False, False]


def test_what_was_folded_is_not_read_again(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    learn(registry, "Look.\n", candidate="first")
    before = registry.candidates()
    behind: list[int] = []
    read = registry.log.read

    def counted(**question: object) -> object:
        behind.append(int(str(question.get("after", 0))))
        return read(**question)  # type: ignore[arg-type]

    monkeypatch.setattr(registry.log, "read", counted)
    assert registry.candidates() == before
    assert behind == []
    head = registry.log.head().position
    learn(registry, "Look twice.\n", candidate="second")
    behind.clear()
    assert [candidate.id for candidate in registry.candidates()] == [before[0].id, registry.candidates()[-1].id]
    assert behind == [head]


def test_a_rehearsed_candidate_is_gone_with_its_rehearsal(registry: Registry) -> None:
    learn(registry, "Look.\n", candidate="first")
    assert len(registry.candidates()) == 1
    with registry.rehearsal():
        learn(registry, "Look twice.\n", candidate="rehearsed")
        assert len(registry.candidates()) == 2
    learn(registry, "Look again.\n", candidate="real")  # at the same positions
    assert registry.candidates() == Library(registry.log).candidates()
    assert len(registry.candidates()) == 2


def test_a_promotion_taken_back_later_counts_as_reverted(registry: Registry) -> None:
    learn(registry, "Look.\n", candidate="first")
    assert not registry.candidates()[0].reverted
    registry.execute(RevertVersion(NAME, 1, "worse in production"))
    assert registry.candidates()[0].reverted
