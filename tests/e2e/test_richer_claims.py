"""Claims about what comes at any time before, and answers that always fail: offered by the real command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.shop_logs import shop_log
from tests.terminal import SPLIT_KEY, Terminal

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: shopper\ndescription: Buys things in a shop.\n---\n\nBuy what is asked for.\n"


def shopper(folder: Path, log: str) -> Terminal:
    """Begin a registry with a skill about shopping, and these logs."""
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("skills/shopper/SKILL.md", SKILL)
    germline.does("import", "skills")
    germline.write("logs/shop.jsonl", log)
    return germline


def test_choosing_an_option_before_buying_is_learned_whatever_comes_between(tmp_path: Path) -> None:
    germline = shopper(tmp_path, shop_log(1))
    report = germline.does("evolve", "shopper", "--logs", "logs", "--json").json
    lines = {
        edit["text"].strip()
        for cycle in report["cycles"]
        if cycle["candidate"]
        for edit in cycle["candidate"]["edits"]
    }
    assert "Before you call click buy, call click option at least once." in lines


def test_a_form_of_answer_that_always_failed_waits_for_a_person(tmp_path: Path) -> None:
    germline = shopper(tmp_path, shop_log(2, lists=0.2))
    report = germline.does("evolve", "shopper", "--logs", "logs", "--json").json
    (fatal,) = (cycle for cycle in report["cycles"] if cycle["proposer"] == "fatal_forms")
    assert fatal["verdict"] == "hold"
    (edit,) = fatal["candidate"]["edits"]
    assert edit["text"].strip() == "Do not give the final answer as a list."
    germline.does("candidate", "approve", fatal["candidate"]["id"], "--reason", "the shop takes no lists")
    assert "Do not give the final answer as a list." in germline.does("show", "shopper").out
