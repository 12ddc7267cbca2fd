"""Copies: a file of the same text under another name, in every format; and what only looks like one."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from strategies.logs.scan import scan
from tests.agent_sessions import SESSIONS
from tests.sample_logs import CHAT_LINES, SAMPLES
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sample_logs import Sample


@pytest.mark.parametrize(
    "sample", SAMPLES + SESSIONS + TRACES, ids=lambda sample: f"{sample.format}-{sample.name}"
)
def test_a_copy_in_any_place_and_under_any_name_counts_once(tmp_path: Path, sample: Sample) -> None:
    ending = sample.name[sample.name.index(".") :]
    (tmp_path / "deep").mkdir()
    (tmp_path / sample.name).write_bytes(sample.body)
    (tmp_path / f"zz{ending}").write_bytes(sample.body)
    (tmp_path / "deep" / f"other{ending}.gz").write_bytes(gzip.compress(sample.body))
    logs_scan = scan([tmp_path])
    assert len(logs_scan.records) == sample.episodes
    assert logs_scan.duplicates == 2 * sample.episodes


def test_a_copy_of_the_beginning_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(CHAT_LINES)
    (tmp_path / "b.jsonl").write_bytes(CHAT_LINES.split(b"\n")[0] + b"\n")
    assert len(scan([tmp_path]).records) == len(scan([tmp_path / "a.jsonl"]).records)


def test_equal_runs_of_two_models_in_files_of_their_own_are_two(tmp_path: Path) -> None:
    for name, other in (("gpt", "x"), ("llama", "yy")):
        runs = [
            {"turn_history": {"actions": [text], "observations": ["1"]}, "query": text} for text in ("same", other)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(runs))
    assert len(scan([tmp_path]).records) == 4


def test_plain_output_without_times_is_a_run_of_its_own(tmp_path: Path) -> None:
    for name in ("job-1.log", "job-2.log"):
        (tmp_path / name).write_text(
            "ERROR cannot open the file\nTraceback (most recent call last):\nValueError: x\n"
        )
    assert len(scan([tmp_path]).records) == 2
