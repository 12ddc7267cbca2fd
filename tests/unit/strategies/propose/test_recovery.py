from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from strategies.claims.claim_sentences import LONGEST_QUOTE, also_avoid_line, avoid_line, do_line
from strategies.gate.replay.contrast import Contrast
from strategies.gate.stats.mantel_haenszel import Interval
from strategies.propose.proposal import NewLines, needed_tasks
from strategies.propose.recovery import recovery
from tests.worlds import NO_TABLE, asking, call, episode, world_with_a_rule

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord


def test_what_helps_and_what_hurts_after_one_error_become_one_proposal() -> None:
    mined = recovery(asking(world_with_a_rule(1), template=NO_TABLE))
    assert mined.proposal is not None
    do, avoid = mined.proposal.claims
    assert (do.model_dump()["do"], avoid.model_dump()["avoid"]) == ("sql:SHOW", "sql:SELECT")
    assert mined.tried == 2
    assert "2 of 2 claims tried" in mined.proposal.reason


def test_a_dropped_claim_takes_its_line_along() -> None:
    proposal = recovery(asking(world_with_a_rule(1), template=NO_TABLE)).proposal
    assert isinstance(proposal, NewLines)
    kept = proposal.keeping(proposal.claims[:1])
    assert [line.text for line in kept.lines] == [proposal.lines[0].text]


def where_only_one_hurts(hurts: str) -> list[EpisodeRecord]:
    """Episodes in which one action after the error fails, and ten others, each of them seldom, succeed."""
    return [
        episode([call("sql:SELECT", NO_TABLE), call(action)], outcome=float(action != hurts), task=f"{action}{at}")
        for action in (hurts, *(f"sql:X{kind}" for kind in range(10)))
        for at in range(40 if action == hurts else 4)
    ]


def test_where_only_a_look_hurts_there_is_no_line_that_names_nothing_to_do_instead() -> None:
    mined = recovery(asking(where_only_one_hurts("sql:SHOW"), template=NO_TABLE))
    assert (mined.proposal, mined.tried) == (None, 1)


def test_where_only_an_action_hurts_the_line_says_only_what_to_avoid() -> None:
    mined = recovery(asking(where_only_one_hurts("sql:SELECT"), template=NO_TABLE))
    assert isinstance(mined.proposal, NewLines)
    assert [line.text for line in mined.proposal.lines] == [
        'After "Table … doesn\'t exist", do not guess another table name with SELECT.'
    ]


@pytest.mark.parametrize("last", ["submit", "finish"])
def test_handing_in_is_no_answer_to_an_error_whatever_it_goes_with(last: str) -> None:
    draws = random.Random(4)
    records = []
    for number in range(200):
        gives_up = draws.random() < 0.5
        steps = [call("sql:SELECT"), call("sql:SELECT", NO_TABLE), call(last if gives_up else "sql:SELECT")]
        record = episode(steps, outcome=float(draws.random() < (0.8 if gives_up else 0.2)), task=f"t{number}")
        records.append(structs.replace(record, ended_by="agent" if gives_up else "environment"))
    mined = recovery(asking(records, template=NO_TABLE))
    assert (mined.proposal, mined.tried) == (None, 0)


def test_where_nothing_helps_nothing_is_proposed_and_the_tries_are_counted() -> None:
    mined = recovery(asking(world_with_a_rule(2, lift=0.0), template=NO_TABLE))
    assert mined.proposal is None
    assert mined.tried == 2
    assert mined.needed is not None


def test_an_error_that_never_came_has_no_applicable_claim() -> None:
    mined = recovery(asking(world_with_a_rule(1, tasks=20), template="Unknown column <*>"))
    assert (mined.proposal, mined.tried, mined.needed) == (None, 0, None)


def test_arms_under_twenty_are_not_tried() -> None:
    mined = recovery(asking(world_with_a_rule(1, tasks=12), template=NO_TABLE))
    assert mined.tried == 0
    assert mined.strongest is not None


@pytest.mark.parametrize(
    ("z", "obeyed", "disobeyed", "tasks", "needed"),
    [
        (2.33, 20, 20, 10, 10),
        (4.66, 5, 40, 30, 120),
        (1.165, 40, 40, 25, 100),
        (-2.33, 40, 40, 5, 10),
        (0.0, 40, 40, 25, None),
        (2.0, 0, 40, 25, None),
    ],
)
def test_the_tasks_needed_follow_the_formula(
    z: float, obeyed: int, disobeyed: int, tasks: int, needed: int | None
) -> None:
    assert needed_tasks(Contrast(Interval(0.1, 0.0, 0.2), z, 1.0, obeyed, disobeyed, tasks, ())) == needed


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            do_line(NO_TABLE, "sql:SHOW"),
            'After "Table … doesn\'t exist", list the tables (SHOW TABLES) before the next query.',
        ),
        (
            do_line("Unknown column <*> in <*>", "sql:DESC"),
            'After "Unknown column … in …", look at the columns of the table (DESC) before the next query.',
        ),
        (do_line("conflict in <*>", "Bash:git rebase"), 'After "conflict in …", run git rebase next.'),
        (do_line("no seat", "book_reservation"), 'After "no seat", call book_reservation next.'),
        (do_line("no seat", "message"), 'After "no seat", write to the user next.'),
        (also_avoid_line(NO_TABLE, "sql:SELECT"), "Do not guess another table name with SELECT."),
        (also_avoid_line("conflict in <*>", "Bash:git push"), "Do not run git push instead."),
        (avoid_line("timeout", "Bash:make"), 'After "timeout", do not run make next.'),
    ],
)
def test_lines_are_sentences_of_the_projects_own(line: str, text: str) -> None:
    assert line == text


def test_a_template_cannot_break_out_of_its_line() -> None:
    line = do_line('bad "quote"\n# Heading <!-- `code` \u202e\u200b <*>', "sql:SHOW")
    assert (
        line == "After \"bad 'quote' # Heading ‹!-- 'code' …\", look at the schema (SHOW) before the next query."
    )


def test_a_long_template_is_quoted_by_its_beginning() -> None:
    line = do_line("word " * 100, "sql:SHOW")
    assert len(line) < LONGEST_QUOTE + 80
    assert 'word …"' in line
