"""Outcomes by the user's own rules."""

from __future__ import annotations

import pytest

from events.errors import UsageError
from strategies.episodes.episode import Episode, EpisodeOutcome, Step
from strategies.episodes.outcome_rules import OutcomeRule, outcome_rules, with_outcome
from strategies.files.log_records import Span

PLACE = Span(0, 1, 1)
FIXED = {"where": "final_text", "pattern": "(?i)fixed", "value": 1, "source": "user"}


def message(text: str) -> Step:
    return Step(index=0, turn=0, kind="message", actor="agent", text=text, span=PLACE)


def gave(result: str) -> Step:
    return Step(index=0, turn=0, kind="call", actor="agent", tool="bash", result=result, span=PLACE)


def episode(*steps: Step, outcome: EpisodeOutcome | None = None, **labels: str) -> Episode:
    return Episode(id="e", source="s", format="chat", steps=steps, labels=labels, outcome=outcome)


@pytest.mark.parametrize(
    ("table", "logged", "value"),
    [
        (FIXED, episode(gave("x"), message("It is fixed.")), 1.0),
        (FIXED, episode(message("fixed"), message("no, it is not")), None),
        (FIXED, episode(gave("all fixed")), 1.0),
        (FIXED, episode(), None),
        ({**FIXED, "format": "codex"}, episode(message("fixed")), None),
        ({**FIXED, "format": "chat"}, episode(message("fixed")), 1.0),
        ({**FIXED, "where": "exit_status", "pattern": "^0$"}, episode(gave("Process exited with code 0")), 1.0),
        ({**FIXED, "where": "exit_status", "pattern": "^0$"}, episode(gave("exit code 10")), None),
        ({**FIXED, "where": "exit_status", "pattern": "^0$"}, episode(exit_status="0"), 1.0),
        ({**FIXED, "where": "label", "label": "verdict", "pattern": "good"}, episode(verdict="good"), 1.0),
        ({**FIXED, "where": "label", "label": "verdict", "pattern": "^"}, episode(other="good"), None),
    ],
)
def test_rule_reads_an_outcome_from_where_it_looks(
    table: dict[str, object], logged: Episode, value: float | None
) -> None:
    outcome = with_outcome(logged, outcome_rules([table])).outcome
    assert (outcome and outcome.value) == value


def test_first_rule_that_fits_wins_and_the_log_itself_before_all() -> None:
    rules = outcome_rules([FIXED, {**FIXED, "value": 0.25, "pattern": "."}])
    assert rules[0] == OutcomeRule(where="final_text", pattern="(?i)fixed", value=1.0, source="user")
    assert with_outcome(episode(message("fixed")), rules).outcome == EpisodeOutcome(1.0, "user")
    assert with_outcome(episode(message("no")), rules).outcome == EpisodeOutcome(0.25, "user")
    own = episode(message("fixed"), outcome=EpisodeOutcome(0.0, "reward"))
    assert with_outcome(own, rules) is own


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({}, "a list of tables"),
        (["x"], "rule 1: a table"),
        ([FIXED, {**FIXED, "extra": 1}], "rule 2: unknown extra"),
        ([{**FIXED, "where": "middle"}], "rule 1: where is 'middle'"),
        ([{**FIXED, "source": "me"}], "rule 1: source is 'me'"),
        ([{**FIXED, "value": 2}], "rule 1: value is 2"),
        ([{**FIXED, "value": True}], "rule 1: value is True"),
        ([{**FIXED, "pattern": "("}], r"rule 1: pattern '\('"),
        ([{**FIXED, "pattern": ""}], "rule 1: pattern is empty"),
        ([{**FIXED, "pattern": 3}], "rule 1: pattern is 3"),
        ([{**FIXED, "label": "x"}], "rule 1: `label`"),
        ([{**FIXED, "where": "label"}], "rule 1: `label`"),
    ],
)
def test_wrong_rule_is_named_with_what_is_wrong(tables: object, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        outcome_rules(tables)
    assert caught.value.hint
