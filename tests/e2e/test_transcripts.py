"""What stands around a record of a log: shown where a person asks for it, gone once a text of it was erased."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strategies.episodes.episode_records import decode
from strategies.models.transcript_text import transcripts
from tests.screen_pilot import screens
from tests.terminal import Terminal
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ("Ada Lovelace", "Bob Stone", "Cy Young")
SAID = "no, look into the cellar"


def error(name: str) -> str:
    return f"cannot open the vault of {name}"


def claude_code(number: int, name: str) -> str:
    use = {"type": "tool_use", "id": "t", "name": "open_vault", "input": {"number": number}}
    gave = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": error(name)}
    contents: list[tuple[str, Any]] = [
        ("user", f"open {number}"),
        ("assistant", [use]),
        ("user", [gave]),
        ("user", SAID),
    ]
    return "".join(
        json.dumps(
            {
                "type": role,
                "uuid": f"u{at}",
                "sessionId": f"s{number}",
                "timestamp": f"2026-01-01T00:00:0{at}Z",
                "message": {"role": role, "id": f"m{at}", "content": content},
            }
        )
        + "\n"
        for at, (role, content) in enumerate(contents)
    )


def codex(number: int, name: str) -> str:
    def text(words: str) -> dict[str, Any]:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}

    failed = f"Process exited with code 1\nOutput:\n{error(name)}"
    items: list[dict[str, Any]] = [
        text(f"open {number}"),
        {"type": "function_call", "name": "open_vault", "arguments": f'{{"number": {number}}}', "call_id": "k"},
        {"type": "function_call_output", "call_id": "k", "output": failed},
        text(SAID),
    ]
    meta = {
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "session_meta",
        "payload": {"id": f"c{number}", "cwd": "/x"},
    }
    lines = [{"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": item} for item in items]
    return "".join(json.dumps(line) + "\n" for line in (meta, *lines))


def chat(number: int, name: str) -> str:
    use = {
        "id": "k",
        "type": "function",
        "function": {"name": "open_vault", "arguments": f'{{"number": {number}}}'},
    }
    messages = [
        {"role": "user", "content": f"open {number}"},
        {"role": "assistant", "content": None, "tool_calls": [use]},
        {"role": "tool", "tool_call_id": "k", "content": f"Error: {error(name)}"},
        {"role": "user", "content": SAID},
    ]
    return json.dumps({"task_id": f"t{number}", "messages": messages}) + "\n"


WRITERS = pytest.mark.parametrize("write", [claude_code, codex, chat])


def scanned(folder: Path, write: Callable[[int, str], str]) -> Terminal:
    """Begin a registry with three sessions in which the same call fails, with an error that names a person."""
    germline = Terminal(folder).with_skill()
    for number, name in enumerate(NAMES):
        germline.write(f"logs/{number}.jsonl", write(number, name))
    germline.does("scan", "logs")
    return germline


def pieces(germline: Terminal) -> dict[str, dict[str, Any]]:
    """Show every piece of evidence, by its id."""
    signals = germline.does("signals", "--json").json["signals"]
    names = dict.fromkeys(piece for signal in signals for piece in signal["evidence"])
    return {name: germline.does("evidence", "show", name, "--json").json for name in names}


@WRITERS
def test_evidence_is_shown_with_request_call_and_the_next_words(
    tmp_path: Path, write: Callable[[int, str], str]
) -> None:
    germline = scanned(tmp_path, write)
    name, piece = next((name, piece) for name, piece in pieces(germline).items() if "Lovelace" in piece["text"])
    assert error(NAMES[0]) in piece["text"]
    assert "{" not in piece["text"]
    context = piece["context"]
    assert (context["asked"], context["action"], context["replied"]) == ("open 0", "open_vault", SAID)
    assert json.loads(context["argument"]) == {"number": 0}
    assert (error(NAMES[0]) in context["answer"], context["failed"]) == (True, True)
    out = germline.does("evidence", "show", name).out
    assert out.count(error(NAMES[0])) == 1
    for line in ("asked      open 0\n", "called     open_vault\n", f"replied    {SAID}\n"):
        assert line in out
    (germline.folder / "logs/0.jsonl").unlink()
    assert "context" not in germline.does("evidence", "show", name, "--json").json
    assert "asked" not in germline.does("evidence", "show", name).out


@WRITERS
def test_an_erased_text_comes_back_through_no_transcript(tmp_path: Path, write: Callable[[int, str], str]) -> None:
    germline = scanned(tmp_path, write)
    of_ada = [name for name, piece in pieces(germline).items() if "Lovelace" in piece["text"]]
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        records = [decode(stored.body) for stored in library.log.episodes()]
        before = transcripts(library, records, 6_000)
    assert sum("Lovelace" in shown.text for shown in before if shown) == 1
    germline.does("evidence", "erase", *of_ada, "--reason", "Ada asked")
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        after = transcripts(library, records, 6_000)
    assert [shown is None for shown in after] == ["Lovelace" in shown.text for shown in before if shown]
    assert "Lovelace" not in json.dumps(list(pieces(germline).values()))
    germline.does("scan", "logs")
    assert "Lovelace" not in json.dumps(list(pieces(germline).values()))


async def test_the_page_of_all_evidence_shows_what_stands_around_each_record(tmp_path: Path) -> None:
    germline = scanned(tmp_path, claude_code)
    async with screens(germline.folder / ".germline" / "registry.db", "/signals") as at:
        await at.press("down", "down", "e")  # the error, after what a person had to deal with
        page = at.pane("#page")
    for number, name in enumerate(NAMES):
        assert error(name) in page
        assert f"asked    open {number}" in page
        assert f'{{"number": {number}}}' in page
    assert page.count(SAID) == len(NAMES)
