"""Signals on the command line: a row for each fact, filters, and all about one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from registry.query.signal_kinds import kind_word
from tests.terminal import SPLIT_KEY, Beginning, Terminal
from tests.worlds.sessions import write_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SESSIONS = 30
SKILL = "---\nname: searching\ndescription: How to search files with grep.\n---\n\nSearch before you ask.\n"


@pytest.fixture(scope="module")
def read_once(own_folder: Path) -> Terminal:
    """Thirty sessions of a project without labels, and no skill."""
    folder = own_folder
    write_sessions(folder / "logs", SESSIONS, 0)
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.does("scan", "logs")
    return germline


@pytest.fixture(scope="module")
def beginning(read_once: Terminal) -> Beginning:
    return Beginning(read_once)


@pytest.fixture
def own(beginning: Beginning) -> Iterator[Terminal]:
    """The same with a skill, for a test that changes it."""
    germline = beginning.again()
    germline.write("skills/searching/SKILL.md", SKILL)
    germline.does("import", "skills")
    yield germline
    beginning.again()


def facts(germline: Terminal, *options: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = germline.does("signals", "--json", *options).json["facts"]
    return rows


def fact(germline: Terminal, text: str) -> dict[str, Any]:
    (row,) = facts(germline, "--text", text)
    return row


def test_status_calls_what_signals_see_by_the_same_words(read_once: Terminal) -> None:
    listed = {kind_word(row["kind"]) for row in read_once.does("signals", "--json").json["signals"]}
    shown = [line.split("○ ")[1] for line in read_once.does("status").out.splitlines() if "○ " in line]
    assert len(shown) == 5
    assert all(any(line.startswith(f"{word} ") for word in listed) for line in shown)


def test_each_signal_is_in_one_row_and_a_missing_command_is_one_fact(read_once: Terminal) -> None:
    listed = read_once.does("signals", "--json").json
    names = [name for row in listed["facts"] for name in row["signals"]]
    assert sorted(names) == sorted(row["fingerprint"] for row in listed["signals"])
    assert len(names) > len(listed["facts"])
    missing = fact(read_once, "rg: command not found")
    assert (missing["word"], missing["state"], len(missing["signals"])) == ("missing tool", "open", 2)
    output = read_once.does("signals").out
    assert output.count("rg: command not found") == 1
    assert f"{missing['id']} missing tool" in output
    assert f"{missing['sessions']} of {SESSIONS}" in output


def test_what_worked_next_is_what_start_says(read_once: Terminal) -> None:
    started = {
        thing["template"]: thing["worked_next"]
        for thing in read_once.does("start", "logs", "--json").json["things"]
        if thing["worked_next"]
    }
    listed = {row["template"]: row["worked_next"] for row in facts(read_once) if row["worked_next"]}
    assert started
    assert {template: listed.get(template) for template in started} == started
    worked = listed["<*>: line <*>: rg: command not found"]
    output = read_once.does("signals").out
    assert f"run grep instead: worked in {worked['worked']} of {worked['tried']}" in output


def test_what_costs_most_comes_first_and_a_sum_over_all_of_it_comes_late(read_once: Terminal) -> None:
    rows = facts(read_once)
    words = [row["word"] for row in rows]
    assert words.index("fails often") > words.index("missing tool")
    errors = [row["count"] for row in rows if row["word"] == "failed"]
    assert errors == sorted(errors, reverse=True)


def test_one_fact_is_shown_by_the_id_of_any_of_its_signals_and_leads_to_sessions(read_once: Terminal) -> None:
    missing = fact(read_once, "rg: command not found")
    first, second = (read_once.does("signals", name[:8], "--json").json for name in missing["signals"])
    assert first == second == read_once.does("signals", "show", missing["id"], "--json").json
    assert first["sentence"].startswith("Agents reached for what is not there")
    assert len(first["sessions"]) == missing["sessions"]
    assert first["cost"]["failed"] == missing["count"]
    assert first["evidence"]
    assert all("command not found" in piece["text"] for piece in first["evidence"])
    output = read_once.does("signals", missing["id"]).out
    assert "  cost " in output
    assert "nothing was compared" in output
    short = output.partition("sessions  ")[2].split()[0]
    assert "command not found" in read_once.does("session", short).out
    assert "more: --all" in output
    assert "more" not in read_once.does("signals", missing["id"], "--all").out


def test_facts_are_filtered_by_word_state_time_and_text(read_once: Terminal) -> None:
    every = facts(read_once)
    assert {row["word"] for row in facts(read_once, "--kind", "gave up")} == {"gave up"}
    assert facts(read_once, "--kind", "missing_capability") == facts(read_once, "--kind", "Missing-Tool")
    assert facts(read_once, "--state", "open") == every
    assert facts(read_once, "--since", "1d") == every
    assert facts(read_once, "--since", "2999-01-01") == []
    answered = read_once.does("signals", "--state", "answered", "--kind", "failed")
    assert f"none of {len(every)} facts is called 'failed', answered" in answered.err
    assert "1 shown: with 'rg: command'" in " ".join(
        read_once.does("signals", "--text", "rg: command").out.split()
    )


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--kind", "refusd"), "no kind of signal is called 'refusd'", "did you mean --kind 'refused'?"),
        (("zzzz",), "no signal zzzz was raised", "germline signals"),
        (("{wrong}",), "was raised", "did you mean {id}"),
        (("--text", "x", "{id}"), "options of the list stand alone", "germline signals show --help"),
        (("asign", "{id}", "x"), "No such command 'asign'", "germline signals --help"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_nearest(
    read_once: Terminal, words: tuple[str, ...], message: str, hint: str
) -> None:
    name = fact(read_once, "rg: command not found")["id"]
    wrong = name[:-1] + ("0" if name[-1] != "0" else "1")
    answer = read_once("signals", *(word.format(id=name, wrong=wrong) for word in words))
    assert answer.code == 2
    assert message in answer.err
    assert hint.format(id=name) in answer.hint


def test_a_beginning_of_several_ids_is_refused_with_longer_ones(read_once: Terminal) -> None:
    names = [row["fingerprint"] for row in read_once.does("signals", "--json").json["signals"]]
    begun = next(name[0] for name in names if sum(other.startswith(name[0]) for other in names) > 1)
    answer = read_once("signals", begun)
    assert answer.code == 2
    assert f"signals begin with {begun}" in answer.err
    assert answer.hint.split()[-1] in {name[:12] for name in names}


def test_a_fact_goes_to_a_skill_with_all_of_its_signals_and_back(own: Terminal) -> None:
    missing = fact(own, "rg: command not found")
    given = own.does("signals", "assign", missing["id"], "searching", "--json").json
    assert len(given["events"]) == len(missing["signals"])
    assert fact(own, "rg: command not found")["route"]["by"] == "person"
    assert missing["id"] in {row["id"] for row in facts(own, "--skill", "searching")}
    assert "it was so already" in own.does("signals", "assign", missing["signals"][1], "searching").err
    back = own.does("signals", "unassign", missing["id"], "--json").json
    assert len(back["events"]) == len(missing["signals"])


def test_a_fact_is_answered_by_the_line_that_says_what_to_do_and_waits_while_nobody_decided(own: Terminal) -> None:
    thing = next(each for each in own.does("start", "logs", "--json").json["things"] if "rg:" in each["template"])
    own.does("start", "logs", "--take", thing["id"], "--reason", "it is not installed here")
    answered = fact(own, "rg: command not found")
    assert answered["state"] == "answered"
    (line,) = answered["lines"]
    assert line["text"] == thing["line"]
    named = f"{line['skill']}:{line['number']}"
    output = own.does("signals", answered["id"]).out
    assert f"answered by {named}" in output
    assert output.rstrip().endswith(f"germline why {named}")
    assert facts(own)[-1]["id"] == answered["id"]


def test_quality_takes_the_same_ids_and_filters_and_leads_to_labels_without_any(own: Terminal) -> None:
    without = own.does("signals", "--quality")
    assert "germline outcome --queue" in without.err
    missing = fact(own, "rg: command not found")
    shown = own.does("signals", missing["id"], "--json").json["sessions"]
    for name in shown[:3]:
        own.does("outcome", name, "--value", "0", "--source", "user")
    measured = own.does("signals", "--quality", missing["id"], "--json").json["quality"]
    assert {row["fingerprint"] for row in measured["signals"]} == set(missing["signals"])
    assert measured == own.does("signals", missing["id"], "--quality", "--json").json["quality"]
    output = own.does("signals", "--quality", "--text", "rg: command").out
    assert output.count("rg: command not found") == 1
    assert f"{missing['id']} missing tool" in output
