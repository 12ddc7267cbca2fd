"""Evidence: bound to the bytes of a log record, which can be read again."""

from __future__ import annotations

import gzip
import hmac
import os
from typing import TYPE_CHECKING

import pytest

from registry.evidence.record import MAX_TEXT_CHARS, EvidenceRecord, LogRecord, keep, still_there
from strategies.files.reread import read_ranges

if TYPE_CHECKING:
    from pathlib import Path

SALT = "5a" * 16
LINES = [f'{{"observation": "Table {name} does not exist"}}\n'.encode() for name in ("a", "b", "c")]


def write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


@pytest.fixture(params=["run.jsonl", "run.jsonl.gz"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    write(path, b"".join(LINES))
    return path


def kept(log: Path) -> list[EvidenceRecord]:
    """Keep every line of the log as evidence, the last first."""
    records = []
    start = 0
    for number, raw in enumerate(LINES, start=1):
        records.append(LogRecord(str(log), number, start, start + len(raw), raw, raw.decode(), "e1"))
        start += len(raw)
    return [keep(record, salt=SALT) for record in reversed(records)]


def test_records_that_nobody_touched_are_still_there(log: Path) -> None:
    assert still_there(kept(log)) == (True, True, True)


def test_a_log_that_grew_still_holds_its_records(log: Path) -> None:
    evidence = kept(log)
    write(log, b"".join(LINES) + b"more\n")
    assert still_there(evidence) == (True, True, True)


def test_records_of_a_deleted_log_are_no_longer_there(log: Path) -> None:
    evidence = kept(log)
    log.unlink()
    assert still_there(evidence) == (False, False, False)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_what_is_no_file_is_not_opened_whatever_a_registry_names(tmp_path: Path, suffix: str) -> None:
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)  # opening it would wait for ever
    write(tmp_path / "run.jsonl", b"".join(LINES))
    for place in (str(pipe), "/dev/zero", "a\0b"):
        records = [record._replace(file=place, byte_end=2**40) for record in kept(tmp_path / "run.jsonl")]
        assert not any(still_there(records))
        assert not any(still_there(records, read_ranges))


def test_records_behind_a_truncation_are_no_longer_there(log: Path) -> None:
    evidence = kept(log)
    write(log, LINES[0] + LINES[1][:-3])
    assert still_there(evidence) == (False, False, True)


def test_records_of_a_rotated_log_are_no_longer_there(log: Path) -> None:
    evidence = kept(log)
    write(log, b"".join(LINES).replace(b"Table", b"Tisch"))
    assert still_there(evidence) == (False, False, False)


def test_a_changed_byte_is_noticed_in_its_own_record_only(log: Path) -> None:
    evidence = kept(log)
    write(log, b"".join([LINES[0], LINES[1].replace(b"b", b"B"), LINES[2]]))
    assert still_there(evidence) == (True, False, True)


def test_a_broken_archive_holds_nothing_that_could_be_checked(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl.gz"
    write(log, b"".join(LINES))
    evidence = kept(log)
    whole = log.read_bytes()
    for broken in (whole[:30], whole[:12] + b"\xff" * 8 + whole[20:], b"no archive"):
        log.write_bytes(broken)
        assert still_there(evidence) == (False, False, False)


def test_an_empty_record_of_a_deleted_log_is_not_still_there(tmp_path: Path) -> None:
    empty = LogRecord(str(tmp_path / "gone"), 1, 0, 0, b"", "", "e1")
    assert still_there([keep(empty, salt=SALT)]) == (False,)


def test_evidence_of_several_logs_is_answered_in_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, b"".join(LINES))
    evidence = [*kept(tmp_path / "a"), *kept(tmp_path / "b")]
    (tmp_path / "a").unlink()
    assert still_there(evidence) == (False, False, False, True, True, True)


def test_evidence_comes_back_from_its_blob(log: Path) -> None:
    pieces = kept(log)
    assert len(pieces) == len(LINES)
    assert [EvidenceRecord.from_bytes(piece.to_bytes()) for piece in pieces] == pieces


def test_the_hash_is_keyed_so_that_a_short_secret_cannot_be_guessed(log: Path) -> None:
    record = LogRecord(str(log), 1, 0, 4, b"1234", "1234", "e1")
    assert keep(record, salt=SALT).hmac != keep(record, salt="00" * 16).hmac


def test_the_hash_is_one_that_anybody_who_has_the_record_can_work_out() -> None:
    """HMAC-SHA256 of the raw bytes under the salt: evidence that was kept once must be found for ever."""
    evidence = keep(LogRecord("x", 1, 0, 4, b"1234", "1234", "e1"), salt=SALT)
    assert evidence.hmac == hmac.new(b"\x5a" * 16, b"1234", "sha256").hexdigest()


def test_secrets_are_redacted_before_the_text_is_kept() -> None:
    raw = b"export TOKEN=0123456789abcdef"
    evidence = keep(LogRecord("x", 1, 0, len(raw), raw, raw.decode(), "e1"), salt=SALT)
    assert evidence.text == "export TOKEN=[assigned-token]"
    assert b"0123456789abcdef" not in evidence.to_bytes()


def test_a_secret_that_the_cut_divides_is_still_redacted() -> None:
    text = "x " * (MAX_TEXT_CHARS // 2 - 8) + "ghp_" + "a1B2" * 9
    evidence = keep(LogRecord("x", 1, 0, 1, b"x", text, "e1"), salt=SALT)
    assert evidence.text.endswith("x [github-token]")
    longer = keep(LogRecord("x", 1, 0, 1, b"x", "xxxxxx " + text, "e1"), salt=SALT)
    assert longer.text.endswith("x [github-t")
    assert [(mark.end - mark.start) for mark in longer.redactions] == [len("[github-t")]
    assert len(longer.text) == MAX_TEXT_CHARS
