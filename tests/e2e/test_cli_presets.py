"""Presets at the command line: one's own, the one that `auto` chooses, and what each would pick."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.decide.commands import RecordFact
from tests.kinds_of_work import BREAD, log_of
from tests.terminal import Terminal, recordings
from tui.session.open_registry import open_registry

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "presets" / "release-week.toml"
CAREFUL = recordings() / "careful.jsonl.gz"
"""Enough of them where nothing is promoted."""


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path).with_skill()


def test_a_preset_of_ones_own_is_defined_listed_shown_and_used(germline: Terminal) -> None:
    events = germline.events()
    dry = germline.does("preset", "define", EXAMPLE, "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["PresetDefined"]
    assert germline.events() == events
    defined = germline.does("preset", "define", EXAMPLE, "--json").json
    assert (defined["preset"]["name"], defined["times"]) == ("release-week", 1)
    assert "is defined so already" in germline.does("preset", "define", EXAMPLE).out
    listed = germline.does("preset", "list", "--json").json["presets"]
    assert [row["name"] for row in listed if row["own"]] == ["release-week"]
    assert germline.does("preset", "show", "release-week", "--toml").out == EXAMPLE.read_text(encoding="utf-8")
    germline.does("preset", "use", "release-week", "--reason", "release on Friday")
    assert germline.does("status", "--json").json["preset"] == "release-week"
    assert "▸ release-week" in germline.does("preset", "list").out


def test_defining_a_preset_again_keeps_its_history(germline: Terminal) -> None:
    germline.does("preset", "define", EXAMPLE)
    germline.does("preset", "use", "release-week", "--reason", "r")
    text = EXAMPLE.read_text(encoding="utf-8").replace("alpha = 0.002", "alpha = 0.001")
    again = germline.does("preset", "define", germline.write("again.toml", text)).out
    assert "for the 2. time; it is in force" in again
    shown = germline.does("preset", "show", "release-week", "--json").json
    assert shown["preset"]["alpha"] == 0.001
    assert [entry["definition"] for entry in shown["defined"]] == [EXAMPLE.read_text(encoding="utf-8"), text]
    assert germline.does("log", "--type", "PresetDefined", "--json").out.count("\n") == 2


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("alpha = 0.002|alpha = 0.2", "at most 0.01", "never looser"),
        ('"release-week"|"balanced"', "germline's own", "a name of its own"),
        ("floor = 1|flor = 1", "flor is no part", "floor"),
    ],
)
def test_what_is_no_preset_is_refused_and_nothing_is_written(
    germline: Terminal, text: str, message: str, hint: str
) -> None:
    old, _, new = text.partition("|")
    file = germline.write("own.toml", EXAMPLE.read_text(encoding="utf-8").replace(old, new))
    events = germline.events()
    answer = germline("preset", "define", file)
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.hint
    assert germline.events() == events


def test_a_file_that_is_no_text_or_not_there_is_told(germline: Terminal) -> None:
    assert germline("preset", "define", germline.write("own.toml", b"\xff\xfe")).code == 2
    answer = germline("preset", "define", "none.toml")
    assert answer.code == 2
    assert "no such file" in answer.err


def test_the_answer_for_scripts_that_a_preset_is_not_there_steers_no_terminal(germline: Terminal) -> None:
    name = "careful\u202e\x9b2J"
    refused = germline("preset", "preview", name, "--json").err
    assert name not in refused
    assert "\u202e" not in refused
    assert "\x9b" not in refused
    assert name in json.loads(refused)["error"]


def test_germlines_own_presets_are_shown_without_a_registry(tmp_path: Path) -> None:
    bare = Terminal(tmp_path)
    assert "harden 60 %" in bare.does("preset", "show", "harden").out
    assert 'name = "harden"' in bare.does("preset", "show", "harden", "--toml").out


def test_auto_says_which_preset_it_chose_and_why(germline: Terminal) -> None:
    used = germline.does("preset", "use", "auto", "--reason", "let it decide").out
    assert "balanced → auto" in used
    assert "early-stabilize: 0 of the first 10 cycles are done" in used
    status = germline.does("status", "--json").json
    assert status["preset"] == "auto"
    assert status["auto"] == {"preset": "early-stabilize", "because": "0 of the first 10 cycles are done"}
    assert "auto, now early-stabilize" in germline.does("status").out
    assert germline.does("preset", "list", "--json").json["auto"]["in_force"]
    assert "now early-stabilize" in germline.does("preset", "show", "auto").out


def test_init_may_begin_with_auto(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--preset", "auto")
    assert germline.does("status", "--json").json["auto"]["preset"] == "early-stabilize"


def test_a_run_under_auto_records_the_preset_that_bound_and_why(learned: Terminal) -> None:
    words = ("evolve", "sql-analyst", "--preset", "auto", "--logs", CAREFUL, "--cycles", "3", "--seed", "7")
    run = learned.does(*words, "--json").json
    assert run["preset"] == "auto"
    assert run["auto"]["preset"] == "early-stabilize"
    assert {cycle["preset"] for cycle in run["cycles"]} == {"early-stabilize"}
    new = [cycle for cycle in run["cycles"] if not cycle["remembered"]]
    log = learned.does("log", "--type", "CycleFinished", "--limit", str(len(new)), "--json").out.splitlines()
    assert len(log) == len(new) > 0
    finished = learned.does(*words, "--dry-run", "--json").json
    assert all(event["type"] != "CandidatePromoted" for event in finished["events"])
    assert "auto chose early-stabilize: " in learned.does(*words).out


def test_a_preview_says_what_is_owed_and_what_another_preset_would_pick(learned: Terminal) -> None:
    events = learned.events()
    preview = learned.does("preset", "preview", "repair-only", "--skill", "sql-analyst", "--json").json
    now, other = preview["presets"]
    assert (now["preset"], other["preset"]) == ("balanced", "repair-only")
    assert {pick["strategy"] for pick in other["picks"]} == {"repair"}
    assert not any(pick["differs"] for pick in now["picks"])
    for pick in now["picks"]:
        assert pick["owed"][pick["strategy"]] == max(pick["owed"].values())
        assert pick["waiting"][pick["strategy"]] >= 1
        assert pick["skill"] == "sql-analyst"
    kinds = [[pick["strategy"] for pick in preset["picks"]] for preset in (now, other)]
    differing = [at for at, pick in enumerate(other["picks"]) if pick["differs"]]
    assert all(at in differing for at, (first, second) in enumerate(zip(*kinds, strict=False)) if first != second)
    output = learned.does("preset", "preview", "repair-only", "--skill", "sql-analyst").out
    assert "balanced, in force" in output
    assert "\n≠" in output
    assert "germline preset use repair-only" in output
    assert learned.events() == events


def test_a_preview_without_a_name_is_of_the_preset_in_force_and_names_what_has_no_way(learned: Terminal) -> None:
    learned.write("bread.jsonl", log_of(BREAD, tasks=10))
    learned.does("scan", "bread.jsonl")
    preview = learned.does("preset", "preview", "--json", "--cycles", "2").json
    (only,) = preview["presets"]
    assert len(only["picks"]) <= 2
    output = learned.does("preset", "preview").out
    assert preview["unrouted"]
    assert "of no skill: germline signals assign FINGERPRINT SKILL" in output


def test_what_a_preview_says_is_what_evolve_then_picks(learned: Terminal) -> None:
    picks = learned.does("preset", "preview", "--skill", "sql-analyst", "--cycles", "2", "--json").json["presets"]
    run = learned.does("evolve", "sql-analyst", "--cycles", "2", "--dry-run", "--json").json
    assert [cycle["signal"]["fingerprint"] for cycle in run["cycles"]] == [
        pick["signal"]["fingerprint"] for pick in picks[0]["picks"]
    ]
    assert [cycle["pick"]["owed"] for cycle in run["cycles"]] == [pick["owed"] for pick in picks[0]["picks"]]


def test_the_next_command_of_a_preview_of_one_skill_is_a_run_for_that_skill(learned: Terminal) -> None:
    assert learned.does("preset", "preview", "--skill", "git-helper").out.endswith("germline evolve git-helper\n")


def test_a_dry_run_explains_the_choice_of_each_turn(learned: Terminal) -> None:
    words = ("evolve", "sql-analyst", "--logs", CAREFUL, "--cycles", "1", "--seed", "8", "--dry-run")
    output = learned.does(*words).out
    assert "germline why" not in output  # what it would promote stands nowhere yet
    assert "  picked    repair is owed " in output
    (cycle,) = learned.does(*words, "--json").json["cycles"]
    assert cycle["pick"]["waiting"][cycle["strategy"]] >= 1
    assert cycle["pick"]["severity"] >= 0
    assert cycle["preset"] == "balanced"
    assert cycle["because"] is None


def test_signals_that_rest_are_told_with_the_reason_and_the_turns_left(learned: Terminal) -> None:
    with open_registry(learned.folder / ".germline/registry.db") as registry:
        tried = {cycle.fingerprint for cycle in registry.cycles()}
        tired = next(signal.event for signal in registry.signals() if signal.event.fingerprint not in tried)
        cycle = registry.cycles()[0].model_copy(
            update={"fingerprint": tired.fingerprint, "verdict": "hold", "strategy": tired.calls_for}
        )
        registry.execute(RecordFact((cycle, cycle)))
    words = ("preset", "preview", "--skill", "sql-analyst")
    preview = learned.does(*words, "--json").json
    assert [
        (resting["signal"]["fingerprint"], resting["failures"], resting["turns_left"])
        for resting in preview["resting"]
    ] == [(tired.fingerprint, 2, 4)]
    assert tired.fingerprint not in {pick["signal"]["fingerprint"] for pick in preview["presets"][0]["picks"]}
    assert (
        "2 turns in a row promoted nothing; 4 turns left"
        in Terminal(learned.folder, COLUMNS="200").does(*words).out
    )
    run = learned.does("evolve", "sql-analyst", "--cycles", "1", "--json").json
    assert [resting["turns_left"] for resting in run["resting"]] == [4]
