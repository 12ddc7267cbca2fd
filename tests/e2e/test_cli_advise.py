"""Advice: by rule and offline, with a model's reading beside it, from nothing that the gate judges on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from registry.query.signals import kept_evidence
from strategies.advice.advise import case_of, counsel
from strategies.gate.replay.evaluation_set import ground_of
from tests.anthropic_stub import AnthropicStub, declines, gives
from tests.judged_pairs import as_jsonl, with_models
from tests.terminal import MINIMAL, SPLIT_KEY, Beginning, Terminal
from tui.cli.commands_table import COMMANDS
from tui.cli.printers.advice import MEANINGS, commands_for
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

TASKS = 120
READING = {
    "rationale": "Most failures name tables that are not there.",
    "track": "skill",
    "confidence": 0.8,
    "effort": "low",
    "risk": "medium",
    "next_steps": ["List the tables first.", "See https://example.test for more."],
}


def word(number: int) -> str:
    """A word that only one task's runs ever show, in letters, so that no template masks it."""
    letters = "abcdefghij"
    return "zq" + "".join(letters[int(digit)] for digit in f"{number:03}") + "qz"


def log() -> str:
    """Runs of many tasks, three each, most of them lost to an error in words of the task's own."""
    rows: list[dict[str, Any]] = []
    for task in range(TASKS):
        for trial in range(3):
            name = f"run-{task}-{trial}"
            won = trial == 0 and task % 3 == 0
            own = " ".join(
                f"{word(task)}{part}" for part in "klmnop"
            )  # of these words a template of its own is made
            error_text = own if task % 4 == 0 else f"no such table, {word(task)} is unknown here"
            failed = {"error": not won, "error_text": "" if won else error_text}
            about = {
                "dataset": "shop",
                "task": f"t{task}",
                "run": f"trial {trial}",
                "skills": [["sql-analyst", ""]],
            }
            rows += [
                {"type": "episode", "episode": name, "prompt": f"question {word(task)}", **about},
                {"type": "step", "episode": name, "tool": "sql", "text": f"SELECT {trial}", **failed},
                {"type": "step", "episode": name, "tool": "sql", "text": "SELECT 1"},
                {"type": "outcome", "episode": name, "value": int(won)},
            ]
    return as_jsonl(rows)


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    with AnthropicStub() as server:
        yield server


@pytest.fixture
def stub(server: AnthropicStub) -> AnthropicStub:
    return server.afresh()


@pytest.fixture(scope="module")
def scanned(own_folder: Path, server: AnthropicStub) -> Beginning:
    """A skill, and the logs of its runs."""
    terminal = with_models(own_folder, server, "classifier", "judge")
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("skills/sql-analyst/SKILL.md", MINIMAL)
    terminal.does("import", "skills")
    terminal.write("runs.jsonl", log())
    terminal.does("scan", "runs.jsonl")
    return Beginning(terminal)


@pytest.fixture
def germline(scanned: Beginning, stub: AnthropicStub) -> Terminal:
    assert stub.received == []
    return scanned.again()


def words_of(germline: Terminal, *splits: str) -> set[str]:
    """The words that only runs of some splits ever show."""
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        division = ground_of(library, refresh=True).division
    names = {record.name for split in splits for record in getattr(division, split)}
    return {word(int(name.split("-")[1])) for name in names}


def test_advice_is_given_offline_without_any_model(germline: Terminal, stub: AnthropicStub) -> None:
    advice = germline.does("advise", "sql-analyst", "--json").json
    assert advice["schema"] == "germline/advise/1"
    assert advice["track"] == "knowledge"
    assert advice["figures"]["despite_skill"] == 1.0
    assert advice["model"] is None
    assert [event["type"] for event in advice["events"]] == ["AdviceGiven"]
    out = germline.does("advise", "sql-analyst").out
    assert "because" in out
    assert "▸ knowledge gap" in out
    assert out.endswith("germline knowledge add sql-analyst PATH --reason TEXT\n")
    assert max(map(len, out.splitlines())) <= 80
    assert stub.received == []


