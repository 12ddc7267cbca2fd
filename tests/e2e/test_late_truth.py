"""Late truth and erasure: outcomes that arrive after the log, and texts that go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.known_episodes import all_episodes
from tests.terminal import Terminal
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "4f2a9c1e" * 5


def episode(name: str, labels: dict[str, str]) -> str:
    about = {"type": "episode", "episode": name, "dataset": "d", "task": name, "labels": labels}
    step = {"type": "step", "episode": name, "tool": "sql", "text": f"SELECT {name}", "error": True}
    error_texts = ("no such table: visits", f"access denied\nasked by Ada Lovelace, {name}")
    records = [about, *({**step, "error_text": text} for text in error_texts)]
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    """Begin a registry with 40 episodes that no log gives an outcome; two of them belong to one commit."""
    germline = Terminal(tmp_path).with_skill()
    texts = [episode("e0", {"pr": "0", "commit": COMMIT[:8]}), episode("e1", {"pr": "0", "commit": COMMIT[:12]})]
    texts += [episode(f"e{number}", {}) for number in range(2, 40)]
    germline.write("logs/runs.jsonl", "".join(texts))
    germline.does("scan", "logs")
    return germline


def known(germline: Terminal) -> dict[str, tuple[float, str] | None]:
    with open_registry(germline.folder / ".germline/registry.db") as registry:
        return {
            record.name: (record.outcome.value, record.outcome.source) if record.outcome else None
            for record in all_episodes(registry)
        }


def test_an_outcome_recorded_late_counts_from_then_on(germline: Terminal) -> None:
    assert set(known(germline).values()) == {None}
    document = germline.does("outcome", "e7", "--value", "1", "--source", "ci", "--json").json
    assert (document["schema"], document["recorded"]) == ("germline/outcome/1", 1)
    assert known(germline)["e7"] == (1.0, "ci")
    germline.does("outcome", document["episodes"][0]["episode"][:14], "--value", "0", "--source", "user")
    assert known(germline)["e7"] == (0.0, "user")
    assert germline.does("signals", "--quality", "--json").json["quality"]["failed"] == 1


def test_a_commit_names_all_its_episodes_however_it_is_abbreviated(germline: Terminal) -> None:
    document = germline.does("outcome", f"commit={COMMIT}", "--value", "1", "--source", "merge", "--json").json
    assert {row["name"] for row in document["episodes"]} == {"e0", "e1"}
    assert germline.does("outcome", "pr=0", "--value", "1", "--source", "merge", "--json").json["recorded"] == 0


def test_saying_the_same_again_adds_no_event(germline: Terminal) -> None:
    words = ("outcome", "e3", "--value", "1", "--source", "ci")
    germline.does(*words)
    events = germline.events()
    assert "said so already" in germline.does(*words).out
    assert germline.events() == events


def test_a_dry_outcome_changes_nothing(germline: Terminal) -> None:
    document = germline.does("outcome", "e3", "--value", "1", "--source", "ci", "--dry-run", "--json").json
    assert [event["type"] for event in document["events"]] == ["OutcomeRecorded"]
    assert known(germline)["e3"] is None


@pytest.mark.parametrize(
    ("named", "message", "hint"),
    [("nobody", "no episode nobody", "LABEL=VALUE"), ("pr=99", "label pr=99", "commit")],
)
def test_an_episode_that_nobody_knows_is_an_error_unless_a_job_allows_it(
    germline: Terminal, named: str, message: str, hint: str
) -> None:
    answer = germline("outcome", named, "--value", "1", "--source", "ci")
    assert (answer.code, message in answer.err, hint in answer.hint) == (2, True, True)
    assert message in germline.does("outcome", named, "--value", "1", "--source", "ci", "--if-known").err


def test_an_outcome_outside_the_scale_is_refused(germline: Terminal) -> None:
    assert germline("outcome", "e1", "--value", "2", "--source", "ci").code == 2
    assert germline("outcome", "e1", "--value", "1", "--source", "gossip").code == 2


def test_a_frozen_evaluator_keeps_its_outcomes_until_a_quarter_of_its_sealed_tasks_has_news(
    germline: Terminal,
) -> None:
    where = germline.folder / ".germline/registry.db"
    with open_registry(where) as registry:
        first = prepare(registry)
        sealed = [record.name for record in first.division.sealed]
    germline.does("outcome", sealed[0], "--value", "1", "--source", "ci")
    with open_registry(where) as registry:
        waiting = prepare(registry)
        assert waiting.evaluator == first.evaluator
        assert all(record.outcome is None for record in waiting.division.sealed)
    for name in sealed[1 : 1 + len(sealed) // 4 + 1]:
        germline.does("outcome", name, "--value", "1", "--source", "ci")
    with open_registry(where) as registry:
        grown = prepare(registry)
        assert grown.evaluator != first.evaluator
        assert sum(record.outcome is not None for record in grown.division.sealed) > len(sealed) // 4
        assert prepare(registry).evaluator == grown.evaluator
    assert germline.does("verify", "--json").json["ok"]


def evidence_of(germline: Terminal, template: str) -> list[str]:
    signals = germline.does("signals", "--json").json["signals"]
    return [name for signal in signals if template in signal["template"] for name in signal["evidence"]]


def test_erased_text_and_salt_are_gone_from_the_files_and_the_chain_holds(germline: Terminal) -> None:
    names = evidence_of(germline, "access denied")
    before = shown(germline, names[0])
    assert "Ada Lovelace" in before["text"]
    assert germline.does("evidence", "erase", *names, "--reason", "Ada asked", "--json").json["final"]
    kept = stored(germline)
    assert b"Lovelace" not in kept
    assert before["hmac"].encode() not in kept
    assert germline.does("verify", "--json").json["ok"]
    piece = shown(germline, names[0])
    assert piece["erased"]["reason"] == "Ada asked"
    assert "because Ada asked" in germline.does("evidence", "show", names[0]).out


def session(number: int, name: str = "") -> str:
    """Write a session in which a call fails for somebody by name, or one in which another call works."""
    about = {"sessionId": f"s{number}", "timestamp": f"2026-01-01T00:00:{number:02}Z"}
    tool = "open_vault" if name else "open_door"
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": {"number": number}}
    tool_result = {"type": "tool_result", "tool_use_id": "t1", "is_error": bool(name)}
    tool_result["content"] = f"cannot open the vault of {name}" if name else "open"
    records = [
        {"type": "user", "uuid": "u", **about, "message": {"role": "user", "content": f"open {number}"}},
        {"type": "assistant", "uuid": "a", **about, "message": {"id": "m1", "content": [use]}},
        {"type": "user", "uuid": "r", **about, "message": {"role": "user", "content": [tool_result]}},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def visited(tmp_path: Path) -> Terminal:
    """Begin a registry with three sessions that may go on, each with an error that names a person."""
    germline = Terminal(tmp_path).with_skill()
    for number, name in enumerate(("Ada Lovelace", "Bob Stone", "Cy Young")):
        germline.write(f"logs/{number}.jsonl", session(number, name))
    germline.does("scan", "logs")
    return germline


def naming(germline: Terminal, name: str) -> list[str]:
    """Find the evidence that names a person."""
    signals = germline.does("signals", "--json").json["signals"]
    every = dict.fromkeys(piece for signal in signals for piece in signal["evidence"])
    return [piece for piece in every if name in (shown(germline, piece).get("text") or "")]


def shown(germline: Terminal, piece: str) -> dict[str, Any]:
    document: dict[str, Any] = germline.does("evidence", "show", piece, "--json").json
    return document


def stored(germline: Terminal) -> bytes:
    """Read all that the registry keeps, as it lies on disk."""
    return b"".join(path.read_bytes() for path in (germline.folder / ".germline").iterdir())


def test_erased_text_does_not_live_on_in_what_readers_remember_of_the_log(visited: Terminal) -> None:
    kept = stored(visited)
    assert (kept.count(b"Lovelace"), kept.count(b"Stone")) == (2, 2)  # the evidence, and a session that may go on
    names = naming(visited, "Lovelace")
    erasure = visited.does("evidence", "erase", *names, "--reason", "she asked", "--json").json
    assert erasure["templates"] == ["cannot open the vault of <*> <*>"]
    assert erasure["still_in"] == [f"{visited.folder}/logs/0.jsonl, line 3"]
    kept = stored(visited)
    assert (kept.count(b"Lovelace"), kept.count(b"Stone")) == (0, 2)
    assert visited.does("scan", "logs", "--json").json["unchanged"] == 3
    assert b"Lovelace" not in stored(visited)
    assert visited.does("verify", "--json").json["ok"]


def test_a_log_that_grows_after_an_erasure_is_read_anew_and_counts_nothing_twice(visited: Terminal) -> None:
    visited.does("evidence", "erase", *naming(visited, "Lovelace"), "--reason", "she asked")
    with (visited.folder / "logs/0.jsonl").open("a") as log:
        log.write(session(0, "nobody").replace('"t1"', '"t2"').replace('"m1"', '"m2"'))
    scanned = visited.does("scan", "logs", "--json").json
    assert (scanned["new_episodes"], scanned["longer_episodes"]) == (0, 1)
    assert scanned["bytes"] == (visited.folder / "logs/0.jsonl").stat().st_size
    assert b"Lovelace" not in stored(visited)


def test_a_log_that_goes_on_after_that_is_read_on_and_brings_nothing_back(visited: Terminal) -> None:
    visited.does("evidence", "erase", *naming(visited, "Lovelace"), "--reason", "she asked")
    read = []
    for number in range(2, 5):
        more = session(0, "nobody").replace('"t1"', f'"t{number}"').replace('"m1"', f'"m{number}"')
        with (visited.folder / "logs/0.jsonl").open("a") as log:
            log.write(more)
        scanned = visited.does("scan", "logs", "--json").json
        assert (scanned["new_episodes"], scanned["longer_episodes"]) == (0, 1)
        read.append(scanned["text_bytes"] == len(more))
    assert read == [False, True, True]
    assert b"Lovelace" not in stored(visited)
    assert naming(visited, "Stone")
    assert visited.does("verify", "--json").json["ok"]


def more_visits(germline: Terminal) -> None:
    """Write sessions enough to make the failing tool a signal of its own, with all its failures as evidence."""
    for number in range(3, 40):
        germline.write(f"logs/{number}.jsonl", session(number, "Bob Stone" if number < 11 else ""))
    raised = germline.does("scan", "logs", "--json").json["raised"]
    assert "tool_failure" in {signal["kind"] for signal in raised}


def test_a_record_that_was_erased_is_no_evidence_of_a_later_signal(visited: Terminal) -> None:
    visited.does("evidence", "erase", *naming(visited, "Lovelace"), "--reason", "she asked")
    more_visits(visited)
    assert naming(visited, "Cy Young")[1:]  # kept once more, for the later signal
    assert naming(visited, "Lovelace") == []


def test_pieces_that_keep_the_same_record_go_together_and_others_that_say_the_same_are_told(
    visited: Terminal,
) -> None:
    more_visits(visited)
    first, second = naming(visited, "Cy Young")
    answer = visited.does("evidence", "erase", first, "--reason", "he asked")
    assert f"erased     {second[:12]}, the same record" in answer.out
    assert "other piece" not in answer.out
    assert naming(visited, "Cy Young") == []
    stone = naming(visited, "Bob Stone")
    erasure = visited.does("evidence", "erase", stone[0], "--reason", "he asked", "--json").json
    assert set(erasure["erased"]) | set(erasure["alike"]) == set(stone)
    assert set(naming(visited, "Bob Stone")) == set(erasure["alike"])


def test_erasing_needs_a_reason_and_happens_once(germline: Terminal) -> None:
    name = evidence_of(germline, "no such table")[0]
    assert germline("evidence", "erase", name).hint.startswith(f"germline evidence erase {name} --reason")
    events = germline.events()
    assert "EvidenceErased" in germline.does("evidence", "erase", name, "--reason", "x", "--dry-run").out
    assert germline.events() == events
    germline.does("evidence", "erase", name[:20], "--reason", "a person asked")
    assert "nothing to add" in germline.does("evidence", "erase", name, "--reason", "again").out
    assert germline.events() == events + 1
    assert "because a person asked" in germline.does("evidence", "show", name).out


@pytest.mark.parametrize("named", ["ffff0000zz", ""])
def test_evidence_that_nobody_knows_is_an_error(germline: Terminal, named: str) -> None:
    assert germline("evidence", "show", named).code == 2


def test_evidence_that_vanished_without_an_event_is_found_by_verify(germline: Terminal) -> None:
    name = evidence_of(germline, "no such table")[0]
    with open_registry(germline.folder / ".germline/registry.db") as registry, registry.log.transaction():
        assert registry.log.erase_blob(name)
        assert not registry.log.erase_blob(name)
    answer = germline("verify", "--json")
    assert (answer.code, answer.json["ok"]) == (3, False)
    assert f"evidence {name} is gone" in answer.json["problems"][0]["what"]


def test_why_says_when_and_why_evidence_was_erased(learned: Terminal) -> None:
    place = f"sql-analyst:{learned.learned_line()}"
    names = [piece["id"] for piece in learned.does("why", place, "--json").json["evidence"]]
    learned.does("evidence", "erase", *names[:2], "--reason", "Ada asked")
    explanation = learned.does("why", place, "--json").json
    assert [row["id"] for row in explanation["erased"]] == names[:2]
    assert len(explanation["evidence"]) == len(names) - 2
    assert "2 pieces erased on " in learned.does("why", place).out
    assert "because Ada asked" in learned.does("why", place).out
