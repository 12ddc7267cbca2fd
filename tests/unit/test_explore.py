"""The explore split of a run: what it shows of a claim is worked out once, and is what it always was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from events.claims import After, AfterError
from strategies.gate.contrast import cases_of, contrast
from strategies.gate.exposure import Inverse
from strategies.gate.outcomes import judged
from strategies.gate.recovered import attempts
from strategies.ground import Ground
from strategies.proposers import explore as home
from strategies.proposers.explore import Explore
from strategies.proposers.guard import guard
from tests.worlds import NO_TABLE, asking, division_of, recovering, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.logs.episode import EpisodeRecord

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
AGAIN = After(action="sql:SELECT", failing=True, avoid="sql:SELECT")


@pytest.mark.parametrize("claim", [LOOK, AGAIN])
@pytest.mark.parametrize("world", [world_with_a_rule, recovering])
def test_what_is_remembered_of_a_claim_is_what_the_episodes_show(
    world: Callable[[int], list[EpisodeRecord]], claim: AfterError | After
) -> None:
    records = division_of(world(1), "1").explore
    explore = Explore(records)
    bare = world is recovering
    shown = explore.shows(claim)
    assert shown.endpoint == ("recovered" if bare else "outcome")
    told = attempts(claim, records) if bare else judged(records).records
    assert shown.figures == contrast(cases_of(claim, told)) is not None
    assert explore.by_outcome(Inverse(claim)) == contrast(cases_of(Inverse(claim), judged(records).records))
    assert explore.shows(claim) is shown


def test_on_one_ground_no_claim_is_held_against_the_episodes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = Ground(division_of(world_with_a_rule(1), "1"), "evaluator")
    held: list[object] = []

    def counted(claim: AfterError | After | Inverse, *about: Any) -> object:  # noqa: ANN401 - handed on as it is
        held.append(claim)
        return cases_of(claim, *about)

    monkeypatch.setattr(home, "cases_of", counted)
    found = guard(asking(ground.explore, action="sql:SELECT"))
    assert len(held) == len(set(held)) > 3
    told = len(held)
    assert guard(asking(ground.explore, action="sql:SELECT")) == found
    assert len(held) == told
    guard(asking(ground.explore, action="sql"))  # about more actions, SELECT among them
    assert len(held) == len(set(held)) > told
