"""Tapes: replies recorded once and replayed for ever, for tests and for auditors.

A tape is a file of JSON lines: a header, then one line for each reply, with the hash of its prompt, and the reply
as the registry keeps it, without secrets. A prompt that was asked several times has several lines, in order; once
they are used up the last one answers again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from events.errors import StorageError, UsageError
from events.types.frozen import Frozen
from strategies.models.prompts import Arrived

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.models.prompts import Prompt

SCHEMA: Final = "germline/model-replay/1"


class TapeLine(Frozen):
    """One recorded reply; `reply` is the message as JSON."""

    prompt: str
    role: str
    model: str
    request_id: str
    batch: str
    reply: str


@dataclass
class Tape:
    """Recorded replies by the hash of their prompts; with `records` those it lacks are asked for and added."""

    path: Path
    records: bool
    lines: dict[str, list[TapeLine]] = field(default_factory=dict)
    _asked: Counter[str] = field(default_factory=Counter)

    @classmethod
    def open(cls, path: Path, *, record: bool = False) -> Tape:
        """Open a file to replay; with `record`, or where there is none yet, it is recorded as models are asked.

        Raises: UsageError for a file that is no tape; StorageError for one that cannot be read.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path, records=True)
        except UnicodeDecodeError as error:
            raise _no_tape(path, 1) from error
        except OSError as error:
            raise StorageError(f"{path} cannot be read: {error.strerror}", hint=f"chmod u+r {path}") from error
        return cls(path, record, _read(path, text))

    def find(self, prompt: Prompt) -> Arrived | None:
        """Return what was recorded for a prompt; None where nothing was, or where another is to be recorded."""
        known, at = self.lines.get(prompt.hash, []), self._asked[prompt.hash]
        if not known or (self.records and at >= len(known)):
            return None
        line = known[min(at, len(known) - 1)]
        self._asked[prompt.hash] += 1
        return Arrived(line.reply.encode(), line.request_id, line.batch, replayed=True)

    def add(self, prompt: Prompt, arrived: Arrived, kept: bytes) -> None:
        """Record a reply, on disk before this returns; raises StorageError where it cannot be written."""
        line = TapeLine(
            prompt=prompt.hash,
            role=prompt.role,
            model=prompt.model,
            request_id=arrived.request_id,
            batch=arrived.batch,
            reply=kept.decode(),
        )
        head = "" if self.path.exists() else json.dumps({"schema": SCHEMA}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                file.write(f"{head}{line.model_dump_json()}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from error
        self.lines.setdefault(prompt.hash, []).append(line)
        self._asked[prompt.hash] += 1


def _read(path: Path, text: str) -> dict[str, list[TapeLine]]:
    by_prompt: dict[str, list[TapeLine]] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):  # texts may hold other line ends
        try:
            if number == 1:
                _require_header(line)
                continue
            tape_line = TapeLine.model_validate_json(line)
        except (ValueError, ValidationError) as error:
            raise _no_tape(path, number) from error
        by_prompt.setdefault(tape_line.prompt, []).append(tape_line)
    return by_prompt


def _require_header(line: str) -> None:
    head = json.loads(line)
    if not isinstance(head, dict) or head.get("schema") != SCHEMA:
        raise ValueError(line)


def _no_tape(path: Path, line: int) -> UsageError:
    return UsageError(
        f"{path}, line {line}, is no recording of a model's replies",
        hint="name a file that is not there yet to record one",
    )
