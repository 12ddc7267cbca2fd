"""Plug-ins that cannot read logs: every command that reads some says so, once, and goes on without them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.plugged import plugged
from tests.sample_logs import STEPS
from tests.terminal import Answer, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Begin a registry beside a package whose readers do not load, or break while they are asked."""
    germline = Terminal(tmp_path).with_skill()
    germline.write("logs/own.jsonl", STEPS)
    germline.write("logs/text.log", "ERROR: it broke\n")
    entries = {"a-missing": "no_such_module:Reader", "e-nosy": "plugged_readers:Nosy"}
    with plugged(tmp_path, monkeypatch, entries):
        yield germline


def check_told(answer: Answer) -> None:
    """Look for one warning for each plug-in, with its reason, and for what mends them."""
    warnings = [line for line in answer.err.splitlines() if "the log reader" in line]
    assert len(warnings) == 2
    assert warnings[0].startswith("warning    the log reader a-missing of plugged does not work: ModuleNotFound")
    assert "no_such_module" in warnings[0]
    assert "e-nosy" in warnings[1]
    assert "KeyError('nosy')" in warnings[1]
    assert answer.err.count("next       pip install --upgrade plugged    pip uninstall plugged") == 1


@pytest.mark.parametrize("more", [[], ["--json"], ["--dry-run"]])
def test_scan_tells_which_plug_ins_do_not_work_and_reads_on(germline: Terminal, more: list[str]) -> None:
    answer = germline.does("scan", "logs", *more)
    check_told(answer)
    assert "plugged" not in answer.out
    assert "the log reader" not in germline.does("--quiet", "scan", "logs").err


def test_evolve_tells_which_plug_ins_do_not_work_whether_logs_are_named_or_configured(germline: Terminal) -> None:
    check_told(germline.does("evolve", "--logs", "logs", "--cycles", "1"))
    germline.write("germline.toml", '[scan]\npaths = ["logs"]\n')
    check_told(germline.does("evolve", "--cycles", "1"))


def test_a_broken_log_hides_no_broken_plug_in(germline: Terminal) -> None:
    germline.write("logs/cut.jsonl.gz", gzip.compress(STEPS * 50, compresslevel=0)[:-2000])
    for words in ("scan logs logs/cut.jsonl.gz", "evolve --logs logs --logs logs/cut.jsonl.gz"):
        answer = germline(*words.split())
        assert answer.code == 2
        check_told(answer)


def test_a_format_that_a_broken_plug_in_would_bring_is_refused_with_the_reason(germline: Terminal) -> None:
    answer = germline("scan", "logs", "--format", "ours")
    assert answer.code == 2
    assert "the plug-in a-missing does not work: ModuleNotFoundError" in answer.hint
