"""The navigation index of a skill: which passage of its other files to open for which words.

A section at the end of SKILL.md, between markers, made from the other files and the description alone: a changed
line of SKILL.md leaves it as it is. A folder of skills has one in a file of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import log2
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import SkillFormatError
from registry.skill_md.front_matter import described
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.skill_files import KNOWLEDGE_INDEX, is_knowledge
from registry.skill_md.text import cut, front_end, headings, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from events.types.parts import FileEntry
    from registry.skill_md.folder import SkillFolder

INDEX_TITLE: Final = "Index of files"
_BEGIN: Final = "<!-- germline:index, made by germline index -->"
_END: Final = "<!-- germline:index end -->"
_BLOCK: Final = re.compile(
    rf"(?:\r?\n)?## {INDEX_TITLE}\r?\n\r?\n{re.escape(_BEGIN)}\r?\n.*?{re.escape(_END)}(\r?\n|\Z)", re.DOTALL
)
MOST_ROWS: Final = 60
"""More passages than this are listed by file: an index is read whole each time (a guess; mcp-builder has 47)."""
_KEYWORDS: Final = 6
_UNNAMED: Final = 8
"""Words of the description without a passage that are listed by name."""
_IN_TITLE: Final = 5
"""A word of a heading weighs as much as this many in the text below it (a guess)."""
_LONGEST_TITLE: Final = 60
_HEADLINE: Final = re.compile(r"^\s*(?:#+(?!!)|//+|--|/\*+|<!--|[rR]?(?:\"\"\"|'''))\s*(\w.*)", re.MULTILINE)
"""What a script says of itself: the first comment or docstring."""
_NEAR_THE_TOP: Final = 5
_MARKDOWN: Final = (".md", ".mdx", ".markdown")
_LICENCES: Final = re.compile(r"(?:^|/)(?:licen[cs]e|copying|notice)(?:\.\w+)?$", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_][\w-]*\w(?=\W|$)")
_SHORTEST_WORD: Final = 4
_COMMON_WORDS: Final = """
about above after again also always another because been before being below best between both cannot class
const could code create default does doing done each else elif error every example examples except export
false file files first following from function given good have here import int into itself just keep know
last later less like line list look made make many more most much must name need needs never next none note
null object only open other otherwise over output part path print provide provides return returns same
section self should show skill skills some static step still string such sure take text than that their them
then there these they thing this those through true type undefined under until used user uses using value
values very void want well were what when where whether which while will with within without work would
write your yourself
"""
"""Words that name no topic, and the words of program text in which all scripts agree."""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


class IndexRow(NamedTuple):
    """A passage and the words that lead to it; lines count from 1."""

    keywords: tuple[str, ...]
    path: str
    title: str
    first: int
    last: int

    @property
    def place(self) -> str:
        """Where it is: path and lines, then its heading."""
        return f"{self.path}:{self.first}-{self.last}" + (f" {self.title}" if self.title else "")


class Uncovered(NamedTuple):
    """A file to which no row leads, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class NavigationIndex:
    """Rows in the order of files, files without a row, and words of the description that no file has."""

    rows: tuple[IndexRow, ...]
    uncovered: tuple[Uncovered, ...]
    unnamed: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The table and what it does not cover, as lines of Markdown without endings."""
        table = [f"| {', '.join(row.keywords)} | {row.place} |" for row in self.rows]
        left_out = [f"{_plain(path)} ({why})" for path, why in self.uncovered]
        notes = [f"Not in this index: {', '.join(left_out)}."] if left_out else []
        if self.unnamed:
            more = f" and {len(self.unnamed) - _UNNAMED} more" if len(self.unnamed) > _UNNAMED else ""
            words = ", ".join(self.unnamed[:_UNNAMED])
            notes.append(f"In the description, but in none of these files: {words}{more}.")
        return ["| look for | in |", "| --- | --- |", *table, *([""] if notes else []), *notes]


class _Passage(NamedTuple):
    path: str
    title: str
    first: int
    last: int
    text: str


def index_of(files: Mapping[str, bytes], description: str = "") -> NavigationIndex:
    """Make the index of files, given by path; the same files give the same index."""
    passages, uncovered = list[_Passage](), []
    for path, content in sorted(files.items()):
        if why := _unreadable(path, content):
            uncovered.append(Uncovered(path, why))
        else:
            passages += _passages(path, content.decode())
    if len(passages) > MOST_ROWS:
        passages = [_whole(list(group)) for _, group in groupby(passages, lambda passage: passage.path)]
    words = [_words(passage) for passage in passages]
    in_passages = Counter(word for counted in words for word in counted)
    rows = []
    for passage, counted in zip(passages, words, strict=True):
        keywords = _keywords(counted, in_passages, len(passages))
        if keywords:
            rows.append(IndexRow(keywords, passage.path, _shown(passage.title), passage.first, passage.last))
    listed = {row.path for row in rows}
    silent = sorted({passage.path for passage in passages} - listed)
    uncovered += [Uncovered(path, "no words of its own") for path in silent]
    known = {_stem(word) for word in in_passages}
    asked = dict.fromkeys(word for word in _terms(description) if _stem(word) not in known)
    return NavigationIndex(tuple(rows), tuple(sorted(uncovered)), tuple(asked) if rows else ())


def index_of_skill(skill: SkillFolder) -> NavigationIndex:
    """Make the index of a skill's files beside SKILL.md; of its knowledge, the index of that alone."""
    files = {
        file.entry.path: file.content
        for file in skill.files
        if not is_knowledge(file.entry.path) or file.entry.path == KNOWLEDGE_INDEX
    }
    return index_of(files, described(skill.front))


