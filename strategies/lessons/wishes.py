"""Wishes: what a person says again and again, session after session, found by the words that carry it.

What counts of a message are its clauses that forbid something ("don't push to main") or ask for it ("use pnpm"):
two are alike if nearly all words of the shorter one are in the other. Of other messages the first clause counts,
and is alike only where all its words are: a request that is repeated. What is meant for one day is no wish.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strategies.episodes.episode import EpisodeRecord

LEAST_SESSIONS: Final = 3
"""In how many sessions a wish must come up: twice may be one afternoon (a guess)."""
_ALIKE: Final = 2 / 3
"""The share of the shorter clause's words that must be in the other, which is more than two of three."""
_LEAST_WORDS: Final = 2
_LOOKED_AT_CHARS: Final = 600
_QUOTE_CHARS: Final = 160

_FORBIDS: Final = r"don['’]?t|do not|never|stop|must ?n[o']t|should ?n[o']t|no more"
_ASKS: Final = r"always|please|use|only|prefer|make sure (?:to|that you)?|remember to|you (?:must|should|have to)"
_OPENING: Final = re.compile(rf"(?i)\b(?:(?P<forbids>{_FORBIDS})|(?:{_ASKS}))\b")
_CLAUSE_END: Final = re.compile(r"[.!?;:,\n—]|\s[-–]\s|$")
_ONE_DAY: Final = re.compile(r"(?i)\b(?:today|tomorrow|tonight|for now|right now|yet|this time|this once)\b")
_WORD: Final = re.compile(r"[\w./@-]+")
_EMPTY: Final = frozenset(
    """
    a an the to of in on at for from with by and or but so as if it its this that these those is are be was were am
    i you we me my our your us they them he she him her please directly straight again ever here there now yet just
    really very too also ok okay no not yes well hey sorry actually any more do don't dont does did can could would
    should must have has had will want wanted told tell said say asked ask meant mean right wrong i'm
    """.split()  # noqa: SIM905 - as a list these are ten lines
)
"""Words that carry no wish."""
_ENDINGS: Final = ("ing", "es", "ed", "s")
_LEAST_STEM: Final = 4


ClauseKind = Literal["forbids", "asks", "says"]


class PersonWords(NamedTuple):
    """What a person wrote, in which session and at which step."""

    record: EpisodeRecord
    step: int
    text: str


class Clause(NamedTuple):
    """One thing that a message asks for or forbids: the words that carry it, and how they stand there."""

    kind: ClauseKind
    words: frozenset[str]
    quote: str
    message: PersonWords


class Wish(NamedTuple):
    """What a person asked for in several sessions: the shortest way in which they put it, and every one."""

    quote: str
    clauses: tuple[Clause, ...]

    @property
    def words(self) -> frozenset[str]:
        """The words that carry it."""
        return self.clauses[0].words

    @property
    def sessions(self) -> int:
        """In how many sessions it came up."""
        return len({session_of(clause.message.record) for clause in self.clauses})


def session_of(record: EpisodeRecord) -> str:
    """Name the session that an episode is of: a sub-agent's begins with that of its session."""
    return record.name.partition("/")[0]


def wishes(messages: Iterable[PersonWords]) -> list[Wish]:
    """Find what was asked for in at least three sessions, the most frequent first; each message counts for one."""
    clauses = [clause for message in messages for clause in _clauses(message)]
    clauses.sort(
        key=lambda clause: (len(clause.words), clause.quote, clause.message.record.id, clause.message.step)
    )
    groups: list[list[Clause]] = []
    for clause in clauses:
        group = next((group for group in groups if _alike(group[0], clause)), None)
        if group is None:
            groups.append([clause])
        else:
            group.append(clause)
    every = (Wish(group[0].quote, tuple(group)) for group in groups)
    often = sorted(
        (wish for wish in every if wish.sessions >= LEAST_SESSIONS), key=lambda wish: (-wish.sessions, wish.quote)
    )
    return _each_message_once(often)


def _each_message_once(often: Sequence[Wish]) -> list[Wish]:
    """Leave out wishes that the messages of a more frequent one repeat: one message may hold two clauses."""
    kept: list[Wish] = []
    taken: set[tuple[str, int]] = set()
    for wish in often:
        places = {(clause.message.record.id, clause.message.step) for clause in wish.clauses}
        if 2 * len(places & taken) <= len(places):
            kept.append(wish)
            taken |= places
    return kept


def _alike(clause: Clause, other: Clause) -> bool:
    if clause.kind != other.kind or clause.kind == "says":
        return clause.kind == other.kind and clause.words == other.words
    return len(clause.words & other.words) > _ALIKE * min(len(clause.words), len(other.words))


def _clauses(message: PersonWords) -> Iterator[Clause]:
    """Yield what a message forbids and asks for, else its first clause that says something."""
    text = " ".join(message.text[:_LOOKED_AT_CHARS].split())
    some = False
    for opening in _OPENING.finditer(text):
        quote = _until_end(text, opening.start(), opening.end())
        words = _carrying(quote[opening.end() - opening.start() :])
        words |= {"use"} if words and opening[0].casefold() == "use" else frozenset()
        if len(words) >= _LEAST_WORDS and not _ONE_DAY.search(quote):
            some = True
            yield Clause("forbids" if opening["forbids"] else "asks", words, quote, message)
    if some:
        return
    start = 0
    while start < len(text):
        quote = _until_end(text, start, start)
        words = _carrying(quote)
        if len(words) > _LEAST_WORDS and not _ONE_DAY.search(quote):
            yield Clause("says", words, quote.strip(), message)
            return
        start += len(quote) + 1


def _until_end(text: str, start: int, after: int) -> str:
    end = _CLAUSE_END.search(text, after)
    return text[start : end.start() if end else len(text)][:_QUOTE_CHARS]


def _carrying(text: str) -> frozenset[str]:
    words = (word.strip("./-'").casefold() for word in _WORD.findall(text.replace("’", "'")))
    return frozenset(_stem(word) for word in words if len(word) > 1 and word not in _EMPTY)


def _stem(word: str) -> str:
    ending = next((ending for ending in _ENDINGS if word.endswith(ending)), "")
    return word.removesuffix(ending) if len(word) - len(ending) >= _LEAST_STEM else word
