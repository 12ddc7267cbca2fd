"""Candidates folded once: what is asked again is read on from where it was, and forgets what was taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from registry.decide.commands import RevertVersion
from registry.query.library import Library
from registry.state.candidate import EVENTS, fold_candidates
from tests.registries import NAME, learn

if TYPE_CHECKING:
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def test_candidates_asked_for_again_are_those_that_a_whole_fold_gives(registry: Registry) -> None:
    for name in ("first", "second"):
        learn(registry, f"Look at {name}.\n", candidate=name)
        assert registry.candidates() == fold_candidates(registry.log.read(types=EVENTS))
        assert [one.times_scored for one in registry.candidates()] == [1] * len(registry.candidates())
    assert len(registry.candidates()) == 2


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
    assert [one.id for one in registry.candidates()] == [before[0].id, registry.candidates()[-1].id]
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
