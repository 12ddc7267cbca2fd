"""Hints from the world, through the commands: kept apart, measured, looked up in git, never enough to promote."""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.commit_history import Commit, CommitHistory, parsed
from strategies.pool.known_episodes import all_episodes, world_of
from strategies.sandbox.confined_run import missing_isolation
from tests.terminal import Terminal
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, object]


def claude(name: str, hour: int, *turns: tuple[str, ...]) -> str:
    """Write a session: what the person and the agent say, and calls as (tool, argument, result, failed)."""
    records: list[Record] = []

    def add(kind: str, content: object) -> None:
        at = f"2026-11-20T{hour:02}:{len(records):02}:00.000Z"
        message = {"role": kind, "content": content}
        about = {"type": kind, "sessionId": name, "timestamp": at, "cwd": "/x", "uuid": f"{name}{len(records)}"}
        records.append({**about, "message": message})

    for turn in turns:
        if turn[0] == "user":
            add("user", turn[1])
        elif turn[0] == "agent":
            add("assistant", [{"type": "text", "text": turn[1]}])
        else:
            tool, argument, result = turn[:3]
            call = {"type": "tool_use", "id": f"c{len(records)}", "name": tool, "input": json.loads(argument)}
            add("assistant", [call])
            back = {"type": "tool_result", "tool_use_id": call["id"], "content": result, "is_error": len(turn) > 3}
            add("user", [back])
    return "".join(json.dumps(record) + "\n" for record in records)


def bash(command: str, result: str, *failed: str) -> tuple[str, ...]:
    return ("Bash", json.dumps({"command": command}), result, *failed)


EDIT = ("Edit", json.dumps({"file_path": "/x/a.py", "old_string": "a", "new_string": "b"}), "ok")
INSTALL = bash("npm install dayjs", "added 1 package")
GREEN, RED = bash("pytest -q", "3 passed in 0.1s"), bash("pytest -q", "Exit code 1\n1 failed", "failed")
SESSIONS = {
    "thanked": (("user", "fix the login page"), EDIT, GREEN, ("agent", "Done."), ("user", "thanks!")),
    "asked": (
        ("user", "add a table here"),
        EDIT,
        ("agent", "Done."),
        ("user", "that's not what I asked, revert it"),
    ),
    "told": (("user", "install a date library"), INSTALL, ("user", "use pnpm, not npm. I told you before")),
    "red": (("user", "make it faster now"), EDIT, RED, ("agent", "Hm.")),
    "stale": (("user", "rename the module"), GREEN, EDIT, ("agent", "Done.")),
    "stopped": (("user", "delete the old pages"), EDIT, ("user", "[Request interrupted by user]")),
    "first": (("user", "write the release notes"), ("agent", "Done.")),
    "second": (("user", "Write the release  notes"), ("agent", "Done.")),
}


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    germline = Terminal(tmp_path).with_skill()
    for hour, (name, turns) in enumerate(SESSIONS.items()):
        germline.write(f"logs/{name}.jsonl", claude(name, hour, *turns))
    germline.does("scan", "logs")
    return germline


def hints(germline: Terminal) -> dict[str, dict[str, float]]:
    with open_registry(germline.folder / ".germline/registry.db") as registry:
        records = all_episodes(registry)
        assert all(record.outcome is None for record in records)
        world = world_of(registry, records)
        return {
            record.name: {str(source): value for source, value in world.get(record.id, {}).items()}
            for record in records
        }


def test_each_source_speaks_where_it_knows_and_none_is_a_label(germline: Terminal) -> None:
    assert hints(germline) == {
        "thanked": {"last_check": 1.0, "last_word": 1.0},
        "asked": {"last_word": 0.0, "abandoned": 0.0},
        "told": {"last_word": 0.0, "abandoned": 0.0},
        "red": {"last_check": 0.0},
        "stale": {},
        "stopped": {"interrupted": 0.0},
        "first": {"repeated_request": 0.0},
        "second": {},
    }
    quality = germline.does("signals", "--quality", "--json").json["quality"]
    assert quality["episodes"] == 0
    assert {row["source"]: row["sessions"] for row in quality["sources"]} == {
        "last_check": 2,
        "last_word": 3,
        "interrupted": 1,
        "repeated_request": 1,
        "abandoned": 2,
    }
    assert germline.does("session", "red", "--json").json["hints"] == {"last_check": 0.0}
    assert "last_check 0; from the world, no labels" in germline.does("session", "red").out
    output = germline.does("signals", "--quality").out
    assert "no labels" in output
    assert "too few to tell" in output


def test_corrections_that_say_what_was_asked_are_signals_with_the_persons_words(germline: Terminal) -> None:
    rows = germline.does("signals", "--json").json["signals"]
    corrections = {row["action"]: row["evidence"] for row in rows if row["kind"] == "user_correction"}
    assert set(corrections) == {"Edit", "Bash:npm install"}
    (words,) = corrections["Bash:npm install"]
    assert "use pnpm, not npm. I told you before" in germline.does("evidence", "show", words[:12]).out


