"""What agents did can be listed and read step by step: by command, as JSON, and on the screens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.logs.formats.mapped.mappings_in_use import IN_USE
from tests.sample_logs import jsonl
from tests.schemas import breaches
from tests.screen_pilot import screens
from tests.terminal import Terminal
from tui.text.rows import text_of
from tui.widgets.rows_view import RowsView

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9
TABLE = "no such table: 'orders of Jane Roe'"


def claude(name: str, folder: str, task: str, *, minute: int, fails: bool) -> bytes:
    """Write a session of Claude Code: a request, a query that fails or not, and an answer."""
    head = {"sessionId": name, "cwd": folder, "isSidechain": False, "version": "2.1"}

    def record(second: int, role: str, content: object, **more: object) -> dict[str, object]:
        at = f"2026-03-01T12:{minute:02}:{second:02}.000Z"
        usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 50}
        of_agent = {"model": "claude-x", "id": f"m{second}", "usage": usage} if role == "assistant" else {}
        message = {"role": role, "content": content, **of_agent}
        return {**head, "type": role, "uuid": f"{name}-{second}", "timestamp": at, "message": message, **more}

    result = {"type": "tool_result", "tool_use_id": "t1", "content": TABLE if fails else "3", "is_error": fails}
    query = {"command": f"sqlite3 shop.db 'SELECT count(*) FROM orders' # {SECRET}"}
    return jsonl(
        record(0, "user", task),
        record(1, "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": query}]),
        record(2, "user", [result]),
        record(3, "assistant", [{"type": "text", "text": "x" * 4000 + " the end"}]),
        record(4, "user", "And since when?"),
    )


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.does("init")
    for number in range(3):
        folder = "/home/ada/shop" if number else "/home/ada/site"
        task = f"Count the orders, {number}\x1b[31m, with {SECRET}\nplease"
        terminal.write(
            f"logs/s{number}.jsonl", claude(f"s{number}", folder, task, minute=number, fails=number > 1)
        )
    terminal.does("scan", "logs")
    return terminal


def listed(germline: Terminal, *words: str) -> list[str]:
    return [row["name"] for row in germline.does("sessions", *words, "--json").json["sessions"]]


def test_sessions_are_listed_newest_first_with_what_they_took(germline: Terminal) -> None:
    answer = germline.does("sessions", "--json").json
    assert not breaches(answer)
    assert [row["name"] for row in answer["sessions"]] == ["s2", "s1", "s0"]
    newest = answer["sessions"][0]
    taken = {name: newest[name] for name in ("errors", "steps", "duration_ms", "project", "outcome", "cost_usd")}
    assert taken == {
        "errors": 1,
        "steps": 4,
        "duration_ms": 4000,
        "project": "/home/ada/shop",
        "outcome": None,
        "cost_usd": None,
    }
    assert (newest["input_tokens"], newest["cached_tokens"], newest["output_tokens"]) == (2000, 1800, 100)
    assert newest["task"].startswith("Count the orders, 2")
    shown = germline.does("sessions").out
    assert shown.startswith("3 sessions known, newest first\n")
    assert "2,100" in shown
    assert not [part for part in (SECRET, "\x1b") if part in shown]


def test_sessions_are_filtered(germline: Terminal) -> None:
    newest, *_ = germline.does("sessions", "--json").json["sessions"]
    germline.does("outcome", newest["short"], "--value", "0", "--source", "user")
    assert listed(germline, "--failed") == ["s2"]
    assert listed(germline, "--unlabelled") == ["s1", "s0"]
    assert listed(germline, "--project", "shop") == ["s2", "s1"] == listed(germline, "--project", "/home/ada/shop")
    assert listed(germline, "--project", "/home/ada") == ["s2", "s1", "s0"]
    assert listed(germline, "--project", "/home/ada/sho") == []
    assert listed(germline, "--since", "2026-03-01T12:01Z") == ["s2", "s1"]
    assert listed(germline, "--format", "codex") == listed(germline, "--skill", "sql-analyst") == []
    assert listed(germline, "--limit", "1") == ["s2"]
    first = germline.does("sessions", "--limit", "1", "--project", "shop").out.splitlines()[0]
    assert first == "2 of 3 sessions ran in shop; the newest 1 are shown, 1 more with --limit 2"
    assert "✗ user" in germline.does("sessions").out


def test_no_session_is_never_silent(germline: Terminal, tmp_path: Path) -> None:
    message = germline.does("sessions", "--project", "shop", "--failed").err
    assert "none of 3 sessions ran in shop and failed: 2 ran in shop, none of these failed" in message
    assert "germline outcome ID" in message
    assert "shop, site" in germline.does("sessions", "--project", "nowhere").err
    empty = Terminal(tmp_path / "empty")
    empty.folder.mkdir()
    empty.does("init")
    assert "germline scan" in empty.does("sessions").err


def test_a_session_is_shown_step_by_step_with_its_errors_marked(germline: Terminal) -> None:
    shown = germline.does("session", "s2").out
    lines = shown.splitlines()
    assert any(line.startswith("✗    2 call     Bash:sqlite3 sqlite3 shop.db") for line in lines)
    assert f"       error    {TABLE}" in lines
    assert any(line.startswith("     4 person   And since when?") for line in lines)
    assert "characters left out" in shown
    assert "2,000 read, 1,800 of a cache, 100 written" in shown
    assert SECRET not in shown + germline.does("session", "s2", "--full", "--json").out
    assert "\x1b" not in shown
    assert "characters left out" not in germline.does("session", "s2", "--full").out


def test_only_errors_are_shown_with_what_is_around_them(germline: Terminal) -> None:
    answer = germline.does("session", "s2", "--errors", "--json").json
    assert not breaches(answer)
    assert [step["number"] for step in answer["steps"]] == [1, 2, 3]
    assert "1 step left out" in germline.does("session", "s2", "--errors").out
    assert germline.does("session", "s1", "--errors", "--json").json["steps"] == []


def test_an_id_that_names_none_or_several_is_an_error_with_the_candidates(germline: Terminal) -> None:
    ids = [row["id"] for row in germline.does("sessions", "--json").json["sessions"]]
    assert all(germline.does("session", name[:6]).out.startswith(f"session {name}\n") for name in ids)
    assert sorted(germline.does("__complete", "words", "session", "").out.split()) == sorted(
        name[:12] for name in ids
    )
    assert germline("session", "zz").code == 2
    assert germline("session", "").code == 2


def test_of_a_log_that_is_gone_or_changed_what_is_kept_is_shown(germline: Terminal) -> None:
    log = germline.folder / "logs/s2.jsonl"
    body = log.read_bytes()
    log.unlink()
    gone = germline.does("session", "s2").out
    assert "texts are not shown: its log is gone" in gone
    assert TABLE not in gone
    assert "       error    no such table: <*>" in gone
    assert "✗    2 call     Bash:sqlite3" in gone
    assert [row["task"] for row in germline.does("sessions", "--limit", "1", "--json").json["sessions"]] == [""]
    log.write_bytes(body.replace(b"Count", b"Drop!"))
    assert "its log no longer holds it as it was read" in germline.does("session", "s2").out


def test_a_text_that_was_erased_comes_back_in_no_session(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    for number in range(8):
        body = claude(
            f"s{number}", "/home/ada/shop", f"Count the visits of Jane Roe, {number}", minute=number, fails=True
        )
        germline.write(f"logs/s{number}.jsonl", body)
    germline.does("scan", "logs")
    signal = germline.does("signals", "--json").json["signals"][0]
    piece = signal["evidence"][0]
    episode = germline.does("evidence", "show", piece, "--json").json["episode"]
    assert "Jane Roe" in germline.does("session", episode).out
    germline.does("evidence", "erase", piece, "--reason", "she asked for it")
    answer = germline.does("session", episode)
    assert "a text of it was erased" in answer.out
    shown = [row for row in germline.does("sessions", "--json").json["sessions"] if row["id"] == episode]
    assert [row["task"] for row in shown] == [""]
    texts = answer.out + germline.does("session", episode, "--json", "--full").out + json.dumps(shown)
    assert not [text for text in ("Jane Roe", TABLE, "sqlite3 shop.db", "no such table") if text in texts]


async def test_the_screen_lists_sessions_and_leads_from_one_error_to_the_next(germline: Terminal) -> None:
    async with screens(germline.folder / ".germline/registry.db", "/sessions") as at:
        assert "Count the orders, 2" in at.pane("#sessions")
        assert "/home/ada/shop" in at.pane("#session")
        await at.press("f")
        assert len(at.pane("#sessions").splitlines()) == 2
        await at.press("f", "enter")
        page = at.app.screen.query_one("#page", RowsView)
        assert any(line.startswith(" ✗   2 call") for line in at.pane("#page").splitlines())
        await at.resize(60, 16)
        await at.press("n")
        assert text_of(page.row(page.scroll_offset.y)).startswith(" ✗   2 call")
        await at.press("G", "N")
        assert text_of(page.row(page.scroll_offset.y)).startswith(" ✗   2 call")
        await at.resize(120, 30)
        await at.press("escape", "7")
        assert at.app.place.view == "sessions"


def test_a_session_that_a_mapping_reads_is_shown_with_its_texts_and_the_time_of_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    mapping = 'glob = "*.jsonl"\nepisode = "run"\nprompt = "ask"\ntool = "tool"\nargument = "given"\ntime = "at"\n'
    germline.write("germline.toml", f"[logs.ours]\n{mapping}")
    call = {"run": "r1", "ask": "How many?", "tool": "sql", "given": "SELECT 7", "at": "2026-03-01T12:00:00Z"}
    germline.write("a.jsonl", jsonl(call, call))
    germline.does("scan", "a.jsonl")
    monkeypatch.delitem(IN_USE, "ours")  # as in a process that has read no settings yet
    assert "How many?" in germline.does("sessions").out
    monkeypatch.delitem(IN_USE, "ours")
    output = germline.does("session", "r1").out
    assert "SELECT 7" in output
    assert "2026-03-01 12:00" in output
    assert germline.does("session", "r1", "--json").json["session"]["at"] == "2026-03-01T12:00:00Z"


def test_a_failed_session_names_the_step_that_most_likely_decided_it(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")

    def lived(name: str, then: str, value: int) -> bytes:
        about = {"type": "episode", "episode": name, "prompt": f"Do {name}."}
        failed = {"tool": "Bash", "text": "pytest", "error": True, "error_text": "assertion failed"}
        steps = [{"type": "step", "episode": name, **step} for step in (failed, {"tool": "Bash", "text": then})]
        return jsonl(about, *steps, {"type": "outcome", "episode": name, "value": value, "source": "tests"})

    germline.write(
        "runs.jsonl", b"".join(lived(f"s{n}", "cat x" if n % 2 else "pytest", n % 2) for n in range(20))
    )
    germline.does("scan", "runs.jsonl")
    answer = germline.does("session", "s0", "--json").json
    assert not breaches(answer)
    assert answer["decided"] == {"step": 2, "same": 0, "same_sessions": 9, "other": 10, "other_sessions": 10}
    shown = germline.does("session", "s0").out
    assert "step 2, most likely: Bash:pytest after Bash:pytest (assertion failed)" in " ".join(shown.split())
    assert "◆    2 call" in shown
    assert germline.does("session", "s1", "--json").json["decided"] is None
    assert "decided" not in germline.does("session", "s1").out
