"""What every reader promises, whatever its format."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from events.errors import DamagedLogError, UnreadableLogError
from strategies.files.reread import read_span
from strategies.logs import scan as scanning
from tests.agent_sessions import SESSIONS
from tests.mapped_logs import MAPPED, MAPPINGS
from tests.sample_logs import SAMPLES, Sample
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.logs.scan import Scan

pytestmark = pytest.mark.parametrize(
    "sample", SAMPLES + SESSIONS + TRACES + MAPPED, ids=lambda sample: f"{sample.format}-{sample.name}"
)


scan = partial(scanning.scan, mappings=MAPPINGS)


def written(folder: Path, sample: Sample, body: bytes) -> Path:
    path = folder / sample.name
    path.write_bytes(body)
    return path


def scanned(folder: Path, sample: Sample, body: bytes) -> Scan:
    return scan([written(folder, sample, body)], log_format=sample.format, on_broken="list")


def figures(logs_scan: Scan) -> tuple[int, int, int]:
    return len(logs_scan.records), logs_scan.steps, logs_scan.errors


def expected(sample: Sample) -> tuple[int, int, int]:
    return sample.episodes, sample.steps, sample.errors


def test_good_file_is_read_whole(tmp_path: Path, sample: Sample) -> None:
    logs_scan = scanned(tmp_path, sample, sample.body)
    assert figures(logs_scan) == expected(sample)
    assert (logs_scan.malformed, logs_scan.unknown, logs_scan.broken) == ((), {}, ())
    assert logs_scan.text_bytes == len(sample.body)


def test_format_is_recognised_by_its_own_reader(tmp_path: Path, sample: Sample) -> None:
    (file,) = scan([written(tmp_path, sample, sample.body)]).files
    assert file.format == sample.format


def test_gzip_gives_the_same_episodes(tmp_path: Path, sample: Sample) -> None:
    plain = scan([written(tmp_path, sample, sample.body)]).records
    packed = tmp_path / f"{sample.name}.gz"
    packed.write_bytes(gzip.compress(sample.body))
    assert [record.id for record in scan([packed]).records] == [record.id for record in plain]


def test_every_byte_range_read_again_is_the_record(tmp_path: Path, sample: Sample) -> None:
    lines = sample.body.split(b"\n")
    records = scanned(tmp_path, sample, sample.body).records
    assert any(record.steps for record in records)
    for record in records:
        for step in record.steps:
            raw = read_span(record.source, step.span)
            assert raw == sample.body[step.span.byte_start : step.span.byte_end]
            assert sample.body.count(b"\n", 0, step.span.byte_start) == step.span.line - 1
            if sample.text:
                assert raw.split(b"\n")[0] == lines[step.span.line - 1]
            elif sample.lines:
                line = lines[step.span.line - 1]
                assert raw == line or (sample.nested and raw in line)
            else:
                assert json.loads(raw)


def test_truncated_gzip_gives_what_came_before_and_a_typed_error(tmp_path: Path, sample: Sample) -> None:
    streamed = sample.lines or sample.text
    many = sample.body * 12 if streamed else sample.body
    packed = gzip.compress(many, compresslevel=0)
    path = tmp_path / f"{sample.name}.gz"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    logs_scan = scan([path], log_format=sample.format, on_broken="list")
    assert [type(error) for error in logs_scan.broken] == [DamagedLogError]
    assert bool(logs_scan.records) == streamed
    with pytest.raises(UnreadableLogError, match="cut off"):
        scan([path], log_format=sample.format)


def test_damaged_gzip_is_a_typed_error(tmp_path: Path, sample: Sample) -> None:
    packed = bytearray(gzip.compress(sample.body))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / f"{sample.name}.gz"
    path.write_bytes(packed)
    with pytest.raises(UnreadableLogError):
        scan([path], log_format=sample.format)


def test_file_cut_in_the_middle_loses_only_its_end(tmp_path: Path, sample: Sample) -> None:
    logs_scan = scanned(tmp_path, sample, sample.body[:-20])
    if sample.text:
        assert (logs_scan.malformed, logs_scan.broken, logs_scan.errors) == ((), (), sample.errors)
    elif sample.lines:
        assert len(logs_scan.malformed) == 1
        assert logs_scan.malformed[0].line == sample.body.count(b"\n")
    else:
        assert [type(error) for error in logs_scan.broken] == [UnreadableLogError]


def test_empty_file_is_a_log_of_nothing(tmp_path: Path, sample: Sample) -> None:
    path = written(tmp_path, sample, b"")
    assert figures(scan([path])) == (0, 0, 0)
    assert scan([path]).broken == ()


def test_wrong_encoding_is_named_not_guessed(tmp_path: Path, sample: Sample) -> None:
    path = written(tmp_path, sample, sample.body.decode().encode("utf-16"))
    with pytest.raises(UnreadableLogError, match="not a log of a known format") as caught:
        scanning.scan([path])
    assert caught.value.hint == "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE"
    forced = scan([path], log_format=sample.format, on_broken="list")
    assert forced.records == ()
    assert forced.malformed or forced.broken


@pytest.mark.parametrize("noise", [b"not json", b"\x00\x00", b"\xff\xfe", b'{"a": ', b"42", b"[" * 9000])
def test_noise_is_counted_with_its_place(tmp_path: Path, sample: Sample, noise: bytes) -> None:
    if not (sample.lines or sample.text):
        logs_scan = scanned(tmp_path, sample, sample.body + noise)
        assert [type(error) for error in logs_scan.broken] == [UnreadableLogError] or logs_scan.malformed
        return
    first, rest = sample.body.split(b"\n", 1)
    logs_scan = scanned(tmp_path, sample, first + b"\n" + noise + b"\n" + rest)
    assert figures(logs_scan) == expected(sample)
    places = [(bad.line, bad.byte_start) for bad in logs_scan.malformed]
    assert places == ([] if sample.text else [(2, len(first) + 1)])
    assert all(bad.reason for bad in logs_scan.malformed)


def with_field(sample: Sample, field: bytes) -> bytes:
    """Put a field that nobody knows before those of the first record."""
    if sample.text:
        first, rest = sample.body.split(b"\n", 1)
        return first + b"\n" + field + b"\n" + rest
    opening = sample.body.index(b"{", 1 if sample.format == "action-observation" else 0) + 1
    return sample.body[:opening] + b'"brand_new": ' + field + b", " + sample.body[opening:]


def test_unknown_fields_are_passed_over(tmp_path: Path, sample: Sample) -> None:
    logs_scan = scanned(tmp_path, sample, with_field(sample, b'[{"x": null}]'))
    assert figures(logs_scan) == expected(sample)
    assert (logs_scan.malformed, logs_scan.unknown, logs_scan.broken) == ((), {}, ())


def test_the_same_names_twice_do_not_disturb(tmp_path: Path, sample: Sample) -> None:
    streamed = sample.lines or sample.text
    body = sample.body * 2 if streamed else sample.body
    logs_scan = scanned(tmp_path, sample, body)
    assert logs_scan.broken == ()
    assert logs_scan.malformed == ()
    assert logs_scan.errors == sample.errors * (2 if streamed and not sample.replaces else 1)


def test_huge_line_is_read(tmp_path: Path, sample: Sample) -> None:
    logs_scan = scanned(tmp_path, sample, with_field(sample, b'"' + b"x" * 2_500_000 + b'"'))
    assert figures(logs_scan) == expected(sample)


def test_deep_nesting_does_not_crash(tmp_path: Path, sample: Sample) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    logs_scan = scanned(tmp_path, sample, with_field(sample, deep))
    assert bool(logs_scan.malformed or logs_scan.broken) != sample.text
