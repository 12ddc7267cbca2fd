"""A line over its life: offered as seen, accepted, then supported by outcomes, or taken back by later sessions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
import pytest

from events.types.candidate_events import SeenLineJudged
from events.types.trial_events import TrialArm, TrialFigures
from registry.projection.projector import rebuild
from registry.query.provenance import blame, line_tiers, uncounted_claims
from strategies.episodes.episode import EpisodeOutcome
from strategies.evolve.loop import evolve
from strategies.gate.replay.evaluation_set import sent_so_far
from strategies.monitor.review import approve
from strategies.pool.intake import take_in
from strategies.tiers.after_trial import tier_after_trial
from tests.e2e.test_evolution import plan, registry_with_skill
from tests.registries import documents
from tests.terminal import Terminal
from tests.worlds import recovering, world_with_a_rule
from tests.worlds.seen_worlds import DO_SHOW, World, sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord

SKILL = "sql-analyst"


@pytest.fixture
def seen(tmp_path: Path) -> Registry:
    """A registry with a line that a person accepted as seen."""
    registry = registry_with_skill(tmp_path)
    take_in(registry, recovering(3))
    (cycle, *_) = evolve(registry, plan(cycles=1)).cycles
    assert (cycle.verdict, cycle.tier.tier if cycle.tier else "") == ("hold", "seen")
    approve(registry, registry.held()[0], "it worked for us")
    return registry


def tiers(registry: Registry) -> set[str]:
    """The tiers of the lines of the skill."""
    return set(line_tiers(registry, blame(registry, registry.capsule(SKILL))))


def further(records: Sequence[EpisodeRecord], batch: int = 0) -> list[EpisodeRecord]:
    """The same as sessions that nobody saw before."""
    new = f"new {batch} "
    return [
        msgspec.structs.replace(
            record, id=f"{new}{record.id}", task=f"{new}{record.task}", prompt_key=f"{new}{record.prompt_key}"
        )
        for record in records
    ]


def changes(registry: Registry) -> list[tuple[str, str]]:
    """The changes of tier, before and after."""
    events = [envelope.event for envelope in registry.log.read(types=("LineTierChanged",))]
    named = [(getattr(event, "before"), getattr(event, "after")) for event in events]  # noqa: B009 - events of one kind
    return [(before.tier if before else "", after.tier if after else "") for before, after in named]


def test_what_is_accepted_as_seen_is_a_line_that_no_score_counts(seen: Registry) -> None:
    capsule = seen.capsule(SKILL)
    assert tiers(seen) == {"imported", "seen", "none"}
    assert DO_SHOW in uncounted_claims(seen, capsule)
    assert changes(seen) == [("", "seen")]
    (candidate,) = [candidate for candidate in seen.candidates() if candidate.version]
    assert candidate.reasons == ("accepted as seen by a person: it worked for us",)
    before = documents(seen)
    rebuild(seen.log)
    assert documents(seen) == before


def test_a_seen_line_is_taken_out_of_its_skill_where_it_no_longer_works(seen: Registry) -> None:
    assert any("SHOW" in line.text for gene in seen.capsule(SKILL).genes for line in gene.lines)
    take_in(seen, further(sessions(World(0.1, 0.6), random.Random(1), 200)))
    (move,) = evolve(seen, plan(cycles=0)).moves
    assert move.after is None
    assert "times since" in move.reason
    assert move.version == seen.capsule(SKILL).version == 3
    assert not any("SHOW" in line.text for gene in seen.capsule(SKILL).genes for line in gene.lines)
    assert changes(seen)[-1] == ("seen", "")
    assert evolve(seen, plan(cycles=0)).moves == ()
    (candidate,) = [candidate for candidate in seen.candidates() if candidate.fell]
    assert DO_SHOW in candidate.proposed.claims


def test_where_nobody_may_take_it_back_the_line_stays_without_a_tier(seen: Registry, tmp_path: Path) -> None:
    take_in(seen, further(sessions(World(0.1, 0.6), random.Random(1), 200)))
    (move,) = evolve(seen, plan(cycles=0, review=True)).moves
    assert (move.version, move.held) == (None, "for review: nobody was there to take it back")
    number = next(line.number for line, _ in blame(seen, seen.capsule(SKILL)) if "SHOW" in line.text)
    explanation = Terminal(tmp_path).does("--registry", tmp_path / "registry.db", "why", f"{SKILL}:{number}").out
    assert "no tier" in explanation
    (again,) = evolve(seen, plan(cycles=0)).moves
    assert again.version == 3
    assert "Nothing speaks for this line any more" in explanation


def labelled_by_a_coin(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """The same with outcomes that nothing in them has to do with."""
    draws = random.Random(seed)
    return [
        msgspec.structs.replace(record, outcome=EpisodeOutcome(value=float(draws.random() < 0.5), source="tests"))
        for record in records
    ]


def asked(registry: Registry) -> list[tuple[int, bool]]:
    """Which claim it was among all that were sent, each time outcomes were asked about a seen line; the answer."""
    events = [envelope.event for envelope in registry.log.read(types=("SeenLineJudged",))]
    return [(event.sent, event.supported) for event in events if isinstance(event, SeenLineJudged)]


def test_a_seen_line_climbs_where_outcomes_support_it_within_its_share_of_alpha(seen: Registry) -> None:
    take_in(seen, further(world_with_a_rule(5, tasks=600)))
    before = sent_so_far(seen)
    (move,) = evolve(seen, plan(cycles=0)).moves
    assert asked(seen) == [(before + 1, True)]
    assert sent_so_far(seen) == before, "supported, it gives its share back"
    assert move.before is not None
    assert move.after is not None
    assert (move.before.tier, move.after.tier) == ("seen", "supported")
    assert tiers(seen) == {"imported", "supported", "none"}
    assert uncounted_claims(seen, seen.capsule(SKILL)) == frozenset()


def test_outcomes_that_do_not_support_a_seen_line_spend_a_share_and_it_is_asked_at_twice_as_many(
    seen: Registry,
) -> None:
    before = sent_so_far(seen)
    for batches, times in (((1, 2), 1), ((), 1), ((3, 4, 5), 2)):
        for seed in batches:
            take_in(seen, further(labelled_by_a_coin(recovering(seed), seed), seed))
        evolve(seen, plan(cycles=0))
        assert asked(seen) == [(before + time, False) for time in range(1, times + 1)]
    assert sent_so_far(seen) == before + 2


def test_a_trial_proves_a_line_or_takes_its_tier_and_says_so_with_its_figures(seen: Registry) -> None:
    (candidate,) = [candidate for candidate in seen.candidates() if candidate.version]
    arm = TrialArm(sessions=206, mean=0.5)
    shown = {"difference": 0.12, "low": 0.04, "high": 0.20, "proof": 25.0, "harm": 0.1, "chance": 1.0}
    figures = TrialFigures(factor="a line", decision="proven", given=arm, denied=arm, **shown)
    proven = tier_after_trial(candidate, "t1", figures)
    assert proven is not None
    seen.execute(proven)
    assert tiers(seen) == {"imported", "proven", "none"}
    harmful = tier_after_trial(candidate, "t1", figures.model_copy(update={"decision": "harmful"}))
    assert harmful is not None
    seen.execute(harmful)
    assert changes(seen) == [("", "seen"), ("seen", "proven"), ("proven", "")]
    assert tier_after_trial(candidate, "t1", figures.model_copy(update={"decision": "futile"})) is None
