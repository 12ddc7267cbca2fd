"""Reading on: unchanged files are not opened, grown ones give their new lines, longer readings count once."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import zstandard

from events.errors import NotFoundError
from strategies.engines.engine import engine_of
from strategies.engines.engine_settings import EngineSettings
from strategies.episodes.episode_records import encode
from strategies.files.default_locations import usual_logs
from strategies.gate.replay.evaluation_set import prepare
from strategies.logs.scan import scan, scan_on
from strategies.pool.intake import scan_into, take_in
from strategies.pool.known_episodes import all_episodes, every_reading
from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.sample_logs import CHAT_LINES, CLAUDE, INTERCODE, SAMPLES, STEPS, Sample, jsonl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.registry import Registry


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    (tmp_path / "of").mkdir()
    return new_registry(tmp_path / "of", TickingClock())


def message(number: int, kind: str = "user") -> dict[str, object]:
    at = f"2026-01-01T00:00:{number:02}Z"
    return {
        "type": kind,
        "sessionId": "s",
        "timestamp": at,
        "message": {"id": f"m{number}", "content": f"say {number}"},
    }


def edit(number: int, before: str, after: str) -> list[dict[str, object]]:
    change = {"file_path": "/x.py", "old_string": before, "new_string": after}
    call = {"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": change}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}
    return [
        {"type": "assistant", "sessionId": "s", "message": {"id": f"m{number}", "content": [call]}},
        {"type": "user", "sessionId": "s", "message": {"content": [result]}},
    ]


FOLLOWED = {"steps", "claude-code", "codex", "plain-text"}
LINE_SAMPLES = [sample for sample in SAMPLES if sample.format in FOLLOWED]


@pytest.mark.parametrize("sample", LINE_SAMPLES, ids=lambda sample: sample.format)
def test_file_read_in_two_halves_gives_the_records_of_one_reading(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / sample.name
    lines = sample.body.splitlines(keepends=True)
    stored: Mapping[str, bytes] = {}
    for upto in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:upto]))
        logs_scan = scan_on([path], stored)
        stored = {**stored, **logs_scan.offsets}
        assert logs_scan.text_bytes <= max(map(len, lines))
    ids = {record.id for record in logs_scan.records}
    assert ids <= {record.id for record in scan([path]).records}
    assert ids


def test_edit_that_waits_for_its_result_is_known_when_reading_goes_on(tmp_path: Path) -> None:
    lines = jsonl(*edit(1, "a", "b"), *edit(2, "b", "a")).splitlines(keepends=True)
    path = tmp_path / "s.jsonl"
    stored: dict[str, bytes] = {}
    for upto in range(1, 5):
        path.write_bytes(b"".join(lines[:upto]))
        logs_scan = scan_on([path], stored)
        stored = dict(logs_scan.offsets)
        assert b"old_string" not in b"".join(stored.values())
    (record,) = logs_scan.records
    assert [step.marks for step in record.steps] == [("edit",), ("edit", "revert")]
    assert record.id == scan([path]).records[0].id


def test_unchanged_files_are_not_opened_and_others_are_read_again(tmp_path: Path) -> None:
    for name, body in (("a.json", INTERCODE), ("b.jsonl", CLAUDE), ("c.jsonl.gz", gzip.compress(STEPS))):
        (tmp_path / name).write_bytes(body)
    first = scan_on([tmp_path], {})
    again = scan_on([tmp_path], first.offsets)
    assert (len(again.unchanged), again.records, again.text_bytes) == (3, (), 0)
    (tmp_path / "a.json").write_bytes(INTERCODE.replace(b"Second", b"Other!"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(STEPS * 2))
    changed = scan_on([tmp_path], first.offsets)
    assert [file.source for file in changed.files] == [str(tmp_path / "a.json"), str(tmp_path / "c.jsonl.gz")]
    assert changed.text_bytes == len(INTERCODE) + len(STEPS) * 2


def test_file_that_was_cut_off_or_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*map(message, range(5))))
    stored = scan_on([path], {}).offsets
    for body in (jsonl(message(9)), jsonl(*map(message, range(10, 30)))):
        path.write_bytes(body)
        assert scan_on([path], stored).text_bytes == len(body)


def test_renamed_file_is_read_on_under_its_new_name(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(message(1)))
    stored = scan_on([path], {}).offsets
    path.rename(tmp_path / "s.1.jsonl")
    more = jsonl(message(2))
    with (tmp_path / "s.1.jsonl").open("ab") as file:
        file.write(more)
    path.write_bytes(jsonl(message(3)))
    logs_scan = scan_on([tmp_path], stored)
    assert [file.text_bytes for file in logs_scan.files] == [len(more), len(jsonl(message(3)))]
    assert logs_scan.moved == {str(tmp_path / "s.1.jsonl"): str(path), str(path): ""}


def test_last_line_without_a_newline_counts_at_once_and_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    body = jsonl(message(1), message(2))
    path.write_bytes(body[:-1])
    first = scan_on([path], {})
    assert len(first.records[0].steps) == 2
    path.write_bytes(body + jsonl(message(3)))
    assert len(scan_on([path], first.offsets).records[0].steps) == 3
    live = scan_on([path], {}, live=True)
    path.write_bytes(body[:-1])
    assert len(scan_on([path], {}, live=True).records[0].steps) == 1
    assert len(live.records[0].steps) == 3


def test_longer_reading_replaces_the_shorter_one_without_counting_twice(
    registry: Registry, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(message(1)))
    _, first = scan_into(registry, [path], live=True)
    (short,) = all_episodes(registry)
    path.write_bytes(jsonl(message(1), message(2)))
    _, second = scan_into(registry, [path], live=True)
    (longer,) = all_episodes(registry)
    assert [(taken.new_episodes, taken.longer) for taken in (first, second)] == [(1, 0), (0, 1)]
    assert len(longer.steps) == 2
    assert (len(short.steps), every_reading(registry)) == (1, [longer])
    assert registry.log.verify().problems == ()


def test_shorter_copy_found_later_stays_behind_the_longer_reading(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_bytes(jsonl(message(1), message(2)))
    scan_into(registry, [tmp_path / "long.jsonl"])
    (tmp_path / "copy.jsonl").write_bytes(jsonl(message(1)))
    _, taken = scan_into(registry, [tmp_path / "copy.jsonl"])
    assert (taken.new_episodes, [len(record.steps) for record in all_episodes(registry)]) == (0, [2])


def test_two_runs_of_one_name_are_not_taken_for_readings_of_one(registry: Registry, tmp_path: Path) -> None:
    for run in ("a", "b"):
        line = {"type": "step", "episode": "0", "run": run, "tool": "sql", "text": f"SELECT '{run}'"}
        (tmp_path / f"{run}.jsonl").write_bytes(jsonl(line))
    assert take_in(registry, scan([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]).records).new_episodes == 2
    assert len(all_episodes(registry)) == 2


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("app.log", b"2026-01-01 00:00:01 ERROR no disk\n"),
        ("app.log", b"ERROR at no time\n"),
        ("talks.jsonl", CHAT_LINES),
        ("talks.jsonl", CHAT_LINES.splitlines(keepends=True)[0]),
    ],
)
@pytest.mark.parametrize(
    "archive", ["{}.gz", "{}.zst", "{}.1", "{}.2.gz", "{}-20260101.zst", "{}.2026-01-01_10-00"]
)
def test_a_log_that_was_rotated_and_packed_counts_once(
    registry: Registry, tmp_path: Path, name: str, body: bytes, archive: str
) -> None:
    path, logs = tmp_path / name, tmp_path / archive.format(name)
    path.write_bytes(body)
    _, first = scan_into(registry, [path])
    path.unlink()
    packed = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(logs.suffix, bytes)
    logs.write_bytes(packed(body))
    logs_scan, again = scan_into(registry, [logs])
    assert (first.new_episodes, again.new_episodes) == (len(all_episodes(registry)), 0)
    assert (logs_scan.broken, len(logs_scan.files)) == ((), 1)


def test_an_episode_that_had_only_begun_is_replaced_by_the_whole_of_it_in_an_archive(
    registry: Registry, tmp_path: Path
) -> None:
    begun = {"type": "episode", "episode": "a", "started_at": "2026-01-01T00:00:00Z"}
    (tmp_path / "own.jsonl").write_bytes(jsonl(begun))
    scan_into(registry, [tmp_path / "own.jsonl"])
    step = {"type": "step", "episode": "a", "tool": "sql", "text": "SELECT 1"}
    (tmp_path / "own.jsonl.1.gz").write_bytes(gzip.compress(jsonl(begun, step)))
    _, taken = scan_into(registry, [tmp_path / "own.jsonl.1.gz"])
    assert (taken.longer, [len(record.steps) for record in all_episodes(registry)]) == (1, [1])


def test_a_path_that_is_gone_ends_a_scan_but_no_watch(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_bytes(STEPS)
    paths = [tmp_path / "gone.jsonl", tmp_path / "own.jsonl"]
    assert len(scan_on(paths, {}, live=True).records) == 2
    with pytest.raises(NotFoundError):
        scan_on(paths, {})


def test_new_errors_join_the_templates_that_are_known(registry: Registry, tmp_path: Path) -> None:
    for name in ("users", "pets", "rooms"):
        prepare(registry)  # once something was judged, what stands keeps its template
        line = {
            "type": "step",
            "episode": name,
            "tool": "sql",
            "error": True,
            "error_text": f"no such table {name}",
        }
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(line))
        scan_into(registry, [tmp_path / f"{name}.jsonl"])
    templates = sorted(record.steps[0].template for record in all_episodes(registry))
    assert templates == ["no such table <*>", "no such table <*>", "no such table users"]


def test_offsets_come_with_their_episodes_or_not_at_all(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(message(1)))

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as broken:
        broken.setattr("strategies.pool.raise_signals.detect", failing)
        with pytest.raises(RuntimeError):
            scan_into(registry, [path])
    assert not registry.log.maps()
    _, taken = scan_into(registry, [path])
    assert taken.new_episodes == 1


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_give_the_same_bytes_as_one_pass(tmp_path: Path, kind: str) -> None:
    for number in range(3):
        for sample in SAMPLES:
            name = f"{number}-{sample.name}"
            (tmp_path / name).write_bytes(sample.body.replace(b"table", b"table%d" % number))
    (tmp_path / "none.md").write_text("No log at all.")
    one_pass = scan([tmp_path], on_broken="list")
    seen: list[tuple[int, int]] = []
    processes = engine_of(EngineSettings(), processes=2).workers
    with ThreadPoolExecutor(2) if kind == "threads" else processes.started() as pool:
        many = scan([tmp_path], on_broken="list", executor=pool, progress=lambda *at: seen.append(at))
    assert [encode(record) for record in many.records] == [encode(record) for record in one_pass.records]
    assert (many.files, many.skipped, many.duplicates) == (one_pass.files, one_pass.skipped, one_pass.duplicates)
    assert seen[-1][0] == seen[-1][1] > 0


def test_zstd_is_read_in_frames_and_a_break_is_named(tmp_path: Path) -> None:
    packed = b"".join(zstandard.compress(part) for part in (CLAUDE[:300], CLAUDE[300:]))
    path = tmp_path / "s.jsonl.zst"
    path.write_bytes(packed)
    (tmp_path / "s.jsonl").write_bytes(CLAUDE)
    assert scan([path]).records[0].id == scan([tmp_path / "s.jsonl"]).records[0].id
    path.write_bytes(packed[:-20])
    assert "zstd stream is cut off" in scan([path], log_format="claude-code", on_broken="list").broken[0].message
    path.write_bytes(packed[:20] + b"\xff" * 40 + packed[60:])
    assert "damaged" in scan([path], log_format="claude-code", on_broken="list").broken[0].message


def test_usual_places_are_named_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usual_logs(tmp_path) == []
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    (tmp_path / "moved" / "sessions").mkdir(parents=True)
    assert usual_logs(tmp_path) == [("Claude Code", tmp_path / ".claude" / "projects")]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "moved"))
    assert [name for name, _ in usual_logs()] == ["Claude Code", "Codex"]


def test_state_of_a_reader_holds_no_text_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(CLAUDE + jsonl(*edit(1, "secret-before", "secret-after")[:1]))
    (offset,) = scan_on([path], {}).offsets.values()
    for text in (b"List the files", b"git status -s", b"secret-before", b"Looking."):
        assert text not in offset
    assert json.dumps("Bash:git status").encode().strip(b'"') in offset
