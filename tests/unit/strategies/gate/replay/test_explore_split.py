"""The explore split of a run: what it shows of a claim is worked out once, and is what it always was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from events.types.claims import After, AfterError
from strategies.gate.replay import explore_split as home
from strategies.gate.replay.contrast import Contrast, cases_of, contrast, judged
from strategies.gate.replay.evaluation_set import Ground
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.exposure import Inverse
from strategies.gate.replay.recovery_endpoint import attempts
from strategies.gate.stats.mantel_haenszel import Interval
from strategies.gate.verdict import explore_rule, refusal
from strategies.propose.guard import guard
from tests.worlds import NO_TABLE, asking, division_of, recovering, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.episodes.episode import EpisodeRecord

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
    endpoint_records = attempts(claim, records) if bare else judged(records).records
    assert shown.figures == contrast(cases_of(claim, endpoint_records)) is not None
    assert explore.by_outcome(Inverse(claim)) == contrast(cases_of(Inverse(claim), judged(records).records))
    assert explore.shows(claim) is shown


def test_on_one_ground_no_claim_is_held_against_the_episodes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = Ground(division_of(world_with_a_rule(1), "1"), "evaluator")
    held: list[object] = []

    def counted(claim: AfterError | After | Inverse, *about: Any) -> object:  # noqa: ANN401 - handed on as it is
        held.append(claim)
        return cases_of(claim, *about)

    monkeypatch.setattr(home, "cases_of", counted)
    mined = guard(asking(ground.explore, action="sql:SELECT"))
    assert len(held) == len(set(held)) > 3
    held_count = len(held)
    assert guard(asking(ground.explore, action="sql:SELECT")) == mined
    assert len(held) == held_count
    guard(asking(ground.explore, action="sql"))  # about more actions, SELECT among them
    assert len(held) == len(set(held)) > held_count


def shown(value: float, low: float, high: float, *, obeyed: int = 20, disobeyed: int = 20) -> Contrast:
    return Contrast(Interval(value, low, high), 1.0, 1.0, obeyed, disobeyed, 40, ())


@pytest.mark.parametrize(
    ("figures", "decision", "reason"),
    [
        (None, "hold", "no stratum holds both"),
        (shown(-0.2, -0.3, -0.1, obeyed=19), "hold", "20 on either side are needed"),
        (shown(-0.2, -0.3, -0.1, disobeyed=19), "hold", "20 on either side are needed"),
        (shown(0.0, -0.1, 0.1), "reject", "explore refutes it"),
        (shown(0.01, 0.001, 0.019), "reject", "explore refutes it"),
        (shown(0.01, 0.0, 0.02), "hold", "it does not survive among 7 claims tried"),
    ],
)
def test_what_explore_speaks_against_is_rejected_and_what_it_says_too_little_of_is_held(
    figures: Contrast | None, decision: str, reason: str
) -> None:
    verdict = refusal(figures, 7)
    assert (verdict.decision, reason in verdict.reasons[0]) == (decision, True), verdict.reasons
    rule = explore_rule(verdict.reasons[0])
    assert (rule.holds, rule.otherwise) == (False, decision)
