"""Plain words for the kinds of signals: what each sees."""

from __future__ import annotations

from typing import Final, NamedTuple


class KindWords(NamedTuple):
    """What a kind of signal sees: a plain word, and the beginning of a sentence about what it sees it in."""

    word: str
    sentence: str


KINDS: Final = {
    "error_template": KindWords("failed", "The same error came up: {name}"),
    "tool_failure": KindWords("fails often", "Calls of {name} fail more often than others"),
    "retry_loop": KindWords("in circles", "Agents went in circles: {name}"),
    "test_failure_after_edit": KindWords("broke tests", "An edit broke tests that had passed: {name}"),
    "regression": KindWords("got worse", "A version made things worse: {name}"),
    "wide_description": KindWords("too wide", "A skill is loaded where nothing needs it: {name}"),
    "narrow_description": KindWords("too narrow", "A skill is not loaded where sessions need it: {name}"),
    "burn_rate": KindWords("outage", "Calls of {name} failed far too often within hours"),
    "user_correction": KindWords("corrected", "A person corrected what agents did: {name}"),
    "repeated_wish": KindWords("asked again", "A person asks for the same again and again: {name}"),
    "repeated_call": KindWords("repeated", "Agents made the same call again for nothing: {name}"),
    "user_interrupt": KindWords("stopped", "A person stopped agents: {name}"),
    "permission_denied": KindWords("refused", "A person did not allow a call: {name}"),
    "latency_spike": KindWords("slow", "Calls of {name} took far longer than usual"),
    "context_overflow": KindWords("too long", "A session outgrew the context of its model: {name}"),
    "timeout": KindWords("timed out", "A call ran out of time: {name}"),
    "rate_limited": KindWords("rate limited", "A limit of calls was reached: {name}"),
    "abandoned": KindWords("gave up", "Sessions broke off: {name}"),
    "revert": KindWords("taken back", "Agents took back their own edits: {name}"),
    "missing_capability": KindWords("missing tool", "Agents reached for what is not there: {name}"),
    "uncovered_failure": KindWords("lost", "Sessions failed that nothing else explains: {name}"),
    "success_streak": KindWords("went well", "Sessions succeeded again and again: {name}"),
    "stagnation": KindWords("no progress", "Evolution promoted nothing for a while: {name}"),
}
"""What people read for each kind of signal."""


def kind_word(kind: str) -> str:
    """Say in a plain word what a kind of signal sees; one that is not known is its own word."""
    return KINDS[kind].word if kind in KINDS else kind
