"""Labels in seconds: a file of them, sessions since a time, the queue, and keys on the screens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.pool.known_episodes import all_episodes
from tests.screen_pilot import screens
from tests.terminal import Beginning, Terminal
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("labelling")  # one beginning for all of them


def session(name: str, at: str) -> str:
    rows = [
        {"type": "episode", "episode": name, "prompt": f"Do {name}.", "started_at": at},
        {"type": "step", "episode": name, "tool": "Bash", "text": "pytest", "result": "1 passed in 0.1s"},
        {"type": "step", "episode": name, "kind": "message", "actor": "user", "text": "No, that is wrong."},
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture(scope="module")
def scanned(own_folder: Path) -> Beginning:
    germline = Terminal(own_folder / "labelled")
    germline.folder.mkdir()
    germline.does("init")
    germline.write("runs.jsonl", "".join(session(f"s{n}", f"2026-03-0{n + 1}T10:00:00Z") for n in range(4)))
    germline.does("scan", "runs.jsonl")
    return Beginning(germline)


@pytest.fixture
def germline(scanned: Beginning) -> Terminal:
    return scanned.again()


def known(germline: Terminal) -> dict[str, float | None]:
    with open_registry(germline.folder / ".germline/registry.db") as registry:
        return {
            episode.name: episode.outcome.value if episode.outcome else None for episode in all_episodes(registry)
        }


def test_a_file_of_labels_is_taken_in_whole(germline: Terminal) -> None:
    prefix = germline.does("sessions", "--json").json["sessions"][0]["short"]
    germline.write("labels.csv", f"\ufeffEpisode, value, source\n{prefix},bad,user\ns1,1,ci\ns2,unsure,\n")
    before = germline.events()
    rehearsed = germline.does("outcome", "--csv", "labels.csv", "--dry-run", "--json").json
    assert [event["type"] for event in rehearsed["events"]] == ["OutcomeRecorded"] * 2
    assert germline.events() == before
    assert (
        "2 sessions labelled from labels.csv: 1 good, 1 bad" in germline.does("outcome", "--csv", "labels.csv").out
    )
    assert known(germline) == {"s0": None, "s1": 1.0, "s2": None, "s3": 0.0}
    assert germline.does("outcome", "--csv", "labels.csv", "--json").json["recorded"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,verdict\ns1,1\n", "has no column episode and no column value: it begins with name, verdict"),
        ("", "it begins with –"),
        ("episode,value\ns1,1\n", "line 2: nobody says so: no source, and no --source"),
        ("episode,value,source\ns1,2,user\n", "line 2: '2' is no value from 0 to 1"),
        ("episode,value,source\ns1,nan,user\n", "line 2: 'nan' is no value from 0 to 1"),
        ("episode,value,source\n,1,user\n", "line 2: it names no episode"),
        ("episode,value,source\ns1,1,me\n", "line 2: 'me' is no source"),
        ("episode,value,source\ns1,1,user\ns9,1,user\n", "line 3: no episode s9 is known"),
        ("episode,value,source\ns1,1,user\ns1,0,user\n", "line 3: s1 is 1 in line 2"),
    ],
)
def test_a_file_with_a_mistake_is_refused_whole_and_says_where(
    germline: Terminal, text: str, message: str
) -> None:
    germline.write("labels.csv", text)
    before = germline.events()
    answer = germline("outcome", "--csv", "labels.csv")
    assert (answer.code, message in answer.err) == (2, True), answer.err
    assert germline.events() == before


def test_sessions_since_a_time_are_labelled_together(germline: Terminal) -> None:
    germline.does("outcome", "--since", "2026-03-03", "--value", "1", "--source", "user")
    assert known(germline) == {"s0": None, "s1": None, "s2": 1.0, "s3": 1.0}
    germline.does("outcome", "s3", "--since", "2026-03-03", "--value", "0", "--source", "user")
    assert known(germline)["s3"] == 0.0
    assert (
        "no session began since"
        in germline("outcome", "--since", "2030-01-01", "--value", "1", "--source", "ci").err
    )
    assert germline("outcome", "--queue", "--csv", "labels.csv").code == 2


def test_sessions_on_which_hints_disagree_are_asked_about_and_leave_the_queue_once_labelled(
    germline: Terminal,
) -> None:
    queue = germline.does("outcome", "--queue", "--json").json
    assert queue["waiting"] == 4
    assert queue["sessions"][0]["disagreeing"] == ["last_check", "last_word", "abandoned"]
    assert "disagree" in germline.does("outcome", "--queue").out
    germline.does("outcome", queue["sessions"][0]["episode"], "--value", "1", "--source", "user")
    assert germline.does("outcome", "--queue", "--json").json["waiting"] == 3


async def test_keys_on_the_screens_label_a_session_and_lead_to_the_next(germline: Terminal) -> None:
    registry = germline.folder / ".germline/registry.db"
    async with screens(registry, "/sessions") as at:
        await at.press("u")
        await at.press("i")
        await at.press("enter")
        await at.press("d")
        assert known(germline) == {"s0": None, "s1": 0.0, "s2": None, "s3": 1.0}
        await at.press("l")
        assert len(at.pane("#sessions").splitlines()) == 2
        assert "last_check, last_word, abandoned disagree" in " ".join(at.pane("#session").split())
        await at.press("u")
        await at.press("u")
        assert None not in known(germline).values()
