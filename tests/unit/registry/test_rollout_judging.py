"""Candidates judged by runs, with an agent that is a table of pass rates."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from events.errors import CheckFailedError, EditError, RefusedError, TaskFileError, UpstreamError
from events.types.candidate_events import CandidateScored, ComparisonFrozen
from events.types.score import Score, Unmeasured
from registry.decide.commands import Protect
from strategies.gate.aimed_rule import FRESH
from strategies.gate.explain import explain_stored
from strategies.monitor.live_version import measurement_of, staleness_of
from strategies.pool.intake import take_in
from strategies.pool.known_episodes import all_episodes
from strategies.rollouts.compare.judge_group import frozen_only, try_out
from strategies.rollouts.run.messages_agent import messages_agent
from strategies.rollouts.run.runner import RunCaps
from strategies.rollouts.run.sanity import Violation
from strategies.rollouts.run.trial import Trial
from strategies.scope.scope import scope_of
from tests.fake_runs import FakeRunner, draw, planted, rewritten, rig, task
from tests.registries import NAME, SKILL, live_text
from tests.worlds import call, episode
from tui.documents.why import WhyDocument
from tui.facts.line import file_line_facts
from tui.reads.file_history import explain_file_line
from tui.reads.skill_paths import Named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.rollouts.run.runner import RunProgress
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.tasks.task import RolloutTask

pytestmark = pytest.mark.usefixtures("place")


def proposed(registry: Registry, folder: Path, *lines: str, text: str = SKILL, tags: tuple[str, ...] = ()) -> str:
    """Propose lines at the end of the first list, and return the candidate's id."""
    copy = folder / "rewritten.md"
    bullets = "".join([f"- {line}\n" for line in ("Round nothing.", *lines)])
    copy.write_text(text.replace("- Round nothing.\n", bullets))
    return rewritten(registry, copy, preset="innovate", tags=tags)


def tried(registry: Registry, runner: FakeRunner, *ids: str, **options: object) -> list[Candidate]:
    return try_out(rig(registry, runner, **options), ids)  # type: ignore[arg-type] # handed on as they are


def scored(candidate: Candidate) -> CandidateScored:
    assert candidate.scored is not None
    return candidate.scored


