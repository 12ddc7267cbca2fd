"""Claude Code sessions for tests: an agent loads a skill in the ways it does, works a little, and ends."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from events.clock import rfc3339
from tests.clocks import START

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Loads = Literal["reads", "calls", "names"]
"""It reads SKILL.md, calls the Skill tool and is given the body, or calls it and the log keeps the name alone."""

REMINDER = "\n\n<system-reminder>\nWhenever you read a file, you should consider it.\n</system-reminder>\n"


def session(
    name: str, skill: str, text: str, *, loads: Loads, branch: str, minute: int, folder: str = "/s"
) -> str:
    """Write a session that loads a skill whose SKILL.md says `text`; `minute` is when it began, after START."""
    at = rfc3339(START + timedelta(minutes=minute))
    head = {"isSidechain": False, "cwd": "/w", "sessionId": name, "version": "2.0.14", "gitBranch": branch}

    def record(number: int, role: str, content: object, **more: object) -> dict[str, Any]:
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"model": "claude-sonnet-4-5", "id": f"m{number}", "stop_reason": "end_turn"}
        return {**head, "type": role, "message": message, "uuid": f"{name}-{number}", "timestamp": at, **more}

    records = [record(0, "user", f"Count the visits of {name}"), *_loading(record, skill, text, loads, folder)]
    records.append(record(9, "assistant", [{"type": "text", "text": f"There are {minute} visits."}]))
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in records)


def _loading(record: Any, skill: str, text: str, loads: Loads, folder: str) -> list[dict[str, Any]]:  # noqa: ANN401 - the function above
    path = f"{folder}/{skill}"
    tool, given, result = "Skill", {"skill": skill}, f"Launching skill: {skill}"
    if loads == "reads":
        lines = enumerate(text.splitlines(), 1)
        shown = "\n".join(f"{number:>6}→{line}" for number, line in lines)
        tool, given, result = "Read", {"file_path": f"{path}/SKILL.md"}, shown + REMINDER
    records = [
        record(1, "assistant", [{"type": "tool_use", "id": "t1", "name": tool, "input": given}]),
        record(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": result}]),
    ]
    if loads == "calls":
        body = text.split("---\n", 2)[2].lstrip("\n")
        blocks = [{"type": "text", "text": f"Base directory for this skill: {path}\n\n{body}"}]
        records.append(record(3, "user", blocks, isMeta=True))
    return records


def sessions(
    folder: Path,
    skill: str,
    text: str,
    won: Sequence[bool],
    *,
    first: int,
    loads: Sequence[Loads] = ("reads", "calls"),
    folder_of_skill: str = "/s",
) -> None:
    """Write a session for each outcome, one a minute: those that won on branch `merged`, others on `dropped`."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, good in enumerate(won, first):
        name = f"session-{number:04}"
        written = session(
            name,
            skill,
            text,
            loads=loads[number % len(loads)],
            branch="merged" if good else "dropped",
            minute=number,
            folder=folder_of_skill,
        )
        (folder / f"{name}.jsonl").write_text(written, encoding="utf-8")
