"""`germline search`: what is there, what is gone and since when, what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from registry.query.search import _between
from tests.command_lines import told_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal import Terminal


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    return told_in(own_folder)


def hits(germline: Terminal, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = germline.does("search", *words, "--json").json["matches"]
    return rows


def test_a_live_line_is_found_where_it_stands_and_why_explains_it(germline: Terminal) -> None:
    (line,) = hits(germline, "list the TABLES", "--in", "lines")
    assert (line["kind"], line["live"], line["gone_since"]) == ("line", True, None)
    assert line["skill"] == "sql-analyst"
    explanation = germline.does(*line["next"].split()[1:], "--json").json
    assert explanation["text"] == line["text"]
    assert explanation["origin"]["position"] == line["event"]


def test_a_line_that_was_rewritten_is_found_in_the_version_that_had_it_first_with_the_one_that_has_it_no_more(
    germline: Terminal,
) -> None:
    gone = [row for row in hits(germline, "guess the names of tables") if row["kind"] == "line"]
    (line,) = gone
    assert (line["version"], line["gone_since"], line["live"]) == (1, 3, False)
    shown = germline.does("show", "sql-analyst@1", "--json").json["lines"]
    assert shown[line["line"] - 1]["text"] == line["text"]
    for version in (1, 2, 3):
        there = line["text"] in germline.does("show", f"sql-analyst@{version}").out
        assert there == (version < line["gone_since"])


def test_a_hand_edit_that_was_reverted_is_gone_since_the_revert(germline: Terminal) -> None:
    (line,) = hits(germline, "two teams could answer", "--in", "lines")
    assert (line["skill"], line["version"], line["gone_since"]) == ("ticket-triage", 2, 3)


def test_what_was_proposed_and_never_became_a_line_is_found_with_its_candidate(germline: Terminal) -> None:
    (proposal,) = hits(germline, "run the query again")
    assert (proposal["kind"], proposal["version"]) == ("proposal", None)
    assert proposal["candidate"] == "c2" * 32
    germline.does(*proposal["next"].split()[1:])


def test_reasons_signals_and_claims_are_found_and_can_be_asked_for_alone(germline: Terminal) -> None:
    assert {row["kind"] for row in hits(germline, "it asked too often")} == {"reason"}
    assert {row["kind"] for row in hits(germline, "GROUP BY clause", "--in", "signals")} == {"signal"}
    assert {row["kind"] for row in hits(germline, "sql:DESC", "--in", "claims")} == {"claim"}
    both = {row["kind"] for row in hits(germline, "GROUP BY", "--in", "signals", "--in", "proposals")}
    assert both == {"signal", "proposal"}


def test_a_text_with_quotes_and_signs_is_found_in_the_log_as_it_was_written(germline: Terminal) -> None:
    rows = hits(germline, "doesn't exist\", list", "--in", "lines")
    assert [row["live"] for row in rows] == [True]
    assert hits(germline, "Table … doesn", "--in", "lines")


def test_a_regular_expression_and_a_skill_narrow_it_down(germline: Terminal) -> None:
    assert {row["skill"] for row in hits(germline, "^Read the", "--regex", "--in", "lines")} == {"ticket-triage"}
    assert not hits(germline, "Read the whole", "--skill", "sql-analyst")
    answer = germline("search", "(", "--regex")
    assert answer.code == 2
    assert "is no regular expression" in answer.err


def test_the_limit_is_kept_and_said(germline: Terminal) -> None:
    answer = germline.does("search", "the", "--limit", "2", "--json").json
    assert (len(answer["matches"]), answer["more"]) == (2, True)
    assert "more than 2 places" in germline.does("search", "the", "--limit", "2").out


def test_nothing_found_is_no_failure_and_an_empty_text_is_a_slip(germline: Terminal) -> None:
    assert "is nowhere in lines" in germline.does("search", "no such thing at all").out
    assert germline("search", "").code == 2
    assert germline("search", "x" * 201).code == 2


def test_halving_looks_at_numbers_between_and_ends() -> None:
    for low in range(70):
        for high in range(low + 2, 140):
            assert low < _between(low, high) < high