def test_only_explore_runs_are_counted(germline: Terminal) -> None:
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        division = ground_of(library, refresh=True).division
    advice = germline.does("advise", "sql-analyst", "--json").json
    assert advice["figures"]["runs"] == len(division.explore) < len(division.everything)


def test_nothing_of_sealed_or_audit_is_in_any_request_of_the_classifier(
    germline: Terminal, stub: AnthropicStub
) -> None:
    stub.script("classifier", gives(READING))
    germline.does("advise", "sql-analyst", "--model")
    germline.does("advise", "--model")
    sent = stub.texts("classifier")
    assert len(stub.asked("classifier")) == 2
    seen = words_of(germline, "explore")
    hidden = words_of(germline, "sealed", "audit")
    assert len(seen) > 30
    assert len(hidden) > 30
    assert seen.isdisjoint(hidden)
    assert sum(term in sent for term in seen) > 12
    templates = sent[sent.index("errors, by failed runs") : sent.index("evidence 1")]
    assert sum(term in templates for term in seen) > 8
    assert [term for term in hidden if term in sent] == []


def test_erasing_any_evidence_of_an_episode_erases_what_was_shown_of_it(germline: Terminal) -> None:
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        names = {name for raised in library.signals() for name in raised.event.evidence}
        episodes = {name: piece.episode for name, piece in kept_evidence(library, sorted(names)).items()}
        quotes = case_of(library, counsel(library, "sql-analyst")).quotes
    assert len(quotes) > 1
    for quote in quotes:
        assert set(quote.evidence) == {name for name in names if episodes[name] == episodes[quote.evidence[0]]}


