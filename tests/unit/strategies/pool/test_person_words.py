"""What a person says: kept without text, quoted where it recurs, with the steps around it, and erased for good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from registry.decide.commands import RecordFact
from registry.evidence.record import EvidenceRecord, LogRecord, keep
from registry.query.signals import reach_of
from strategies.episodes.episode import EpisodeRecord, Step
from strategies.files.log_records import Span
from strategies.logs.transcripts import Transcript, read_transcripts
from strategies.pool import person_steps, raise_signals
from strategies.pool.erase import erase_text
from strategies.pool.intake import scan_into
from strategies.pool.person_steps import words_at
from strategies.pool.person_words import PERSON_WORDS
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from events.types.registry_events import SignalRaised
    from registry.registry import Registry

DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected"
NOTE = "\n\nNote: The user's next message may say how they'd prefer you to work."


def session(folder: Path, name: str, words: str) -> None:
    """Write a session in which an agent pushes, and a person says something about that."""
    made: list[dict[str, object]] = []

    def record(role: str, content: object) -> None:
        head = {"isSidechain": False, "cwd": "/w", "sessionId": name, "version": "2.0.14", "uuid": f"{len(made)}"}
        message = {"role": role, "content": content, **({"id": f"m{len(made)}"} if role == "assistant" else {})}
        made.append({**head, "type": role, "message": message, "timestamp": f"2026-11-01T00:00:{len(made):02}Z"})

    def runs(command: str) -> None:
        used = {"type": "tool_use", "id": f"t{len(made)}", "name": "Bash", "input": {"command": command}}
        record("assistant", [used])
        record("user", [{"type": "tool_result", "tool_use_id": used["id"], "content": "done"}])

    record("user", f"Mend the {name}.")
    for command in ("git add .", "git commit -m mended", "git push origin main"):
        runs(command)
    record("user", words)
    for command in (
        "git switch -c mine",
        "git push origin mine",
        "gh pr create --body 'by ada@lovelace.org'",
        "ls",
    ):
        runs(command)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made))


def raised(registry: Registry) -> list[SignalRaised]:
    return [signal.event for signal in registry.signals() if signal.event.kind == "repeated_wish"]


def kept_of(registry: Registry, signal: SignalRaised) -> list[EvidenceRecord]:
    bodies = (registry.log.get_blob(name) for name in signal.evidence)
    return [EvidenceRecord.from_bytes(body) for body in bodies if body]


def three_wishes(registry: Registry, folder: Path) -> SignalRaised:
    for name, words in (
        ("one", "Don't push main."),
        ("two", "No! Never push to main, I said"),
        ("three", "do not push to main"),
    ):
        session(folder, name, words)
    scan_into(registry, [folder])
    (signal,) = raised(registry)
    return signal


def test_what_a_person_says_in_three_sessions_is_a_signal_with_the_steps_around_it(
    registry: Registry, tmp_path: Path
) -> None:
    signal = three_wishes(registry, tmp_path / "logs")
    assert (signal.template, signal.count, signal.episodes) == ("Don't push main", 3, 3)
    pieces = kept_of(registry, signal)
    assert len(pieces) == 3
    for kept in pieces:
        assert "push" in kept.text
        around = [(step.offset, step.about, step.text) for step in kept.around]
        assert around == [
            (-2, "Bash:git commit", "git commit -m mended"),
            (-1, "Bash:git push", "git push origin main"),
            (1, "Bash:git switch", "git switch -c mine"),
            (2, "Bash:git push", "git push origin mine"),
            (3, "Bash:gh pr", "gh pr create --body 'by [email]'"),
        ]


def test_a_session_is_read_again_once_for_its_words_its_quote_and_its_evidence(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def read_and_count(records: Sequence[EpisodeRecord], erased: frozenset[str]) -> list[Transcript | None]:
        read.extend(record.source for record in records)
        return read_transcripts(records, erased)

    for module in (person_steps, raise_signals):
        monkeypatch.setattr(module, "read_transcripts", read_and_count)
    signal = three_wishes(registry, tmp_path / "logs")
    assert len(kept_of(registry, signal)) == 3
    assert len(read) == len(set(read)) == 3


def test_a_session_that_says_it_once_more_raises_nothing_new_and_is_counted(
    registry: Registry, tmp_path: Path
) -> None:
    signal = three_wishes(registry, tmp_path / "logs")
    session(tmp_path / "logs", "four", "no push to main please, don't push main")
    scan_into(registry, [tmp_path / "logs"])
    assert raised(registry) == [signal]
    assert len(json.loads(registry.log.get_map(PERSON_WORDS) or b"")) == 4


def test_no_words_are_kept_but_in_evidence_and_the_quote(registry: Registry, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        session(tmp_path / "logs", name, "Always sign in with ghp_0123456789abcdefghijABCDEFGHIJ456789 to git")
    scan_into(registry, [tmp_path / "logs"])
    (signal,) = raised(registry)
    assert "ghp_" not in signal.template
    assert b"sign" not in (registry.log.get_map(PERSON_WORDS) or b"")
    pieces = kept_of(registry, signal)
    assert pieces
    assert not any("ghp_" in kept.text for kept in pieces)


def test_erasing_a_record_takes_the_words_that_it_is_kept_around(registry: Registry, tmp_path: Path) -> None:
    signal = three_wishes(registry, tmp_path / "logs")
    words = EvidenceRecord.from_bytes(registry.log.get_blob(signal.evidence[0]) or b"")
    step = words.around[1]
    pushed = LogRecord(words.file, step.line, step.byte_start, step.byte_end, b"", step.text, words.episode)
    name = registry.log.put_blob(keep(pushed, salt="00" * 16).to_bytes(), kind="evidence")
    registry.execute(
        RecordFact((signal.model_copy(update={"fingerprint": "f", "kind": "revert", "evidence": (name,)}),))
    )
    assert set(reach_of(registry, [name]).names) == {name, signal.evidence[0]}
    erase_text(registry, reach_of(registry, [name]).names, "it is mine")
    left = {kept.episode for kept in kept_of(registry, signal)}
    assert len(left) == len(signal.evidence) - 1
    assert json.loads(registry.log.get_map(PERSON_WORDS) or b"").keys() == left


def denied(text: str, log_format: str) -> tuple[EpisodeRecord, Step]:
    record = structs.replace(episode([call("Bash:ls")]), format=log_format)
    step = Step(
        index=0,
        turn=0,
        kind="call",
        actor="agent",
        tool="Bash",
        text="ls",
        error=True,
        error_text=text,
        span=Span(0, 1, 1),
    )
    return record, step


@pytest.mark.parametrize(
    ("log_format", "text", "reason"),
    [
        (
            "claude_code",
            f"{DENIED}. To tell you how to proceed, the user said:\nask me before you push{NOTE}",
            "ask me before you push",
        ),
        (
            "claude_code",
            f"{DENIED}. The user provided the following reason for the rejection:  not on main",
            "not on main",
        ),
        ("claude_code", "The user doesn't want to take this action right now. STOP what you are doing.", ""),
        (
            "opencode",
            "The user rejected permission to use this specific tool call with the following feedback: use pnpm",
            "use pnpm",
        ),
        ("opencode", "The user rejected permission to use this specific tool call.", ""),
        ("openhands", "do it on a branch", "do it on a branch"),
        ("openhands", "User rejected the action", ""),
    ],
)
def test_why_a_call_was_not_allowed_is_read_in_the_words_of_its_format(
    log_format: str, text: str, reason: str
) -> None:
    assert words_at(*denied(text, log_format)) == reason
