"""Transcripts: episodes read again with their texts, by the readers of their formats."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard

from registry.evidence.log_paths import kept_path
from strategies.episodes.episode import Episode
from strategies.episodes.episode_records import place_key
from strategies.episodes.whole_episode import MOST_CHARS, shown_step
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats_table import reader_named
from strategies.logs.scan import scan, scan_on
from strategies.logs.transcripts import Transcript, read_transcripts
from tests.agent_sessions import SESSIONS
from tests.planted import TOKEN
from tests.plugged import plugged
from tests.sample_logs import CHAT_LINES, CLAUDE, CODEX, SAMPLES, STEPS, Sample, jsonl
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

EVERY = (*SAMPLES, *SESSIONS, *TRACES)
GROWING = tuple(sample for sample in EVERY if sample.lines or sample.text)
NOTHING = frozenset[str]()


def recorded(path: Path, body: bytes, log_format: str = "") -> tuple[EpisodeRecord, ...]:
    """Write a log, and give what is recorded of it."""
    path.write_bytes(body)
    return scan([path], log_format=log_format, on_broken="list").records


def texts(transcript: Transcript) -> str:
    """Give every text of a transcript."""
    return "\n".join(
        [transcript.task, *(text for s in transcript.steps for text in (s.text, s.result, s.error_text))]
    )


@pytest.mark.parametrize("sample", EVERY, ids=lambda sample: f"{sample.format}-{sample.name}")
@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress)])
def test_every_format_is_read_back_step_by_step(
    tmp_path: Path, sample: Sample, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    records = recorded(tmp_path / f"{sample.name}{suffix}", pack(sample.body), sample.format)
    read = read_transcripts(records, NOTHING)
    assert len(read) == sample.episodes
    for record, transcript in zip(records, read, strict=True):
        assert transcript is not None
        assert [(s.actor, s.kind, s.action, s.error) for s in transcript.steps] == [
            (s.actor, s.kind, s.action, s.error) for s in record.steps
        ]
        assert all(step.error_text or step.error_type for step in transcript.steps if step.error)


@pytest.mark.parametrize("sample", EVERY, ids=lambda sample: f"{sample.format}-{sample.name}")
def test_texts_are_those_that_a_reader_gives(tmp_path: Path, sample: Sample) -> None:
    records = recorded(tmp_path / sample.name, sample.body, sample.format)
    read = read_transcripts(records[::-1], NOTHING)[::-1]
    given = list(reader_named(sample.format).read(LogFile(tmp_path / sample.name), ReadTally()))
    assert len(given) == sample.episodes
    for transcript, episode in zip(read, given, strict=True):
        assert transcript is not None
        if isinstance(episode, Episode):
            assert transcript == Transcript(episode.prompt, tuple(map(shown_step, episode.steps)))


@pytest.mark.parametrize("sample", GROWING, ids=lambda sample: f"{sample.format}-{sample.name}")
def test_of_a_log_that_grew_nothing_is_shown_that_came_later(tmp_path: Path, sample: Sample) -> None:
    lines = sample.body.splitlines(keepends=True)
    path, shown = tmp_path / sample.name, 0
    for count in range(1, len(lines)):
        records = recorded(path, b"".join(lines[:count]), sample.format)
        path.write_bytes(sample.body)
        for record, transcript in zip(records, read_transcripts(records, NOTHING), strict=True):
            if transcript is not None:
                shown += 1
                assert len(transcript.steps) == len(record.steps)
                assert [step.error for step in transcript.steps] == [step.error for step in record.steps]
    assert shown or len(lines) == 1 or sample.replaces or sample.format == "otel"  # whose lines come in no order


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (CLAUDE, b"git status -s", b"rm -rf / -s -"),
        (CLAUDE, b"not a git repository", b"not a git repositorx"),
        (CODEX, b"pytest -q", b"pytest -x"),
        (STEPS, b"PRAGMA x", b"PRAGMA y"),
        (CHAT_LINES, b"does not add up", b"does not add uq"),
    ],
)
def test_another_text_in_its_place_is_not_shown(tmp_path: Path, body: bytes, before: bytes, after: bytes) -> None:
    first, *others = recorded(tmp_path / "log.jsonl", body)
    assert read_transcripts([first], NOTHING) != [None]
    (tmp_path / "log.jsonl").write_bytes(body.replace(before, after))
    assert read_transcripts([first], NOTHING) == [None]
    (tmp_path / "log.jsonl").unlink()
    assert read_transcripts([first, *others], NOTHING) == [None] * (1 + len(others))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    (record,) = recorded(tmp_path / "log.jsonl", CLAUDE)
    (tmp_path / "log.jsonl").unlink()
    os.mkfifo(tmp_path / "log.jsonl")
    assert read_transcripts([record], NOTHING) == [None]


def test_a_log_whose_name_is_masked_is_read_back(tmp_path: Path) -> None:
    (record,) = recorded(tmp_path / f"{TOKEN}.jsonl", CLAUDE)
    assert record.source == kept_path(str(tmp_path / f"{TOKEN}.jsonl"))
    (transcript,) = read_transcripts([record], NOTHING)
    assert transcript is not None
    assert transcript.task == "List the files"


@pytest.mark.parametrize("body", [CLAUDE, CODEX, STEPS, CHAT_LINES])
def test_an_episode_of_which_any_text_was_erased_is_not_shown(tmp_path: Path, body: bytes) -> None:
    record = recorded(tmp_path / "log.jsonl", body)[0]
    (transcript,) = read_transcripts([record], NOTHING)
    assert transcript is not None
    spans = {span for step in transcript.steps for span in (step.span, step.error_span) if span}
    for span in spans | {step.span for step in record.steps}:
        assert read_transcripts([record], {place_key(record, span)}) == [None]


def test_no_secret_is_shown_even_behind_escapes_and_at_a_cut(tmp_path: Path) -> None:
    escaped = "".join(f"\\\\u{ord(char):04x}" for char in TOKEN)
    long = "x" * (MOST_CHARS // 2 - len(TOKEN) // 2) + f" {TOKEN} " + "y" * MOST_CHARS
    line = {"type": "step", "episode": "a", "tool": "sh", "error": True, "error_text": long, "result": TOKEN}
    body = jsonl({**line, "text": "{}"}).replace(b'"{}"', f'"{{\\"key\\": \\"{escaped}\\"}}"'.encode())
    (transcript,) = read_transcripts(recorded(tmp_path / "log.jsonl", body), NOTHING)
    assert transcript is not None
    assert TOKEN[6:-6] not in texts(transcript)
    assert "github" in transcript.steps[0].text
    assert all(len(text) < MOST_CHARS + 100 for step in transcript.steps for text in (step.text, step.error_text))


def test_only_the_episodes_asked_for_are_held(tmp_path: Path) -> None:
    text = "SELECT 1; " * 2_000
    lines = [
        {"type": kind, "episode": f"e{number}", "tool": "sql", "text": f"{number} {text}", "value": 1}
        for number in range(300)
        for kind in ("step", "outcome")
    ]
    records = recorded(tmp_path / "log.jsonl", jsonl(*lines))
    tracemalloc.start()
    (transcript,) = read_transcripts([records[150]], NOTHING)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert transcript is not None
    assert transcript.steps[0].text.startswith("150 ")
    assert peak < 3_000_000 < len(text) * len(records)


def test_two_episodes_of_one_name_are_told_apart_by_their_texts(tmp_path: Path) -> None:
    lines = [
        {"type": kind, "episode": "a", "tool": "sql", "text": f"SELECT {number}", "value": number}
        for number in (0, 1)
        for kind in ("step", "outcome")
    ]
    records = recorded(tmp_path / "log.jsonl", jsonl(*lines))
    read = read_transcripts(records, NOTHING)
    assert [transcript.steps[0].text for transcript in read if transcript] == ["SELECT 0", "SELECT 1"]


def test_a_reader_of_another_package_is_asked_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with plugged(tmp_path, monkeypatch):
        records = recorded(tmp_path / "a.log", b"OURS")
        (transcript,) = read_transcripts(records, NOTHING)
        assert transcript is not None
        assert [step.action for step in transcript.steps] == ["x"]


@pytest.mark.parametrize(
    ("last", "forms"),
    [
        ({"kind": "message", "text": '{"a": 1}'}, ("json", "text")),
        ({"tool": "submit", "text": "42"}, ("number", "text")),
        ({"tool": "sql", "text": "SELECT 1"}, ()),
        ({"kind": "message", "actor": "user", "text": "42"}, ("code", "text")),
    ],
)
def test_steps_files_tell_the_forms_of_answers_in_one_reading_or_in_two(
    tmp_path: Path, last: dict[str, str], forms: tuple[str, ...]
) -> None:
    step = {"type": "step", "episode": "a"}
    before = jsonl({**step, "kind": "message", "text": "```x```"}, {**step, **last})
    path = tmp_path / "log.jsonl"
    assert [record.answer_forms for record in recorded(path, before)] == [forms]
    stored = scan_on([path], {}).offsets
    path.write_bytes(before + jsonl({"type": "outcome", "episode": "a", "value": 1}))
    assert [record.answer_forms for record in scan_on([path], stored).records] == [forms]
