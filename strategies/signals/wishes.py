"""Wishes: what a person says again and again, session after session, found by the words that carry it.

What counts of a message are its clauses that forbid something ("don't push to main") or ask for it ("use pnpm"):
two are alike if nearly all words of the shorter one are in the other. Of other messages the first clause counts,
and is alike only where all its words are: a request that is repeated. What is meant for one day is no wish.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.episodes.text_hash import word_key
from strategies.signals.open_signals import REPEATED_WISH
from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

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


class Clause(NamedTuple):
    """One thing that a message forbids or asks for: the keys of the words that carry it, and how it is put."""

    kind: ClauseKind
    words: frozenset[int]
    quote: str


class SpokenClause(NamedTuple):
    """A clause in the place where a person wrote it, an episode and a step of it; how long it is, and no text."""

    record: EpisodeRecord
    step: int
    kind: ClauseKind
    words: frozenset[int]
    chars: int


class Wish(NamedTuple):
    """What a person asked for in several sessions: every time, and how they put it, "" until that was read."""

    clauses: tuple[SpokenClause, ...]
    quote: str = ""

    @property
    def sessions(self) -> int:
        """In how many sessions it came up."""
        return len({session_of(clause.record) for clause in self.clauses})


class RepeatedWish:
    """Finds what a person asks for or forbids in several sessions; calls for repair.

    `template` quotes one of the times, in which secrets and personal data are masked. A line that says it is a
    person's to take: `germline start`.
    """

    kind: Final = REPEATED_WISH

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find the wishes of a survey that are quoted; each message counts for one of them."""
        del thresholds
        seen = (
            Sighting(wish.quote, "", clause.record, clause.step)
            for wish in survey.wishes
            if wish.quote
            for clause in wish.clauses
        )
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def session_of(record: EpisodeRecord) -> str:
    """Name the session that an episode is of: a sub-agent's begins with that of its session."""
    return record.name.partition("/")[0]


def wishes(spoken: Iterable[SpokenClause], known: Sequence[Clause] = ()) -> list[Wish]:
    """Find what was asked for in at least three sessions, the most frequent first; a message counts for one.

    What was quoted before, `known`, keeps its words; else the shortest clause is the first of each wish.
    """
    groups: list[tuple[Clause | SpokenClause, list[SpokenClause]]] = []
    by_word: dict[int, list[int]] = defaultdict(list)

    def begin(first: Clause | SpokenClause) -> None:
        for word in first.words:
            by_word[word].append(len(groups))
        groups.append((first, []))

    for quoted in known:
        begin(quoted)
    for clause in sorted(spoken, key=lambda each: (len(each.words), each.chars, each.record.id, each.step)):
        sharing = sorted({number for word in clause.words for number in by_word[word]})
        at = next((number for number in sharing if _alike(groups[number][0], clause)), len(groups))
        if at == len(groups):
            begin(clause)
        groups[at][1].append(clause)
    every = (Wish(tuple(clauses), first.quote if isinstance(first, Clause) else "") for first, clauses in groups)
    often = (wish for wish in every if wish.sessions >= LEAST_SESSIONS)
    return _each_message_once(sorted(often, key=lambda wish: (-wish.sessions, wish.clauses[0].record.id)))


def _each_message_once(often: Sequence[Wish]) -> list[Wish]:
    """Leave out wishes that the messages of a more frequent one repeat: one message may hold two clauses."""
    kept: list[Wish] = []
    taken: set[tuple[str, int]] = set()
    for wish in often:
        places = {(clause.record.id, clause.step) for clause in wish.clauses}
        if 2 * len(places & taken) <= len(places):
            kept.append(wish)
            taken |= places
    return kept


def _alike(clause: Clause | SpokenClause, other: SpokenClause) -> bool:
    if clause.kind != other.kind or clause.kind == "says":
        return clause.kind == other.kind and clause.words == other.words
    return len(clause.words & other.words) > _ALIKE * min(len(clause.words), len(other.words))


def clauses_of(message: str) -> Iterator[Clause]:
    """Yield what a message forbids and asks for, else its first clause that says something."""
    text = " ".join(message[:_LOOKED_AT_CHARS].split())
    some = False
    for opening in _OPENING.finditer(text):
        quote = _until_end(text, opening.start(), opening.end())
        words = _carrying(quote[opening.end() - opening.start() :])
        words |= {_USE} if words and opening[0].casefold() == "use" else frozenset()
        if len(words) >= _LEAST_WORDS and not _ONE_DAY.search(quote):
            some = True
            yield Clause("forbids" if opening["forbids"] else "asks", words, quote)
    if some:
        return
    start = 0
    while start < len(text):
        quote = _until_end(text, start, start)
        words = _carrying(quote)
        if len(words) > _LEAST_WORDS and not _ONE_DAY.search(quote):
            yield Clause("says", words, quote.strip())
            return
        start += len(quote) + 1


def _until_end(text: str, start: int, after: int) -> str:
    end = _CLAUSE_END.search(text, after)
    return text[start : end.start() if end else len(text)][:_QUOTE_CHARS]


_USE: Final = word_key("use")


def _carrying(text: str) -> frozenset[int]:
    words = (word.strip("./-'").casefold() for word in _WORD.findall(text.replace("’", "'")))
    return frozenset(word_key(_stem(word)) for word in words if len(word) > 1 and word not in _EMPTY)


def _stem(word: str) -> str:
    ending = next((ending for ending in _ENDINGS if word.endswith(ending)), "")
    return word.removesuffix(ending) if len(word) - len(ending) >= _LEAST_STEM else word
