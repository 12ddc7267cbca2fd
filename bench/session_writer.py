"""Makes Claude Code session files of any size from recorded texts, and counts what it puts into them.

Records have the real shape and order of version 2.1: the envelope that every record carries, usage, thinking with
its signature, and the `toolUseResult` beside a result, which says most of it a second time. The texts are real
ones: commands and what they printed (SWE-agent), queries with their rows and errors (InterCode), tool calls of an
airline agent (tau-bench), and files as they are read and edited (the recorded skills).
"""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAILING_SHARE: Final = 0.025
"""Failing calls of all calls: 2–3 % is what the claim of speed is about; real logs have up to ten times that."""

SESSION_BYTES: Final = 8 * 1000 * 1000
"""A long day's session: each is a file of its own, as Claude Code writes them."""

_START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

Body = dict[str, Any]


@dataclass(frozen=True)
class Written:
    """What stands in the files: the generator's own count, which a reader is measured against."""

    files: tuple[Path, ...]
    size_bytes: int
    records: int
    calls: int
    failing: frozenset[tuple[str, int]]
    """The session and line of every failing result."""


@dataclass(frozen=True)
class Exchange:
    """One call with its answer: `structured` is what stands beside it as `toolUseResult`."""

    tool: str
    given: Body
    answer: str
    structured: object


@dataclass(frozen=True)
class Texts:
    """Recorded texts, by what they become."""

    commands: list[tuple[str, str]] = field(default_factory=list)
    queries: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    tools: list[tuple[str, Body, str]] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)


def recorded_texts(folder: Path) -> Texts:
    """Read the texts out of the recorded data."""
    texts = Texts()
    for path in sorted(folder.glob("intercode_sql/*.json.gz")):
        for run in list(json.loads(gzip.decompress(path.read_bytes())).values())[:200]:
            _take_queries(run, texts)
    for path in folder.glob("tau_bench_airline/*.gz"):
        for run in json.loads(gzip.decompress(path.read_bytes())):
            _take_calls(run["traj"], texts)
    for path in sorted(folder.glob("swe_agent/*.traj")):
        for turn in json.loads(path.read_bytes()).get("trajectory", ()):
            texts.commands.append((turn["action"], turn["observation"]))
            texts.thoughts.append(turn["thought"])
    for path in sorted(folder.glob("skills/**/*.*")):
        if path.suffix in {".md", ".py", ".sh"} and path.stat().st_size:
            texts.files.append((f"/home/dev/project/{path.relative_to(folder)}", path.read_text()))
    return texts


def _take_queries(run: Body, texts: Texts) -> None:
    history = run["turn_history"]
    texts.prompts.append(run["query"])
    for action, seen in zip(history["actions"], history["observations"], strict=False):
        if seen.startswith("Error"):
            texts.errors.append(seen)
        else:
            texts.queries.append((action, seen))


def _take_calls(talk: list[Body], texts: Texts) -> None:
    for turn, answer in itertools.pairwise(talk):
        for call in (turn.get("tool_calls") or [])[:1]:
            asked = call["function"]
            if answer["content"].startswith("Error"):
                texts.errors.append(answer["content"])
            else:
                texts.tools.append((asked["name"], json.loads(asked["arguments"]), answer["content"]))
        if turn["role"] == "assistant" and turn.get("content"):
            texts.thoughts.append(turn["content"])


