"""The gate on the command line: how often it is wrong, and why it said what it said."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from strategies.evolve import run_selftest
from strategies.gate.rules import share_words
from strategies.gate.selftest import SelfTest
from tests.terminal import Terminal, recordings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from strategies.episodes.episode import EpisodeRecord


def test_the_self_test_prints_its_rate_with_n_and_interval_and_what_common_practice_does(
    learned: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[SelfTest] = []
    measured = run_selftest.selftests

    def once(records: Sequence[EpisodeRecord], *given: Any, **named: Any) -> list[SelfTest]:  # noqa: ANN401 - whatever it is asked
        some = {*sorted({record.task for record in records})[::3]}  # of which every kind can be told
        if not results:
            results.extend(measured([record for record in records if record.task in some], *given, **named))
        return results

    monkeypatch.setattr(run_selftest, "selftests", once)
    words = ("gate", "selftest", "--logs", recordings(), "--quick", "--comparisons", "6", "--seed", "7")
    report = learned.does(*words, "--json").json
    assert report["schema"] == "germline/gate-selftest/1"
    assert (report["kind"], report["n"], report["preset"], report["seed"]) == ("shuffled", 6, "balanced", 7)
    assert report["low"] <= report["false_promotion_rate"] <= report["high"]
    assert report["false_promotion_rate"] <= report["allowed"] < report["mean_rises"]
    plain = learned.does(*words)
    kinds = [check["kind"] for check in report["checks"]]
    assert kinds[:3] == ["shuffled", "permuted", "placebo_actions"]
    assert {"placebo_templates", "earlier", "outside_predicted", "harmful_in_new_run"} <= {*kinds}
    assert "where the mean rose" in plain.out
    assert "seed 7" in plain.out
    assert "none shows a hidden trait" in " ".join(plain.out.split())
    assert "fewer than 100 comparisons" in plain.err
    assert learned.does("verify", "--json").json["events"] == learned.events()


def test_the_self_test_needs_no_registry_where_logs_are_named(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    report = germline.does(
        "gate", "selftest", "--logs", recordings() / "careful.jsonl.gz", "--quick", "--comparisons", "5", "--json"
    ).json
    assert (report["n"], report["preset"]) == (5, "balanced")
    assert germline("gate", "selftest").code == 2
    assert germline("gate", "selftest", "--logs", recordings(), "--preset", "mine").code == 2


def test_a_gate_that_is_wrong_too_often_ends_with_exit_code_3(
    learned: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [SelfTest("trials", 5, 100, 50, mean_rises=40), SelfTest("earlier", 6, 40, 20)]
    monkeypatch.setattr(run_selftest, "selftests", lambda *_, **__: wrong)
    answer = learned("gate", "selftest", "--json")
    assert (answer.code, answer.json["ok"]) == (3, False)
    plain = learned("gate", "selftest")
    assert plain.code == 3
    assert "wrong more often than it states: earlier." in plain.out
    assert "✓ 5.0%, 5 of 100 [.016, .113]; stated: at most 3.5%" in plain.out
    assert "✗ 15.0%, 6 of 40" in plain.out


def test_logs_that_cannot_tell_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.write(
        "few.jsonl",
        '{"type":"episode","episode":"e","task":"t","run":"r"}\n'
        '{"type":"step","episode":"e","turn":0,"tool":"sql","text":"SELECT 1"}\n'
        '{"type":"outcome","episode":"e","value":1,"source":"tests"}\n',
    )
    refused = germline("gate", "selftest", "--logs", "few.jsonl")
    assert refused.code == 2
    assert "no task was run 4 times" in refused.err


def test_a_verdict_is_explained_step_by_step_from_what_was_stored(learned: Terminal) -> None:
    events = learned.events()
    candidates = learned.does("candidates", "--json").json["candidates"]
    (candidate,) = [row for row in candidates if row["verdict"] == "promote"]
    explanation = learned.does("gate", "explain", candidate["id"][:10], "--json").json
    assert (explanation["schema"], explanation["verdict"], explanation["way"]) == (
        "germline/gate-explain/1",
        "promote",
        "replay",
    )
    assert all(step["holds"] for step in explanation["steps"])
    chance = next(step for step in explanation["steps"] if step["rule"] == "chance")
    assert chance["asks"] == f"at most {share_words(0.01, explanation['sent'])}"
    output = learned.does("gate", "explain", candidate["id"][:10]).out
    assert "✓ chance" in output
    assert max(map(len, output.rstrip().splitlines()[:-2])) <= 80
    for step in explanation["steps"]:
        assert f"asks: {step['asks']}" in " ".join(output.split()), "what a rule asks is told whole"
    assert "promoted as sql-analyst@2" in output
    following = output.rstrip().splitlines()[-1].split("    ")[0].split()[1:]
    assert learned.does(*following).code == 0
    assert learned.events() == events


def test_what_is_missing_is_counted_in_tasks(learned: Terminal) -> None:
    git = recordings().parent / "git"
    logs = ("--logs", git / "careful.jsonl.gz", "--logs", git / "stubborn.jsonl.gz")
    learned.does("evolve", "git-helper", *logs, "--seed", "7", "--cycles", "2")
    candidates = learned.does("candidates", "--json").json["candidates"]
    waiting = [candidate for candidate in candidates if candidate["verdict"] == "hold"]
    explanation = learned.does("gate", "explain", waiting[0]["id"], "--json").json
    missing = [step for step in explanation["steps"] if not step["holds"]]
    assert missing
    assert [step["missing"] for step in missing] == waiting[0]["reasons"][: len(missing)]
    assert explanation["needed_tasks"] is None or explanation["needed_tasks"] > explanation["known_tasks"]


def results_file(folder: Path, gain: float, tasks: int = 100) -> Path:
    draw = random.Random(11)
    lines = ["task,side,seed,score"]
    for task in range(tasks):
        for seed in (0, 1):
            for side, lift in (("baseline", 0.0), ("candidate", gain)):
                lines.append(f"t{task},{side},{seed},{int(draw.random() < 0.5 + lift)}")
    file = folder / f"results{gain}.csv"
    file.write_text("\n".join(lines))
    return file


def test_results_of_another_tool_are_judged_without_a_registry(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    real, none = results_file(tmp_path, 0.2), results_file(tmp_path, 0.0)
    verdict = germline.does("gate", "pairs", real, "--json").json
    assert verdict["schema"] == "germline/gate-pairs/1"
    assert (verdict["decision"], verdict["pairs"], verdict["tasks"], verdict["seeds"]) == (
        "promote",
        200,
        100,
        ["0", "1"],
    )
    assert verdict["low"] < verdict["difference"] < verdict["high"]
    assert all(rule["holds"] for rule in verdict["rules"])
    plain = germline.does("gate", "pairs", real)
    assert plain.out.startswith("Yes: candidate is better than baseline, by +0.")
    refused = germline("gate", "pairs", none)
    assert (refused.code, refused.out.split()[0]) == (3, "No:" if "not better" in refused.out else "Not")
    assert "worse" in refused.out


def test_two_files_are_the_side_before_and_the_side_after(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    for name, hard in (("old", 0), ("new", 1)):
        rows = [json.dumps({"id": task, "hard": hard}) for task in range(30)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    verdict = germline.does("gate", "pairs", tmp_path / "old.jsonl", tmp_path / "new.jsonl", "--json").json
    assert (verdict["before"], verdict["after"], verdict["decision"]) == (0.0, 1.0, "promote")
    back = germline("gate", "pairs", tmp_path / "new.jsonl", tmp_path / "old.jsonl", "--json")
    assert (back.code, back.json["decision"], len(back.json["worse"])) == (3, "reject", 30)


def test_results_that_cannot_be_paired_say_why_and_what_to_do(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    table = tmp_path / "table.csv"

    def refused(text: str, *options: str) -> str:
        table.write_text(text)
        answer = germline("gate", "pairs", table, *options)
        assert answer.code == 2, answer.err
        assert "hint" in answer.err
        return " ".join(answer.err.split())

    assert "its sides are 'x', 'y'" in refused("task,side,score\na,x,1\na,y,1\n")
    assert "no side 'z'" in refused("task,side,score\na,x,1\na,y,1\n", "--before", "x", "--after", "z")
    assert "both sides are 'x'" in refused("task,side,score\na,x,1\n", "--before", "x", "--after", "x")
    assert "no task is on both sides" in refused("task,side,score\na,before,1\nb,after,1\n")
    assert "may be the seed" in refused("task,side,seed,score\na,before,1,1\na,after,2,1\n")
    assert "--most 100 divides" in refused("task,before,after\na,1,87\n")
    assert germline("gate", "pairs", tmp_path / "absent.csv").code == 2
    assert germline("gate", "pairs", table, table, table).code == 2
