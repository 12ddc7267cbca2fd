"""Quotes of a skill: found word for word and once they name passages, else they are void, each in its own way."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.evaluators.evaluator_types import ActionSignal, SameObject, VoidSignal
from strategies.gate.injection import unlike_report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.audit.evaluators.evaluator_types import Action, EvaluatorReport, QuoteFault, SkillPassage

ALIKE: Final = 0.6
"""The share of a quote's words that one passage must hold to be what it paraphrases (a guess)."""
_WORD: Final = re.compile(r"\w+")


class QuotedSpan(NamedTuple):
    """A piece of one passage, by its place in the skill and the characters of the line that are meant."""

    at: int
    start: int
    end: int


class _FileText(NamedTuple):
    """A file of a skill as one text; of each line its place in the skill, where it begins, and where it ends."""

    text: str
    lines: tuple[tuple[int, int, int], ...]


def find_quote(
    quote: str, skill: tuple[SkillPassage, ...], *, file: str = "", gene: str = "", line: int = 0
) -> tuple[QuotedSpan, ...] | QuoteFault:
    """Find a quote word for word, within one section. `file`, `gene`, `line` choose where it begins."""
    if not quote.strip():
        return "not in the skill"
    starts = [
        spans
        for spans in _occurrences(quote.strip("\n"), skill)
        if _is_meant(skill[spans[0].at], file, gene, line)
    ]
    inside = [spans for spans in starts if len({_section(skill[span.at]) for span in spans}) == 1]
    if len(inside) == 1:
        return inside[0]
    if inside:
        return "repeated"
    if starts:
        return "two sections"
    words = frozenset(_WORD.findall(quote.casefold()))
    alike = any(
        len(words & frozenset(_WORD.findall(passage.text.casefold()))) >= ALIKE * len(words) for passage in skill
    )
    return "paraphrased" if words and alike else "not in the skill"


def on_passage(
    action: Action,
    passage: SkillPassage,
    reason: str,
    move: str,
    *,
    replacement: str = "",
    section: str = "",
    suspects: int = 1,
) -> ActionSignal:
    """Make a signal on one passage, by its own words and its place."""
    return ActionSignal(
        action=action,
        quote=passage.text.strip(),
        file=passage.file,
        gene=passage.gene,
        line=passage.line,
        reason=reason,
        replacement=replacement,
        section=section,
        move=move,
        suspects=suspects,
    )


def everywhere(quote: str, skill: tuple[SkillPassage, ...]) -> tuple[QuotedSpan, ...]:
    """Find all places of a quote: what is protected is protected wherever it is written."""
    return (
        tuple(span for spans in _occurrences(quote.strip("\n"), skill) for span in spans) if quote.strip() else ()
    )


def with_sound_signals(report: EvaluatorReport, skill: tuple[SkillPassage, ...]) -> EvaluatorReport:
    """Give a report without its void signals, which it counts."""
    sound, void = sound_signals(report.signals, skill)
    return report.model_copy(update={"signals": sound, "void": (*report.void, *void)}) if void else report


def sound_signals(
    signals: Iterable[ActionSignal], skill: tuple[SkillPassage, ...]
) -> tuple[tuple[ActionSignal, ...], tuple[VoidSignal, ...]]:
    """Divide signals into those that count and those that are void; a gap quotes nothing."""
    sound, void = list[ActionSignal](), list[VoidSignal]()
    for signal in signals:
        where = find_quote(signal.quote, skill, file=signal.file, gene=signal.gene, line=signal.line)
        if isinstance(where, str) and not (signal.action == "gap" and not signal.quote):
            void.append(VoidSignal(quote=signal.quote, fault=where))
        elif (orders := frozenset(unlike_report(signal.replacement))) and not orders <= _kinds(where, skill):
            void.append(VoidSignal(quote=signal.quote or signal.replacement, fault="untrusted"))
        else:
            sound.append(signal)
    return tuple(sound), tuple(void)


def _kinds(where: tuple[QuotedSpan, ...] | QuoteFault, skill: tuple[SkillPassage, ...]) -> frozenset[str]:
    """Name what the quoted lines hold already that no report says: a replacement may give no new orders."""
    if isinstance(where, str):
        return frozenset()
    return frozenset(kind for span in where for kind in unlike_report(skill[span.at].text))


def _occurrences(quote: str, skill: tuple[SkillPassage, ...]) -> list[tuple[QuotedSpan, ...]]:
    """List where a quote is written, each place as the pieces of lines that it covers, file by file."""
    places = list[tuple[QuotedSpan, ...]]()
    for text, lines in _file_texts(SameObject(skill)):
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            places.append(
                tuple(
                    QuotedSpan(at, max(start - first, 0), min(end, last) - first)
                    for at, first, last in lines
                    if first < end and start < last
                )
            )
            start = text.find(quote, start + 1)
    return [spans for spans in places if spans]


@lru_cache(maxsize=2)
def _file_texts(same: SameObject[tuple[SkillPassage, ...]]) -> tuple[_FileText, ...]:
    """Join the lines of each file of a skill: every quote is looked for in all of them."""
    by_file: dict[str, list[tuple[int, str]]] = {}
    for at, passage in enumerate(same.kept):
        by_file.setdefault(passage.file, []).append((at, passage.text.rstrip("\r\n")))
    texts = list[_FileText]()
    for lines in by_file.values():
        places, first = list[tuple[int, int, int]](), 0
        for at, line in lines:
            places.append((at, first, first + len(line)))
            first += len(line) + 1
        texts.append(_FileText("\n".join(line for _, line in lines), tuple(places)))
    return tuple(texts)


def _is_meant(passage: SkillPassage, file: str, gene: str, line: int) -> bool:
    return (
        (not file or passage.file == file)
        and (not gene or passage.gene == gene)
        and (not line or passage.line == line)
    )


def _section(passage: SkillPassage) -> tuple[str, str, str]:
    return passage.file, passage.gene, passage.section
