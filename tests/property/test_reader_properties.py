"""Readers meet arbitrary bytes: they may count them or name the file unreadable, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.claims.applicability import matches
from strategies.episodes.error_fingerprint import TEMPLATE_LIMIT_CHARS, normalised
from strategies.episodes.error_templates import templates_of
from strategies.files.log_file import LogFile
from strategies.files.reread import read_places, text_of
from strategies.logs.formats_table import READERS, LogReader
from strategies.logs.scan import scan
from strategies.logs.transcripts import read_transcripts
from tests.agent_sessions import SESSIONS
from tests.sample_logs import SAMPLES, Sample
from tests.trace_exports import TRACES

LOGS = SAMPLES + SESSIONS + TRACES
FAST = settings(derandomize=True, deadline=None, max_examples=60)
EACH = settings(FAST, max_examples=10)
"""For what is tried on each reader or each sample: over all of them that comes to a thousand."""


def read(body: bytes, log_format: str) -> None:
    """Scan bytes as a format, and read every place and every episode again."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "some.log")
        path.write_bytes(body)
        logs_scan = scan([path], log_format=log_format, on_broken="list")
        places = [(record.source, step.span) for record in logs_scan.records for step in record.steps]
        plain = b"".join(LogFile(path).chunks())
        for (_, span), (raw, _) in zip(places, read_places(places), strict=True):
            assert raw == plain[span.byte_start : span.byte_end]
        whole = [transcript for transcript in read_transcripts(logs_scan.records, frozenset()) if transcript]
        assert [len(transcript.steps) for transcript in whole] == [len(r.steps) for r in logs_scan.records]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@EACH
@given(body=st.binary(max_size=400))
def test_arbitrary_bytes_never_crash_a_reader(reader: LogReader, body: bytes) -> None:
    read(body, reader.name)


@pytest.mark.parametrize(
    "sample", SAMPLES + SESSIONS + TRACES, ids=lambda sample: f"{sample.format}-{sample.name}"
)
@EACH
@given(place=st.floats(0, 1), cut=st.integers(0, 40), put=st.binary(max_size=12))
def test_damaged_logs_never_crash_their_reader(sample: Sample, place: float, cut: int, put: bytes) -> None:
    start = int(place * len(sample.body))
    read(sample.body[:start] + put + sample.body[start + cut :], sample.format)


JSON_VALUES: st.SearchStrategy[object] = st.sampled_from(
    [
        *(None, True, False, 0, -1, 7, 2**63, -(10**40), 0.5, -1e300, "", " ", "x", "é\ud800", "0", "null"),
        *([], [[]], [None], ["x"], [1, "x", {}], [[["x"]], {"x": []}], [{"type": "text", "text": 1}]),
        *({}, {"": {}}, {"x": None}, {"type": "x"}, {"text": ["x"]}, {"role": "user", "content": [None]}),
        {"x": [1, {"y": "z"}]},
    ]
)


def places_in(value: object) -> list[tuple[Any, Any]]:
    """List every place inside a value, as a container and the key or index in it."""
    inner = list(value.items()) if isinstance(value, dict) else []
    inner = list(enumerate(value)) if isinstance(value, list) else inner
    return [(value, key) for key, _ in inner] + [place for _, part in inner for place in places_in(part)]


@pytest.mark.parametrize(
    "sample",
    [sample for sample in LOGS if not sample.text],
    ids=lambda sample: f"{sample.format}-{sample.name}",
)
@EACH
@given(number=st.integers(0, 200), value=JSON_VALUES)
def test_values_of_the_wrong_type_never_crash_a_reader(sample: Sample, number: int, value: object) -> None:
    records = [json.loads(line) for line in (sample.body.splitlines() if sample.lines else [sample.body])]
    places = places_in(records)[len(records) :]
    container, key = places[number % len(places)]
    container[key] = value
    read(b"\n".join(json.dumps(record).encode() for record in records), sample.format)


@FAST
@given(text=st.text(max_size=300), error_type=st.sampled_from(["", "timeout"]))
def test_any_error_text_gives_one_short_printable_line(text: str, error_type: str) -> None:
    line = normalised(text, error_type)
    assert line.isprintable()
    assert len(line) <= TEMPLATE_LIMIT_CHARS
    assert line == " ".join(line.split())


@FAST
@given(texts=st.lists(st.text(alphabet="ab: 1<*>", max_size=20).map(lambda text: " ".join(text.split()))))
def test_templates_do_not_depend_on_order_and_match_their_texts(texts: list[str]) -> None:
    templates = templates_of(texts)
    assert templates == templates_of(reversed(texts))
    assert all(matches(template, text) for text, template in templates.items())


@FAST
@given(raw=st.binary(max_size=100))
def test_any_raw_record_has_a_text(raw: bytes) -> None:
    assert isinstance(text_of(raw), str)