def test_labels_measure_hints_by_task_and_a_trial_more_is_no_further_evidence(germline: Terminal) -> None:
    records = list[Record]()
    for task in range(12):
        for trial in range(10 if task == 0 else 1):
            named = {"episode": f"{task}-{trial}"}
            check = {"type": "step", "tool": "bash", "text": "pytest", "result": "9 passed in 1s"}
            records.append({"type": "episode", **named, "dataset": "d", "task": f"t{task}"})
            records.append({**check, **named})
            records.append({"type": "outcome", **named, "value": int(task < 9)})
    germline.write("more/runs.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    germline.does("scan", "more")
    quality = germline.does("signals", "--quality", "--json").json["quality"]
    row = next(row for row in quality["sources"] if row["source"] == "last_check")
    assert (row["labelled"], row["labelled_tasks"], row["enough"]) == (21, 12, True)
    assert row["agreement"]["value"] == row["success_precision"]["value"] == 9 / 12
    assert (row["success_recall"]["value"], row["failure_precision"]) == (1.0, None)
    assert row["agreement"]["low"] < 0.5  # 18 of 21 trials would be surer than 9 of 12 tasks
    assert "agrees" in germline.does("signals", "--quality").out


@pytest.fixture
def ruled(tmp_path: Path) -> Terminal:
    """Begin with a world in which SHOW helps, and only the last check knows."""
    germline = Terminal(tmp_path).with_skill()
    draws, records = random.Random(3), list[Record]()
    for number in range(220):
        for run in ("large", "small"):
            name, looks = f"{run}{number}", draws.random() < 0.5
            won = draws.random() < 0.25 + 0.6 * looks
            about: Record = {"type": "episode", "episode": name, "dataset": "d", "task": f"t{number}", "run": run}
            step = {"type": "step", "episode": name, "tool": "sql"}
            failed = {"error": True, "error_text": "Exit code 1\n1 failed"}
            records += [
                about,
                {**step, "text": f"SELECT x{number}", "error": True, "error_text": "Table 'a' doesn't exist"},
                {**step, "text": "SHOW TABLES" if looks else f"SELECT y{number}", "result": "ok"},
                {**step, "tool": "bash", "text": "pytest -q", **({"result": "3 passed"} if won else failed)},
            ]
    germline.write("logs/runs.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    germline.does("scan", "logs")
    return germline


def test_hints_teach_nothing_unless_a_setting_says_so_and_then_wait_for_a_person(ruled: Terminal) -> None:
    assert ruled.does("evolve", "sql-analyst", "--cycles", "1", "--dry-run", "--json").json["tried"] >= 0
    assert not ruled.does("candidates", "--json").json["candidates"]
    ruled.write("germline.toml", '[outcomes]\nfrom = ["last_check"]\n')
    done = ruled.does("evolve", "sql-analyst", "--cycles", "1").out
    assert "outcomes are hints from the world" in done
    assert "0 promoted, 1 held" in done
    (held,) = ruled.does("status", "--json").json["held"]
    steps = ruled.does("gate", "explain", held["id"]).out
    assert "hints from the world: last_check" in steps
    ruled.does("candidate", "approve", held["id"], "--reason", "read it")
    assert "hints from the world stand for labels: last_check" in ruled.does("status").out
    assert ruled.does("status", "--json").json["skills"][0]["hints"] == ["last_check"]
    last = len((ruled.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8").splitlines())
    assert "hints from the world stand for labels: last_check" in ruled.does("why", f"sql-analyst:{last}").out
    assert "hints from the world" in ruled.does("score", "sql-analyst").out


def test_an_evaluator_keeps_the_hints_that_it_was_frozen_with(ruled: Terminal) -> None:
    with open_registry(ruled.folder / ".germline/registry.db") as registry:
        plain = prepare(registry)
        hinted = prepare(registry, sources=("last_check",))
        assert hinted.evaluator != plain.evaluator
        assert prepare(registry) == hinted.__class__(hinted.division, hinted.evaluator, sources=("last_check",))
        assert {episode.outcome.source for episode in hinted.division.sealed if episode.outcome} == {"last_check"}
        assert prepare(registry, sources=()).evaluator == plain.evaluator


@pytest.mark.parametrize("stated", ['["last_chek"]', "[1]", "[[]]", '"last_check"', "true", '["tests"]'])
def test_what_is_no_source_is_refused_by_name(germline: Terminal, stated: str) -> None:
    germline.write("germline.toml", f"[outcomes]\nfrom = {stated}\n")
    answer = germline("evolve")
    assert (answer.code, "outcomes.from" in answer.err) == (2, True)


def test_no_one_records_a_hint_by_hand(germline: Terminal) -> None:
    assert germline("outcome", "thanked", "--value", "1", "--source", "commit").code == 2
    assert germline("outcome", "--value", "1").code == germline("outcome", "thanked", "--commits").code == 2


def git(folder: Path, *words: str, at: str = "2026-01-01T00:00:00Z") -> str:
    names = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": at}.items()
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **names}
    done = subprocess.run(
        ("git", *words), cwd=folder, env={**os.environ, **alone}, capture_output=True, check=True
    )
    return done.stdout.decode()


@pytest.mark.skipif(bool(missing_isolation()), reason="git is only asked in isolation")
def test_what_became_of_commits_is_looked_up_in_git_and_kept(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    git(tmp_path, "init", "-q", "-b", "main")

    def commit(subject: str, at: str = "2026-01-01T00:00:00Z") -> str:
        germline.write("f.txt", subject)
        git(tmp_path, "add", "f.txt")
        return git(tmp_path, "commit", "-m", subject, at=at)

    made = {"first": commit("first"), "bad": commit("bad")}
    git(tmp_path, "revert", "--no-edit", "HEAD")
    git(tmp_path, "checkout", "-q", "-b", "topic")
    made["topic"] = commit("topic")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    made["young"] = commit("young", at="2090-01-01T00:00:00Z")
    made["foreign"] = "[main deadbee] elsewhere"
    for hour, (name, commit_output) in enumerate(made.items()):
        germline.write(
            f"logs/{name}.jsonl",
            claude(name, hour, ("user", f"do {name}"), bash("git commit -m x", commit_output)),
        )
    for setting in ("core.fsmonitor", "core.pager", "gpg.program", "core.sshCommand"):
        git(tmp_path, "config", setting, f"touch {tmp_path}/ran #")
    germline.does("scan", "logs")
    output = germline.does("outcome", "--commits").out
    assert "5 sessions with commits; git tells of 3, 4 hints new" in output
    sessions = {
        name: {source: value for source, value in by_source.items() if source != "abandoned"}
        for name, by_source in hints(germline).items()
    }
    assert sessions == {"first": {"commit": 1.0}, "bad": {"commit": 0.0}, "topic": {"commit": 1.0, "merged": 1.0},
                     "young": {}, "foreign": {}}  # fmt: skip
    events = germline.events()
    assert germline.does("outcome", "--commits", "--json").json["recorded"] == 0
    assert germline.events() == events
    assert not (tmp_path / "ran").exists()
    germline.does("verify")


def history(*commits: tuple[str, str, str, str]) -> CommitHistory:
    """Give a history of (hash, parents, subject, body), newest first, its newest the default branch."""
    listed = {
        name: Commit(tuple(parents.split()), 1.0, ("refs/heads/main",) if at == 0 else (), subject, body)
        for at, (name, parents, subject, body) in enumerate(commits)
    }
    return CommitHistory(listed)


def test_a_revert_counts_by_hash_or_subject_and_one_that_was_reverted_does_not() -> None:
    base = (("b" * 40, "a" * 40, "two", ""), ("a" * 40, "", "one", ""))
    by_hash = ("c" * 40, "b" * 40, 'Revert "two"', f"This reverts commit {'b' * 40}.")
    assert history(by_hash, *base).reverted == {"b" * 40}
    assert history(("c" * 40, "b" * 40, 'Revert "one"', ""), *base).reverted == {"a" * 40}
    restored = ("d" * 40, "c" * 40, 'Reapply "two"', f"This reverts commit {'c' * 40}.")
    assert history(restored, by_hash, *base).reverted == {"c" * 40}


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ('Revert "Add cache" (#13)', "Reverts ada/tables#12"),
        ('Revert "Add cache (#12)" (#13)', "Reverts ada/tables#12"),
        ('Revert "Add cache (#12)" (#13)', ""),
        ('Revert "Add cache"', "It was slow.\n\nReverts #12\n"),
    ],
)
def test_a_pull_request_that_was_squashed_and_taken_back_by_githubs_button_is_reverted(
    subject: str, body: str
) -> None:
    base = (("b" * 40, "a" * 40, "Add cache (#14)", ""), ("a" * 40, "", "Add cache (#12)", ""))
    assert history(("c" * 40, "b" * 40, subject, body), *base).reverted == {"a" * 40}


def test_a_log_that_is_cut_short_or_odd_gives_what_is_whole() -> None:
    whole = "a" * 40 + "\0\x001700000000\0HEAD -> refs/heads/main, tag: refs/tags/x\0one\0two\nlines\n\0"
    assert set(parsed(whole + "b" * 40 + "\0\x0017")) == {"a" * 40}
    assert parsed(whole)["a" * 40].refs == ("HEAD", "refs/heads/main", "tag: refs/tags/x")
    assert parsed("") == {}
    assert CommitHistory({}).find("abc") is None
