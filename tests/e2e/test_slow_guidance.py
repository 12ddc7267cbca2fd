"""The slow update: what a run left undone, written where only slow updates may write, through the gate."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from events.errors import EditError
from events.types.claims import CHANGE, AfterCall, AfterError, StartWith
from events.types.gene_events import GeneBorn
from events.types.parts import Edit
from registry.actions.publish import edited_folder, publish
from registry.decide.adopt import adopt
from registry.decide.commands import Propose, Release
from registry.decide.promote import edited
from registry.projection.projector import rebuild
from strategies.evolve.guidance import SLOW_GUIDANCE
from strategies.evolve.loop import evolve
from strategies.evolve.run_selftest import every_claim
from strategies.monitor.review import approve
from strategies.policy.presets import PRESETS, Weights
from strategies.pool.intake import take_in
from strategies.propose.run_guidance import TITLE, changes_between, slow, strategy_of
from tests.e2e.test_evolution import plan, registry_with_skill, skill_on_disk
from tests.registries import documents, proposal
from tests.worlds import (
    NO_TABLE,
    asking,
    call,
    division_of,
    episode,
    promoted,
    sent_through,
    world_where_nothing_matters,
)
from tui.cli.output.invocation import Invocation
from tui.cli.printers.evolve import print_guidance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.registry import Registry
    from registry.state.gene import Gene
    from strategies.episodes.episode import EpisodeRecord
    from strategies.evolve.loop import Plan
    from strategies.propose.proposal import ProposalRequest

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
CHECK = AfterCall(action=CHANGE, do="Bash:pytest")


def world(seed: int, *, lift: float = 0.45, tasks: int = 320) -> list[EpisodeRecord]:
    """Looking at the schema helps after an error, checking a change helps where there is none."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        for run in ("large", "small"):
            looks, checks, fails = (draws.random() < 0.5 for _ in range(3))
            if fails:
                steps = [
                    call("sql:SELECT", NO_TABLE),
                    call("sql:SHOW" if looks else "sql:SELECT"),
                    call("sql:SELECT"),
                ]
            else:
                checked = call("Bash:pytest" if checks else "sql:DESC")
                steps = [call("Edit"), checked, call(f"say {draws.randrange(40)}")]
            won = draws.random() < 0.25 + (0.45 * looks if fails else lift * checks)
            record = episode([*steps, call("submit")], outcome=float(won), task=f"t{number:04} of {run}", run=run)
            records.append(structs.replace(record, ended_by="agent"))
    return records


INNOVATE = PRESETS["innovate"]


def looking_back(**changes: object) -> Plan:
    """Three turns: two that find no habit, one that repairs; the signal about endings has no turn."""
    return plan(**{"preset": INNOVATE, "cycles": 3, **changes})


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = registry_with_skill(tmp_path)
    take_in(registry, world(1))
    return registry


def kept(registry: Registry) -> Gene:
    (gene,) = [gene for gene in registry.capsule("sql-analyst").genes if gene.keeper]
    return gene


def test_what_no_signal_asked_for_becomes_standing_guidance_in_a_gene_of_its_own(
    registry: Registry, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = evolve(registry, looking_back())
    (guidance,) = run.guidance
    assert (guidance.first, guidance.last) == (1, 2)
    assert sum(map(len, guidance.changes)) == 20
    assert guidance.changes.improved
    result = guidance.result
    assert result is not None
    assert result.candidate is not None
    assert (result.verdict, result.candidate.claims, result.version) == ("promote", (CHECK,), 3)
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    print_guidance(Invocation(), run.guidance)
    output = capsys.readouterr().out
    assert "promoted as sql-analyst@3" in output
    assert "\x1b[" in output
    assert "u001b" not in output  # a colour that was written as text
    gene = kept(registry)
    assert (gene.title, gene.keeper) == (TITLE, "slow")
    assert [live.claim for live in gene.claims] == [CHECK]
    assert f"## {TITLE}" in skill_on_disk(registry)
    born = [
        envelope.event
        for envelope in registry.log.read(types=("GeneBorn",))
        if getattr(envelope.event, "keeper", "")
    ]
    assert isinstance(born[0], GeneBorn)
    assert registry.log.verify().problems == ()
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before
    assert kept(registry) == gene


def test_a_run_that_promoted_nothing_has_nothing_to_look_back_on(registry: Registry) -> None:
    assert evolve(registry, plan(cycles=1)).guidance == ()  # one turn is no run
    assert registry.capsule("sql-analyst").version == 2
    assert evolve(registry, plan(skill="sql-analyst", preset=PRESETS["repair-only"])).guidance == ()


def test_where_nothing_more_would_help_only_the_comparison_is_told(tmp_path: Path) -> None:
    registry = registry_with_skill(tmp_path)
    take_in(registry, world(1, lift=0.0))
    (guidance,) = evolve(registry, looking_back()).guidance
    assert guidance.result is None
    assert not [gene for gene in registry.capsule("sql-analyst").genes if gene.keeper]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"new_genes": False}, ("hold", "the preset innovate allows no new gene")),
        ({"weights": Weights(repair=15, harden=0, innovate=85)}, None),
    ],
)
def test_what_the_preset_forbids_is_held_and_what_it_never_does_is_not_asked(
    registry: Registry, change: dict[str, object], verdict: tuple[str, str] | None
) -> None:
    (guidance,) = evolve(registry, looking_back(preset=INNOVATE.model_copy(update=change), cycles=5)).guidance
    assert (guidance.result and (guidance.result.verdict, guidance.result.reasons[0])) == verdict
    assert not [gene for gene in registry.capsule("sql-analyst").genes if gene.keeper]