def has_index(text: str) -> bool:
    """Tell whether a text has an index between markers."""
    return _BLOCK.search(text) is not None


def without_index(text: str) -> str:
    """Take the index out of a text: what it was put into is left, byte for byte."""
    block = _BLOCK.search(text)
    if block is None:
        return text
    above = text[: block.start()]
    if not block[1] and not text[block.end() :]:  # the text had no ending on its last line
        above = above.removesuffix("\n").removesuffix("\r")
    return above + text[block.end() :]


def with_index(text: str, index: NavigationIndex) -> str:
    """Put an index where a text has one, else at its end; an index without a row is taken out.

    Raises: SkillFormatError where the end of the text is no place for a section, as inside a code fence.
    """
    if not index.rows:
        return without_index(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    block = ending.join([*([""] if text else []), f"## {INDEX_TITLE}", "", _BEGIN, *index.lines, _END])
    present = _BLOCK.search(text)
    if present is not None:
        lead = block if present[0].startswith(("\r", "\n")) else block.removeprefix(ending)
        return text[: present.start()] + lead + present[1] + text[present.end() :]
    whole = not text or text.endswith("\n")
    added = f"{text}{block}{ending}" if whole else f"{text}{ending}{block}"
    title = cut(added).sections[-1].title
    if title != INDEX_TITLE:
        raise SkillFormatError(
            f"an index at the end of the text would be part of {title or 'its last block'!r}",
            rule="index",
            hint="close the code fence or comment that is open at the end of the file",
        )
    return added


def indexed(skill: SkillFolder, index: NavigationIndex | None) -> SkillFolder:
    """Return a skill with this index in its text, or with none."""
    pieces = cut(with_index(skill.text, index) if index else without_index(skill.text))
    return replace(skill, front=pieces.front, sections=pieces.sections)


def reindexed(skill: SkillFolder, before: Iterable[FileEntry]) -> SkillFolder:
    """Return a skill whose index is made again where it has one and its other files are not as they were."""
    if {file.entry for file in skill.files} == set(before) or not has_index(skill.text):
        return skill
    return indexed(skill, index_of_skill(skill))


def index_lines(lines: Sequence[str]) -> frozenset[int]:
    """Number the lines of a text (from 0) that its index takes up, heading included."""
    block = _BLOCK.search("".join(lines))
    if block is None:
        return frozenset()
    first = "".join(lines)[: block.start()].count("\n")
    return frozenset(range(first, first + block[0].count("\n") + (not block[1])))


def _unreadable(path: str, content: bytes) -> str:
    """Say why a file has no row, "" where it may have some."""
    if _LICENCES.search(path):
        return "licence"
    if set(path) & set("|<>`") or hidden_characters(path) or not path.isprintable():
        return "a name that no table can hold"
    if not content.strip():
        return "empty"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "no text"
    return "no text" if "\0" in text else ""


def _passages(path: str, text: str) -> Iterator[_Passage]:
    """Cut Markdown at the headings of its most general level with two of them or more; other files are whole."""
    lines = split_lines(text)
    is_markdown = path.lower().endswith(_MARKDOWN)
    starts = _section_starts(lines) if is_markdown else []
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, _headline(lines, is_markdown=is_markdown)))
    for (first, title), (end, _) in pairwise([*starts, (len(lines), "")]):
        body = "".join(lines[first:end])
        if title or body.strip():
            yield _Passage(path, title, first + 1, end, body)


