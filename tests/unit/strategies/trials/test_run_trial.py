"""Trials: a coin gives lines to sessions and denies them, and what happens meanwhile changes no figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.errors import ConflictError, CorruptLogError, RefusedError
from events.store.envelope import GENESIS, EventDraft, encode, seal
from events.types.parts import Edit
from events.types.tiers import ProvenFigures
from events.types.trial_events import TrialAssigned, TrialEnded, TrialLooked, TrialStarted
from registry.actions import publish as publishing
from registry.actions.publish import publish, standing, take_in, take_in_edits
from registry.actions.trial_arms import arm_of
from registry.decide.commands import RevertVersion, Review, RunTrial
from registry.projection.projector import rebuild
from registry.query.trials import running_trial, shown_by, trials_of, trials_with
from registry.registry import Registry
from registry.skill_md.render import skill_text
from registry.state.trial import fold_trials
from strategies.episodes.skill_version import under_versions
from strategies.pool.known_episodes import all_episodes
from strategies.trials.analysis import TrialSession, coins_of, residuals, results, shares
from strategies.trials.run_trial import assign, end_trial, look, start_trial, step_trials, switch
from strategies.trials.trial_sessions import compliance
from strategies.trials.trial_terms import TrialTerms, plan_trial
from tests.clocks import SetClock
from tests.registries import LOOK, NAME, NO_GUESS, documents, judged, learn, new_registry, proposal, rewrite
from tests.trial_worlds import BY_BLOCKS, BY_SESSIONS, HOUR, TrialWorld

if TYPE_CHECKING:
    from pathlib import Path

    from registry.state.trial import SkillTrial

BLOCK_S = 4 * HOUR


def kinds(registry: Registry, kind: str) -> int:
    return sum(1 for _ in registry.log.read(types=(kind,)))


def meant_text(world: TrialWorld, trial: SkillTrial) -> str:
    block = int((world.clock.at_s - world.began_s) // BLOCK_S)
    return skill_text(arm_of(world.registry, trial, trial.meant(block)))


def started(world: TrialWorld, terms: TrialTerms = BY_BLOCKS) -> SkillTrial:
    return world.start(terms)


def switched_on(world: TrialWorld) -> None:
    """Start a trial, and switch its line on in the first block that is meant to have it."""
    trial = started(world)
    block = next(block for block in range(1, 9) if trial.meant(block) == (True,))
    world.clock.at_s = world.began_s + block * BLOCK_S + 5
    switch(world.registry, NAME)


# -- what follows ----------------------------------------------------------------------------------------


def test_sessions_of_the_very_same_time_are_compared_where_one_has_no_value_yet() -> None:
    unlabelled, worked, failed = (
        TrialSession(1.0, 2.0, value, ("run", "easy"), "task") for value in (None, 1.0, 0.0)
    )
    assert residuals([unlabelled, worked, failed], 0.5)[0] == 0.5


def test_by_blocks_a_gain_is_proven_and_the_candidate_becomes_a_version(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.4)
    started(world, replace(BY_BLOCKS, budget=200))
    world.live(100, every_s=1_200, looking=16)
    trial = world.trial
    (figures,) = trial.results
    assert figures.decision == "proven"
    assert figures.proof >= 20
    assert 0 <= figures.low < (figures.difference or 0) < figures.high
    assert figures.given.sessions + figures.denied.sessions < trial.started.budget
    assert world.registry.capsule(NAME).version == 2
    assert LOOK in world.text()
    assert standing(world.registry, NAME) == "projected"
    candidate = world.registry.candidate("c1")
    assert candidate
    assert candidate.verdict == "promote"
    assert isinstance(candidate.tier, ProvenFigures)
    assert (candidate.tier.by, candidate.tier.source) == ("trial", trial.id)
    assert "were given this line by a coin succeeded" in candidate.reasons[0]
    assert compliance(world.registry, trial, None).as_meant == compliance(world.registry, trial, None).shown > 100


def test_by_sessions_each_gets_a_folder_of_its_own_and_the_same_again(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.48)
    before = world.text()
    trial = started(world, replace(BY_SESSIONS, budget=120))
    first = assign(world.registry, trial, "again")
    assert assign(world.registry, trial, "again") == first
    assert assign(world.registry, trial, "other").folder != first.folder
    world.picks(120, looking=60)
    (figures,) = world.trial.results
    assert figures.decision == "proven"
    assert world.trial.assigned["again"].shares == (0.5,)
    assert before != world.text()  # the version that was proven
    loaded = compliance(world.registry, world.trial, None)
    assert loaded.shown == loaded.as_meant >= figures.given.sessions + figures.denied.sessions


def test_a_line_that_harms_is_stopped_and_one_that_is_live_is_taken_back(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, base=0.9, gain=-0.7, held=False)
    learn(world.registry, LOOK)
    assert LOOK in world.text()
    trial = started(world, replace(BY_BLOCKS, budget=200))
    assert trial.started.factors[0].live
    world.live(200, every_s=1_200, looking=16)
    (figures,) = world.trial.results
    assert (figures.decision, figures.harm >= 10) == ("harmful", True)
    assert figures.given.sessions + figures.denied.sessions < 200
    assert LOOK not in world.text()
    live = world.registry.capsule(NAME)
    assert (live.version, live.cause) == (3, "revert")
    assert world.registry.candidates()[0].tier is None


def test_a_line_without_effect_ends_as_futile_long_before_the_budget(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.0, seed=3)
    started(world, replace(BY_BLOCKS, gain=0.2))
    world.live(120, every_s=1_200, looking=24)
    (figures,) = world.trial.results
    assert figures.decision == "futile"
    assert LOOK not in world.text()
    assert world.registry.capsule(NAME).version == 1


def test_at_the_budget_it_ends_undecided_where_neither_was_shown(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world, TrialTerms(candidates=("c1",), block_s=int(BLOCK_S), budget=24, gain=0.6))
    world.live(48, every_s=1_200, looking=8)
    assert world.trial.ended
    assert world.trial.results[0].decision in {"undecided", "futile"}
    assert sum(sum(unit.sessions) for unit in world.trial.counted) <= 24 + 24
    assert trial.started.budget == 24


def test_a_version_is_tried_against_another_and_the_worse_live_one_goes(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, base=0.9, gain=-0.8, held=False)
    learn(world.registry, LOOK)
    trial = started(world, TrialTerms(arms=(1, 2), block_s=int(BLOCK_S), budget=120))
    assert (trial.started.factors[0].denied, trial.started.factors[0].given) == (1, 2)
    world.live(100, every_s=1_200, looking=24)
    assert world.trial.results[0].decision == "harmful"
    assert (world.registry.capsule(NAME).version, LOOK in world.text()) == (3, False)


# -- what may happen meanwhile ---------------------------------------------------------------------------


def test_the_coin_decides_before_and_each_pair_has_the_line_once(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    meant = [trial.meant(block) for block in range(200)]
    assert all(meant[at] != meant[at + 1] for at in range(0, 200, 2))
    assert 30 <= sum(given for (given,) in meant[::2]) <= 70
    assert kinds(world.registry, "TrialStarted") == 1
    drawn = [trial.drawn(f"session {at}", (0.8,)) for at in range(400)]
    assert 290 <= sum(given for (given,) in drawn) <= 350


def test_a_crash_between_event_and_files_is_mended_and_nothing_is_counted_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    for block in range(1, 5):
        world.clock.at_s = world.began_s + block * BLOCK_S + 5
        with monkeypatch.context() as patched:
            patched.setattr(publishing, "write_skill", _killed)
            before = world.text()
            changes = trial.meant(block) != trial.meant(block - 1)
            if changes:
                with pytest.raises(KeyboardInterrupt):
                    switch(world.registry, NAME)
                assert world.text() == before
                assert standing(world.registry, NAME) == "stale"
        world.reopen()
        switch(world.registry, NAME)
        assert world.text() == meant_text(world, world.trial)
        assert standing(world.registry, NAME) == "projected"
    assert sorted(int(unit) for unit in world.trial.assigned) == [0, 1, 2, 3, 4]
    assert world.trial.missed == 0


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_crash_before_the_event_loses_nothing_either(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.4)
    started(world)
    world.live(12)
    world.scan()
    before = list(documents(world.registry))
    with world.registry.rehearsal():
        look(world.registry, NAME, None, write=False)
        end_trial(world.registry, world.trial, "a crash takes all of it", write=False)
    assert documents(world.registry) == before
    assert world.running


def test_a_missed_switch_is_noticed_and_its_sessions_count_as_meant(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    for at in range(8 * 12):  # eight blocks, and nobody switches after the first
        world.clock.at_s = world.began_s + at * 1_200 + 30
        world.session(world.clock.at_s)
    world.session(world.began_s + 10 * BLOCK_S + 30)
    world.clock.at_s = world.began_s + 11 * BLOCK_S
    world.scan()
    look(world.registry, NAME, None)
    switch(world.registry, NAME)
    trial = world.trial
    assert trial.missed == 10
    assert len(trial.counted) == 4
    assert all(unit.sessions == (12, 12) for unit in trial.counted)
    assert [unit.given for unit in trial.counted] == [trial.meant(2 * pair) for pair in range(4)]
    loaded = compliance(world.registry, trial, None)
    assert loaded.shown == 97
    assert loaded.as_meant == 48 + (trial.meant(10) == trial.meant(0))  # half meant what lay there all the time
    last = list(world.registry.log.read(types=("TrialAssigned",)))[-1].event
    assert isinstance(last, TrialAssigned)
    assert last.missed == 10


def test_a_session_that_crosses_a_border_counts_for_neither(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    started(world)
    for block in range(2):
        for at in range(3):
            world.session(world.began_s + block * BLOCK_S + at * 600 + 60)
        world.session(world.began_s + (block + 1) * BLOCK_S - 60, took_s=600)
    world.session(world.began_s + 3 * BLOCK_S + 60)
    world.clock.at_s = world.began_s + 4 * BLOCK_S
    world.scan()
    look(world.registry, NAME, None)
    assert [unit.sessions for unit in world.trial.counted] == [(3, 3)]


def test_a_clock_that_jumps_ahead_and_back_leaves_meaning_and_figures_as_they_are(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    started(world)
    for at, hours in enumerate((4, 8, 80, 8.5, 12, -500, 16)):
        world.clock.at_s = world.began_s + hours * HOUR + at
        switch(world.registry, NAME)
        if hours > 0:
            assert world.text() == meant_text(world, world.trial)
    assert {int(unit) for unit in world.trial.assigned} == {0, 1, 2, 20, 3, 4}
    for at in range(4 * 12):
        world.session(world.began_s + at * 1_200 + 30)
    world.clock.at_s = world.began_s + 80 * HOUR
    world.scan()
    look(world.registry, NAME, None)
    assert [unit.unit for unit in world.trial.counted] == ["pair 0"]  # no session yet says that the next is over
    world.session(world.began_s + 5 * BLOCK_S + 30)
    world.clock.at_s = world.began_s + 6 * BLOCK_S
    world.scan()
    look(world.registry, NAME, None)
    assert [unit.unit for unit in world.trial.counted] == ["pair 0", "pair 1"]
    assert world.trial.missed == 0


def test_a_person_who_edits_the_skill_is_not_written_over_and_the_trial_goes_on(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    switched_on(world)
    assert LOOK in world.text()
    rewrite(world.place, "Round nothing.", "Round to cents.")
    edited = world.text()
    world.clock.at_s += BLOCK_S
    switch(world.registry, NAME)
    assert world.text() == edited
    assert world.trial.problem == "edited by hand"
    assert standing(world.registry, NAME) == "edited"
    take_in_edits(world.registry, NAME)
    live = skill_text(world.registry.capsule(NAME))
    assert "Round to cents." in live
    assert LOOK not in live  # the line on trial is not the person's
    switch(world.registry, NAME)
    assert world.trial.problem == ""
    assert world.text() == meant_text(world, world.trial)
    assert "Round to cents." in world.text()
    assert world.running


def test_an_edit_of_the_line_on_trial_is_refused_and_kept(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    switched_on(world)
    rewrite(world.place, LOOK.strip(), "List all tables first.")
    with pytest.raises(RefusedError, match="on trial"):
        take_in_edits(world.registry, NAME)
    assert "List all tables first." in world.text()
    end_trial(world.registry, world.trial, "stopped: a person knows better")
    assert "List all tables first." in world.text()


def test_a_promotion_during_a_trial_reaches_both_arms(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    capsule = world.registry.capsule(NAME)
    other = Edit(op="append", gene=capsule.genes[1].id, text=(NO_GUESS,))
    judged(world.registry, proposal(capsule, other, candidate="c2"))
    publish(world.registry, NAME)
    for block in (1, 2):
        world.clock.at_s = world.began_s + block * BLOCK_S + 5
        switch(world.registry, NAME)
        assert NO_GUESS in world.text()
        assert (LOOK in world.text()) == trial.meant(block)[0]
    assert world.running


def test_lines_that_a_person_decides_against_are_tried_no_longer(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    started(world)
    world.registry.execute(Review("c1", NAME, "reject", "we know better"))
    step_trials(world.registry, [NAME], None)
    assert world.trial.ended
    assert "was rejected" in world.trial.ended.reason
    assert LOOK not in world.text()
    learn(world.registry, LOOK, candidate="c2")
    world.start(TrialTerms(candidates=("c2",), block_s=int(BLOCK_S)))
    world.registry.execute(RevertVersion(NAME, 1, "not this one"))
    step_trials(world.registry, [NAME], None)
    assert world.trial.ended
    assert "was taken back" in world.trial.ended.reason
    assert LOOK not in world.text()


def test_events_that_fit_no_trial_are_refused_as_damage(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    good = next(iter(world.registry.log.read(types=("TrialStarted",))))
    many = trial.started.model_copy(update={"factors": trial.started.factors * 20})
    for event in (many, trial.started.model_copy(update={"block_s": 0, "trial": "t2"})):
        draft = EventDraft("trial:t2", event, world.clock.new_id(), good.at, "person:eve", "", "")
        sealed = seal([(draft, encode(event))], position=0, previous=GENESIS, versions={"trial:t2": 0})
        with pytest.raises(CorruptLogError):
            fold_trials(sealed)
    block = TrialAssigned(trial=trial.id, capsule=NAME, unit="soon", given=(True,), shares=(0.5,))
    draft = EventDraft(good.stream, block, world.clock.new_id(), good.at, "person:eve", "", "")
    sealed = seal([(draft, encode(block))], position=0, previous=GENESIS, versions={good.stream: 1})
    with pytest.raises(CorruptLogError):
        fold_trials([good, *sealed])


def test_lines_that_fit_no_more_end_the_trial_with_its_figures(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, held=False)
    capsule = world.registry.capsule(NAME)
    gene = capsule.genes[1]
    behind = gene.lines[-2].id
    edit = Edit(op="insert_after", gene=gene.id, target=(behind,), text=(LOOK,))
    judged(world.registry, proposal(capsule, edit, candidate="c1"), "hold")
    started(world)
    gone = Edit(op="delete", gene=gene.id, target=(behind,))
    judged(world.registry, proposal(world.registry.capsule(NAME), gone, candidate="c2"))
    world.clock.at_s = world.began_s + BLOCK_S + 5
    switch(world.registry, NAME)
    ended = world.trial.ended
    assert ended
    assert "do not fit" in ended.reason
    assert standing(world.registry, NAME) == "projected"


def test_two_processes_at_once_switch_and_count_once(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    trial = started(world)
    other = Registry(world.registry.log.another(), SetClock(seed=9), "person:bob")
    for at in range(4 * 12):
        world.session(world.began_s + at * 1_200 + 30)
    world.scan()
    world.clock.at_s = world.began_s + 6 * BLOCK_S
    other.clock = world.clock
    for registry in (world.registry, other):
        step_trials(registry, [NAME], None)
    assert kinds(other, "TrialAssigned") == 2
    assert kinds(other, "TrialLooked") == 1
    counted = world.trial.counted
    again = TrialLooked(trial=trial.id, capsule=NAME, counted=counted[:1], results=world.trial.results)
    assert not other.execute(RunTrial(again)).envelopes
    with pytest.raises((RefusedError, ConflictError)):
        start_trial(other, plan_trial(other, NAME, BY_BLOCKS, None))


def test_a_second_registry_of_the_same_folder_changes_no_assignment(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    (tmp_path / "copy").mkdir()
    stranger = new_registry(tmp_path / "copy", SetClock(at_s=world.clock.at_s, seed=5))
    take_in(stranger, world.place)
    switched_on(world)
    assert standing(stranger, NAME) == "edited"  # an arm that it knows nothing of: it leaves it alone
    with pytest.raises(RefusedError):
        publish(stranger, NAME)
    assert standing(world.registry, NAME) == "projected"


# -- several lines, shares, secrecy ----------------------------------------------------------------------


def test_several_candidates_have_coins_of_their_own_and_each_its_contrast(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.48, seed=2)
    world.propose(NO_GUESS, candidate="c2", gene=1)
    trial = started(world, TrialTerms(candidates=("c1", "c2"), budget=120))
    world.picks(120, looking=60)
    both = [assigned.given for assigned in world.trial.assigned.values()]
    assert {(a, b) for a, b in both} == {(True, True), (True, False), (False, True), (False, False)}
    first, second = world.trial.results
    assert first.decision == "proven"
    assert second.proof < 20
    assert [finding.factor.candidate for finding in trials_with(trials_of(world.registry, NAME), "c2")] == ["c2"]
    assert trial.started.factors[1].name == NO_GUESS.strip()


def test_candidates_that_touch_the_same_line_are_refused(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, held=False)
    capsule = world.registry.capsule(NAME)
    gene = capsule.genes[1]
    for name, text in (("c1", LOOK), ("c2", NO_GUESS)):
        edit = Edit(op="replace", gene=gene.id, target=(gene.lines[2].id,), text=(text,))
        judged(world.registry, proposal(capsule, edit, candidate=name), "hold")
    with pytest.raises(RefusedError, match="both change line"):
        started(world, TrialTerms(candidates=("c1", "c2")))


def test_an_adaptive_trial_gives_what_wins_more_often_and_its_figures_still_hold(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.4)
    started(world, TrialTerms(candidates=("c1",), budget=60, gain=0.5, adaptive=True))
    world.picks(59, looking=15)
    drawn = [assigned.shares[0] for assigned in world.trial.assigned.values()]
    assert drawn[0] == pytest.approx(0.5)
    assert max(drawn) > 0.8
    assert all(0.1 <= share <= 0.9 for share in drawn)
    assert world.trial.results[0].given.sessions > world.trial.results[0].denied.sessions
    assert all(unit.shares == world.trial.assigned[unit.unit].shares for unit in world.trial.counted)
    assert shares(world.trial)[0] > 0.5


def test_what_an_episode_ran_under_says_nothing_of_its_arm_to_those_who_propose(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    started(world)
    world.live(16)
    world.scan()
    records = [record for record in all_episodes(world.registry) if record.skills]
    versions = {dict(record.skills)[NAME] for record in under_versions(world.registry, records)}
    arms = versions - {"1"}
    assert len(arms) == 1
    (arm,) = arms
    assert arm.startswith("1+")
    assert world.trial.id not in arm


# -- what is kept ----------------------------------------------------------------------------------------


def test_the_same_events_give_the_same_trial_and_the_same_figures(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path, gain=0.3)
    started(world)
    world.live(32)
    world.scan()
    look(world.registry, NAME, None)
    before, stored = world.trial, documents(world.registry)
    assert before.counted
    assert results(before.started, before.counted, ()) == before.results
    rebuild(world.registry.log)
    assert world.trial == before
    assert documents(world.registry) == stored
    assert len(coins_of(before.counted, 0)) == len(before.counted)


def test_what_was_counted_stays_though_an_outcome_changes_later(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    started(world)
    for at in range(24):
        world.session(world.began_s + at * 1_200 + 30)
    world.clock.at_s = world.began_s + 4 * BLOCK_S
    world.scan()
    look(world.registry, NAME, None)
    counted = world.trial.counted
    for at in range(6):  # sessions of the same blocks whose log comes late
        world.session(world.began_s + at * 3_600 + 90)
    world.scan()
    look(world.registry, NAME, None)
    assert world.trial.counted == counted


def test_a_trial_begins_only_where_its_figures_can_be_known(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    with pytest.raises(RefusedError, match="claim about an error"):
        plan_trial(world.registry, NAME, TrialTerms(candidates=("c1",), outcome="recovered"), None)
    with pytest.raises(RefusedError, match="one to 4 candidates"):
        plan_trial(world.registry, NAME, TrialTerms(), None)
    with pytest.raises(RefusedError, match="one of them the live"):
        plan_trial(world.registry, NAME, TrialTerms(arms=(1,)), None)
    started(world)
    with pytest.raises(RefusedError, match="runs already"):
        world.start()
    ended = end_trial(world.registry, world.trial, "stopped: enough", actor="person:ada")
    assert isinstance(ended.ended, TrialEnded)
    assert running_trial(world.registry, NAME) is None
    assert shown_by(None, "outcome").startswith("no session")
    world.start()
    assert len(trials_of(world.registry, NAME)) == 2
    first = next(iter(world.registry.log.read(types=("TrialStarted",)))).event
    assert isinstance(first, TrialStarted)
    assert first.seed != trials_of(world.registry, NAME)[1].started.seed


def test_the_power_that_is_told_before_is_what_such_trials_have(tmp_path: Path) -> None:
    world = TrialWorld(tmp_path)
    by_session = plan_trial(world.registry, NAME, BY_SESSIONS, None).power
    by_block = plan_trial(world.registry, NAME, BY_BLOCKS, None).power
    assert 0.5 <= by_session.proven <= 0.75
    assert by_block.proven <= by_session.proven
    assert by_block.crossing == pytest.approx(60 / BLOCK_S, abs=0.001)
    few = TrialTerms(candidates=("c1",), budget=60)
    assert plan_trial(world.registry, NAME, few, None).power.proven < 0.3
