"""What germline.toml sets, and where logs are found when nobody names them."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from strategies.pool.known_episodes import all_episodes
from tests.planted import SECRETS
from tests.terminal import Terminal
from tui.cli.output.progress import progress_words
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from pathlib import Path

FAILURE = {"type": "step", "tool": "sql", "text": "SELECT 1", "error": True, "error_text": "no such table: visits"}
ERRORS = "".join(json.dumps({**FAILURE, "episode": f"e{number}"}) + "\n" for number in range(3))
SPOKEN = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "All is done."})
TALK = json.dumps({"messages": SPOKEN})


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path).with_skill()


def kinds(germline: Terminal) -> set[str]:
    return {signal["kind"] for signal in germline.does("signals", "--json").json["signals"]}


@pytest.mark.parametrize(("least", "raised"), [(3, True), (4, False)])
def test_thresholds_in_the_settings_decide_what_is_a_signal(
    germline: Terminal, least: int, *, raised: bool
) -> None:
    germline.write("germline.toml", f"[signals]\nerror_count = {least}\n")
    germline.write("logs/a.jsonl", ERRORS)
    germline.does("scan", "logs")
    assert ("error_template" in kinds(germline)) is raised


def test_outcome_rules_in_the_settings_judge_logs_that_tell_none(germline: Terminal) -> None:
    rule = '[[outcome]]\nwhere = "final_text"\npattern = "is done"\nvalue = 1\nsource = "user"\n'
    germline.write("germline.toml", rule)
    germline.write("logs/talk.jsonl", TALK + "\n")
    germline.does("scan", "logs")
    with open_registry(germline.folder / ".germline/registry.db") as registry:
        (record,) = all_episodes(registry)
    assert record.outcome
    assert (record.outcome.value, record.outcome.source) == (1.0, "user")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[signals]\nerror_cout = 3", "error_cout", "error_count"),
        ("[signals]\nerror_count = 0", "error_count = 0", "default"),
        ("signals = 3", "signals", "[signals]"),
        ('[[outcome]]\nwhere = "dream"', "outcome rule 1", "final_text"),
        ("[watch]\nevolve_every_s = -1", "-1", "at least 0"),
        ("[watch]\npromote = 1", "promote", "true or false"),
        ("[scan]\nworkers = true", "workers", "whole number"),
        ("[watch]\nevolve_evry_s = 1", "evolve_evry_s", "watch.evolve_every_s"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_what_could(
    germline: Terminal, text: str, message: str, hint: str
) -> None:
    germline.write("germline.toml", text)
    answer = germline("scan", ".")
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.hint


def test_without_a_path_the_usual_places_are_read_and_named(germline: Terminal) -> None:
    session = {
        "sessionId": "s1",
        "type": "user",
        "uuid": "1",
        "cwd": str(germline.folder.resolve()),
        "message": {"role": "user", "content": "List files"},
    }
    germline.write(".claude/projects/x/s1.jsonl", json.dumps(session) + "\n")
    answer = germline.does("scan", "--json")
    assert answer.json["episodes"] == 1
    assert "found      Claude Code: 1 file" in answer.err


def test_gitleaks_is_asked_where_it_is_installed_and_what_it_finds_is_removed(tmp_path: Path) -> None:
    germline = Terminal(tmp_path, PATH=str(tmp_path / "bin")).with_skill()
    findings = json.dumps([{"RuleID": "visits-rule", "Secret": "visits"}])
    fake = germline.write("bin/gitleaks", f"#!/bin/sh\n[ \"$1\" = stdin ] && printf '%s' '{findings}'\n")
    fake.chmod(stat.S_IRWXU)
    germline.write("logs/a.jsonl", ERRORS)
    germline.does("scan", "logs")
    shown = evidence_of(germline)
    assert shown["text"] == "no such table: [visits-rule]"
    assert shown["redactions"][0]["rule"] == "visits-rule"


@pytest.mark.parametrize(
    ("asks", "report"),
    [
        ("--output=-", {"findings": [{"rule_id": "visits-rule", "match": {"value": "visits"}}]}),
        ("--report-path=/dev/stdout", [{"RuleID": "visits-rule", "Secret": "visits"}]),
    ],
)
def test_betterleaks_is_asked_in_either_of_its_forms_and_sends_nothing(
    tmp_path: Path, asks: str, report: object
) -> None:
    germline = Terminal(tmp_path, PATH=str(tmp_path / "bin"), BETTERLEAKS_VALIDATE="true").with_skill()
    script = f"""#!/bin/sh
