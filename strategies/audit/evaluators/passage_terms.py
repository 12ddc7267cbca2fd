"""What a passage of a skill names and asks for: terms that can be found again in what an agent did."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.evaluators.evaluator_types import SameObject
from strategies.audit.evaluators.table_text import table_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.audit.evaluators.evaluator_types import SkillPassage

PATH: Final = re.compile(
    r"(?<![\w@/.:~-])(?:[A-Za-z]:\\|~?/|\.{1,2}/)?[\w.@-]+(?:[/\\][\w.@-]*\w)+/?|(?<![\w/.:~-])~?/[\w.@-]*\w"
    r"|(?<![\w/.:~-])[\w-]{2,}(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w(/])"
)
VERSION: Final = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?![\w%])")
_CODE: Final = re.compile(r"`([^`\n]+)`")
_QUOTED: Final = re.compile(r"[\"“]([^\"“”\n]{2,80})[\"”]|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_FLAG: Final = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_NAME: Final = re.compile(r"\b(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Za-z]\w*\(\))")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{3,}(?:\.\d+)?(?![\w.])")
_LIST: Final = re.compile(r"(?<![\w,])\w+(?:[,;|]\w+)+(?![\w,])")
_BARRED: Final = re.compile(
    r"\b(?:never|do not|don't|must not|should not|cannot|avoid|without|skip|omit|leave out|drop|no longer"
    r"|instead of|rather than|not)\b(?:(?![.;:!?](?:\s|$)|\bbut\b).)*",
    re.IGNORECASE,
)
FENCES: Final = ("```", "~~~")
_MARKER: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^\s*>\s*")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")
_ENDING: Final = re.compile(r"(?:'s|ing|edly|ed|ly|es|s)$")
_PROSE: Final = ("md", "markdown", "mdx", "txt", "rst", "adoc")
"""Endings of files that are read by people and agents; the lines of others are code or data as a whole."""
_LEAST_STEM: Final = 4
_LEAST_ITEM: Final = 3
"""Characters of an item of a list that is looked for by itself."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON: Final = _words(
    "about above after again agent agents also always answer asks asked because been before being below "
    "best both case cases change check come content contents correct create data does done down each easy "
    "else ends ensure even every example exactly file files fill find first following follow folder form "
    "format found from full give given good have here high include input inside into item items itself "
    "just keep kind know last leave like line lines list look made make many match mean means more most "
    "much must name named names need needs never next none note nothing once only open order other output "
    "over path paths place please program provide read ready really result results right rule rules run "
    "runs same save section sections shall should show simple since single skill skills some something "
    "step steps still such sure take task tasks text than that their them then there these they thing "
    "things this those through thus time times tool tools type under until upon used user uses using "
    "value values very want well were what when where whether which while whole will with within without "
    "word words work working write written wrote wrong your"
)
"""Words that any skill and any task may hold, so that sharing them says nothing."""
_VERBS: Final = _words(
    "add aggregate append apply ask assign avoid back begin build call cap cast check choose clean close "
    "collapse collect combine compare complete compute confirm convert copy count create cut declare "
    "decode dedupe deduplicate define delete derive detect discard do document drop emit encode end enter "
    "escape exclude execute export expect extract fetch fill filter find finish fix flag follow format "
    "generate get give go group handle ignore import include indent infer insert install inspect join "
    "keep label lay leave limit link list load log look lower make map mark match measure merge move name "
    "never normalise normalize note number omit open order output parse pass pick place prefer prefix "
    "prepend preserve print process produce put query quote raise read rebuild record recompute re-read "
    "reject remember remove rename repeat replace report require resolve restore return reuse review "
    "rewrite round run save scan search select send separate set show skip sort split stamp start stop "
    "store strip submit sum summarise summarize switch take tell test tidy total transform trim truncate "
    "try turn update upload use validate verify wait work wrap write"
)
_ASKS: Final = re.compile(
    r"\b(?:must|should|shall|always|never|only|do not|don't|cannot|may not|needs? to|make sure|ensure|required?"
    r"|if|when|unless|until|before|after|otherwise|first|then|finally|except|exactly|instead)\b|[:=<>]|\d",
    re.IGNORECASE,
)