def test_a_helpful_rule_is_promoted_with_its_figures(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    (candidate,) = tried(registry, FakeRunner(planted), name)
    assert candidate.verdict == "promote"
    assert registry.capsule(NAME).version == candidate.version == 2
    measurement = scored(candidate)
    assert measurement.rollouts is not None
    assert measurement.rollouts.difference > 0.25
    assert measurement.delta is not None
    assert measurement.delta.value == pytest.approx(measurement.rollouts.difference)
    assert isinstance(measurement.after, Score)
    assert (measurement.after.kind, measurement.after.split, measurement.after.evaluator) == (
        "rollout", "sealed", rig(registry, FakeRunner(planted)).harness.evaluator,
    )  # fmt: skip
    assert isinstance(measurement.audit_after, Score)
    assert measurement.audit_after.split == "audit"
    assert measurement.rollouts.no_skill is not None
    assert measurement.rollouts.no_skill.effect == "helped"
    assert {tag_figures.tag for tag_figures in measurement.rollouts.tags} == {"even", "odd"}
    assert [advantage.version for advantage in measurement.rollouts.versions] == [name, f"{NAME}@1"]
    assert measurement.rollouts.versions[0].value > 0 > measurement.rollouts.versions[1].value


def test_a_version_that_runs_of_a_model_measured_is_stale_once_sessions_name_another(
    registry: Registry, tmp_path: Path
) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    own = rig(registry, FakeRunner(planted))
    small = messages_agent("small", "injected", most_replies=9, reply_tokens=9, run_tokens=9)
    (candidate,) = try_out(replace(own, harness=replace(own.harness, agent=small)), [name])
    assert candidate.version == 2
    measured = measurement_of(registry, NAME, ())
    assert measured is not None
    assert measured.models == ("small",)
    for model, stale in (("small", ()), ("large", ("large",))):
        take_in(registry, [msgspec.structs.replace(episode([call("a")], task=model), run=model)])
        scope = scope_of(registry, all_episodes(registry))
        staleness = staleness_of(measured, NAME, scope, registry.clock.now())
        assert staleness is not None
        assert staleness.models == stale


@pytest.mark.parametrize("line", ["HARMS a lot.", "Changes nothing at all."])
def test_what_harms_or_does_nothing_is_rejected_and_costs_neither_audit(
    registry: Registry, tmp_path: Path, line: str
) -> None:
    runner = FakeRunner(planted)
    (candidate,) = tried(registry, runner, proposed(registry, tmp_path, line))
    assert candidate.verdict == "reject"
    assert registry.capsule(NAME).version == 1
    assert not runner.runs_of("no skill")
    assert isinstance(scored(candidate).audit_after, Unmeasured)


def test_a_memoriser_of_visible_tasks_is_not_promoted(registry: Registry, tmp_path: Path) -> None:
    explore = rig(registry, FakeRunner(planted)).harness.divided.explore
    known = " ".join(f"answer {rollout_task.id}" for rollout_task in explore[:6])
    (candidate,) = tried(registry, FakeRunner(planted), proposed(registry, tmp_path, known))
    assert candidate.verdict != "promote"
    assert registry.capsule(NAME).version == 1


def test_what_will_be_compared_is_on_record_before_the_first_run(registry: Registry, tmp_path: Path) -> None:
    class Broken(FakeRunner):
        def __call__(self, job: PlannedRun) -> Trial:
            raise OSError(f"no {job.task.id}")

    name = proposed(registry, tmp_path, "HELPS a lot.")
    subject = rig(registry, Broken(planted))
    with pytest.raises(OSError, match="no task"):
        try_out(subject, [name])
    proposal, frozen = (envelope.event for envelope in registry.log.read(stream=f"candidate:{name}"))
    assert isinstance(frozen, ComparisonFrozen)
    body = registry.log.get_blob(frozen.comparison)
    assert body is not None
    comparison = json.loads(body)
    assert comparison["sealed"] == [rollout_task.id for rollout_task in subject.harness.divided.sealed]
    assert (comparison["seed"], comparison["thresholds"]["least_e"], comparison["agent"]["name"]) == (
        7,
        10,
        "fake",
    )
    assert list(comparison["candidates"]) == [name]
    assert registry.evaluators()[-1].kind == "rollout"
    assert registry.candidate(name) is not None
    assert proposal != frozen


def test_an_interrupted_comparison_goes_on_from_its_finished_runs(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")

    def interrupted(_: PlannedRun, trial: Trial) -> Trial:
        if len(first.seen) == 20:
            raise KeyboardInterrupt
        return trial

    first = FakeRunner(planted, interrupted)
    with pytest.raises(KeyboardInterrupt):
        tried(registry, first, name)
    again = FakeRunner(planted)
    (candidate,) = tried(registry, again, name)
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert rollouts.reused >= 18
    assert len(set(again.seen)) == len(again.seen) == rollouts.runs
    uninterrupted = rollouts.runs + rollouts.reused
    assert len({*first.seen, *again.seen}) == uninterrupted


def test_what_comes_out_does_not_depend_on_the_order_or_the_number_of_workers(
    registry: Registry, tmp_path: Path
) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    outcomes = []
    for workers in (1, 4):
        with registry.rehearsal():
            (candidate,) = tried(registry, FakeRunner(planted), name, workers=workers)
            rollouts = scored(candidate).rollouts
            assert rollouts is not None
            outcomes.append((candidate.verdict, candidate.reasons, rollouts.model_copy(update={"seconds": 0.0})))
    assert outcomes[0] == outcomes[1]


def test_after_a_promotion_the_winner_is_measured_again(registry: Registry, tmp_path: Path) -> None:
    first = proposed(registry, tmp_path, "HELPS a lot.")
    tried(registry, FakeRunner(planted), first)
    text = SKILL.replace("- Round nothing.\n", "- Round nothing.\n- HELPS a lot.\n")
    copy = tmp_path / "next.md"
    copy.write_text(text.replace("result alone", "result alone, always"))
    runner = FakeRunner(planted)
    tried(registry, runner, rewritten(registry, copy))
    sealed = rig(registry, runner).harness.divided.sealed
    assert len(runner.runs_of(f"{NAME}@2")) >= len(sealed)


def test_the_incumbents_runs_are_shared_by_candidates_until_then(registry: Registry, tmp_path: Path) -> None:
    tried(registry, FakeRunner(planted), proposed(registry, tmp_path, "HARMS a lot."))
    runner = FakeRunner(planted)
    tried(registry, runner, proposed(registry, tmp_path, "Changes nothing."))
    rounds = {number for _, _, number in runner.runs_of(f"{NAME}@1")}
    assert 0 not in rounds


def test_reaching_the_cost_cap_holds_and_names_it_and_a_higher_one_goes_on(
    registry: Registry, tmp_path: Path
) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    (held,) = tried(registry, FakeRunner(planted), name, caps=RunCaps(cost_usd=0.2))
    assert held.verdict == "hold"
    assert "cost cap of 0.2 USD" in held.reasons[0]
    assert registry.capsule(NAME).version == 1
    (candidate,) = tried(registry, FakeRunner(planted), name)
    assert candidate.verdict == "promote"
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert rollouts.reused >= 20


def test_reaching_the_time_cap_holds_and_names_it(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    subject = rig(registry, FakeRunner(planted), caps=RunCaps(time_s=5.0))
    looks = iter(range(10_000))
    (held,) = try_out(replace(subject, now_s=lambda: float(next(looks))), [name])
    assert (held.verdict, "time cap of 5 s" in held.reasons[0]) == ("hold", True)


def infrastructure(share: float, arm: str = "") -> Callable[[PlannedRun, Trial], Trial]:
    """Let a share of all attempts fail before the agent gets going."""
    attempts: dict[tuple[str, str, int], int] = {}

    def changed(job: PlannedRun, trial: Trial) -> Trial:
        attempts[job.place] = attempts.get(job.place, 0) + 1
        lost = draw("lost", job.place, attempts[job.place]) < share
        if lost and job.arm.name.startswith(arm):
            return trial.model_copy(update={"status": "infrastructure", "value": 0.0, "note": "no network"})
        return trial

    return changed


def test_a_run_that_infrastructure_lost_is_made_again(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    (candidate,) = tried(registry, FakeRunner(planted, infrastructure(0.2)), name)
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert candidate.verdict == "promote"
    assert rollouts.void / rollouts.pairs < 0.05


def test_too_many_lost_pairs_decide_nothing(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    (candidate,) = tried(registry, FakeRunner(planted, infrastructure(0.65)), name, workers=1)
    assert candidate.verdict == "hold"
    assert "lost to infrastructure" in candidate.reasons[0]


def test_an_agent_that_never_gets_going_ends_the_command(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    with pytest.raises(UpstreamError, match="never got going in 5 runs: no network"):
        tried(registry, FakeRunner(planted, infrastructure(1.0)), name)
    candidate = registry.candidate(name)
    assert candidate is not None
    assert candidate.verdict is None


def test_a_run_without_skill_that_never_got_going_is_no_win(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    (candidate,) = tried(registry, FakeRunner(planted, infrastructure(1.0, "no skill")), name)
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert rollouts.no_skill is not None
    assert (rollouts.no_skill.effect, rollouts.no_skill.tasks) == ("inert", 0)
    assert (
        rollouts.no_skill.nulls == len(rig(registry, FakeRunner(planted)).harness.divided.sealed) * rollouts.rounds
    )


def test_a_gain_over_the_incumbent_that_hurts_against_no_skill_is_vetoed(
    registry: Registry, tmp_path: Path
) -> None:
    def rate(text: str, _: RolloutTask) -> float:
        return 0.95 if not text else 0.6 if "HELPS" in text else 0.1

    (candidate,) = tried(registry, FakeRunner(rate), proposed(registry, tmp_path, "HELPS a lot."))
    assert candidate.verdict == "reject"
    assert candidate.reasons[0].startswith("against no skill: hurt")


def test_an_anchor_that_the_incumbent_keeps_and_the_candidate_never_does_vetoes(
    registry: Registry, tmp_path: Path
) -> None:
    lost = rig(registry, FakeRunner(planted)).harness.divided.sealed[3].id

    def changed(job: PlannedRun, trial: Trial) -> Trial:
        broken = job.arm.standing == "candidate" and job.task.id == lost
        return trial.model_copy(update={"failed_anchors": ("log kept",)}) if broken else trial

    (candidate,) = tried(registry, FakeRunner(planted, changed), proposed(registry, tmp_path, "HELPS a lot."))
    assert candidate.verdict == "reject"
    assert candidate.reasons[0] == f"anchors that the incumbent keeps are lost: {lost}: log kept"


def test_an_anchor_that_fails_now_and_then_under_both_is_no_regression(registry: Registry, tmp_path: Path) -> None:
    def changed(job: PlannedRun, trial: Trial) -> Trial:
        broken = draw("anchor", job.place) < 0.3
        return trial.model_copy(update={"failed_anchors": ("log kept",)}) if broken else trial

    (candidate,) = tried(registry, FakeRunner(planted, changed), proposed(registry, tmp_path, "HELPS a lot."))
    assert candidate.verdict == "promote"


@pytest.mark.parametrize("arm", ["candidate", f"{NAME}@1"])
def test_a_run_that_was_tampered_with_never_promotes(registry: Registry, tmp_path: Path, arm: str) -> None:
    def changed(job: PlannedRun, trial: Trial) -> Trial:
        reached = job.arm.standing == arm and job.task.id.endswith("7")
        return trial.model_copy(update={"tampering": ("opened a socket",)}) if reached else trial

    (candidate,) = tried(registry, FakeRunner(planted, changed), proposed(registry, tmp_path, "HELPS a lot."))
    assert candidate.verdict == "reject"
    assert "tampered with: opened a socket" in candidate.reasons[0]
    assert registry.capsule(NAME).version == 1


def test_under_twenty_sealed_tasks_a_person_decides(registry: Registry, tmp_path: Path) -> None:
    few = tuple(task(number) for number in range(24))
    (candidate,) = tried(registry, FakeRunner(planted), proposed(registry, tmp_path, "HELPS a lot."), tasks=few)
    assert candidate.verdict == "hold"
    assert "20 are needed: a person decides" in candidate.reasons[0]


def test_of_versions_that_compete_the_better_one_becomes_live(registry: Registry, tmp_path: Path) -> None:
    def rate(text: str, _: RolloutTask) -> float:
        return 0.95 if "BEST" in text else 0.7 if "HELPS" in text else 0.3

    good = proposed(registry, tmp_path, "HELPS a lot.")
    best = proposed(registry, tmp_path, "BEST of all.")
    candidates = {candidate.id: candidate for candidate in tried(registry, FakeRunner(rate), good, best)}
    assert candidates[best].verdict == "promote"
    assert candidates[good].verdict in {"hold", "reject"}
    rollouts, other = scored(candidates[best]).rollouts, scored(candidates[good]).rollouts
    assert rollouts is not None
    assert other is not None
    assert rollouts.versions[0].version == best
    assert good in {advantage.version for advantage in rollouts.versions}
    assert f"{NAME}@2" in {
        advantage.version for advantage in other.versions
    }  # beside the better one it gains nothing


def test_two_candidates_that_pass_beside_each_other_become_live_by_the_same_runs(
    registry: Registry, tmp_path: Path
) -> None:
    def rate(text: str, _: RolloutTask) -> float:
        return 0.1 + 0.4 * ("HELPS" in text) + 0.35 * ("AIDS" in text)

    both = [proposed(registry, tmp_path, line) for line in ("HELPS a lot.", "AIDS as well.")]
    tried_ones = tried(registry, FakeRunner(rate), *both)
    assert [candidate.verdict for candidate in tried_ones] == ["promote", "promote"]
    assert sorted(candidate.id for candidate in tried_ones) == sorted(both)
    text = live_text(registry)
    assert (registry.capsule(NAME).version, "HELPS" in text, "AIDS" in text) == (3, True, True)
    first, second = (scored(candidate) for candidate in tried_ones)
    assert (first.base_version, second.base_version) == (1, 2)
    assert isinstance(first.after, Score)
    assert isinstance(second.after, Score)
    assert first.after.measured_at == second.after.measured_at  # nothing was run again for the second
    assert explain_stored(registry, tried_ones[1])[0].decision == "promote"


def test_one_that_leaves_the_company_early_holds_up_nobody(registry: Registry, tmp_path: Path) -> None:
    def rate(text: str, _: RolloutTask) -> float:
        return max(0.0, 0.2 + 0.3 * ("HELPS" in text) + 0.3 * ("AIDS" in text) - 0.9 * ("HARMS" in text))

    names = [proposed(registry, tmp_path, line) for line in ("HELPS a lot.", "HARMS a lot.", "AIDS as well.")]
    verdicts = {candidate.id: candidate.verdict for candidate in tried(registry, FakeRunner(rate), *names)}
    assert [verdicts[name] for name in names] == ["promote", "reject", "promote"]


def test_a_group_divides_its_runs_and_its_cost_among_the_candidates(registry: Registry, tmp_path: Path) -> None:
    runner = FakeRunner(planted)
    names = [proposed(registry, tmp_path, line) for line in ("HARMS a lot.", "HARMS too.", "Nothing.")]
    rollouts = [scored(candidate).rollouts for candidate in tried(registry, runner, *names)]
    assert sum(figures.runs for figures in rollouts if figures) == len(runner.seen)
    assert sum(figures.cost_usd for figures in rollouts if figures) == pytest.approx(0.01 * len(runner.seen))
    own = [len(runner.runs_of(name)) for name in names]
    assert all(figures and figures.runs < len(runner.seen) for figures in rollouts), own


def test_a_preset_with_a_higher_bar_is_heeded(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    with registry.rehearsal():
        (usual,) = tried(registry, FakeRunner(planted), name)
    (strict,) = tried(registry, FakeRunner(planted), name, preset="steady-state")
    usual_rollouts, other = scored(usual).rollouts, scored(strict).rollouts
    assert usual_rollouts is not None
    assert other is not None
    assert other.evidence >= 50 or strict.verdict != "promote"
    assert other.rounds >= usual_rollouts.rounds


def test_what_was_rejected_is_not_run_again_under_the_same_evaluator(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HARMS a lot.")
    tried(registry, FakeRunner(planted), name)
    with pytest.raises(RefusedError, match="was rejected by this evaluator"):
        tried(registry, FakeRunner(planted), name)
    other = tuple(task(number, "other") for number in range(70))
    (again,) = tried(registry, FakeRunner(planted), name, tasks=other)
    assert again.id != name
    assert again.verdict == "reject"


def test_a_stale_base_is_refused_and_nothing_is_written(registry: Registry, tmp_path: Path) -> None:
    second = proposed(registry, tmp_path, text=SKILL.replace("the result alone", "the bare result"))
    other = proposed(registry, tmp_path, text=SKILL.replace("the result alone", "the result, HELPS"))
    tried(registry, FakeRunner(planted), other)
    before = registry.log.head()
    with pytest.raises(RefusedError, match="stale base"):
        tried(registry, FakeRunner(planted), second)
    assert registry.log.head() == before


def test_what_a_candidate_may_not_change_is_refused_when_it_is_proposed(
    registry: Registry, tmp_path: Path
) -> None:
    before = registry.log.head()
    for text, match in (
        (SKILL.replace("## Format", "## Shape"), "other sections came, went or moved"),
        (SKILL.replace("Answers questions", "Answers"), "front matter differs"),
        (SKILL, "nothing to propose"),
    ):
        with pytest.raises(RefusedError, match=match):
            proposed(registry, tmp_path, text=text.replace("- Round nothing.\n", "- Round nothing.\n"))
    with pytest.raises(CheckFailedError, match="trust region"):
        proposed(registry, tmp_path, *(f"Rule {number} says more than it should." for number in range(40)))
    assert registry.log.head() == before
    line = registry.capsule(NAME).genes[1].lines[3]
    registry.execute(Protect(NAME, registry.capsule(NAME).genes[1].id, (line.id,), "mine"))
    with pytest.raises(EditError, match="protected"):
        proposed(registry, tmp_path, text=SKILL.replace("Round nothing", "Round all"))


def test_a_rewritten_file_beside_the_skill_is_run_and_promoted_with_it(registry: Registry, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / NAME
    (copy / "scripts").mkdir(parents=True)
    (copy / "SKILL.md").write_text(SKILL)
    (copy / "scripts" / "run.py").write_text("print('HELPS')\n")
    name = rewritten(registry, copy, reason="a script", strategy="innovate")

    class Reads(FakeRunner):
        def __call__(self, job: PlannedRun) -> Trial:
            script = job.arm.files and job.arm.files.get("scripts/run.py")
            passed = draw(job.arm.key, job.task.id, job.round) < (0.9 if script else 0.3)
            return Trial(task=job.task.id, status="done", value=float(passed))

    (candidate,) = tried(registry, Reads(planted), name)
    assert candidate.verdict == "promote"
    assert [file.entry.path for file in registry.capsule(NAME).files] == ["scripts/run.py"]
    line = explain_file_line(registry, Named(registry.capsule(NAME), "scripts/run.py"), 1)
    assert (line.tier, line.candidate and line.candidate.id) == ("proven", candidate.id)
    document = WhyDocument.of_file(Named(registry.capsule(NAME), "scripts/run.py"), 1, line)
    assert (document.unproven, document.verdict, document.candidate) == (False, "promote", candidate.id)
    assert document.sentence.startswith("An agent that was run with this line succeeded")
    facts = {fact.label: "".join(part.text for part in fact.parts) for fact in file_line_facts(line, candidate.at)}
    assert "unproven" not in facts["why"]
    assert facts["reason"] == "a script"


def test_after_ctrl_c_nobody_waits_for_the_runs_in_flight(registry: Registry, tmp_path: Path) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    ended = threading.Event()

    class Waiting(FakeRunner):
        def __call__(self, job: PlannedRun) -> Trial:
            trial = super().__call__(job)
            if len(self.seen) > 1:
                ended.wait()
            return trial

    def interrupt(_: RunProgress) -> None:
        raise KeyboardInterrupt

    subject = rig(registry, Waiting(planted))
    subject = replace(subject, harness=replace(subject.harness, end_all=ended.set), on_progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        try_out(subject, [name])
    assert ended.is_set()
    (candidate,) = tried(registry, FakeRunner(planted), name)
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert (candidate.verdict, rollouts.reused) == ("promote", 1)


def test_tasks_that_cannot_tell_good_work_from_none_are_refused_before_an_agent_is_paid_for(
    registry: Registry, tmp_path: Path
) -> None:
    name = proposed(registry, tmp_path, "HELPS a lot.")
    runner = FakeRunner(planted)
    subject = rig(registry, runner)

    def lax(rollout_task: RolloutTask) -> tuple[Violation, ...]:
        return (
            (Violation(rollout_task.id, "the graders pass work that was never begun"),)
            if rollout_task.id.endswith("7")
            else ()
        )

    subject = replace(subject, harness=replace(subject.harness, violations=lax))
    with pytest.raises(TaskFileError, match="the graders pass work that was never begun"):
        try_out(subject, [name])
    assert not runner.seen


TAGGED = tuple(task(number, *(("sql",) if number % 6 == 0 else ("other",))) for number in range(60))


def aimed(registry: Registry, folder: Path, line: str) -> str:
    """Propose a line for the tasks that are tagged sql, and return the candidate's id."""
    return proposed(registry, folder, line, tags=("sql",))


def by_tag(text: str, rollout_task: RolloutTask) -> float:
    """A tenth of the tagged tasks pass, all of them with a rule that counts; one that breaks costs others."""
    if "sql" in rollout_task.tags:
        return 0.95 if "FIXES" in text else 0.1
    return 0.3 if "BREAKS" in text else 0.7


def test_a_line_is_looked_for_on_the_tasks_that_it_is_for_and_then_confirmed_by_fresh_runs_of_all(
    registry: Registry, tmp_path: Path
) -> None:
    runner = FakeRunner(by_tag)
    name = aimed(registry, tmp_path, "FIXES it.")
    (candidate,) = tried(registry, runner, name, tasks=TAGGED)
    assert candidate.verdict == "promote"
    sealed = rig(registry, runner, tasks=TAGGED).harness.divided.sealed
    own = {rollout_task.id for rollout_task in sealed if "sql" in rollout_task.tags}
    runs = [(of, at) for _, of, at in runner.runs_of(name) if of in {rollout_task.id for rollout_task in sealed}]
    assert {of for of, at in runs if at < FRESH[0]} == own
    assert {of for of, at in runs if at in FRESH} == {rollout_task.id for rollout_task in sealed}
    measurement = scored(candidate)
    assert measurement.rollouts is not None
    assert measurement.rollouts.aim is not None
    assert (measurement.rollouts.aim.tags, measurement.rollouts.aim.tasks, measurement.rollouts.tasks) == (
        ("sql",), len(own), len(sealed),
    )  # fmt: skip
    assert measurement.rollouts.aim.fresh is not None
    assert isinstance(measurement.after, Score)
    assert measurement.after.coverage == 1.0
    assert explain_stored(registry, candidate)[0].decision == "promote"


def test_what_does_nothing_for_its_tasks_costs_no_run_of_another(registry: Registry, tmp_path: Path) -> None:
    runner = FakeRunner(by_tag)
    name = aimed(registry, tmp_path, "Nothing.")
    (candidate,) = tried(registry, runner, name, tasks=TAGGED)
    assert candidate.verdict in {"reject", "hold"}
    own = {rollout_task.id for rollout_task in TAGGED if "sql" in rollout_task.tags}
    assert {of for _, of, _ in runner.runs_of(name)} <= own
    assert 0 < len(runner.runs_of(name)) <= 40
    assert explain_stored(registry, candidate)[0].decision == candidate.verdict


def test_what_helps_its_tasks_and_breaks_more_of_the_others_is_not_promoted(
    registry: Registry, tmp_path: Path
) -> None:
    (candidate,) = tried(registry, FakeRunner(by_tag), aimed(registry, tmp_path, "FIXES, BREAKS."), tasks=TAGGED)
    assert candidate.verdict != "promote"
    assert registry.capsule(NAME).version == 1
    assert explain_stored(registry, candidate)[0].decision == candidate.verdict


def test_a_cap_before_the_fresh_runs_end_holds_and_goes_on_from_there(registry: Registry, tmp_path: Path) -> None:
    name = aimed(registry, tmp_path, "FIXES it.")
    (held,) = tried(registry, FakeRunner(by_tag), name, tasks=TAGGED, caps=RunCaps(cost_usd=0.3))
    assert (held.verdict, "cost cap" in held.reasons[0]) == ("hold", True)
    (candidate,) = tried(registry, FakeRunner(by_tag), name, tasks=TAGGED)
    assert candidate.verdict == "promote"


def test_of_two_lines_for_the_same_tasks_the_better_is_confirmed_and_the_other_tested_on_it(
    registry: Registry, tmp_path: Path
) -> None:
    def rate(text: str, rollout_task: RolloutTask) -> float:
        return 0.02 + ("sql" in rollout_task.tags) * (0.5 * ("FIRST" in text) + 0.45 * ("SECOND" in text))

    thirds = tuple(task(number, "other" if number % 3 else "sql") for number in range(60))
    names = [aimed(registry, tmp_path, line) for line in ("FIRST.", "SECOND.")]
    candidates = tried(registry, FakeRunner(rate), *names, tasks=thirds)
    assert [candidate.verdict for candidate in candidates] == ["promote", "promote"]
    assert registry.capsule(NAME).version == 3


MANY = tuple(task(number, "sql" if number % 6 == 0 else "other") for number in range(180))


def test_fresh_rounds_run_a_part_of_many_tasks_and_the_audit_a_part_as_well(
    registry: Registry, tmp_path: Path
) -> None:
    runner = FakeRunner(by_tag)
    name = aimed(registry, tmp_path, "FIXES it.")
    (candidate,) = tried(registry, runner, name, tasks=MANY)
    assert candidate.verdict == "promote"
    divided = rig(registry, runner, tasks=MANY).harness.divided
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    fresh = [(of, at) for _, of, at in runner.runs_of(name) if at in FRESH[: rollouts.rounds]]
    for members, share in ((divided.sealed, 30), (divided.audit, 12)):
        for number in {at for _, at in fresh}:
            part = [rollout_task for rollout_task in members if (rollout_task.id, number) in fresh]
            assert len(part) in {0, share}
            assert not part or sum("sql" in rollout_task.tags for rollout_task in part) == share / 6
    assert rollouts.void == 0
    assert rollouts.pairs == sum(of in {rollout_task.id for rollout_task in divided.sealed} for of, _ in fresh)


def test_an_anchor_that_is_lost_where_no_fresh_round_looked_vetoes(registry: Registry, tmp_path: Path) -> None:
    name = aimed(registry, tmp_path, "FIXES it.")
    looked = FakeRunner(by_tag)
    contest = frozen_only(rig(registry, looked, tasks=MANY), [name])
    lost = min(contest.parts[0] & {rollout_task.id for rollout_task in contest.sealed})

    def broken(job: PlannedRun, trial: Trial) -> Trial:
        falls = job.arm.name == name and job.task.id == lost
        return trial.model_copy(update={"failed_anchors": ("log kept",)}) if falls else trial

    (candidate,) = tried(registry, FakeRunner(by_tag, broken), name, tasks=MANY)
    assert candidate.verdict == "reject"
    assert candidate.reasons[0] == f"anchors that the incumbent keeps are lost: {lost}: log kept"


def test_a_filler_beside_a_line_that_counts_does_not_ride_along(registry: Registry, tmp_path: Path) -> None:
    name = aimed(registry, tmp_path, "FIXES it.\n- Be careful.\n- Be friendly.")
    less, whole = tried(registry, FakeRunner(by_tag), name, tasks=TAGGED)
    assert (whole.id, whole.verdict, less.verdict) == (name, "reject", "promote")
    text = live_text(registry)
    assert ("FIXES" in text, "careful" in text, "friendly" in text) == (True, False, False)
    assert less.proposed.tags == ("sql",)


def removing(registry: Registry, folder: Path) -> str:
    copy = folder / "fewer.md"
    copy.write_text(SKILL.replace("- Read the question twice.\n", ""))
    return rewritten(registry, copy, reason="idle", strategy="harden", tags=("sql",))


def test_a_line_that_does_nothing_is_taken_away_by_runs(registry: Registry, tmp_path: Path) -> None:
    def rate(_: str, rollout_task: RolloutTask) -> float:
        return 1.0 if int(rollout_task.id[-3:]) % 3 else 0.02

    (candidate,) = tried(registry, FakeRunner(rate), removing(registry, tmp_path))
    assert candidate.verdict == "promote"
    assert "twice" not in live_text(registry)
    rollouts = scored(candidate).rollouts
    assert rollouts is not None
    assert rollouts.rounds >= 3
    assert explain_stored(registry, candidate)[0].decision == "promote"


def test_a_line_that_is_missed_is_not_taken_away(registry: Registry, tmp_path: Path) -> None:
    def rate(text: str, rollout_task: RolloutTask) -> float:
        return 1.0 if int(rollout_task.id[-3:]) % 3 or "twice" in text else 0.1

    (candidate,) = tried(registry, FakeRunner(rate), removing(registry, tmp_path))
    assert candidate.verdict == "reject"
    assert "are missed" in candidate.reasons[0]
