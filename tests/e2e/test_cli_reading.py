"""Reading commands, on one registry that has learned a line; nothing here writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.terminal import Terminal, recordings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(learned: Terminal) -> Terminal:
    return learned


@pytest.fixture
def line(germline: Terminal) -> int:
    return germline.learned_line()


SCORE = {"value", "n", "low", "high", "kind", "endpoint", "evaluator", "split", "coverage", "measured_at"}


def test_why_answers_with_all_that_scripts_may_rely_on(germline: Terminal, line: int) -> None:
    explanation = germline.does("why", f"skills/sql-analyst/SKILL.md:{line}", "--json").json
    assert explanation["schema"] == "germline/why/1"
    assert (explanation["skill"], explanation["version"], explanation["line"]) == ("sql-analyst", 2, line)
    assert explanation["text"].startswith("After ")
    assert set(explanation["origin"]) >= {"event", "position", "type", "at", "actor", "strategy", "preset"}
    assert (explanation["origin"]["strategy"], explanation["origin"]["preset"]) == ("repair", "balanced")
    assert set(explanation["signal"]) >= {"kind", "fingerprint", "template", "count", "episodes"}
    assert explanation["signal"]["by_now"] == {name: explanation["signal"][name] for name in ("count", "episodes")}
    assert explanation["claim"]["kind"] == "after_error"
    assert set(explanation["before"]) == set(explanation["after"]) == SCORE
    assert explanation["before"]["evaluator"] == explanation["after"]["evaluator"]
    assert explanation["after"]["value"] > explanation["before"]["value"]
    assert explanation["verdict"] == "promote"
    assert explanation["scope"]
    assert explanation["delta"]["low"] > 0


def test_evidence_read_again_from_the_log_is_that_record(germline: Terminal, line: int) -> None:
    import gzip

    explanation = germline.does("why", f"sql-analyst:{line}", "--json").json
    assert len(explanation["evidence"]) >= 3
    for piece in explanation["evidence"]:
        assert piece["still_there"] is True
        assert set(piece) >= {"id", "file", "line", "byte_start", "byte_end", "hmac", "text", "redactions"}
        with gzip.open(piece["file"]) as log:
            raw = log.read()[piece["byte_start"] : piece["byte_end"]]
        assert piece["text"] in json.dumps(json.loads(raw), ensure_ascii=False)


def test_why_speaks_in_facts_and_ends_with_the_next_commands(germline: Terminal, line: int) -> None:
    page = germline.does("why", f"sql-analyst:{line}").out
    assert page.startswith(f"sql-analyst@2, line {line}\n")
    for label in ("why", "when", "signal", "claim", "effect", "score", "verdict", "evidence", "before"):
        assert f"\n  {label:<10}" in page
    explanation = germline.does("why", f"sql-analyst:{line}", "--json").json
    for label, after in (("score", explanation["after"]), ("audit", explanation["audit"]["after"])):
        drawn = f"{after['value']:.3f} [{after['low']:.3f}, {after['high']:.3f}]".replace("0.", ".")
        assert any(row.startswith(f"  {label}") and drawn in row for row in page.splitlines()), label
    assert "still there" in page
    assert "more: --all" in page
    last = page.rstrip().rpartition("\n\n")[2]
    assert last.startswith("  germline show sql-analyst@2 --blame")
    assert last.endswith("\n  germline revert sql-analyst --to 1")  # below, where it does not fit beside


def test_why_all_shows_every_piece_of_evidence(germline: Terminal, line: int) -> None:
    pieces = germline.does("why", f"sql-analyst:{line}", "--json").json["evidence"]
    assert germline.does("why", f"sql-analyst:{line}", "--all").out.count("still there") == len(pieces)


def test_an_imported_line_is_unproven_and_says_who_brought_it(germline: Terminal) -> None:
    explanation = germline.does("why", "sql-analyst@1:2", "--json").json
    assert explanation["unproven"] is True
    assert explanation["before"] is explanation["after"] is explanation["verdict"] is explanation["signal"] is None
    assert explanation["origin"]["actor"].startswith("person:")
    assert "unproven" in germline.does("why", "sql-analyst@1:2").out


def test_why_works_on_a_script_of_a_skill(germline: Terminal) -> None:
    explanation = germline.does("why", "skills/git-helper/scripts/where-am-i.sh:2", "--json").json
    assert (explanation["path"], explanation["origin"]["type"]) == ("scripts/where-am-i.sh", "CapsuleImported")
    disk = (germline.folder / "skills/git-helper/scripts/where-am-i.sh").read_text(encoding="utf-8")
    assert explanation["text"] == disk.splitlines()[1]
    assert "where-am-i.sh, line 2" in germline.does("why", "skills/git-helper/scripts/where-am-i.sh:2").out


def test_show_prints_exactly_the_file_and_nothing_else(germline: Terminal) -> None:
    disk = (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    answer = germline.does("show", "sql-analyst")
    assert answer.out == disk
    assert answer.err.startswith("sql-analyst@2, promotion")
    assert germline.does("--quiet", "show", "sql-analyst").err == ""


def test_show_travels_to_an_earlier_version(germline: Terminal) -> None:
    from tui.demo import demo_folder

    original = (demo_folder() / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    assert germline.does("show", "sql-analyst@1").out == original
    assert germline.does("show", "sql-analyst@best", "--json").json["version"] == 2


def test_blame_names_one_origin_for_each_line(germline: Terminal, line: int) -> None:
    rows = germline.does("show", "sql-analyst", "--blame").out.splitlines()
    disk = (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(disk)
    assert "supported" in rows[line - 1]
    assert "+." in rows[line - 1]
    assert "import" in rows[0]
    assert all(len(row) <= 80 for row in rows)


def test_show_as_json_holds_lines_genes_claims_and_files(germline: Terminal) -> None:
    shown = germline.does("show", "git-helper", "--json").json
    assert shown["schema"] == "germline/show/1"
    assert shown["unproven"] is True
    assert "".join(f"{row['text']}\n" for row in shown["lines"]) == shown["text"]
    assert shown["files"][0]["path"] == "scripts/where-am-i.sh"
    learned = germline.does("show", "sql-analyst", "--json").json
    assert any(gene["claims"] for gene in learned["genes"])


def test_log_prints_one_json_object_a_line(germline: Terminal) -> None:
    lines = [json.loads(text) for text in germline.does("log", "--json").out.splitlines()]
    fields = {"position", "type", "stream", "at", "actor", "version", "before", "after", "summary", "hash"}
    assert all(fields <= set(row) for row in lines)
    positions = [row["position"] for row in lines]
    assert positions == list(range(len(lines), 0, -1))
    mutation = next(row for row in lines if row["type"] == "GeneMutated")
    assert set(mutation["after"]) == SCORE


def test_log_fits_eighty_columns_and_can_be_narrowed(germline: Terminal) -> None:
    everything = germline.does("log").out.splitlines()
    assert all(len(row) <= 80 for row in everything)
    assert len(germline.does("log", "--limit", "3").out.splitlines()) == 3
    only = germline.does("log", "sql-analyst", "--type", "capsuleversioned").out.splitlines()
    assert len(only) == 2
    assert germline.does("log", "--since", "2100-01-01").out == ""
    assert germline.does("log", "--since", "2020-01-01T00:00Z").out.splitlines() == everything


def test_diff_shows_lines_words_and_the_events_between(germline: Terminal) -> None:
    output = germline.does("diff", "sql-analyst", "1", "2").out
    assert "CandidatePromoted" in output
    assert "+ After " in output
    diff = germline.does("diff", "sql-analyst", "1", "--json").json
    assert (diff["a"], diff["b"]) == (1, 2)
    assert [event["type"] for event in diff["events"]][-1] == "CapsuleVersioned"
    assert {row["op"] for row in diff["files"][0]["lines"]} == {"equal", "add"}
    assert {row["ending"] for row in diff["files"][0]["lines"]} == {"\n"}
    assert "no difference" in germline.does("diff", "sql-analyst", "2", "2").out


@pytest.mark.parametrize(
    "named",
    [
        ("sql-analyst",),
        ("sql-analyst@1",),
        ("sql-analyst", "sql-analyst@1"),
        ("sql-analyst@1", "2"),
        ("sql-analyst@1", "sql-analyst@2"),
    ],
    ids=" ".join,
)
def test_diff_understands_versions_behind_an_at_and_means_the_last_change_without_any(
    germline: Terminal, named: tuple[str, ...]
) -> None:
    diff = germline.does("diff", *named, "--json").json
    assert (diff["skill"], diff["a"], diff["b"]) == ("sql-analyst", 1, 2)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("sql-analyst@1 1 2", 2, "3 versions are named"),
        ("git-helper", 2, "git-helper has one version"),
        ("sql-analyst git-helper@1", 2, "git-helper@1"),
    ],
)
def test_diff_says_what_it_cannot_compare(germline: Terminal, words: str, code: int, message: str) -> None:
    answer = germline("diff", *words.split())
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err


def test_status_tells_skills_signals_held_candidates_preset_and_head(germline: Terminal) -> None:
    status = germline.does("status", "--json").json
    assert status["preset"] == "balanced"
    assert status["head"]["position"] == germline.events()
    assert [row["skill"] for row in status["skills"]] == ["git-helper", "sql-analyst"]
    assert all(row["standing"] == "projected" and row["drift"] == [] for row in status["skills"])
    templates = {row["template"] for row in status["open_signals"]}
    assert templates
    assert "no such table: <*>" not in templates  # answered by the line that was learned
    assert "sql-analyst@2" in germline.does("status").out


def test_signals_and_candidates_are_listed_with_counts_and_verdicts(germline: Terminal) -> None:
    signals = germline.does("signals", "--json").json["signals"]
    assert all(row["count"] >= row["episodes"] > 0 and row["evidence"] for row in signals)
    assert any(not row["open"] for row in signals)
    assert "no such table" in germline.does("signals").out
    candidates = germline.does("candidates", "sql-analyst", "--json").json["candidates"]
    assert candidates[0]["verdict"] == "promote"
    assert {row["verdict"] for row in candidates} <= {"promote", "hold", "reject"}
    assert germline.does("candidates", "git-helper", "--json").json["candidates"] == []
    assert "✓" in germline.does("candidates").out


def test_signals_stand_in_columns_and_fit_eighty_of_them_as_their_quality_does(germline: Terminal) -> None:
    *rows, last = germline.does("signals").out.splitlines()
    listed = germline.does("signals", "--json").json["facts"]
    counted = [row for row in rows if row[:1] in "○·✓"]
    assert [row.split()[1] for row in counted] == [fact["id"] for fact in listed]
    ends = [f" {fact['sessions']:,} of {fact['of']:,}" for fact in listed]
    assert all(row.endswith(end) for row, end in zip(counted, ends, strict=True))
    assert {len(row) for row in counted} == {80}
    shown = germline.does(*last.split()[2:4]).out.splitlines()
    measured = germline.does("signals", "--quality").out.splitlines()
    assert max(map(len, [*rows, last, *shown, *measured])) <= 80


def test_verify_answers_with_events_and_head(germline: Terminal) -> None:
    verified = germline.does("verify", "--json").json
    assert verified["schema"] == "germline/verify/1"
    assert verified["ok"] is True
    assert verified["problems"] == []
    last = json.loads(germline.does("log", "--limit", "1", "--json").out)
    assert (verified["events"], verified["head"]) == (last["position"], last["hash"])


def test_presets_are_shown_side_by_side_with_the_one_in_force(germline: Terminal) -> None:
    listed = germline.does("preset", "list", "--json").json
    assert [row["name"] for row in listed["presets"] if row["in_force"]] == ["balanced"]
    assert len(listed["presets"]) == 6
    assert "▸ balanced" in germline.does("preset", "list").out
    assert germline.does("preset", "show", "harden", "--json").json["preset"]["weights"]["harden"] == 60
    assert "harden 60 %" in germline.does("preset", "show", "harden").out


def test_a_dry_run_of_evolve_tells_the_events_and_leaves_no_trace(germline: Terminal) -> None:
    before, text = germline.events(), germline.does("show", "git-helper").out
    careful, stubborn = (recordings().parent / f"git/{run}.jsonl.gz" for run in ("careful", "stubborn"))
    words = ("evolve", "git-helper", "--logs", careful, "--logs", stubborn, "--cycles", "1")
    evolution = germline.does(*words, "--dry-run", "--json").json
    assert evolution["cycles"][0]["verdict"] == "promote"
    assert "CandidatePromoted" in {event["type"] for event in evolution["events"]}
    assert germline.events() == before
    assert germline.does("show", "git-helper").out == text
    assert "germline:" not in (germline.folder / "skills/git-helper/SKILL.md").read_text(encoding="utf-8")


def test_every_reading_command_leaves_the_registry_as_it_was(germline: Terminal) -> None:
    file: Path = germline.folder / ".germline" / "registry.db"
    before = file.read_bytes()
    for words in (["status"], ["log"], ["show", "sql-analyst"], ["why", "sql-analyst:1"], ["verify"], ["signals"]):
        germline.does(*words)
    assert file.read_bytes() == before


def test_log_takes_an_age_as_the_lists_write_it(germline: Terminal) -> None:
    output = germline.does("log", "--since", "1d", "--json").out
    assert output == germline.does("log", "--json").out
    assert germline.does("log", "--since", "0.001s", "--json").out == ""


def test_a_name_that_is_not_there_is_not_said_to_point_anywhere(germline: Terminal) -> None:
    output = germline.does("alias", "set", "sql-analyst", "nobody", "none").out
    assert output == "alias      sql-analyst nobody names no version: nothing to remove\n"
