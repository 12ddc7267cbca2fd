"""Inspect logs, with a stand-in for the package that reads them; the real one where it is installed."""

from __future__ import annotations

import json
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from events.errors import UnreadableLogError
from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.files.reread import read_places, read_span, text_of
from strategies.logs.formats.inspect_ai import InspectReader
from tests.inspect_stand_in import Record, archive, archive_body, json_log, stand_in

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES: list[Record] = [
    {"role": "system", "content": "policy"},
    {"role": "user", "content": "1+2?"},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I add."}],
        "tool_calls": [{"id": "k1", "function": "add", "arguments": {"x": -1}, "type": "function"}],
    },
    {
        "role": "tool",
        "tool_call_id": "k1",
        "content": "",
        "error": {"type": "timeout", "message": "it took too long: é"},
    },
    {"role": "assistant", "content": "The answer is 3."},
]
SAMPLE: Record = {
    "id": "a",
    "epoch": 2,
    "messages": MESSAGES,
    "scores": {"includes": {"value": "C"}},
    "events": [
        {"event": "state"},
        {"event": "tool", "id": "k1", "timestamp": "2026-01-01T00:00:00Z", "completed": "2026-01-01T00:00:02Z"},
    ],
    "started_at": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def inspect_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where the package would be."""
    stand_in(monkeypatch)


def read(path: Path) -> tuple[list[Episode], ReadTally]:
    tally = ReadTally()
    return list(InspectReader().read(LogFile(path), tally)), tally


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize("write", [json_log, archive])
def test_both_kinds_of_logs_are_recognised_and_tell_the_same(tmp_path: Path, write: object) -> None:
    path = json_log(tmp_path, SAMPLE) if write is json_log else archive(tmp_path, SAMPLE)
    assert InspectReader().sniff(LogFile(path).head(), str(path))
    (episode,), tally = read(path)
    assert (episode.id, episode.dataset, episode.task, episode.run) == ("a/2", "sums", "a", "model-x")
    assert (episode.outcome, episode.ended_by, episode.prompt) == (EpisodeOutcome(1.0, "reward"), "agent", "1+2?")
    assert [step.action for step in episode.steps] == ["", "", "add", "message"]
    failing = episode.steps[2]
    assert (failing.error_text, failing.duration_ms) == ("timeout: it took too long: é", 2000)
    assert (tally.records, tally.unknown, tally.malformed) == (1, {}, [])


@pytest.mark.usefixtures("inspect_ai")
def test_steps_of_a_json_log_stand_at_their_messages(tmp_path: Path) -> None:
    path = json_log(tmp_path, {**SAMPLE, "id": "b"}, SAMPLE)
    episodes = read(path)[0]
    assert len(episodes) == 2
    for episode in episodes:
        messages = [json.loads(read_span(str(path), step.span)) for step in episode.steps]
        assert messages == [MESSAGES[1], MESSAGES[2], MESSAGES[2], MESSAGES[4]]


@pytest.mark.usefixtures("inspect_ai")
def test_steps_of_an_archive_stand_at_the_member_of_their_sample(tmp_path: Path) -> None:
    path = archive(tmp_path, {**SAMPLE, "id": "b"}, SAMPLE)
    episodes = read(path)[0]
    assert len(episodes) == 2
    for episode in episodes:
        member = read_span(str(path), episode.steps[0].span)
        assert member.startswith(b"PK\x03\x04")
        assert f"samples/{episode.task}_epoch_2.json".encode() in member


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_text_of_a_step_in_an_archive_is_that_of_its_message(tmp_path: Path, method: int) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(archive_body([{**SAMPLE, "id": "b", "messages": MESSAGES[:1]}, SAMPLE], method=method))
    _, episode = read(path)[0]
    texts = [
        text for _, text in read_places([(str(path), step.error_span or step.span) for step in episode.steps])
    ]
    assert texts == ["1+2?", "I add.", "it took too long: é", "The answer is 3."]


def test_text_of_a_message_in_a_member_packed_by_zstd_is_found_too() -> None:
    packed = zstandard.compress(json.dumps(SAMPLE).encode())
    header = b"PK\x03\x04".ljust(8, b"\0") + b"\x5d".ljust(18, b"\0") + b"\x01\0\x02\0"
    assert text_of(header + b"nxx" + packed, line=2) == "1+2?"


@pytest.mark.usefixtures("inspect_ai")
def test_text_of_a_sample_that_failed_is_its_error(tmp_path: Path) -> None:
    path = archive(tmp_path, {**SAMPLE, "error": {"message": "the sandbox is gone"}})
    (episode,), _ = read(path)
    ((_, text),) = read_places([(str(path), episode.steps[-1].span)])
    assert text == "the sandbox is gone"


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize("damage", [b"\xff" * 16, b""], ids=["damaged", "packed otherwise"])
def test_archive_that_cannot_be_unpacked_any_more_says_so_instead_of_showing_bytes(
    tmp_path: Path, damage: bytes
) -> None:
    path = archive(tmp_path, SAMPLE)
    (episode,), _ = read(path)
    span = episode.steps[0].span
    body = bytearray(path.read_bytes())
    method = span.byte_start + 8
    body[method : method + 2] = b"\x63\x00" if not damage else body[method : method + 2]
    middle = (span.byte_start + span.byte_end) // 2
    body[middle : middle + len(damage)] = damage
    path.write_bytes(body)
    ((raw, text),) = read_places([(str(path), span)])
    assert raw.startswith(b"PK")
    assert text == "(packed in an archive that cannot be shown here)"


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize(
    ("score", "value"),
    [("I", 0.0), ("P", 0.5), (True, 1.0), (0.25, 0.25), (7, None), ({"a": 1}, None), ("x", None)],
)
def test_score_is_an_outcome_where_it_is_a_grade_or_lies_between_0_and_1(
    tmp_path: Path, score: object, value: float | None
) -> None:
    (episode,), tally = read(json_log(tmp_path, {**SAMPLE, "scores": {"x": {"value": score}}}))
    assert (episode.outcome and episode.outcome.value) == value
    assert bool(tally.unknown) == (value is None)


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize(
    ("change", "ended_by"),
    [
        ({"limit": {"type": "token", "limit": 10}}, "limit"),
        ({"error": {"message": "boom"}}, "environment"),
        ({"messages": MESSAGES[:3]}, "unknown"),
        ({"messages": MESSAGES[:2]}, "unknown"),
    ],
)
def test_sample_tells_who_ended_it(tmp_path: Path, change: Record, ended_by: str) -> None:
    (episode,), _ = read(json_log(tmp_path, {**SAMPLE, **change}))
    assert episode.ended_by == ended_by


@pytest.mark.usefixtures("inspect_ai")
def test_sample_of_another_shape_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    episodes, tally = read(json_log(tmp_path, {**SAMPLE, "messages": 7}, SAMPLE))
    assert (len(episodes), len(tally.malformed)) == (1, 1)


@pytest.mark.usefixtures("inspect_ai")
def test_broken_and_packed_logs_are_typed_errors(tmp_path: Path) -> None:
    broken = tmp_path / "x.json"
    broken.write_text('{"eval": ')
    with pytest.raises(UnreadableLogError, match="Inspect cannot read it"):
        read(broken)
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(UnreadableLogError, match="no packed logs"):
        read(packed)


def test_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UnreadableLogError, match="inspect_ai") as caught:
        read(json_log(tmp_path, SAMPLE))
    assert caught.value.hint == "pip install 'inspect-ai<1,>=0.3'"


def test_other_archives_and_objects_are_not_taken(tmp_path: Path) -> None:
    reader = InspectReader()
    assert not reader.sniff(b"PK\x03\x04", str(tmp_path / "x.zip"))
    assert not reader.sniff(b'{"eval": 1}', str(tmp_path / "x.json"))