def _headline(lines: Sequence[str], *, is_markdown: bool) -> str:
    """Say what a file is about in its own words: its first heading, or first comment; "" where it has none."""
    if is_markdown:
        return next((title for _, title in headings("".join(lines[front_end(lines) :]))), "")
    comment = _HEADLINE.search("".join(lines[:_NEAR_THE_TOP]))
    return comment[1].strip("\"'*/-> ") if comment else ""


def _section_starts(lines: Sequence[str]) -> list[tuple[int, str]]:
    end = front_end(lines)
    heads = [(at + end, title) for at, title in headings("".join(lines[end:]))]
    levels = Counter(_level(lines, at) for at, _ in heads)
    level = next((level for level in sorted(levels) if levels[level] > 1), 0)
    return [(at, title) for at, title in heads if _level(lines, at) == level]


def _level(lines: Sequence[str], at: int) -> int:
    """Tell the level of a heading: of `#`, else 1 or 2 by what underlines it."""
    marks = re.match(r" {0,3}(#{1,6})", lines[at])
    return len(marks[1]) if marks else 1 if re.match(r" {0,3}=", lines[min(at + 1, len(lines) - 1)]) else 2


def _whole(passages: Sequence[_Passage]) -> _Passage:
    """Put the passages of one file together again: their headings are its title, as far as there is room."""
    titles = [passage.title for passage in passages if passage.title]
    text = "".join(passage.text for passage in passages)
    return _Passage(passages[0].path, "; ".join(titles), 1, passages[-1].last, text)


def _shown(title: str) -> str:
    """Write a heading so that it can stand in a cell of a table, cut to what that has room for."""
    words = _plain(title)
    return words if len(words) <= _LONGEST_TITLE else f"{words[: _LONGEST_TITLE - 1].rstrip()}…"


def _plain(text: str) -> str:
    """Take out what would end a cell or begin markup, and what does not show."""
    hidden = {chr(char.code) for char in hidden_characters(text)}
    return " ".join("".join(" " if char in "|<>[]`*" or char in hidden else char for char in text).split())


def _terms(text: str) -> list[str]:
    words = (match[0].lower() for match in _WORD.finditer(text))
    return [word for word in words if len(word) >= _SHORTEST_WORD and word not in _COMMON]


def _words(passage: _Passage) -> Counter[str]:
    counted = Counter(_terms(passage.text))
    counted.update(dict.fromkeys(set(_terms(passage.title)), _IN_TITLE))
    return counted


def _keywords(counted: Counter[str], in_passages: Counter[str], passages: int) -> tuple[str, ...]:
    """Choose the words that a passage has often and few others have at all (tf-idf); ties go by the alphabet."""
    weights = {word: round(times * log2((passages + 1) / in_passages[word]), 3) for word, times in counted.items()}
    ranked = sorted(weights, key=lambda word: (-weights[word], word))
    chosen = dict[str, str]()
    for word in ranked:
        chosen.setdefault(_stem(word), word)
        if len(chosen) == _KEYWORDS:
            break
    return tuple(chosen.values())


def _stem(word: str) -> str:
    return word.removesuffix("s")
