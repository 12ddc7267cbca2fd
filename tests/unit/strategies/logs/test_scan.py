"""Scanning: which files are read, what is counted, and that their order does not matter."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from events.errors import NotFoundError, UnreadableLogError
from strategies.files.log_file import LogFile
from strategies.files.log_records import Span
from strategies.files.reread import read_places, read_span, text_of
from strategies.logs.scan import scan
from tests.sample_logs import CLAUDE, INTERCODE, STEPS, jsonl

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two logs, one of them twice, a file that is no log, and hidden things."""
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "deep" / "own.jsonl").write_bytes(STEPS)
    (tmp_path / "run_x.json.gz").write_bytes(gzip.compress(INTERCODE))
    (tmp_path / "own.jsonl").write_bytes(STEPS)
    (tmp_path / "LICENSE.md").write_text("No log at all.")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "deep" / ".hidden" / "own.jsonl").write_bytes(STEPS)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "own.jsonl")
    return tmp_path


def test_folder_is_read_in_depth_and_what_is_no_log_is_named(folder: Path) -> None:
    logs_scan = scan([folder])
    assert [file.format for file in logs_scan.files] == ["steps", "", "steps", "action-observation"]
    assert logs_scan.skipped == (str(folder / "LICENSE.md"),)
    assert (len(logs_scan.records), logs_scan.duplicates) == (4, 2)
    assert logs_scan.size_bytes == sum(file.size_bytes for file in logs_scan.files) > 0


def test_order_and_repetition_of_paths_do_not_matter(folder: Path) -> None:
    paths = [folder / "own.jsonl", folder / "run_x.json.gz"]
    assert scan(paths) == scan([*paths[::-1], paths[0]])


def test_file_that_was_named_and_is_no_log_is_an_error(folder: Path) -> None:
    with pytest.raises(UnreadableLogError, match=r"LICENSE\.md"):
        scan([folder / "LICENSE.md"])
    logs_scan = scan([folder / "LICENSE.md", folder / "own.jsonl"], on_broken="list")
    assert len(logs_scan.broken) == 1
    assert len(logs_scan.records) == 2


def test_missing_path_and_unknown_format_are_named(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        scan([folder / "nowhere"])
    with pytest.raises(NotFoundError, match="no log format 'csv'"):
        scan([folder], log_format="csv")


def test_progress_ends_at_the_total(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    logs_scan = scan([folder / "own.jsonl", folder / "run_x.json.gz"], progress=lambda *at: seen.append(at))
    assert seen[-1] == (logs_scan.size_bytes, logs_scan.size_bytes)
    assert seen == sorted(seen)


def test_templates_are_fitted_over_all_files(tmp_path: Path) -> None:
    for name in ("users", "pets"):
        line = {
            "type": "step",
            "episode": name,
            "tool": "sql",
            "error": True,
            "error_text": f"no such table {name}",
        }
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(line))
    assert {record.steps[0].template for record in scan([tmp_path]).records} == {"no such table <*>"}


def test_places_are_read_again_from_gzip_and_missing_ones_are_empty(folder: Path) -> None:
    steps = [(record.source, step) for record in scan([folder]).records for step in record.steps]
    failing = [(source, step.span) for source, step in steps if step.error and source.endswith(".gz")]
    assert [text for _, text in read_places(failing)] == ["Error executing query: Table 'x.t' doesn't exist"]
    (folder / "run_x.json.gz").unlink()
    assert read_places(failing) == [(b"", "")]
    assert read_span(*failing[0]) == b""


def test_a_place_that_a_file_does_not_reach_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"abc")
    for start, end in ((0, 2**52), (2**52, 2**53), (2, 1), (-1, 2), (4, 4)):
        assert read_places([(str(path), Span(start, end, 1)), (str(path), Span(0, 3, 1))]) == [
            (b"", ""),
            (b"abc", "abc"),
        ]


def test_text_of_a_line_is_its_most_telling_field() -> None:
    assert text_of(STEPS.splitlines()[1]) == "no such table: é"
    assert text_of(CLAUDE.splitlines()[3]) == "fatal: not a git repository\nok"
    assert text_of(b"no json") == "no json"
    assert text_of(b'{"observation": {"content": [{"text": "no such file"}]}}') == "no such file"
    assert text_of(b'{"status": {"code": 2, "message": "refused"}}') == "refused"


def test_json_that_tells_nothing_in_particular_is_given_without_its_escapes() -> None:
    assert text_of(b'{"status": "bad", "to": "https:\\/\\/x\\u0041"}') == '{"status":"bad","to":"https://xA"}'


def test_lines_keep_their_places_across_chunks_members_and_line_ends(tmp_path: Path) -> None:
    body = b"\xef\xbb\xbffirst\r\n\n" + b"x" * 3_000_000 + b"\nlast"
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(body[:1000]) + gzip.compress(body[1000:]) + b"\0\0\0")
    log = LogFile(path)
    lines = list(log.lines())
    assert [(line.byte_start, line.number) for line in lines] == [(3, 1), (10, 2), (11, 3), (3_000_012, 4)]
    assert [line.raw for line in lines] == [b"first", b"", b"x" * 3_000_000, b"last"]
    assert log.broken is None