def test_the_models_reading_stands_beside_the_rule_and_in_status(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("classifier", gives(READING))
    advice = germline.does("advise", "sql-analyst", "--model", "--json").json
    assert advice["track"] == "knowledge"
    model = advice["model"]
    assert (model["track"], model["confidence"], model["effort"], model["risk"]) == ("skill", 0.8, "low", "medium")
    assert model["cost_usd"] == pytest.approx(0.02)
    assert model["next_steps"] == READING["next_steps"]
    out = germline.does("advise", "sql-analyst", "--model").out
    assert "skill, confidence .800, effort low, risk medium" in out
    assert "1. List the tables first." in out
    assert "beware    its words hold an address" in out
    status = germline.does("status").out
    assert "advice     sql-analyst: knowledge; model: skill (.800)" in status
    (kept,) = germline.does("status", "--json").json["advice"]
    assert (kept["capsule"], kept["reading"]["track"]) == ("sql-analyst", "skill")


def test_a_models_words_never_enter_the_log(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("classifier", gives(READING))
    germline.does("advise", "sql-analyst", "--model")
    log = germline.does("log", "--json").out
    assert "AdviceGiven" in log
    assert "Most failures name tables" not in log
    germline.does("verify")


def test_the_same_advice_is_recorded_once(germline: Terminal, stub: AnthropicStub) -> None:
    before = germline.events()
    germline.does("advise", "sql-analyst")
    germline.does("advise", "sql-analyst")
    assert germline.events() == before + 1
    stub.script("classifier", gives(READING))
    germline.does("advise", "sql-analyst", "--model")
    germline.does("advise", "sql-analyst", "--model")
    germline.does("advise", "sql-analyst")
    advice = germline.does("log", "--type", "AdviceGiven", "--json").out.splitlines()
    assert len(advice) == 2
    assert len(stub.asked("classifier")) == 1  # the same question is paid for once


def test_a_dry_run_records_and_asks_nothing(germline: Terminal, stub: AnthropicStub) -> None:
    before = germline.events()
    answer = germline.does("advise", "sql-analyst", "--model", "--dry-run")
    assert "would append 1 event" in answer.out
    assert "asks no model" in answer.err
    assert stub.received == []
    assert germline.events() == before


def test_a_model_that_declines_leaves_the_log_whole_and_the_rule_still_speaks(
    germline: Terminal, stub: AnthropicStub
) -> None:
    stub.script("classifier", declines())
    answer = germline("advise", "sql-analyst", "--model")
    assert answer.code == 1
    assert "declined" in answer.err
    germline.does("verify")
    assert germline.does("advise", "sql-analyst", "--json").json["track"] == "knowledge"


def test_without_a_classifier_it_says_what_to_write(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    answer = germline("advise", "sql-analyst", "--model")
    assert (answer.code, answer.hint) == (2, 'classifier = "MODEL" under [models] in germline.toml')
    assert germline.does("advise", "sql-analyst", "--json").json["track"] == "none"


def test_an_unknown_skill_is_named_with_the_nearest(germline: Terminal) -> None:
    answer = germline("advise", "sql-analist")
    assert (answer.code, answer.hint) == (2, "did you mean sql-analyst?")


def test_named_logs_limit_what_is_looked_at(germline: Terminal) -> None:
    rows = log().splitlines(keepends=True)
    germline.write("few.jsonl", "".join(rows[: 12 * 20]))
    few = germline.does("advise", "--logs", "few.jsonl", "--json").json["figures"]["runs"]
    assert 0 < few < germline.does("advise", "--json").json["figures"]["runs"]


@pytest.mark.parametrize("track", MEANINGS)
def test_a_track_is_started_by_commands_that_exist(track: Any, tmp_path: Path) -> None:  # noqa: ANN401 - one of the tracks
    germline = Terminal(tmp_path)
    for skill in ("", "sql-analyst"):
        commands = commands_for(track, skill)
        assert commands
        for command in commands:
            program, *words = command.split()
            assert program == "germline"
            assert words[0] in COMMANDS
            named = [option for option in words if option.startswith("--")]
            group = words[:2] if words[0] in {"candidate", "export"} else words[:1]
            shown = germline.does(*group, "--help").out
            assert [option for option in named if option not in shown] == []


def test_what_a_model_is_shown_is_named_untrusted(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("classifier", gives(READING))
    germline.does("advise", "sql-analyst", "--model")
    (asked,) = stub.asked("classifier")
    text = asked.body["messages"][0]["content"][0]["text"]
    assert '<untrusted name="errors, by failed runs"' in text
    assert '<untrusted name="skill sql-analyst"' in text
    evidence = text[text.index('<untrusted name="evidence 1"') :]
    assert "\nasked\n  question zq" in evidence
    assert "\ncalled\n  sql:SELECT\n  SELECT " in evidence
    assert "\nerror\n  no such table, zq" in evidence
    assert asked.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "tools" not in asked.body
    figures = json.loads(text[text.index("{") : text.index("}") + 1])
    assert figures["failed"] > 0


def test_starting_runs_the_command_of_the_rung_and_counts_the_round(germline: Terminal) -> None:
    germline.write("tables.sql", "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed_at TEXT, status TEXT);\n")
    assert germline("advise", "--start").code == 2
    refused = germline("advise", "sql-analyst", "--start")
    assert refused.code == 2
    assert germline.does("advise", "sql-analyst", "--json").json["ladder"]["rounds"] == 0
    words = ("--", "tables.sql", "--reason", "it guesses tables")
    started = germline.does("advise", "sql-analyst", "--start", *words).out
    assert "start      germline knowledge add sql-analyst tables.sql --reason 'it guesses tables'" in started
    assert "proposed" in started
    advice = germline.does("advise", "sql-analyst", "--json").json
    assert advice["ladder"] == {"rung": "knowledge", "rounds": 1, "why": "the advice names it"}
    assert "advice: knowledge begun; knowledge" in germline.does("log", "--type", "AdviceGiven").out


def test_knowledge_that_became_live_is_known_to_the_advice(germline: Terminal) -> None:
    germline.write("tables.sql", "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed_at TEXT, status TEXT);\n")
    assert germline.does("advise", "sql-analyst", "--json").json["figures"]["corpus"] is False
    words = ("knowledge", "add", "sql-analyst", "tables.sql", "--reason", "x", "--json")
    germline.does("candidate", "approve", germline.does(*words).json["candidate"], "--reason", "y")
    advice = germline.does("advise", "sql-analyst", "--json").json
    assert advice["figures"]["corpus"] is True
    assert advice["commands"][0] == "germline knowledge check sql-analyst"
    assert advice["assessment"]["effort"] == "low"
