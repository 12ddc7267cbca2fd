"""Quotes of a skill: found word for word and once they name passages, else they are void, each in its own way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.evaluators.evaluator_types import ActionSignal, VoidSignal
from strategies.gate.injection import unlike_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.audit.evaluators.evaluator_types import Action, EvaluatorReport, QuoteFault, SkillPassage

ALIKE: Final = 0.6
"""The share of a quote's words that one passage must hold to be what it paraphrases (a guess)."""
_WORD: Final = re.compile(r"\w+")


class QuotedSpan(NamedTuple):
    """A piece of one passage, by its place in the skill and the characters of the line that are meant."""

    at: int
    start: int
    end: int


def find_quote(
    quote: str, skill: Sequence[SkillPassage], *, file: str = "", gene: str = "", line: int = 0
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


def everywhere(quote: str, skill: Sequence[SkillPassage]) -> tuple[QuotedSpan, ...]:
    """Find all places of a quote: what is protected is protected wherever it is written."""
    return (
        tuple(span for spans in _occurrences(quote.strip("\n"), skill) for span in spans) if quote.strip() else ()
    )


def with_sound_signals(report: EvaluatorReport, skill: Sequence[SkillPassage]) -> EvaluatorReport:
    """Give a report without its void signals, which it counts."""
    sound, void = sound_signals(report.signals, skill)
    return report.model_copy(update={"signals": sound, "void": (*report.void, *void)}) if void else report


def sound_signals(
    signals: Iterable[ActionSignal], skill: Sequence[SkillPassage]
) -> tuple[tuple[ActionSignal, ...], tuple[VoidSignal, ...]]:
    """Divide signals into those that count and those that are void; a gap quotes nothing."""
    sound, void = list[ActionSignal](), list[VoidSignal]()
    for signal in signals:
        where = find_quote(signal.quote, skill, file=signal.file, gene=signal.gene, line=signal.line)
        if isinstance(where, str) and not (signal.action == "gap" and not signal.quote):
            void.append(VoidSignal(quote=signal.quote, fault=where))
        elif not frozenset(unlike_report(signal.replacement)) <= _kinds(where, skill):
            void.append(VoidSignal(quote=signal.quote or signal.replacement, fault="untrusted"))
        else:
            sound.append(signal)
    return tuple(sound), tuple(void)


def _kinds(where: tuple[QuotedSpan, ...] | QuoteFault, skill: Sequence[SkillPassage]) -> frozenset[str]:
    """Name what the quoted lines hold already that no report says: a replacement may give no new orders."""
    if isinstance(where, str):
        return frozenset()
    return frozenset(kind for span in where for kind in unlike_report(skill[span.at].text))


def _occurrences(quote: str, skill: Sequence[SkillPassage]) -> list[tuple[QuotedSpan, ...]]:
    """List where a quote is written, each place as the pieces of lines that it covers, file by file."""
    places = list[tuple[QuotedSpan, ...]]()
    for file in dict.fromkeys(passage.file for passage in skill):
        lines = [(at, passage.text.rstrip("\r\n")) for at, passage in enumerate(skill) if passage.file == file]
        text = "\n".join(line for _, line in lines)
        begins, length = [0], 0
        for _, line in lines:
            length += len(line) + 1
            begins.append(length)
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            places.append(
                tuple(
                    QuotedSpan(at, max(start - first, 0), min(end - first, len(line)))
                    for (at, line), first in zip(lines, begins, strict=False)
                    if first < end and start < first + len(line)
                )
            )
            start = text.find(quote, start + 1)
    return [spans for spans in places if spans]


def _is_meant(passage: SkillPassage, file: str, gene: str, line: int) -> bool:
    return (
        (not file or passage.file == file)
        and (not gene or passage.gene == gene)
        and (not line or passage.line == line)
    )


def _section(passage: SkillPassage) -> tuple[str, str, str]:
    return passage.file, passage.gene, passage.section
