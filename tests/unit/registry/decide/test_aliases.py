"""Which versions are offered to agents: the newest and the named ones, until they are retired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import NotFoundError
from registry.decide.commands import MoveAlias, RetireVersion
from registry.projection.projector import rebuild
from tests.registries import NAME, documents, learn

if TYPE_CHECKING:
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def test_the_newest_version_and_the_named_ones_are_offered(registry: Registry) -> None:
    assert registry.outline(NAME).offered() == (1,)
    learn(registry)
    learn(registry, "More.\n", candidate="c2", claims=())
    assert registry.outline(NAME).offered() == (3,)
    registry.execute(MoveAlias(NAME, "production", 1))
    registry.execute(MoveAlias(NAME, "canary", 3))
    assert registry.outline(NAME).offered() == (1, 3)


def test_a_retired_version_is_offered_no_longer_and_says_what_it_said(registry: Registry) -> None:
    learn(registry)
    registry.execute(MoveAlias(NAME, "production", 1))
    before = registry.capsule(NAME, "1")
    receipt = registry.execute(RetireVersion(NAME, 1, "surely not the best"))
    assert [envelope.type for envelope in receipt.envelopes] == ["VersionRetired"]
    assert registry.outline(NAME).offered() == (2,)
    assert registry.capsule(NAME, "1") == before
    assert registry.capsule(NAME, "production") == before


def test_each_retired_version_stays_so_until_it_is_named_itself(registry: Registry) -> None:
    learn(registry)
    learn(registry, "More.\n", candidate="c2", claims=())
    for version, name in ((1, "production"), (2, "canary")):
        registry.execute(MoveAlias(NAME, name, version))
        registry.execute(RetireVersion(NAME, version, "surely not the best"))
    assert registry.outline(NAME).offered() == (3,)
    registry.execute(MoveAlias(NAME, "trial", 2))
    assert registry.outline(NAME).offered() == (2, 3)


def test_retiring_twice_adds_nothing(registry: Registry) -> None:
    learn(registry)
    registry.execute(RetireVersion(NAME, 1, "surely not the best"))
    assert registry.execute(RetireVersion(NAME, 1, "again")).envelopes == ()


def test_who_names_a_retired_version_offers_it_again(registry: Registry) -> None:
    learn(registry)
    registry.execute(RetireVersion(NAME, 1, "surely not the best"))
    registry.execute(MoveAlias(NAME, "production", 1))
    assert registry.outline(NAME).offered() == (1, 2)


def test_a_version_that_there_never_was_cannot_be_retired(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="no version 2"):
        registry.execute(RetireVersion(NAME, 2, "x"))
    with pytest.raises(NotFoundError):
        registry.execute(RetireVersion("nobody", 1, "x"))


def test_what_is_retired_is_folded_from_the_log(registry: Registry) -> None:
    learn(registry)
    registry.execute(RetireVersion(NAME, 1, "surely not the best"))
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before
    assert registry.outline(NAME).retired == (1,)
