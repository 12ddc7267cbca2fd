"""Wishes: what a person says in three sessions, in other words each time, and nothing meant for one day."""

from __future__ import annotations

import pytest

from strategies.lessons.wishes import PersonWords, wishes
from tests.worlds import call, episode


def words(*texts: str) -> list[PersonWords]:
    """Put each text into a session of its own."""
    return [
        PersonWords(episode([call("Bash:ls")], task=f"t{number}", run="r"), 1, text)
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "quote"),
    [
        (
            ("No, don't push to main!", "Please never push to main directly.", "Stop. Do not push to main, ok?"),
            "Do not push to main",
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
    assert not quote or wish.quote == quote


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
    assert wishes([PersonWords(record, at, "don't push to main") for at in range(3)]) == []
