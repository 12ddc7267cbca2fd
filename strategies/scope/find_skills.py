"""Finding skills for a task by the words of their texts, and skills that get in each other's way."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.errors import UsageError
from events.sqlite.errors import COMPLAINTS
from events.sqlite.word_index import WordIndex
from registry.skill_md.front_matter import description_of
from registry.state.capsule import is_skill_name
from strategies.scope.word_ranking import TextIndex, telling_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from events.sqlite.word_index import RankedDocument
    from registry.query.library import Library
    from registry.state.capsule import Capsule

WEIGHTS: Final[Mapping[str, float]] = {
    "name": 3.0,
    "description": 3.0,
    "triggers": 1.0,
    "headings": 1.0,
    "commands": 1.0,
    "lines": 1.0,
}
"""How much a word counts by where it is written (guesses; `python -m bench.find` prints what equal ones give)."""
LIKE: Final = 0.6
"""From which share of its own score on another description skills compete for the same tasks (a guess)."""
COPIED: Final = 0.5
"""From which share of the lines of the shorter one on a skill is nearly another one (a guess)."""
_LEAST_LINES: Final = 3
"""Shared lines that are no chance (a guess)."""
_LEAST_CHARS: Final = 20
"""A shorter line says too little to be a copy (a guess)."""
_LEAST_WORDS: Final = 2
"""Shared words of descriptions that are no chance (a guess)."""
_HELD_BY_MOST: Final = 100
"""A word of more descriptions than these tells no two of them apart (a guess); else 6,000 skills take too long."""
_NAME: Final = re.compile(r"[^\W_]+")
_CODE: Final = re.compile(r"`([^`]+)`")
_FENCE: Final = re.compile(r"\s*(```|~~~)")


class Overlap(NamedTuple):
    """Two skills that get in each other's way, how much alike they are in [0, 1], and the words they share."""

    first: str
    second: str
    kind: Literal["copied", "competing"]
    share: float
    words: tuple[str, ...]


def task_words(text: str) -> list[str]:
    """Split a text into the words that skills are found by, and the names in it that hold a digit."""
    names = _NAME.findall(text)
    return [*telling_words(text), *(name.lower() for name in names if any(map(str.isdecimal, name)))]


def skill_words(capsule: Capsule) -> tuple[list[str], ...]:
    """Give the words of a skill by where they are written, in the order of WEIGHTS."""
    lines = [line.text for gene in capsule.genes for line in gene.lines]
    return words_by_field(
        capsule.name,
        description_of(capsule),
        lines,
        [f"{trigger.template} {trigger.action}" for gene in capsule.genes for trigger in gene.triggers],
    )


def words_by_field(
    name: str, description: str, lines: Iterable[str], triggers: Iterable[str] = ()
) -> tuple[list[str], ...]:
    """Give the words of a skill's texts by where they are written, in the order of WEIGHTS."""
    headings, commands, others, in_code = [], [], [], False
    for line in lines:
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            commands.append(line)
        elif line.startswith("#"):
            headings.append(line)
        else:
            commands += _CODE.findall(line)
            others.append(line)
    texts = ([name], [description], triggers, headings, commands, others)
    return tuple(task_words("\n".join(parts)) for parts in texts)


@contextmanager
def skill_index(library: Library, file: Path) -> Iterator[WordIndex]:
    """Open the words of all skills, brought up to date: those kept in a file, or in memory where that fails.

    The file must lie where no project can write: it is believed.
    """
    index = WordIndex.kept_in(file, tuple(WEIGHTS))
    try:
        _bring_up_to_date(index, library)
    except COMPLAINTS:  # it is damaged, the disk is full, or another process writes it
        index.close()
        index = _in_memory(library)
    with closing(index):
        yield index


def _in_memory(library: Library) -> WordIndex:
    index = WordIndex(tuple(WEIGHTS))
    _bring_up_to_date(index, library)
    return index