class PassageTerms(NamedTuple):
    """What one passage holds: terms to be found word for word, those it bars, its content words, and its role.

    `asks` tells that there is something to act on; `frame` that it is a heading, a fence or a blank line.
    """

    exact: frozenset[str]
    barred: frozenset[str]
    words: frozenset[str]
    asks: bool
    frame: bool


def is_prose(path: str) -> bool:
    """Tell whether the lines of a file are sentences, and not code or data, by its ending."""
    return "." not in path.rpartition("/")[2] or table_format(path) in _PROSE


def skill_terms(skill: tuple[SkillPassage, ...]) -> tuple[PassageTerms, ...]:
    """Read the terms of every passage, in order; lines between fences, and of scripts, are code as a whole."""
    return _skill_terms(SameObject(skill))


@lru_cache(maxsize=2)
def _skill_terms(same: SameObject[tuple[SkillPassage, ...]]) -> tuple[PassageTerms, ...]:
    terms, fenced, file = list[PassageTerms](), False, ""
    for passage in same.kept:
        fenced, file = fenced and passage.file == file, passage.file
        text = passage.text.strip()
        prose = is_prose(file)
        fence = prose and text.startswith(FENCES)
        fenced ^= fence
        terms.append(_terms(text, is_code=not prose or (fenced and not fence), frame=fence or not text))
    return tuple(terms)


def exact_terms(text: str) -> frozenset[str]:
    """List what a text names in so many words: code, quotes, paths, flags, identifiers, numbers, lists."""
    spans = [match.group(1).strip() for match in _CODE.finditer(text)]
    spans += [(match.group(1) or match.group(2)).strip() for match in _QUOTED.finditer(text)]
    terms = {span for span in spans if len(span) > 1}
    terms.update(path_terms(text))
    for form in (_FLAG, _NAME, _NUMBER, _LIST, VERSION):
        terms.update(match.group().rstrip("()") for match in form.finditer(text))
    items = (item for match in _LIST.finditer(text) for item in re.split(r"[,;|]", match.group()))
    terms.update(item for item in items if len(item) >= _LEAST_ITEM)
    return frozenset(terms)


def path_terms(text: str) -> Iterator[str]:
    """Yield what looks like a path or a file name; `and/or` is none."""
    for match in PATH.finditer(text):
        path = match.group().rstrip(".")
        if path[0] in "/~." or any(char in "._0123456789" for char in path) or path.count("/") > 1:
            yield path


@lru_cache(maxsize=64)
def content_words(text: str) -> frozenset[str]:
    """List the words of a text that say what it is about, without endings."""
    words = (word.lower().strip("'-") for word in _WORD.findall(text.replace("_", " ").replace("/", " ")))
    return frozenset(stem(word) for word in words if word not in _COMMON and stem(word) not in _COMMON)


def stem(word: str) -> str:
    """Cut the ending of a word, where enough is left of it."""
    cut = _ENDING.sub("", word)
    return cut if len(cut) >= _LEAST_STEM else word


def without_marker(text: str) -> str:
    """Give the text of a line without the mark of its list item or quotation."""
    return _MARKER.sub("", text, count=1).strip()


@lru_cache(maxsize=4_096)
def _terms(text: str, *, is_code: bool, frame: bool) -> PassageTerms:
    if frame:
        return PassageTerms(frozenset(), frozenset(), frozenset(), asks=False, frame=True)
    if text.startswith("#") and not is_code:
        return PassageTerms(frozenset(), frozenset(), content_words(text), asks=False, frame=True)
    bare = without_marker(text)
    barred = frozenset[str]() if is_code else _barred(bare)
    exact = exact_terms(text) | ({text} if is_code else frozenset())
    first = bare.split(maxsplit=1)[0].strip("*_`,:").lower() if bare else ""
    asks = is_code or bool(exact or barred) or first in _VERBS or _ASKS.search(bare) is not None
    return PassageTerms(exact - barred, barred, content_words(bare), asks=asks, frame=False)


def _barred(text: str) -> frozenset[str]:
    return frozenset(term for clause in _BARRED.finditer(text) for term in exact_terms(clause.group()))
