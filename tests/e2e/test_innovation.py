"""A generated log with a true habit, from the file to the line: scanned, routed, mined, judged, promoted."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def lines(seed: int, *, lift: float, by_habit: bool = False) -> Iterator[str]:
    """Episodes of two runs that begin by listing files or by searching; nothing ever fails on the way.

    With `by_habit` the small one only ever searches.
    """
    draws = random.Random(seed)
    for number in range(260):
        for run in ("large", "small"):
            name, begins = f"{run}-{number}", draws.random() < 0.5
            begins = begins and not (by_habit and run == "small")
            won = draws.random() < 0.3 + lift * begins
            yield json.dumps({"type": "episode", "episode": name, "task": f"t{number}", "run": run})
            tools = ["list_files" if begins else "search", "edit_file", draws.choice(["run_tests", "format"])]
            for turn, tool in enumerate(tools):
                step = {"type": "step", "episode": name, "turn": turn, "tool": tool, "text": f"{tool} {number}"}
                yield json.dumps(step)
            yield json.dumps({"type": "outcome", "episode": name, "value": int(won), "source": "tests"})


def evolved(tmp_path: Path, *, lift: float) -> Terminal:
    germline = Terminal(tmp_path).with_skill()
    germline.write("log.jsonl", "\n".join(lines(3, lift=lift)) + "\n")
    return germline


def test_a_true_habit_is_promoted_by_innovation_and_the_end_says_what_became_of_everything(
    tmp_path: Path,
) -> None:
    germline = evolved(tmp_path, lift=0.45)
    command = ("evolve", "sql-analyst", "--logs", "log.jsonl", "--seed", "7")
    run = germline.does(*command, "--dry-run", "--json").json
    (promoted,) = [cycle for cycle in run["cycles"] if cycle["verdict"] == "promote"]
    assert promoted["strategy"] == "innovate"
    assert promoted["candidate"]["claims"] == [{"kind": "start_with", "do": "list_files"}]
    assert promoted["audit"]["after"]["value"] > promoted["audit"]["before"]["value"]
    assert run["counts"]["promoted"] == 1
    assert sum(run["counts"][word] for word in ("promoted", "held", "rejected", "without_candidate")) == len(
        run["cycles"]
    )
    output = germline.does(*command).out
    assert "claims tried: 1 promoted, " in output
    assert "it rose on logs that decided nothing, too" in output
    assert "settled: no eligible signal is left" in output


def test_what_one_run_alone_could_show_is_said_of_that_run(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    germline.write("log.jsonl", "\n".join(lines(3, lift=0.45, by_habit=True)) + "\n")
    cycles = germline.does("evolve", "sql-analyst", "--logs", "log.jsonl", "--seed", "7", "--json").json["cycles"]
    (promoted,) = [cycle for cycle in cycles if cycle["verdict"] == "promote"]
    assert promoted["effect"]["replicates"]["scope"] == ["large"]
    edit = promoted["candidate"]["edits"][0]
    assert edit["text"].strip().endswith("call list_files (seen with large).")
    why = germline.does("why", f"sql-analyst:{edit['line']}").out
    assert "holds for large: of other runs nothing is claimed" in why
    assert "1 run cannot tell: there all obeyed, or none did" in why
    assert "supported for large alone: only large can tell" in " ".join(why.split())
    assert "each run" in germline.does("gate", "explain", promoted["candidate"]["id"]).out


def test_where_no_habit_helps_innovation_says_that_no_claim_survived(tmp_path: Path) -> None:
    germline = evolved(tmp_path, lift=0.0)
    run = germline.does("evolve", "sql-analyst", "--logs", "log.jsonl", "--seed", "7", "--json").json
    assert run["counts"]["promoted"] == 0
    assert run["cycles"]
    assert all("no claim survived explore" in cycle["reasons"][0] for cycle in run["cycles"])
    assert run["settled"]