class SessionWriter:
    """Writes one session after the other; the same seed gives the same bytes."""

    def __init__(self, texts: Texts, seed: int) -> None:
        self._texts = texts
        self._random = Random(seed)
        self._failing = set[tuple[str, int]]()
        self._calls = self._records = self._line = 0
        self._session = self._prompt = self._last = ""
        self._at = _START

    def write(self, folder: Path, size_bytes: int, *, session_bytes: int = SESSION_BYTES) -> Written:
        """Fill a folder with sessions until it holds at least so many bytes; a session has one request or more."""
        files: list[Path] = []
        done = 0
        while done < size_bytes:
            self._session, self._last, self._line = self._uuid(), "", 0
            path = folder / f"{self._session}.jsonl"
            with path.open("wb") as file:
                size = 0
                while size < session_bytes and done + size < size_bytes:
                    size += file.write(b"".join(self._lines()))
            files.append(path)
            done += size
        return Written(tuple(files), done, self._records, self._calls, frozenset(self._failing))

    def _lines(self) -> Iterator[bytes]:
        """Give one request of the user with the twenty calls that follow it."""
        pick = self._random.choice
        self._prompt = self._uuid()
        yield self._user({"role": "user", "content": pick(self._texts.prompts)})
        yield self._line_of(
            {"type": "file-history-snapshot", "messageId": self._uuid(), "isSnapshotUpdate": False}
        )
        for _ in range(20):
            exchange = self._exchange()
            call_id, turn = f"toolu_{self._noise(24)}", f"msg_{self._noise(24)}"
            thought = {"type": "thinking", "thinking": pick(self._texts.thoughts), "signature": self._noise(400)}
            if self._random.random() < 0.3:
                yield self._assistant(turn, thought)
            if self._random.random() < 0.3:
                yield self._assistant(turn, {"type": "text", "text": pick(self._texts.thoughts)})
            yield self._assistant(
                turn, {"type": "tool_use", "id": call_id, "name": exchange.tool, "input": exchange.given}
            )
            yield self._answer(call_id, exchange)
        closing = f'{pick(self._texts.thoughts)} (the log says "is_error":true)'  # a quoted mark is no failure
        yield self._assistant(f"msg_{self._noise(24)}", {"type": "text", "text": closing}, stop="end_turn")

    def _answer(self, call_id: str, exchange: Exchange) -> bytes:
        self._calls += 1
        result: Body = {"tool_use_id": call_id, "type": "tool_result", "content": exchange.answer}
        if self._random.random() >= FAILING_SHARE:
            return self._user({"role": "user", "content": [result]}, toolUseResult=exchange.structured)
        error = self._random.choice(self._texts.errors)
        result |= {"content": error, "is_error": True}
        line = self._user({"role": "user", "content": [result]}, toolUseResult=f"Error: {error}")
        self._failing.add((self._session, self._line))
        return line

    def _exchange(self) -> Exchange:
        kind = self._random.random()
        # Shares of the tools in coding sessions: a guess, with reading before running before editing.
        if kind < 0.35:
            return self._read()
        if kind < 0.85:
            return self._bash() if kind < 0.65 else self._edit()
        tool, given, answer = self._random.choice(self._texts.tools)
        return Exchange(f"mcp__airline__{tool}", given, answer, [{"type": "text", "text": answer}])

    def _bash(self) -> Exchange:
        command, output = self._random.choice(
            self._texts.commands if self._random.random() < 0.5 else self._texts.queries
        )
        given = {"command": command, "description": command[:40]}
        shown = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return Exchange("Bash", given, output, shown)

    def _read(self) -> Exchange:
        path, text = self._random.choice(self._texts.files)
        lines = text.splitlines()
        # Half of the reads take the whole file, as the tool does unless it is told a part.
        whole = self._random.random() < 0.5
        start = 0 if whole else self._random.randrange(len(lines))
        part = lines if whole else lines[start : start + 120]
        answer = "\n".join(f"{number:6}→{line}" for number, line in enumerate(part, start + 1))
        file = {"filePath": path, "content": "\n".join(part), "numLines": len(part), "startLine": start + 1}
        given = {"file_path": path} if whole else {"file_path": path, "offset": start + 1, "limit": 120}
        return Exchange("Read", given, answer, {"type": "text", "file": file | {"totalLines": len(lines)}})

    def _edit(self) -> Exchange:
        path, text = self._random.choice(self._texts.files)
        lines = text.splitlines()
        start = self._random.randrange(len(lines))
        old, new = "\n".join(lines[start : start + 6]), "\n".join(lines[start : start + 8][::-1])
        given = {"file_path": path, "old_string": old, "new_string": new}
        answer = f"The file {path} has been updated. Here's the result:\n{new}"
        names = {"filePath": path, "oldString": old, "newString": new, "originalFile": text}
        return Exchange("Edit", given, answer, names | {"structuredPatch": [], "userModified": False})

    def _assistant(self, turn: str, block: Body, *, stop: str | None = None) -> bytes:
        count = self._random.randrange
        usage = {
            "input_tokens": count(10),
            "cache_creation_input_tokens": count(9000),
            "cache_read_input_tokens": count(150_000),
            "cache_creation": {"ephemeral_5m_input_tokens": count(9000), "ephemeral_1h_input_tokens": 0},
            "output_tokens": count(900),
            "service_tier": "standard",
        }
        message = {
            "model": "claude-sonnet-4-5-20250929",
            "id": turn,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop or ("tool_use" if block["type"] == "tool_use" else None),
            "stop_sequence": None,
            "usage": usage,
        }
        return self._enveloped({"message": message, "requestId": f"req_{self._noise(24)}", "type": "assistant"})

    def _user(self, message: Body, **beside: object) -> bytes:
        return self._enveloped({"promptId": self._prompt, "type": "user", "message": message}, **beside)

    def _enveloped(self, more: Body, **beside_message: object) -> bytes:
        own = self._uuid()
        self._at += timedelta(milliseconds=self._random.randrange(20_000))
        place = {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/home/dev/project",
            "sessionId": self._session,
            "version": "2.1.128",
            "gitBranch": "main",
        }
        links = {"parentUuid": self._last or None, "isSidechain": False}
        at = self._at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._at.microsecond // 1000:03}Z"
        beside = {"sourceToolAssistantUUID": self._last, **place} if "toolUseResult" in beside_message else place
        self._last = own
        return self._line_of(links | more | {"uuid": own, "timestamp": at} | beside_message | beside)

    def _line_of(self, record: Body) -> bytes:
        self._records += 1
        self._line += 1
        return msgspec.json.encode(record) + b"\n"

    def _uuid(self) -> str:
        hexed = f"{self._random.getrandbits(128):032x}"
        return "-".join((hexed[:8], hexed[8:12], hexed[12:16], hexed[16:20], hexed[20:]))

    def _noise(self, length: int) -> str:
        return "".join(self._random.choices(_BASE64, k=length))
