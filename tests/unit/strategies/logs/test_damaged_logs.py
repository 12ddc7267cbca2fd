"""Damaged archives: what could be unpacked counts, what is wrong is said, and what comes later is read."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
import zstandard

from events.errors import DamagedLogError
from strategies.logs.scan import scan
from strategies.pool.intake import scan_into
from strategies.pool.known_episodes import all_episodes
from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.sample_logs import CHAT, jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def padded(number: int) -> dict[str, object]:
    """Write a step that packs badly, so that a cut archive still holds some of them."""
    text = "".join(chr(97 + number * 7919 * (at + 3) ** 2 % 26) for at in range(400))
    at = f"2026-01-01T00:00:{number:02}Z"
    return {"type": "step", "episode": "one", "tool": "sql", "text": text, "started_at": at}


LINES = jsonl(*map(padded, range(40)))
PACKINGS: list[tuple[str, Callable[[bytes], bytes]]] = [(".gz", gzip.compress), (".zst", zstandard.compress)]
packed = pytest.mark.parametrize(("suffix", "pack"), PACKINGS, ids=["gzip", "zstd"])


def written(folder: Path, name: str, body: bytes) -> Path:
    path = folder / name
    path.write_bytes(body)
    return path


@packed
def test_bytes_behind_a_whole_archive_are_named_and_all_of_it_counts(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = written(tmp_path, f"a.jsonl{suffix}", pack(LINES[:-1]) + b"garbage behind it, of some length")
    logs_scan = scan([path], on_broken="list")
    assert len(logs_scan.records[0].steps) == 40  # the last line too, although it has no newline
    (broken,) = logs_scan.broken
    assert isinstance(broken, DamagedLogError)
    assert broken.message.endswith(f"stream is followed by other bytes after {len(LINES) - 1:,} bytes of text")


@packed
def test_one_document_with_bytes_behind_its_archive_is_read(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = written(tmp_path, f"a.json{suffix}", pack(CHAT) + b"\x00\x01garbage")
    ids = [record.id for record in scan([path], on_broken="list").records]
    assert ids == [record.id for record in scan([written(tmp_path, "a.json", CHAT)]).records]


@packed
def test_an_archive_that_is_cut_off_before_anything_shows_is_no_unknown_format(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = written(tmp_path, f"a.jsonl{suffix}", pack(LINES)[:14])
    for where in (path, tmp_path):
        (broken,) = scan([where], on_broken="list").broken
        assert isinstance(broken, DamagedLogError)
        assert "cut off after 0 bytes of text" in broken.message


def test_a_whole_archive_of_no_log_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "notes.gz", gzip.compress(b"nothing but words"))
    logs_scan = scan([tmp_path])
    assert (logs_scan.skipped, logs_scan.broken) == ((str(tmp_path / "notes.gz"),), ())


@packed
def test_what_a_cut_archive_held_counts_once_when_the_rest_of_it_comes(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "of").mkdir()
    registry = new_registry(tmp_path / "of", TickingClock())
    whole = b"".join(pack(LINES[start : start + 4_000]) for start in range(0, len(LINES), 4_000))
    path = written(tmp_path, f"a.jsonl{suffix}", whole[: len(whole) // 2])
    logs_scan, taken = scan_into(registry, [path])
    (half,) = all_episodes(registry)
    assert (len(logs_scan.broken), taken.new_episodes) == (1, 1)
    assert 5 < len(half.steps) < 40
    path.write_bytes(whole)
    logs_scan, taken = scan_into(registry, [path])
    (all_of_it,) = all_episodes(registry)
    assert (logs_scan.broken, taken.new_episodes, taken.longer, len(all_of_it.steps)) == ((), 0, 1, 40)


@pytest.mark.parametrize("name", ["evaluation.py", "SKILL.md", "notes.rst", "page.html", "x.py.gz"])
def test_sources_and_texts_for_people_are_no_logs_whatever_they_quote(tmp_path: Path, name: str) -> None:
    quoting = b"2026-01-01 00:00:00 ERROR it broke\n" * 60 + b'{"role": "user", "content": "x"}\n'
    path = written(tmp_path, name, gzip.compress(quoting) if name.endswith(".gz") else quoting)
    assert scan([tmp_path]).skipped == (str(path),)
    assert "not a log" in scan([path], on_broken="list").broken[0].message
    assert scan([path], log_format="plain-text").records[0].steps
    written(tmp_path, "app.txt", quoting)
    assert len(scan([tmp_path]).records) == 1