def test_nobody_but_the_slow_update_edits_what_it_keeps_until_a_person_releases_it(registry: Registry) -> None:
    evolve(registry, looking_back())
    capsule, gene = registry.capsule("sql-analyst"), kept(registry)
    more = Edit(op="append", gene=gene.id, text=("Be brief.\n",))
    with pytest.raises(EditError, match="kept by slow alone"):
        edited(capsule, (more,), by="recovery")
    assert edited(capsule, (more,), by="slow").version == capsule.version
    registry.execute(Propose(proposal(capsule, more, claims=(LOOK,))))
    candidate, head = registry.candidate("c1"), registry.log.head()
    assert candidate is not None
    with pytest.raises(EditError, match="kept by slow alone"):
        approve(registry, candidate, "I want it")
    assert registry.log.head() == head
    place = Path(capsule.source) / "SKILL.md"
    place.write_text(place.read_text().rstrip() + "\nBe brief.\n")
    with pytest.raises(EditError, match="kept by slow alone"):
        adopt(capsule, edited_folder(registry, "sql-analyst"), keep_claims=False)
    publish(registry, "sql-analyst", discard=True)
    registry.execute(Release("sql-analyst", gene.id, "ours from now on"))
    approve(registry, candidate, "I want it")
    assert registry.capsule("sql-analyst").version == 4


def asked(records: Sequence[EpisodeRecord]) -> ProposalRequest:
    return asking(records, kind=SLOW_GUIDANCE, calls_for="harden")


def test_tasks_are_told_apart_by_what_the_claims_of_two_versions_would_make_of_them() -> None:
    explore = division_of(world(3), "3").explore
    changes = changes_between(explore, (), (LOOK,), seed=1)
    assert changes is not None
    assert len(changes.improved) > len(changes.regressed)
    assert changes.open == {*changes.regressed, *changes.still_failing}
    assert changes == changes_between(explore, (), (LOOK,), seed=1)
    same = changes_between(explore, (LOOK,), (LOOK,), seed=1)
    assert same is not None
    assert not same.improved
    assert not same.regressed
    assert changes_between([episode([call("a")], outcome=None)], (), (), seed=1) is None


def test_it_repeats_nothing_that_is_live_and_nothing_that_was_rejected() -> None:
    explore = division_of(world(3), "3").explore
    changes = changes_between(explore, (), (LOOK,), seed=1)
    assert changes is not None
    claims = tuple(every_claim(explore))
    first = slow(asked(explore), claims, (LOOK,), changes).proposal
    assert first is not None
    assert first.claims == (CHECK,)
    live = (LOOK, CHECK)
    second = slow(asked(explore), claims, live, changes).proposal
    assert second is None or second.claims[0] not in live


def test_the_kind_of_change_follows_from_the_claim() -> None:
    assert [strategy_of(claim) for claim in (LOOK, CHECK, StartWith(do="ls"))] == ["repair", "harden", "innovate"]


def test_where_nothing_matters_the_slow_update_promotes_nothing_either() -> None:
    tried = 0
    for seed in range(20):
        division = division_of(world_where_nothing_matters(seed), str(seed))
        changes = changes_between(division.explore, (), (), seed=seed)
        assert changes is not None
        mined = slow(asked(division.explore), every_claim(division.explore), (), changes)
        tried += mined.tried
        judgements = sent_through(
            [(asked(division.explore), (lambda _, mined_claims=mined: mined_claims,))], division, str(seed)
        )
        assert promoted(judgements) == []
    assert tried >= 20 * 5  # it had something to say in every world
