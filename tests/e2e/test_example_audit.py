"""The example of an audit: tasks that are the same each time, an agent that depends on what the skill says."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from contextlib import chdir, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from bench.audit.aside.agent import AsideRun
from bench.audit.aside.aside_worlds import AllKnowing, aside_skills, write_aside_tasks
from bench.audit.hidden import expected_files
from bench.audit.planted import EXAMPLE, SKILLS
from examples.audit.agent import DOMAINS, Run, Skill, StuckError
from examples.audit.tasks import TASKS, AuditTask, workspace_of, write_tasks
from strategies.logs.scan_file import ReadTask, scan_file
from strategies.logs.transcripts import read_transcripts

BY_NAME = {task.id: task for task in TASKS}
ROUNDS = 25


@cache
def expected(task: AuditTask) -> dict[str, str]:
    return expected_files(task)


def passes(task: AuditTask, place: Path, skill: Path, number: int) -> bool:
    """Run the agent once in this process, in a fresh workspace, and hold what it leaves to the hidden grader."""
    copy = copytree(place / "workspace", place / f"{skill.name}-{number}")
    with chdir(copy), redirect_stdout(io.StringIO()):
        run = Run(Skill(str(skill), task.prompt, str(number)), task.prompt)
        try:
            run.write(DOMAINS[run.source](run))
        except StuckError:
            return False
    return all(
        (copy / path).is_file() and (copy / path).read_text() == text for path, text in expected(task).items()
    )


def test_there_are_six_tasks_in_each_of_four_domains_and_they_are_the_same_each_time(tmp_path: Path) -> None:
    assert len(write_tasks(tmp_path / "a")) == 24
    write_tasks(tmp_path / "b")
    assert {task.domain for task in TASKS} == {"sales", "weblog", "shop", "config"}
    for file in sorted(path for path in (tmp_path / "a").rglob("*") if path.is_file()):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes(), file


def test_what_a_task_must_leave_is_what_its_data_say(tmp_path: Path) -> None:
    task = BY_NAME["sales-regions"]
    workspace_of(task, tmp_path)
    cents: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO((tmp_path / "data/orders.csv").read_text())):
        if row["status"] != "cancelled":
            cents[row["region"]] = cents.get(row["region"], 0) + int(row["amount"])
    rows = "".join(f"{region},{amount / 100:.2f}\n" for region, amount in sorted(cents.items()))
    assert expected_files(task)["out/report.csv"] == f"region,total\n{rows}"


@pytest.mark.parametrize("name", ["sales-report", "shop-sql"])
def test_load_bearing_passages_help_and_harmful_ones_hurt(tmp_path: Path, name: str) -> None:
    planted = SKILLS[name]
    task = next(task for task in TASKS if task.domain == planted.domain)
    workspace_of(task, tmp_path / "workspace")
    lines = (EXAMPLE / "skills" / name / "SKILL.md").read_text().splitlines(keepends=True)
    rates = {}
    for kind, dropped in {"good": planted.harmful, "given": (), "bad": planted.load_bearing}.items():
        folder = tmp_path / kind
        folder.mkdir()
        kept = [line for line in lines if not any(words in line for words in dropped)]
        (folder / "SKILL.md").write_text("".join(kept))
        rates[kind] = sum(passes(task, tmp_path, folder, at) for at in range(ROUNDS)) / ROUNDS
    assert rates["good"] > rates["given"] + 0.2
    assert rates["given"] >= rates["bad"]


def test_each_planted_passage_is_one_line_of_its_skill() -> None:
    for planted in {**SKILLS, **aside_skills()}.values():
        folder = planted.place
        lines = (folder / "SKILL.md").read_text().splitlines()
        for words in (*planted.harmful, *planted.load_bearing, *planted.noise):
            assert sum(words in line for line in lines) == 1, (planted.name, words)
        assert all((folder / path).is_file() for path in planted.other_files)


def files_in(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", aside_skills())
def test_each_harmful_passage_kept_aside_does_something_to_a_run(tmp_path: Path, name: str) -> None:
    planted = aside_skills()[name]
    written = write_aside_tasks(tmp_path / "tasks", planted.domain)
    expected_of = {task: {Path(path): text for path, text in files.items()} for task, files in written.items()}

    def left_by(task: str, text: str) -> tuple[dict[Path, str], bool]:
        skill, work = tmp_path / "skill", tmp_path / "tasks" / task / "workspace"
        copytree(planted.place, skill, dirs_exist_ok=True)
        (skill / "SKILL.md").write_text(text)
        place = copytree(work, tmp_path / "place")
        prompt, printed = (tmp_path / "tasks" / task / "task.md").read_text(), io.StringIO()
        with chdir(place), redirect_stdout(printed):
            run = AsideRun(AllKnowing(str(skill), prompt, ""), prompt)
            with suppress(StuckError):
                run.prepare()
                run.write()
        brought = {path: (place / path).read_text() for path in sorted(files_in(place))}
        given = {path: (work / path).read_text() for path in sorted(files_in(work))}
        rmtree(place)
        return {
            path: text for path, text in brought.items() if given.get(path) != text
        }, '"is_error": true' in printed.getvalue()

    assert all(left_by(task, "# Nothing\n") == (files, False) for task, files in expected_of.items())
    for words in planted.harmful:
        assert any(left_by(task, words) != (files, False) for task, files in expected_of.items()), words


def test_the_sessions_that_the_agent_prints_are_read_step_by_step(tmp_path: Path) -> None:
    task = BY_NAME["sales-regions"]
    workspace_of(task, tmp_path)
    (tmp_path / "task.md").write_text(task.prompt)
    words = [str(EXAMPLE / "agent.py"), str(EXAMPLE / "skills" / "calm-desk"), str(tmp_path / "task.md"), "3"]
    done = subprocess.run([sys.executable, "-I", "-S", *words], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "session.jsonl").write_bytes(done.stdout)
    drafts = scan_file(ReadTask(path=tmp_path / "session.jsonl")).drafts
    (transcript,) = filter(None, read_transcripts(drafts, frozenset()))
    assert [step.tool for step in transcript.steps if step.kind == "call"][:2] == ["Read", "Write"]
