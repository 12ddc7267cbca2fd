"""Evidence outlives the rotation of its log: under another name it is still there, until it is gone for good."""

from __future__ import annotations

import gzip
import json
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from tests.terminal import SPLIT_KEY, Terminal, recordings
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    """Let a skill learn a line from logs that were scanned."""
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", tmp_path / "skills")
    germline.does("import", "skills")
    for run in ("careful", "mixed"):
        packed = recordings() / f"{run}.jsonl.gz"
        germline.write(f"logs/{packed.stem}", gzip.decompress(packed.read_bytes()))
    germline.does("scan", "logs")
    germline.does("evolve", "sql-analyst", "--seed", "7", "--cycles", "1")
    return germline


def standing(germline: Terminal) -> set[bool]:
    """Ask whether the evidence of the learned line is still there."""
    explanation = germline.does("why", f"sql-analyst:{germline.learned_line()}", "--json").json
    assert len(explanation["evidence"]) >= 3
    return {piece["still_there"] for piece in explanation["evidence"]}


def rotate(germline: Terminal, age: int) -> None:
    """Give every log the next older name."""
    before = f".jsonl.{age - 1}" if age > 1 else ".jsonl"
    for log in (germline.folder / "logs").glob(f"*{before}"):
        log.rename(log.with_name(f"{log.name.removesuffix(before)}.jsonl.{age}"))


def begin_again(germline: Terminal) -> None:
    step = {"type": "step", "episode": "new", "tool": "sql", "text": "SELECT 1", "result": "[]"}
    for log in (germline.folder / "logs").glob("*.jsonl.1"):
        log.with_suffix("").write_text(json.dumps(step) + "\n")


def test_evidence_is_still_there_after_every_kind_of_rotation(germline: Terminal) -> None:
    assert standing(germline) == {True}
    rotate(germline, 1)
    assert standing(germline) == {True}, "renamed since the last scan"
    begin_again(germline)
    germline.does("scan", "logs")
    assert standing(germline) == {True}, "renamed, scanned, and another log under the old name"
    rotate(germline, 2)
    rotate(germline, 1)
    germline.does("scan", "logs")
    assert standing(germline) == {True}, "renamed twice"
    for log in list((germline.folder / "logs").glob("*.jsonl.2")):
        log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    assert standing(germline) == {True}, "compressed"
    assert germline.does("verify", "--json").json["ok"]
    for log in (germline.folder / "logs").glob("*.gz"):
        log.unlink()
    assert standing(germline) == {False}


def test_evidence_shows_where_it_lies_by_now(germline: Terminal) -> None:
    piece = germline.does("why", f"sql-analyst:{germline.learned_line()}", "--json").json["evidence"][0]
    rotate(germline, 1)
    germline.does("scan", "logs")
    shown = germline.does("evidence", "show", piece["id"], "--json").json
    assert (shown["file"], shown["lies_in"]) == (piece["file"], f"{piece['file']}.1")
    output = germline.does("evidence", "show", piece["id"]).out
    assert f"careful.jsonl.1, line {piece['line']:,}" in output
