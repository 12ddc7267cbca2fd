"""Keeping skills apart promotes no more where nothing matters, however the logs of two kinds of work lie."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from events.types.claims import StartWith
from strategies.episodes.episode import EpisodeOutcome
from strategies.gate.replay.explore_split import Explore
from strategies.pool.splits import Division
from strategies.propose.by_signal import PROPOSERS
from strategies.scope.log_globs import LogGlobs
from strategies.scope.other_work import NO_OTHER_WORK, OtherWork
from strategies.scope.scope import Scope
from strategies.scope.word_ranking import words_of
from tests.worlds import (
    NO_TABLE,
    asking,
    division_of,
    promoted,
    sent_through,
    world_where_nothing_matters,
    world_with_a_rule,
    world_without_a_rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from tests.worlds import Judgement

    World = Callable[..., list[EpisodeRecord]]

GIT = {"sql:SHOW": "Bash:git branch", "sql:SELECT": "Bash:git checkout", "sql:DESC": "Bash:git status"}
NO_PATH = "pathspec did not match"
SKILLS = {"git": "git branch checkout status commit", "sql": "sql table select database query"}
ASKED = {
    "git": [("error_template", NO_PATH, ""), ("tool_failure", "", "Bash"), ("uncovered_failure", "", "")],
    "sql": [("error_template", NO_TABLE, ""), ("tool_failure", "", "sql"), ("abandoned", "", "")],
}


def as_git(step: StepRecord) -> StepRecord:
    return structs.replace(
        step, action=GIT.get(step.action, step.action), template=NO_PATH if step.template else ""
    )


def lying(records: Iterable[EpisodeRecord], where: str, kind: str) -> list[EpisodeRecord]:
    """Put episodes into a log of their kind, into one log with the others, or each into a file of one folder."""
    places = {"a log each": f"/{kind}.jsonl", "one log": "/all.jsonl"}
    return [
        structs.replace(record, source=places.get(where) or f"/sessions/{kind}-{record.id.replace('/', '-')}")
        for record in records
    ]


def two_kinds(world: World, seed: int, where: str, *, easier: float = 0.5) -> list[EpisodeRecord]:
    """Two kinds of work of one world, of which one succeeds far more often, whatever is done."""
    draws = random.Random(seed)
    git = [
        structs.replace(
            record,
            id=f"git/{record.id}",
            task=f"git-{record.task}",
            prompt_key=f"git {record.prompt_key}",
            steps=tuple(map(as_git, record.steps)),
            outcome=EpisodeOutcome(1.0, "reward") if draws.random() < easier else record.outcome,
        )
        for record in world(seed + 1000)
    ]
    return [*lying(world(seed), where, "sql"), *lying(git, where, "git")]


def scope_on(records: Sequence[EpisodeRecord]) -> Scope:
    texts = {name: dict.fromkeys(words_of(text), 1.0) for name, text in SKILLS.items()}
    return Scope(records, tuple(sorted(texts)), LogGlobs(), {}, {}, texts, (), {})


def kept_apart(records: Sequence[EpisodeRecord], seed: int) -> list[Judgement]:
    """Send what each skill would learn of its own signals through the gate."""
    scope, whole = scope_on(records), division_of(records, str(seed))
    judgements = []
    for skill, kinds in ASKED.items():
        parts = (tuple(scope.restricted(skill, split)) for split in (whole.explore, whole.sealed, whole.audit))
        division = Division(*parts)
        judgements += judged(division, kinds, seed, scope.other_work(skill, division.explore))
    return judgements


def judged(
    division: Division, kinds: Iterable[tuple[str, str, str]], seed: int, other_work: OtherWork = NO_OTHER_WORK
) -> list[Judgement]:
    explore = Explore(division.explore)
    asks = []
    for kind, template, action in kinds:
        ask = asking(explore, template=template, action=action, kind=kind)
        asks.append((type(ask)(ask.signal, explore, other_work=other_work), PROPOSERS[kind]))
    return sent_through(asks, division, str(seed))


def together(records: Sequence[EpisodeRecord], seed: int) -> list[Judgement]:
    """Send the same signals through the gate on all episodes, as if they were one skill's."""
    return judged(division_of(records, str(seed)), [ask for kinds in ASKED.values() for ask in kinds], seed)


@pytest.mark.parametrize("where", ["a log each", "one log", "a file each"])
@pytest.mark.parametrize("world", [world_without_a_rule, world_where_nothing_matters])
def test_keeping_skills_apart_promotes_nothing_where_nothing_matters(world: World, where: str) -> None:
    for seed in range(2):
        assert promoted(kept_apart(two_kinds(world, seed, where), seed)) == []


@pytest.mark.parametrize("where", ["a log each", "one log", "a file each"])
def test_a_true_rule_of_each_kind_is_still_promoted(where: str) -> None:
    for seed in range(2):
        judgements = promoted(kept_apart(two_kinds(world_with_a_rule, seed, where, easier=0.0), seed))
        assert {judgement.about for judgement in judgements} >= {NO_TABLE, NO_PATH}


def test_episodes_of_another_kind_in_another_log_make_no_habit_look_good() -> None:
    records = two_kinds(world_where_nothing_matters, 1, "a log each")
    own = scope_on(records).restricted("git", records)
    assert {step.action for record in own for step in record.steps} <= {*GIT.values(), "submit"}
    assert not [
        judgement
        for judgement in kept_apart(records, 1)
        if isinstance(judgement.claim, StartWith) and judgement.verdict.decision == "promote"
    ]
