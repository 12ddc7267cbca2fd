"""Thresholds as a person writes them: by name, within bounds, with a hint where they are wrong."""

from __future__ import annotations

import pytest

from events.errors import UsageError
from strategies.signals.thresholds import Thresholds


def test_what_is_not_given_keeps_its_default() -> None:
    given = Thresholds.from_mapping({"error_count": 7, "error_budget": 0.1, "burn_fast": 10})
    assert (given.error_count, given.error_budget, given.burn_fast) == (7, 0.1, 10.0)
    assert given.error_episodes == Thresholds().error_episodes
    assert Thresholds.from_mapping({}) == Thresholds()


@pytest.mark.parametrize(
    ("given", "says", "hint"),
    [
        ({"eror_count": 3}, "no signal threshold is called 'eror_count'", "did you mean error_count?"),
        ({"zzz": 3}, "no signal threshold is called 'zzz'", "known: error_count, "),
        ({"error_count": 0}, "error_count = 0", "its default is 3"),
        ({"error_count": "3"}, "error_count = '3'", "its default is 3"),
        ({"error_count": 2.5}, "error_count = 2.5", "its default is 3"),
        ({"error_budget": 1.0}, "error_budget = 1.0", "its default is 0.025"),
        ({"repeats": True}, "repeats = True", "its default is 2"),
    ],
)
def test_wrong_names_and_numbers_are_refused_with_a_hint(given: dict[str, object], says: str, hint: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        Thresholds.from_mapping(given)
    assert refused.value.hint.startswith(hint)
