"""Models through the commands: which were seen, which skill goes with which, and what is too little to say."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from strategies.episodes.episode import EpisodeOutcome
from strategies.gate.replay.contrast import outcome_of
from strategies.monitor.model_fit import ALPHA, model_fit
from strategies.pool.known_episodes import all_episodes
from strategies.rollouts.run.export import FinishedRun
from strategies.rollouts.run.messages_trial import RunTranscript
from strategies.rollouts.run.store import KeptRun
from strategies.rollouts.run.trial import Trial
from strategies.scope.scope import scope_of
from tests.terminal import SPLIT_KEY, Terminal
from tui.facts.skill_life import lines_words, refuted_words
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

SKILL = "---\nname: billing\ndescription: Works on invoices.\n---\n\n## Rules\n\n- Add up the lines.\n"
EVEN = {(model, loads): 0.5 for model in ("old", "new") for loads in (True, False)}
TASKS = 80


def lines(chances: Mapping[tuple[str, bool], float], tasks: int = TASKS) -> Iterator[str]:
    """Write sessions of each model on each task, with the skill and without; one passes by its chance."""
    for number in range(tasks):
        for (model, loads), chance in chances.items():
            name = f"{model}{loads}{number}"
            passed = random.Random(f"passes {name}").random() < chance
            about = {"type": "episode", "episode": name, "task": f"t{number}", "run": model}
            loaded = [["billing", "1"]] if loads else []
            cost = {"input_tokens": 900, "cost_usd": 0.01 if model == "new" else 0.03}
            yield json.dumps(about | {"prompt": f"Do {number}.", "skills": loaded, "usage": cost})
            yield json.dumps({"type": "step", "episode": name, "turn": 0, "tool": "run_query", "text": "select"})
            yield json.dumps({"type": "outcome", "episode": name, "value": int(passed), "source": "tests"})


def known(folder: Path, chances: Mapping[tuple[str, bool], float], tasks: int = TASKS) -> Terminal:
    germline = Terminal(folder, COLUMNS="140")
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("skills/billing/SKILL.md", SKILL)
    germline.does("import", "skills")
    germline.write("log.jsonl", "".join(f"{line}\n" for line in lines(chances, tasks)))
    germline.does("scan", "log.jsonl")
    return germline


def compared(germline: Terminal, *models: str) -> dict[str, Any]:
    (skill,) = germline.does("models", "compare", *models, "--json").json["skills"]
    comparison: dict[str, Any] = skill
    return comparison


def recorded(germline: Terminal) -> list[str]:
    return germline.does("log", "--type", "SkillModelsCompared", "--json").out.splitlines()


def test_a_skill_that_helps_with_one_model_and_harms_with_the_other_goes_with_the_first(tmp_path: Path) -> None:
    planted = {("old", True): 0.85, ("old", False): 0.45, ("new", True): 0.3, ("new", False): 0.7}
    germline = known(tmp_path, planted)
    listed = germline.does("models", "list", "--json").json
    assert [(row["model"], row["sessions"], row["labelled"]) for row in listed["models"]] == [
        ("old", 2 * TASKS, 2 * TASKS),
        ("new", 2 * TASKS, 2 * TASKS),
    ]
    output = " ".join(germline.does("models", "compare", "old", "new", "billing", "--dry-run").out.split())
    assert "billing@1 goes with old: it harms with new." in output
    assert not recorded(germline)
    skill = compared(germline, "new", "old")
    assert (skill["suits"], skill["first"]["verdict"], skill["second"]["verdict"]) == ("second", "harms", "helps")
    assert skill["shared_tasks"] == TASKS
    assert skill["cost_usd"]["value"] == pytest.approx(0.02)
    assert compared(germline, "new", "old") == skill
    assert compared(germline, "old", "new") == skill, "in either order it is one question"
    assert len(recorded(germline)) == 1
    assert germline.does("verify").code == 0


def test_a_newer_model_that_does_worse_is_not_preferred_for_being_newer(
    tmp_path: Path,
) -> None:
    germline = known(tmp_path, {**EVEN, ("old", True): 0.9, ("old", False): 0.9, ("new", True): 0.5})
    skill = compared(germline, "old", "new")
    assert (skill["suits"], skill["reason"][:36]) == ("second", "with it old does better than new: +0")


def test_each_skill_that_is_asked_about_spends_a_share_of_its_own(tmp_path: Path) -> None:
    germline = known(tmp_path, EVEN)
    germline.write("more/mail/SKILL.md", SKILL.replace("billing", "mail"))
    germline.does("import", "more")
    germline.write("mail.jsonl", "".join(f"{line}\n" for line in lines(EVEN)).replace('"billing"', '"mail"'))
    germline.does("scan", "mail.jsonl")
    skills = germline.does("models", "compare", "old", "new", "--json").json["skills"]
    assert [skill["alpha"] for skill in skills] == [pytest.approx(ALPHA / 2), pytest.approx(ALPHA / 6)]
    again = germline.does("models", "compare", "new", "old", "--json").json["skills"]
    assert [skill["alpha"] for skill in again] == [skill["alpha"] for skill in skills]


def test_outcomes_that_no_model_and_no_skill_changes_prefer_none_in_twenty_seeds(tmp_path: Path) -> None:
    germline = known(tmp_path, EVEN)
    with open_library(germline.folder / ".germline/registry.db") as library:
        scope = scope_of(library, all_episodes(library), None)
        named = []
        for seed in range(20):
            draws = random.Random(seed)
            shuffled = [
                msgspec.structs.replace(record, outcome=EpisodeOutcome(float(draws.random() < 0.5), "tests"))
                for record in scope.records
            ]
            fit = model_fit(library, "billing", ("old", "new"), replace(scope, records=shuffled), (), ALPHA / 2)
            named += [fit.suits, fit.first.verdict, fit.second.verdict]
    assert set(named) <= {"unknown", "either", "unclear"}


def test_of_many_models_few_are_listed_and_the_rest_is_counted(tmp_path: Path) -> None:
    germline = known(tmp_path, {(f"m{number}", True): 0.5 for number in range(60)}, tasks=1)
    assert "20 more: --json" in germline.does("models", "list").out
    unknown = germline("models", "compare", "m1", "other")
    assert unknown.hint.endswith("and 52 more: germline models list")


def test_too_little_an_unknown_model_and_the_same_one_twice_are_errors(tmp_path: Path) -> None:
    germline = known(tmp_path, EVEN, tasks=4)
    few = germline("models", "compare", "old", "new")
    assert few.code == 2
    assert "4 tasks were done with it by both, 10 are needed (billing@1)" in few.err
    assert few.hint == "germline compare billing --models old,new"
    unknown = germline("models", "compare", "old", "other")
    assert (unknown.code, unknown.hint) == (2, "the models: new, old")
    assert germline("models", "compare", "old", "old").code == 2
    assert not recorded(germline)


def test_a_learned_line_is_refuted_with_the_model_whose_sessions_end_the_other_way(
    learned: Terminal,
) -> None:
    listed = learned.does("models", "list", "--json").json["models"]
    first, second, *_ = (row["model"] for row in listed if "sql-analyst@2" in row["measured"])
    with open_library(learned.folder / ".germline/registry.db") as library:
        scope = scope_of(library, all_episodes(library), None)
        as_they_are = model_fit(library, "sql-analyst", (first, second), scope, (), 1.0)
        turned = [turned_round(record) if record.run == second else record for record in scope.records]
        fit = model_fit(library, "sql-analyst", (first, second), replace(scope, records=turned), (), 1.0)
    assert {"holds"} == {line.second_verdict for line in as_they_are.lines}
    assert "refuted" in {line.second_verdict for line in fit.lines}
    assert [line.first for line in fit.lines] == [line.first for line in as_they_are.lines]
    assert f"does harm with {second}" in refuted_words(fit)[0]
    assert f"with {second} {len(as_they_are.lines)} holds" in lines_words(as_they_are)


def turned_round(record: EpisodeRecord) -> EpisodeRecord:
    value = 1.0 - outcome_of(record)
    return msgspec.structs.replace(record, outcome=EpisodeOutcome(value, "tests"))


def test_kept_runs_come_before_sessions_and_lost_or_shown_ones_do_not_count(tmp_path: Path) -> None:
    germline = known(tmp_path, EVEN)
    with_it, without = "billing@1", "no skill"
    chances = {("old", with_it): 0.9, ("old", without): 0.2, ("new", with_it): 0.9, ("new", without): 0.9}
    runs = [
        finished(model, arm, number, float(random.Random(f"{model}{arm}{number}").random() < chance))
        for (model, arm), chance in chances.items()
        for number in range(40)
    ]
    for number in range(40, 80):
        runs.append(finished("new", "billing@1", number, 0.0, split="explore"))
        runs.append(finished("new", "billing@1", number, 0.0, status="infrastructure"))
    with open_library(germline.folder / ".germline/registry.db") as library:
        scope = scope_of(library, all_episodes(library), None)
        fit = model_fit(library, "billing", ("old", "new"), scope, runs, ALPHA / 2)
    assert (fit.first.grounds, fit.first.uses, fit.second.uses, fit.shared_tasks) == ("runs", 40, 40, 40)
    assert (fit.first.verdict, fit.second.verdict) == ("helps", "unclear")


def finished(model: str, arm: str, number: int, value: float, **fields: str) -> FinishedRun:
    task = f"task-{number}"
    about = {"task": task, "split": fields.pop("split", "sealed"), "skill": "billing", "model": model}
    trial = Trial.model_validate({"task": task, "status": "done", "value": value, "seconds": 1.0} | fields)
    rest = {"skill_mode": "injected", "loaded": True, "system": "", "tools": (), "messages": (), "answer": ""}
    transcript = RunTranscript.model_validate(about | rest)
    return FinishedRun("name", KeptRun(key="k", arm=arm, round=0, trial=trial), transcript, "")
