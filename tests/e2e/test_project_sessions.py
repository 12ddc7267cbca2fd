"""In a project only its own sessions are read, whichever agent wrote them; --all reads the others too."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from strategies.files.project_sessions import ProjectSessions
from tests.agent_sessions import GEMINI, PI
from tests.sample_logs import CLAUDE, CODEX
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


def sessions_of(home: Path, project: Path) -> None:
    """Write a session of each agent as it ran in a project."""
    slug = "".join(char if char.isalnum() else "-" for char in str(project))
    cwd = str(project).encode()
    digest = sha256(cwd).hexdigest().encode()
    name = project.name
    for path, body in {
        f".claude/projects/{slug}/{name}.jsonl": CLAUDE.replace(
            b'"uuid"', b'"cwd": "' + cwd + b'/sub", "uuid"'
        ).replace(b'"s1"', f'"{name}"'.encode()),
        f".codex/sessions/2026/01/{name}.jsonl": CODEX.replace(b'"/x"', b'"' + cwd + b'"').replace(
            b'"c1"', f'"c-{name}"'.encode()
        ),
        f".gemini/tmp/{name}/chats/session.jsonl": GEMINI.replace(b'"ab12"', b'"' + digest + b'"').replace(
            b'"g1"', f'"g-{name}"'.encode()
        ),
        f".pi/agent/sessions/-{slug}--/{name}.jsonl": PI.replace(b'"/x"', b'"' + cwd + b'"').replace(
            b'"p1"', f'"p-{name}"'.encode()
        ),
    }.items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)


@pytest.fixture
def germline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    home = tmp_path / "home"
    for name in ("one", "one-more", "two"):
        (tmp_path / name).mkdir()
        sessions_of(home, (tmp_path / name).resolve())
    monkeypatch.setenv("HOME", str(home))
    for moved in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(moved, raising=False)
    terminal = Terminal(tmp_path / "one", HOME=str(home))
    terminal.does("init")
    return terminal


def test_a_scan_without_a_path_reads_the_sessions_of_this_project_alone(germline: Terminal) -> None:
    answer = germline.does("scan", "--json")
    assert answer.json["episodes"] == 4
    assert "8 files of other projects left out: --all reads them" in answer.err
    more = germline.does("scan", "--all", "--json")
    assert more.json["episodes"] == 8
    assert "left out" not in more.err


def test_a_project_without_a_session_is_told_so_with_the_two_ways_on(germline: Terminal) -> None:
    other = germline.folder.with_name("empty")
    other.mkdir()
    elsewhere = Terminal(other, HOME=str(germline.folder.with_name("home")))
    elsewhere.does("init")
    refused = elsewhere("scan")
    assert refused.code == 2
    assert "no session ran in" in refused.err
    assert "left out: 12 files of other projects" in refused.err
    assert refused.hint == "germline scan --all, or germline scan PATH"


def test_paths_that_are_named_are_read_whoever_ran_there(germline: Terminal) -> None:
    logs = germline.folder.with_name("home") / ".codex" / "sessions"
    assert germline.does("scan", logs, "--json").json["episodes"] == 3


def test_a_session_that_names_no_folder_belongs_where_its_file_lies(tmp_path: Path) -> None:
    project = tmp_path / "one"
    slug = "".join(char if char.isalnum() else "-" for char in str(project.resolve()))
    for folder, belongs in ((slug, True), (f"{slug}-more", False)):
        session = tmp_path / "logs" / folder / "agent-transcripts" / "a.jsonl"
        session.parent.mkdir(parents=True)
        session.write_bytes(b'{"role": "user", "message": {"content": "Hi"}}\n')
        assert ProjectSessions(project)(session) is belongs
    assert not ProjectSessions(project)(tmp_path / "gone.jsonl")


def test_only_the_sessions_of_this_project_are_explained(germline: Terminal) -> None:
    explained = germline.does("scan", "--explain", "--json").json["explained"]
    assert len(explained) == 4
    assert all("one-more" not in session["file"] and "two" not in session["file"] for session in explained)


def test_a_folder_that_leads_up_again_is_another_project(tmp_path: Path) -> None:
    session = tmp_path / "a.jsonl"
    for folder, belongs in (("sub/..", True), ("../other", False)):
        session.write_text(f'{{"cwd": "{tmp_path.resolve()}/{folder}"}}\n')
        assert ProjectSessions(tmp_path)(session) is belongs
