"""Reading on: however a log is cut into readings, it gives what one reading gives, and no byte is read twice."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strategies.episodes.step_records import StepDraft, text_key
from strategies.episodes.text_hash import bytes_key
from strategies.files import line_search
from strategies.files.read_offsets import PREFIX, ReadOffsets
from strategies.logs.formats import ci_job
from strategies.logs.formats.plain_text import PlainTextReader
from strategies.logs.scan_file import FileScan, ReadTask, scan_file
from tests.sample_logs import SAMPLES, Sample, jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.files.read_offsets import ReadOffset

FAST = settings(derandomize=True, deadline=None, max_examples=15)
FOLLOWED = [
    *(sample for sample in SAMPLES if sample.format in {"steps", "claude-code", "codex", "plain-text"}),
    *(sample for sample in SAMPLES if sample.name in {"talks.jsonl", "output.jsonl"}),
]
CUTS = st.lists(st.floats(0, 1), max_size=6)


def read(path: Path, log_format: str, *, earlier: ReadOffset | None = None, live: bool = True) -> FileScan:
    """Read a file as it is now, on from an earlier reading if one is given."""
    return scan_file(ReadTask(path=path, log_format=log_format, earlier=earlier, keep=True, live=live))


def going_on(path: Path, stored: bytes) -> ReadOffset | None:
    """Give the offset that the file goes on from."""
    path_and_offset = ReadOffsets({PREFIX + str(path): stored}).of(path, path.stat())
    return path_and_offset and path_and_offset[1]


def check(body: bytes, log_format: str, cuts: list[float], *, live: bool, name: str = "x.log") -> int:
    """Read a growing log at every cut, and compare with one reading of what was there each time.

    Gives how many bytes were read a second time, beside lines that were not finished.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        known: dict[str, EpisodeRecord] = {}
        stored, done, again = b"", 0, 0
        for end in sorted({*(int(cut * len(body)) for cut in cuts), len(body)}):
            path.write_bytes(body[:end])
            whole = read(path, log_format, live=live)
            reading = read(path, log_format, earlier=going_on(path, stored), live=live)
            known |= {record.name: record for record in reading.drafts}
            assert known == {record.name: record for record in whole.drafts}
            assert reading.offset == whole.offset
            again += reading.text_bytes - (end - done)
            stored, done = reading.offset, body[:end].rfind(b"\n") + 1
        return again


def codex_lines() -> st.SearchStrategy[list[dict[str, object]]]:
    """Draw the lines of a session: calls whose answers come late, in another order, twice, or never."""
    ids = st.sampled_from(["a", "b", "c"])
    edit = '{"path": "/x.py", "old_string": "%s", "new_string": "%s"}'
    shell = st.sampled_from(['{"cmd": "pytest -q"}', '{"cmd": "ls"}'])
    gave = st.sampled_from(["ok", "Error: no such table x", "1 failed in 2s"])
    words = st.sampled_from(["Do it", "No, that is wrong", "7"])
    payloads = st.one_of(
        st.builds(called, st.just("exec_command"), ids, shell),
        st.builds(called, st.just("str_replace"), ids, st.sampled_from([edit % ("1", "2"), edit % ("2", "1")])),
        st.builds(called, st.just("skill"), ids, st.just('{"name": "sql-analyst"}')),
        st.builds(answered, ids | st.just(""), gave),
        st.builds(message, st.sampled_from(["user", "assistant"]), words),
    )
    items = payloads.map(lambda payload: ("response_item", payload))
    others: list[tuple[str, dict[str, object]]] = [
        ("event_msg", {"type": "error", "message": "x"}),
        ("event_msg", {"type": "turn_aborted", "reason": "interrupted"}),
        ("session_meta", {"id": "c0", "cli_version": "2"}),
        ("turn_context", {"model": "m"}),
        ("compacted", {}),
    ]
    return st.lists(items | st.sampled_from(others), max_size=14).map(
        lambda drawn_items: [
            {"timestamp": f"2026-01-01T00:00:{number:02}Z", "type": kind, "payload": payload}
            for number, (kind, payload) in enumerate([("session_meta", {"id": "c1"}), *drawn_items])
        ]
    )


def called(name: str, call_id: str, arguments: str) -> dict[str, object]:
    return {"type": "function_call", "name": name, "call_id": call_id, "arguments": arguments}


def answered(call_id: str, output: str) -> dict[str, object]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def message(role: str, text: str) -> dict[str, object]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