[ -z "$BETTERLEAKS_VALIDATE" ] || exit 7
for word in "$@"; do [ "$word" = {asks} ] && printf '%s' '{json.dumps(report)}' && exit 0; done
echo 'unknown flag' >&2; exit 2
"""
    germline.write("bin/betterleaks", script).chmod(stat.S_IRWXU)
    germline.write("logs/a.jsonl", ERRORS)
    germline.does("scan", "logs")
    assert evidence_of(germline)["text"] == "no such table: [visits-rule]"


PERSONAL = "no such table: visits, ask ann.lee@wine-shop.io or +49 30 901820, card 4539 1488 0343 6467"


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ("", "no such table: visits, ask [email] or [phone-number], card [card-number]"),
        ("[scan]\npersonal_data = false\n", PERSONAL),
    ],
)
def test_personal_data_leaves_evidence_unless_a_person_says_otherwise(
    tmp_path: Path, settings: str, kept: str
) -> None:
    germline = Terminal(tmp_path).with_skill()
    germline.write("home/.config/germline/germline.toml", settings)
    germline.write("germline.toml", settings)
    germline.write("logs/a.jsonl", ERRORS.replace("no such table: visits", PERSONAL))
    germline.does("trust", "--trust-project")
    germline.does("scan", "logs")
    assert evidence_of(germline)["text"] == kept


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ("", "no such table: visits, ask [email] or [phone-number], card [card-number]"),
        ("[scan]\npersonal_data = false\n", PERSONAL),
    ],
)
def test_personal_data_leaves_sessions_unless_a_person_says_otherwise(
    germline: Terminal, settings: str, kept: str
) -> None:
    germline.write("germline.toml", settings)
    germline.does("trust", "--trust-project")
    talk = [{"role": "user", "content": PERSONAL}, {"role": "assistant", "content": f"So it is: {PERSONAL}"}]
    germline.write("logs/a.jsonl", json.dumps({"messages": talk}))
    germline.does("scan", "logs")
    (listed,) = germline.does("sessions", "--json").json["sessions"]
    shown = germline.does("session", listed["id"], "--json").json
    assert listed["task"] == kept
    assert f'"So it is: {kept}"' in json.dumps(shown)
    assert ("ann.lee" in json.dumps(shown)) == (kept == PERSONAL)


def evidence_of(germline: Terminal) -> dict[str, Any]:
    """Show the first piece of evidence that was kept."""
    pieces = [name for signal in germline.does("signals", "--json").json["signals"] for name in signal["evidence"]]
    shown: dict[str, Any] = germline.does("evidence", "show", pieces[0], "--json").json
    return shown


def test_gitleaks_obeys_no_file_of_the_folder(tmp_path: Path) -> None:
    germline = Terminal(tmp_path, PATH=str(tmp_path / "bin")).with_skill()
    germline.write("bin/gitleaks", f"#!/bin/sh\npwd > {tmp_path}/place\n").chmod(stat.S_IRWXU)
    germline.write("logs/a.jsonl", ERRORS)
    germline.does("scan", "logs")
    assert (tmp_path / "place").read_text() == "/\n"


@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", "echo '{}'", "echo '[{\"Secret\": 3}]'"])
def test_a_gitleaks_that_fails_does_not_fail_the_scan(tmp_path: Path, script: str) -> None:
    germline = Terminal(tmp_path, PATH=f"{tmp_path / 'bin'}").with_skill()
    germline.write("bin/gitleaks", f"#!/bin/sh\n{script}\n").chmod(stat.S_IRWXU)
    germline.write("logs/a.jsonl", ERRORS)
    assert germline.does("scan", "logs", "--json").json["signals"] > 0


def test_signals_are_measured_against_outcomes(germline: Terminal) -> None:
    assert "no episode has an outcome" in germline.does("signals", "--quality").err
    ends = "".join(
        json.dumps({"type": "outcome", "episode": f"e{number}", "value": number % 2, "source": "tests"}) + "\n"
        for number in range(3)
    )
    germline.write("logs/a.jsonl", ERRORS + ends)
    germline.does("scan", "logs")
    quality = germline.does("signals", "--quality", "--json").json["quality"]
    assert (quality["episodes"], quality["failed"]) == (3, 2)
    row = next(row for row in quality["kinds"] if row["kind"] == "error_template")
    assert (row["precision"]["hits"], row["precision"]["n"], row["lift"]) == (2, 3, pytest.approx(1.0))
    assert row["precision"]["low"] < row["precision"]["value"] < row["precision"]["high"]
    output = germline.does("signals", "--quality").out
    assert "3 episodes with an outcome, 2 failed" in output
    assert "no such table: visits" in output


def test_progress_tells_bytes_rate_and_the_time_left() -> None:
    assert progress_words(50_000_000, 200_000_000, 0.5) == " 25 %  50 of 200 MB"
    assert progress_words(50_000_000, 200_000_000, 2.0) == " 25 %  50 of 200 MB, 25 MB/s, 6 s left"
    assert progress_words(0, 0, 5.0) == "  0 %  0 of 0 MB"


def test_evidence_is_capped_however_long_the_record_is(germline: Terminal) -> None:
    long = {**FAILURE, "error_text": "no such table: visits\n" + "x" * 100_000 + SECRETS[0] + "y" * 100_000}
    germline.write("logs/a.jsonl", "".join(json.dumps({"episode": f"e{n}", **long}) + "\n" for n in range(3)))
    germline.does("scan", "logs")
    pieces = [name for signal in germline.does("signals", "--json").json["signals"] for name in signal["evidence"]]
    assert len(germline.does("evidence", "show", pieces[0], "--json").json["text"]) == 2_000
    assert (germline.folder / ".germline/registry.db").stat().st_size < 400_000


def test_evidence_in_a_zstd_log_is_looked_up_again_too(germline: Terminal) -> None:
    germline.write("logs/a.jsonl.zst", zstandard.compress(ERRORS.encode()))
    germline.does("scan", "logs")
    pieces = [name for signal in germline.does("signals", "--json").json["signals"] for name in signal["evidence"]]
    assert germline.does("evidence", "show", pieces[0], "--json").json["still_there"]
    germline.write("logs/a.jsonl.zst", zstandard.compress(ERRORS.replace("visits", "others").encode()))
    assert not germline.does("evidence", "show", pieces[0], "--json").json["still_there"]
