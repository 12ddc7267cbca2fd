"""Wishes: what a person says in three sessions, in other words each time, and nothing meant for one day."""

from __future__ import annotations

import pytest

from strategies.signals.detect import detect
from strategies.signals.wishes import SpokenClause, Wish, clauses_of, wishes
from tests.worlds import call, episode


def words(*texts: str) -> list[SpokenClause]:
    """Put each text into a session of its own."""
    sessions = [
        (episode([call("Bash:ls")], task=f"t{number}", run="r"), text) for number, text in enumerate(texts)
    ]
    return [
        SpokenClause(record, 1, clause.kind, clause.words, len(clause.quote))
        for record, text in sessions
        for clause in clauses_of(text)
    ]


@pytest.mark.parametrize(
    ("texts", "quote"),
    [
        (
            ("No, don't push to main!", "Please never push to main directly.", "Stop. Do not push to main, ok?"),
            "don't push to main",
        ),
        (
            (
                "use pnpm here, not npm. I told you before",
                "Use pnpm for this repo",
                "always use pnpm for this repo",
            ),
            "use pnpm here",
        ),
        (("Run the whole test suite", "run the whole test suite!", "run the whole test suite"), ""),
    ],
)
def test_one_wish_in_three_sessions_is_found_in_whatever_words(texts: tuple[str, ...], quote: str) -> None:
    (wish,) = wishes(words(*texts))
    assert wish.sessions == len(texts)
    first = wish.clauses[0].record.task
    assert not quote or next(clauses_of(texts[int(first[1:])])).quote == quote


def test_what_was_quoted_before_keeps_its_words() -> None:
    spoken = words("never push to main", "don't push it to main please", "do not push to main")
    (known,) = clauses_of("Do not push to main without asking")
    (wish,) = wishes(spoken, [known])
    assert (wish.quote, wish.sessions) == (known.quote, 3)


def test_a_quoted_wish_is_a_signal_with_each_time_that_it_was_said() -> None:
    spoken = words("never push to main", "don't push to main", "do not push to main")
    records = [clause.record for clause in spoken]
    (signal,) = detect(records, wishes=[Wish(tuple(spoken), "never push to main"), Wish(tuple(spoken))])
    assert (signal.kind, signal.template, signal.count, signal.episodes) == (
        "repeated_wish",
        "never push to main",
        3,
        3,
    )
    assert {at.step for at in signal.occurrences} == {1}


@pytest.mark.parametrize(
    "texts",
    [
        ("don't push to main", "never push to main"),  # twice is no habit
        ("don't touch billing today", "don't touch billing today", "don't touch billing today"),
        ("don't touch billing", "don't touch search", "don't touch auth"),
        ("don't push to main", "push to main now please", "push it to main, please"),  # the contrary
        ("yes", "yes", "yes", "go on", "thanks!"),
        ("", " ", "?"),
    ],
)
def test_what_is_no_wish_is_left_alone(texts: tuple[str, ...]) -> None:
    assert wishes(words(*texts)) == []


def test_three_times_in_one_session_is_one_session() -> None:
    record = episode([call("Bash:ls")])
    (clause,) = clauses_of("don't push to main")
    assert wishes([SpokenClause(record, at, clause.kind, clause.words, 18) for at in range(3)]) == []