PLAIN = st.lists(
    st.sampled_from(
        [
            *(
                b"",
                b"fine",
                b"ERROR x",
                b"\tat a.B.c(D.java:1)",
                b"Traceback (most recent call last):",
                b"  File x",
            ),
            *(b"ValueError: x", b"Finished: FAILURE", b"Finished: SUCCESS", b"1 passed in 0.1s", b"exit code 1"),
            *(b"2026-01-02T03:04:05Z ERROR y", b"2026-01-02T03:04:06Z all is well", b"x failed\r", b"z" * 70),
            *(b"ERROR " + b"q" * 70, b"thread 'main' panicked at src/main.rs:2:5:", b"index out of bounds"),
            *(b"\tat x\r\r", b"a.b.CError\r", b"a.b.CError\r\r", b"ERROR z\r\r", b"\r", b"y" * 63 + b"\r\r"),
        ]
    ),
    max_size=14,
).map(b"\n".join)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("sample", FOLLOWED, ids=lambda sample: sample.format)
@FAST
@given(cuts=CUTS)
def test_a_log_read_in_parts_gives_what_one_reading_gives(
    sample: Sample, cuts: list[float], *, live: bool
) -> None:
    assert check(sample.body, sample.format, cuts, live=live, name=sample.name) == 0


@pytest.mark.parametrize("sample", FOLLOWED, ids=lambda sample: sample.format)
@FAST
@given(place=st.floats(0, 1), cut=st.integers(0, 40), put=st.binary(max_size=12), cuts=CUTS)
def test_a_damaged_log_read_in_parts_gives_what_one_reading_gives(
    sample: Sample, place: float, cut: int, put: bytes, cuts: list[float]
) -> None:
    start = int(place * len(sample.body))
    body = sample.body[:start] + put + sample.body[start + cut :]
    check(body, sample.format, cuts, live=True, name=sample.name)


@pytest.mark.parametrize("live", [True, False])
@FAST
@given(lines=codex_lines(), cuts=CUTS)
def test_a_codex_session_is_the_same_wherever_it_is_cut(
    lines: list[dict[str, object]], cuts: list[float], *, live: bool
) -> None:
    assert check(jsonl(*lines), "codex", cuts, live=live) == 0


LIMITS = st.sampled_from([(10_000, 1 << 20, 1 << 18), (2, 64, 16), (3, 40, 40), (2, 20, 3)])
"""Failures in an episode, bytes in a line, in a block: as they are, and so small that short logs meet them."""

LONG_WITHIN = b"Traceback (most recent call last):\n" + b"z" * 70 + b"\n\tat a.B.c(D.java:1)\n"


@contextmanager
def limited(limits: tuple[int, int, int]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ci_job, "PART_STEPS", limits[0])
        patch.setattr(line_search, "LINE_LIMIT_BYTES", limits[1])
        patch.setattr(line_search, "BLOCK_BYTES", limits[2])
        yield


@pytest.mark.parametrize("live", [True, False])
@FAST
@given(body=PLAIN, cuts=CUTS, limits=LIMITS)
@example(
    body=LONG_WITHIN + b"\n\n\nfine\nERROR x\n\tat a.B.c(D.java:1)\n\tat a.B.c(D.java:1)\n" + b"z" * 70,
    cuts=[0.5],
    limits=(2, 64, 16),
)
@example(body=b"ERROR x\n\tat y\r\r\n\tat z", cuts=[0.8], limits=(10_000, 1 << 20, 1 << 18))
@example(body=b"ERROR x\nfine\na.b.CError\r\n\n", cuts=[0.5], limits=(2, 20, 3))
@example(body=b"ERROR x\n1 passed in 0.1s\nexit code 1\n\tat x", cuts=[0.91], limits=(2, 64, 16))
def test_a_plain_log_is_the_same_wherever_it_is_cut(
    body: bytes, cuts: list[float], limits: tuple[int, int, int], *, live: bool
) -> None:
    with limited(limits):
        assert check(body, "plain-text", cuts, live=live) == 0


@FAST
@given(body=PLAIN, limits=LIMITS)
@example(body=LONG_WITHIN, limits=(2, 64, 16))
@example(body=b"ERROR x\n\tat y\r\r\n", limits=(10_000, 1 << 20, 1 << 18))
def test_the_text_of_a_failure_is_what_its_place_says(body: bytes, limits: tuple[int, int, int]) -> None:
    with TemporaryDirectory() as folder, limited(limits):
        path = Path(folder, "x.log")
        path.write_bytes(body)
        for record in read(path, "plain-text").drafts:
            raws = [body[step.span.byte_start : step.span.byte_end] for step in record.steps]
            texts = [text for raw in raws for _, text in PlainTextReader.record_texts.answers_in(raw)]
            again = [note(text, step) for text, step in zip(texts, record.steps, strict=True)]
            assert text_key("", again) == record.text_key


def note(text: str, step: StepRecord) -> StepDraft:
    return StepDraft(step.turn, step.kind, step.actor, step.action, step.span, b"", bytes_key(text))
