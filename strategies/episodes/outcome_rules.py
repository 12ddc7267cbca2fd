"""Outcomes that the user's own rules read from a log which says none itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar, cast, get_args

import msgspec
import re2

from events.errors import UsageError
from strategies.episodes.ci_outcomes import exit_status_of
from strategies.episodes.episode import MESSAGE, Episode, EpisodeOutcome, OutcomeSource, Step, StepRecord
from strategies.episodes.episode_records import plain_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AnyStep = TypeVar("AnyStep", Step, StepRecord)
Where = Literal["final_text", "exit_status", "label"]

EXIT_STATUS: Final = "exit_status"
"""The label under which readers put the exit code that a log ends with."""

_KEYS: Final = frozenset(["where", "label", "pattern", "value", "source", "format"])


@dataclass(frozen=True, kw_only=True)
class OutcomeRule:
    """One `[[outcome]]` of germline.toml: where to look, what to find there, and what it means.

    `where` is `final_text` (the agent's last message, else what its last call gave back), `exit_status` or
    `label` (`label` names which). `pattern` is RE2, found anywhere in it; an empty label or text never matches.
    `log_format` restricts the rule to one format, "" for all. Units: value in [0, 1].
    """

    where: Where
    pattern: str
    value: float
    source: OutcomeSource
    label: str = ""
    log_format: str = ""


def outcome_rules(tables: object) -> tuple[OutcomeRule, ...]:
    """Read the rules of a config file; raises UsageError that names the rule, from 1, and what is wrong."""
    if not isinstance(tables, list):
        raise UsageError("outcome: a list of tables is expected", hint="write each rule under [[outcome]]")
    return tuple(_rule(table, number) for number, table in enumerate(tables, 1))


class EpisodeTexts(NamedTuple):
    """The texts of an episode that rules look at; labels are those that are kept."""

    log_format: str
    labels: Mapping[str, str]
    final_text: str
    exit_status: str


def outcome_by(rules: Sequence[OutcomeRule], texts: EpisodeTexts) -> EpisodeOutcome | None:
    """Give the outcome that the first rule that fits reads, None where none does."""
    for rule in rules:
        if rule.log_format in {"", texts.log_format}:
            text = texts.labels.get(rule.label, "") if rule.where == "label" else _text(rule, texts)
            if text and re2.search(rule.pattern, text):
                return EpisodeOutcome(rule.value, rule.source)
    return None


def with_outcome(episode: Episode, rules: Sequence[OutcomeRule]) -> Episode:
    """Give the episode with the outcome that the rules read; one that the log itself tells stays."""
    outcome = outcome_by(rules, texts_of(episode)) if rules and episode.outcome is None else None
    return msgspec.structs.replace(episode, outcome=outcome) if outcome else episode


def texts_of(episode: Episode) -> EpisodeTexts:
    """Give the texts of an episode that rules look at."""
    last = last_outcome_step(episode.steps)
    result = (last.result or last.error_text) if last else ""
    message = next((step.text for step in reversed(episode.steps) if step.action == MESSAGE), "")
    return episode_texts(episode.format, episode.labels, message, result)


def last_outcome_step(steps: Sequence[AnyStep]) -> AnyStep | None:
    """Give the last call, or where there is none the last failure: what it gave back is what rules look at."""
    calls = (step for step in reversed(steps) if step.kind == "call")
    return next(calls, None) or next((step for step in reversed(steps) if step.error), None)


def episode_texts(log_format: str, labels: Mapping[str, str], message: str, result: str) -> EpisodeTexts:
    """Give what an episode tells by the agent's last message and by what its last call gave back."""
    kept = plain_labels(labels)
    return EpisodeTexts(log_format, kept, message or result, kept.get(EXIT_STATUS, "") or exit_status_of(result))


def _text(rule: OutcomeRule, texts: EpisodeTexts) -> str:
    return texts.exit_status if rule.where == EXIT_STATUS else texts.final_text


def _rule(table: object, number: int) -> OutcomeRule:
    where = f"outcome rule {number}"
    if not isinstance(table, dict):
        raise UsageError(f"{where}: a table is expected", hint="write each rule under [[outcome]]")
    unknown = sorted(str(key) for key in table.keys() - _KEYS)
    if unknown:
        raise UsageError(f"{where}: unknown {', '.join(unknown)}", hint=f"known: {', '.join(sorted(_KEYS))}")
    rule = OutcomeRule(
        where=cast("Where", _one_of(table, "where", get_args(Where), where)),
        pattern=_pattern(table, where),
        value=_value(table, where),
        source=cast("OutcomeSource", _one_of(table, "source", get_args(OutcomeSource), where)),
        label=_word(table, "label", where),
        log_format=_word(table, "format", where),
    )
    if (rule.where == "label") != bool(rule.label):
        raise UsageError(f'{where}: `label` names the label that `where = "label"` looks at', hint="give both")
    return rule


def _one_of(table: Mapping[str, object], key: str, allowed: tuple[str, ...], where: str) -> str:
    value = table.get(key)
    if value not in allowed:
        raise UsageError(f"{where}: {key} is {value!r}", hint=f"one of {', '.join(allowed)}")
    return str(value)


def _word(table: Mapping[str, object], key: str, where: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key} is {value!r}", hint="a text is expected")
    return value


def _value(table: Mapping[str, object], where: str) -> float:
    value = table.get("value")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: value is {value!r}", hint="a number from 0 to 1 is expected")
    return float(value)


def _pattern(table: Mapping[str, object], where: str) -> str:
    pattern = _word(table, "pattern", where)
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        raise UsageError(f"{where}: pattern {pattern!r}: {error}", hint="RE2 syntax: no look-around") from error
    if not pattern:
        raise UsageError(f"{where}: pattern is empty", hint="say what to find")
    return pattern
