"""The loop as a whole: episodes in, a judged line out, remembered for ever."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from events.errors import RefusedError
from events.sqlite.log import SqliteLog
from events.types.capsule_events import CapsuleVersioned
from events.types.registry_events import CycleFinished
from events.types.score import Score
from registry.actions.publish import publish, take_in
from registry.decide.commands import RecordFact, RevertVersion, SwitchPreset
from registry.registry import Registry
from strategies.evolve import loop as evolution
from strategies.evolve.loop import Plan, evolve
from strategies.evolve.turn import run_cycle
from strategies.gate.replay import evaluation_set, measure
from strategies.gate.replay.evaluation_set import sent_so_far
from strategies.gate.rules import RECOVERED_ALONE
from strategies.monitor.review import approve
from strategies.policy.presets import PRESETS
from strategies.policy.written_rules import METHOD
from strategies.pool.intake import take_in as take_in_episodes
from tests.clocks import TickingClock
from tests.kinds_of_work import BREAD, GARDEN, write_skills
from tests.registries import new_registry, raised_signal
from tests.worlds import NO_TABLE, recovering, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.registry_events import SignalRaised
    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.scan import Scan

SKILL = "---\nname: sql-analyst\ndescription: Answers questions with SQL.\n---\n\nAnswer with one SQL query.\n"


def registry_with_skill(
    folder: Path, *, split_key: str = "key", text: str = SKILL, name: str = "sql-analyst"
) -> Registry:
    registry = new_registry(folder, TickingClock(), split_key)
    skill = folder / name
    skill.mkdir()
    (skill / "SKILL.md").write_text(text)
    take_in(registry, skill)
    return registry


@pytest.fixture
def world() -> Sequence[EpisodeRecord]:
    return world_with_a_rule(3, tasks=150)


@pytest.fixture
def registry(tmp_path: Path, world: Sequence[EpisodeRecord]) -> Registry:
    registry = registry_with_skill(tmp_path)
    take_in_episodes(registry, world)
    return registry


def plan(**changes: object) -> Plan:
    return Plan(**{"preset": PRESETS["balanced"], "seed": 7, "skill": "sql-analyst", **changes})  # type: ignore[arg-type]


def uncovered_failure() -> SignalRaised:
    return raised_signal(
        "uncovered_failure",
        fingerprint="uncovered",
        calls_for="innovate",
        action="sql:SELECT",
        count=9,
        episodes=9,
        severity=0.1,
    )


def skill_on_disk(registry: Registry) -> str:
    return (_folder(registry) / "SKILL.md").read_text()


def _folder(registry: Registry) -> Path:
    return Path(registry.capsule("sql-analyst").source)


def test_a_true_rule_becomes_a_line_with_its_score_before_and_after(registry: Registry) -> None:
    (cycle, *_) = evolve(registry, plan()).cycles
    assert (cycle.verdict, cycle.version, cycle.signal.template) == ("promote", 2, NO_TABLE)
    assert cycle.effect is not None
    assert cycle.effect.risk_difference > 0.3
    scores = [cycle.before, cycle.after, cycle.audit_before, cycle.audit_after]
    assert all(isinstance(score, Score) for score in scores)
    assert len({score.evaluator for score in scores if isinstance(score, Score)}) == 1
    text = skill_on_disk(registry)
    assert "SHOW" in text
    assert 'germline: "sql-analyst@2"' in text
    shown = cycle.candidate
    assert shown is not None
    assert text.splitlines()[shown.edits[0].line - 1] == shown.edits[0].text.splitlines()[0]


def test_every_mutation_of_a_promotion_names_its_measurement(registry: Registry) -> None:
    evolve(registry, plan(cycles=1))
    by_type = {envelope.type: envelope for envelope in registry.log.read()}
    scored = by_type["CandidateScored"]
    for name in ("GeneMutated", "CapsuleVersioned"):
        event = by_type[name].event
        assert event.scored == scored.event_id  # type: ignore[attr-defined]
        assert event.before == scored.event.before  # type: ignore[attr-defined]
        assert event.after == scored.event.after  # type: ignore[attr-defined]


def test_a_second_run_promotes_nothing_and_scores_nothing_again(registry: Registry) -> None:
    evolve(registry, plan())
    before = registry.log.head()
    again = evolve(registry, plan())
    assert [cycle.verdict for cycle in again.cycles if cycle.verdict == "promote"] == []
    assert registry.log.head() == before


def test_the_same_log_and_seed_give_the_same_decisions(tmp_path: Path, world: Sequence[EpisodeRecord]) -> None:
    heads = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        registry = registry_with_skill(tmp_path / name)
        take_in_episodes(registry, world)
        run = evolve(registry, plan())
        heads.append([(cycle.verdict, cycle.reasons, cycle.after, cycle.delta) for cycle in run.cycles])
    assert heads[0] == heads[1]


def test_of_two_runs_at_once_the_second_reads_the_verdict_of_the_first(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival = Registry(SqliteLog.open(Path(registry.log.location)), TickingClock(seed=2), "person:rival")
    measured = run_cycle

    def overtaken(*arguments: object) -> object:
        monkeypatch.setattr(evolution, "run_cycle", measured)
        evolve(rival, plan(cycles=1))  # the rival promotes after this run has loaded its capsule
        return measured(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(evolution, "run_cycle", overtaken)
    result = evolve(registry, plan(cycles=1))
    assert result.cycles[0].remembered
    assert result.cycles[0].verdict == "promote"
    promotions = [e for e in registry.log.read() if isinstance(e.event, CapsuleVersioned)]
    assert len(promotions) == 2  # the import, and one promotion


def test_a_promotion_that_was_taken_back_is_not_proposed_again(registry: Registry) -> None:
    evolve(registry, plan())
    registry.execute(RevertVersion("sql-analyst", 1, "it reads badly"))
    publish(registry, "sql-analyst")
    (cycle, *_) = evolve(registry, plan()).cycles
    assert (cycle.verdict, cycle.candidate) == ("hold", None)
    assert "rejected before" in cycle.reasons[0]
    assert registry.capsule("sql-analyst").version == 3
    events = registry.log.head()
    (again, *_) = evolve(registry, plan()).cycles
    assert again.remembered
    assert registry.log.head() == events


def test_a_skill_edited_by_hand_is_not_evolved_over(registry: Registry) -> None:
    path = _folder(registry) / "SKILL.md"
    path.write_text(path.read_text() + "Mine.\n")
    before = registry.log.head()
    with pytest.raises(RefusedError, match="edited by hand"):
        evolve(registry, plan())
    assert registry.log.head() == before
    assert path.read_text().endswith("Mine.\n")


def test_a_rehearsal_shows_the_promotion_and_leaves_no_trace(registry: Registry) -> None:
    before, text = registry.log.head(), skill_on_disk(registry)
    with registry.rehearsal():
        result = evolve(registry, plan(write=False))
        assert registry.log.head().position > before.position
    assert result.cycles[0].verdict == "promote"
    assert registry.log.head() == before
    assert skill_on_disk(registry) == text
    assert registry.log.verify().problems == ()


def test_an_interrupt_while_measuring_leaves_the_log_whole_and_the_next_run_repeats(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("strategies.evolve.draft.measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evolve(registry, plan())
    assert registry.log.verify().problems == ()
    assert registry.candidates() == []
    assert evolve(registry, plan()).cycles[0].verdict == "promote"


def test_a_held_candidate_is_judged_again_from_its_figures_under_another_preset(
    registry: Registry,
) -> None:
    strict = PRESETS["balanced"].model_copy(update={"alpha": 1e-200, "name": "strict"})
    (held, *_) = evolve(registry, plan(preset=strict)).cycles
    assert held.verdict == "hold"
    assert any("alpha" in reason for reason in held.reasons)
    registry.execute(SwitchPreset("balanced", "the written rule is strict enough"))
    (promoted, *_) = evolve(registry, plan()).cycles
    assert (promoted.verdict, promoted.remembered) == ("promote", True)
    (candidate,) = registry.candidates()
    assert candidate.times_scored == 1
    assert "SHOW" in skill_on_disk(registry)


def test_a_signal_without_a_skill_is_named_as_unrouted_and_nothing_has_settled(
    tmp_path: Path, world: Sequence[EpisodeRecord]
) -> None:
    registry = registry_with_skill(tmp_path, text=BREAD.text, name=BREAD.skill)
    write_skills(tmp_path, GARDEN)
    take_in(registry, tmp_path / "skills" / GARDEN.skill)
    take_in_episodes(registry, world)
    result = evolve(registry, plan(skill=""))
    assert result.cycles == ()
    assert NO_TABLE in {signal.template for signal in result.unrouted}
    assert not result.stop.settled
    assert result.stop.why.endswith("for 1 signal is of no skill: germline signals assign FINGERPRINT SKILL")


def test_the_only_skill_answers_every_signal(registry: Registry) -> None:
    result = evolve(registry, plan(skill=""))
    assert result.unrouted == ()
    assert {cycle.capsule for cycle in result.cycles} == {"sql-analyst"}


def test_new_logs_wait_until_the_sealed_tasks_have_grown_by_a_quarter(registry: Registry) -> None:
    evolve(registry, plan())
    (first,) = registry.evaluators()
    take_in_episodes(registry, world_with_a_rule(11, tasks=8))
    evolve(registry, plan())
    assert registry.evaluators() == [first]


def test_a_held_claim_is_asked_again_on_logs_that_grew_for_the_next_share_of_alpha(tmp_path: Path) -> None:
    registry, sent = registry_with_skill(tmp_path), []
    for seed in (3, 11):
        grown = [
            structs.replace(old, id=f"{seed} {old.id}", task=f"{seed} {old.task}", prompt_key=f"{seed} {old.task}")
            for old in world_with_a_rule(seed, tasks=150, lift=0.2)
        ]
        take_in_episodes(registry, grown)
        (cycle,) = evolve(registry, plan()).cycles
        assert cycle.verdict == "hold"
        sent.append(cycle.sent)
    assert len(registry.evaluators()) == 2
    assert sent == [1, 2]
    assert sent_so_far(registry) == 2


def test_a_signal_of_which_explore_lets_no_claim_through_takes_its_share_of_alpha(tmp_path: Path) -> None:
    registry = registry_with_skill(tmp_path)
    for tried, asked in ((0, 0), (4, 1)):
        lesson = {"fingerprint": f"signal {tried}", "capsule": "sql-analyst", "evaluator": "e", "candidate": None}
        shut_out = {"verdict": "hold", "reasons": (), "tried": tried, "offered": (), "strategy": "repair"}
        finished = CycleFinished.model_validate({"preset": "balanced", "seed": 1} | lesson | shut_out)
        registry.execute(RecordFact((finished,)), actor="germline")
        assert sent_so_far(registry) == asked
    take_in_episodes(registry, world_with_a_rule(3))
    (promoted,) = evolve(registry, plan()).cycles
    assert (promoted.verdict, promoted.sent) == ("promote", 2)
    assert sent_so_far(registry) == 1, "what logs promote gives its share back"


def test_what_a_person_lets_through_gives_no_share_of_alpha_back(registry: Registry) -> None:
    (held,) = evolve(registry, plan(review=True)).cycles
    assert (held.verdict, held.sent) == ("hold", 1)
    assert held.candidate is not None
    waiting = registry.candidate(held.candidate.id)
    assert waiting is not None
    approve(registry, waiting, "it reads well")
    assert sent_so_far(registry) == 1


def test_what_another_method_measured_is_measured_again(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        for module in (evaluation_set, measure):
            earlier.setattr(module, "METHOD", "replay-0")
        evolve(registry, plan())
    evolve(registry, plan())
    assert [event.method for event in registry.evaluators()] == ["replay-0", METHOD]
    score = registry.version("sql-analyst", registry.outline("sql-analyst").version).score
    assert isinstance(score, Score)
    assert score.evaluator == registry.evaluators()[-1].evaluator


def test_without_outcomes_a_line_is_offered_as_seen_and_never_promoted(tmp_path: Path) -> None:
    registry = registry_with_skill(tmp_path)
    take_in_episodes(registry, recovering(3))
    (cycle, *_) = evolve(registry, plan()).cycles
    assert (cycle.verdict, cycle.version, cycle.reasons[0]) == ("hold", None, RECOVERED_ALONE)
    assert isinstance(cycle.before, Score)
    assert isinstance(cycle.after, Score)
    assert cycle.before.endpoint == cycle.after.endpoint == "recovered"
    assert cycle.tier is not None
    assert cycle.tier.tier == "seen"
    pool, own, *_ = registry.evaluators()
    assert (pool.scope, own.scope, own.evaluator) == ("pool", "claim", cycle.after.evaluator)
    before = registry.log.head()
    assert [turn.verdict for turn in evolve(registry, plan()).cycles if turn.verdict == "promote"] == []
    assert registry.log.head() == before


def test_steady_state_offers_nothing_that_is_only_seen(tmp_path: Path) -> None:
    registry = registry_with_skill(tmp_path)
    take_in_episodes(registry, recovering(3))
    (held, *_) = evolve(registry, plan(preset=PRESETS["steady-state"])).cycles
    assert (held.verdict, held.tier) == ("hold", None)


def test_a_line_that_hurts_in_newer_logs_is_taken_away_with_its_claim(registry: Registry) -> None:
    evolve(registry, plan())
    assert "SHOW" in skill_on_disk(registry)
    hurt = [
        structs.replace(old, id=f"new {old.id}", task=f"new {old.task}", prompt_key=f"new {old.prompt_key}")
        for old in world_with_a_rule(9, lift=-0.3)
    ]
    take_in_episodes(registry, hurt)
    repeated = uncovered_failure().model_copy(
        update={"fingerprint": "again", "kind": "repeated_call", "calls_for": "harden"}
    )
    registry.execute(RecordFact((repeated,)), actor="germline")
    only = {record.id for record in hurt}
    run = evolve(registry, plan(only=only, preset=PRESETS["harden"]))
    (move,) = run.moves
    assert (move.before and move.before.tier, move.after) == ("supported", None)
    assert move.version == 3
    capsule = registry.capsule("sql-analyst")
    assert all(live.claim.do != "sql:SHOW" for gene in capsule.genes for live in gene.claims)  # type: ignore[union-attr]
    assert "SHOW TABLES" not in skill_on_disk(registry)


def test_a_line_that_nearly_repeats_another_goes_to_a_person(tmp_path: Path) -> None:
    text = f"{SKILL}Answer with one SQL query only.\nSee scripts/gone.py first.\n"
    registry = registry_with_skill(tmp_path, text=text)
    take_in_episodes(registry, world_with_a_rule(5, lift=0.0))
    repeated = uncovered_failure().model_copy(update={"kind": "repeated_call", "calls_for": "harden"})
    registry.execute(RecordFact((repeated,)), actor="germline")
    run = evolve(registry, plan(preset=PRESETS["harden"]))
    (held,) = [cycle for cycle in run.cycles if cycle.candidate and cycle.candidate.edits[0].op == "delete"]
    assert held.verdict == "hold"
    assert held.reasons[0].startswith("no claim covers it, so a person decides: nearly repeats an earlier line")
    assert "SQL query only" in skill_on_disk(registry)
    again = [cycle for cycle in evolve(registry, plan(preset=PRESETS["harden"])).cycles if cycle.candidate]
    assert again
    assert {(cycle.verdict, cycle.remembered) for cycle in again} == {("hold", True)}


@pytest.mark.data
def test_recorded_runs_teach_what_the_page_names_and_no_habit(
    tmp_path: Path, intercode: Sequence[EpisodeRecord]
) -> None:
    registry = registry_with_skill(tmp_path)
    take_in_episodes(registry, intercode)
    run = evolve(registry, plan())
    promoted = [cycle for cycle in run.cycles if cycle.verdict == "promote"]
    assert [(cycle.strategy, cycle.signal.template or cycle.signal.action) for cycle in promoted] == [
        ("repair", "Table <*> doesn't exist"),
        ("repair", "Unknown column <*> in <*>"),
    ]
    for cycle in promoted:
        assert cycle.effect is not None
        assert cycle.effect.risk_difference >= 0.15
        assert isinstance(cycle.audit_before, Score)
        assert isinstance(cycle.audit_after, Score)
        assert cycle.audit_after.value > cycle.audit_before.value  # on logs that decided nothing
    innovate = [cycle for cycle in run.cycles if cycle.strategy == "innovate"]
    assert innovate
    assert all("no claim survived explore" in cycle.reasons[0] for cycle in innovate)
    text = skill_on_disk(registry)
    assert "SHOW TABLES" in text
    assert "do not run SELECT again" not in text  # the rules of the two errors explain it


@pytest.mark.data
def test_recorded_airline_runs_are_too_few_to_teach_anything(
    tmp_path: Path, recorded_scan: Callable[[str], Scan]
) -> None:
    registry = registry_with_skill(tmp_path)
    take_in_episodes(registry, recorded_scan("tau_bench_airline").records)
    run = evolve(registry, plan())
    assert run.cycles
    assert all(cycle.candidate is None and cycle.verdict == "hold" for cycle in run.cycles)
    assert all("no claim applicable" in cycle.reasons[0] for cycle in run.cycles if cycle.needed is None)
