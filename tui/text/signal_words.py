"""Plain words for what signals say, and for what is asked of a list of them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, Literal

from events.errors import UsageError
from registry.query.signal_kinds import KINDS, kind_word

SignalState = Literal["open", "waiting", "answered"]
"""Whether nobody acted on a fact, a candidate waits for a decision, or a live line answers it."""
WORD_WIDTH: Final = max(len(kind.word) for kind in KINDS.values())


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