def _bring_up_to_date(index: WordIndex, library: Library) -> None:
    """Take in what events changed since; all skills where the index was filled from another log."""
    source, upto = index.filled()
    head = library.log.head()
    filled_from = next(iter(library.log.hashes(after=upto - 1, upto=upto)), b"").hex() if upto else None
    if source != filled_from:
        index.fill(_words(library, library.names()), source=head.hash, upto=head.position, whole=True)
    elif upto < head.position:
        streams = {envelope.stream.partition(":") for envelope in library.log.read(after=upto)}
        changed = {name for kind, _, name in streams if kind == "capsule"}
        changed |= {name.rpartition(".")[0] for kind, _, name in streams if kind == "gene"}
        index.fill(_words(library, changed.intersection(library.names())), source=head.hash, upto=head.position)


def _words(library: Library, names: Iterable[str]) -> dict[str, tuple[list[str], ...]]:
    capsules = [library.capsule(name) for name in names if is_skill_name(name)]
    return {capsule.name: () if capsule.retired else skill_words(capsule) for capsule in capsules}


def find_skills(index: WordIndex, task: str, limit: int, library: Library | None = None) -> list[RankedDocument]:
    """Rank the skills that share words with a task, at most `limit`; of a library where the index is damaged.

    Raises: UsageError where the task holds no word that says something.
    """
    words = task_words(task)
    if not words:
        raise UsageError(
            f"{task!r} holds no word that says what the task is about",
            hint='germline find "export a table as csv"',
        )
    try:
        return index.best(words, WEIGHTS, limit)
    except COMPLAINTS:
        if library is None:
            raise
        with closing(_in_memory(library)) as fresh:
            return fresh.best(words, WEIGHTS, limit)


def overlaps(capsules: Sequence[Capsule]) -> list[Overlap]:
    """Name pairs of skills of which one is nearly a copy, and pairs whose descriptions fit the same tasks.

    Descriptions fit the same tasks which score high for each other, as a share of what they score themselves.
    """
    copied = list(_copied(capsules))
    known = {(pair.first, pair.second) for pair in copied}
    competing = [pair for pair in _competing(capsules) if (pair.first, pair.second) not in known]
    return sorted([*copied, *competing], key=lambda pair: (pair.kind, -pair.share, pair.first, pair.second))


def _copied(capsules: Sequence[Capsule]) -> Iterator[Overlap]:
    lines = {capsule.name: {" ".join(line.split()) for line in _long_lines(capsule)} for capsule in capsules}
    for (first, second), count in _sharing(lines, len(lines)).items():
        share = count / min(len(lines[first]), len(lines[second]))
        if count >= _LEAST_LINES and share >= COPIED:
            yield Overlap(first, second, "copied", share, ())


def _long_lines(capsule: Capsule) -> Iterator[str]:
    texts = (line.text for gene in capsule.genes for line in gene.lines)
    return (text for text in texts if len(text.strip()) >= _LEAST_CHARS)


def _competing(capsules: Sequence[Capsule]) -> Iterator[Overlap]:
    words = {capsule.name: Counter(words_of(f"{capsule.name} {description_of(capsule)}")) for capsule in capsules}
    index = TextIndex(words)
    own = {name: index.scores(dict.fromkeys(asked, 1.0), [name])[name] for name, asked in words.items()}
    for pair, count in _sharing(words, _HELD_BY_MOST).items():
        if count < _LEAST_WORDS:
            continue
        (first, second), shared = pair, words[pair[0]].keys() & words[pair[1]].keys()
        shares = [
            index.scores(dict.fromkeys(words[name], 1.0), [other])[other] / own[name]
            for name, other in ((first, second), (second, first))
        ]
        if min(shares) >= LIKE:
            yield Overlap(first, second, "competing", min(*shares, 1.0), tuple(sorted(shared)))


def _sharing(held: Mapping[str, Iterable[str]], most: int) -> Counter[tuple[str, str]]:
    """Count what each pair holds in common, but for what more than `most` hold."""
    holding: dict[str, list[str]] = defaultdict(list)
    for name in sorted(held):
        for thing in held[name]:
            holding[thing].append(name)
    return Counter(pair for names in holding.values() if len(names) <= most for pair in combinations(names, 2))
