"""Plain words for what signals say, and for what is asked of a list of them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

from events.errors import UsageError

SignalState = Literal["open", "waiting", "answered"]
"""Whether nobody acted on a fact, a candidate waits for a decision, or a live line answers it."""


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
WORD_WIDTH: Final = max(len(kind.word) for kind in KINDS.values())


def kind_word(kind: str) -> str:
    """Say in a plain word what a kind of signal sees; one that is not known is its own word."""
    return KINDS[kind].word if kind in KINDS else kind


def kind_columns(kind: str, times: str) -> str:
    """Say what a kind of signal sees, and how often it did, as wide for every kind."""
    return f"{kind_word(kind):<{WORD_WIDTH}} {times:>7}×"


def kind_named(stated: str) -> str:
    """Read the kind of a signal as people write it: the plain word, or the name that is stored.

    Raises: UsageError where there is none, with the nearest.
    """
    asked = _plain(stated)
    known = {_plain(name): name for name in KINDS} | {words.word: name for name, words in KINDS.items()}
    if asked not in known:
        near = get_close_matches(asked, known, n=1, cutoff=0.6)
        hint = (
            f"did you mean --kind {near[0]!r}?"
            if near
            else f"one of: {', '.join(sorted(words.word for words in KINDS.values()))}"
        )
        raise UsageError(f"no kind of signal is called {stated!r}", hint=hint)
    return known[asked]


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())
