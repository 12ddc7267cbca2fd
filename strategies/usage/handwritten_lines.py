"""What a hand-written line asks for that logs can hold: its reading, found by the forms that people write it in.

A reading is shown and can be corrected; it is measured, never promoted and never part of a score. A line that asks
for more than its words name (a condition, an option, a file) is not read at all: half of it would be another line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.types.claims import AnytimeBefore, FinishWith, Instead, Never, StartWith

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from events.types.claims import Claim
    from strategies.usage.action_names import ActionNames, Mention

_LONGEST_CHARS: Final = 2_000
"""A longer line is a text, which states no one rule: forms take time with the square of its length (a guess)."""
_BULLET: Final = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_SENTENCE: Final = re.compile(r"(?<=[.;!])\s+|\s+[\u2014\u2013]\s+")
_NUMBER: Final = (
    r"(?:the |a |an |any |your |our |all )*\u27e6(?P<{}>\d+)\u27e7(?: (?:command|tool|suite|script)s?)?"
)
_DO, _OTHER = _NUMBER.format("do"), _NUMBER.format("other")
_RUN: Final = r"(?:run|use|call|do|execute|invoke|prefer|choose)"
_RUNNING: Final = rf"(?:{_RUN}|running|using|calling|doing|executing)"
_GAP: Final = r"(?:(?! (?:not|or|unless|only|if|when|without|after|until)\b)[^\u27e6\u27e7,;:]){0,40}?"
_EACH: Final = rf"(?:(?:you|we|any|every|each|a|an|the|your|new|{_RUNNING}) )*"
_NO: Final = r"(?:never|do not|don't|must not|avoid|stop)"
_END: Final = r"(?: (?:here|again|at all|yourself|directly|in this (?:repo|repository|project|folder)))*[.!]?$"
_TASK: Final = r"(?: (?:each|every|any|a|the|your) (?:task|session|job|ticket|change|piece of work))?"
_FINISHED: Final = (
    r"(?:you finish|finishing|you are done|you're done|being done|you hand in|handing in|you submit|the end)"
)

_PASSED: Final = rf"(?:(?:you|have|has|having|first|a|the|successful|passing|green|{_RUNNING}) )*"
_NOT: Final = r"(?:not|never|instead of|rather than|over|in place of)"
_NOT_MADE: Final = "".join(f"(?<!{verb} )" for verb in ("write", "add", "update", "fix", "skip", "keep"))
"""Who writes tests does not run them."""
_ORDERS: Final = (
    rf"(?P<no>{_NO} (?:ever )?)?{_NOT_MADE}{_DO}{_GAP},? before {_EACH}{_OTHER}",
    rf"^before {_EACH}{_OTHER}{_GAP},? (?:always |first |please |you (?:must|should) )*{_RUN} {_DO}",
    rf"{_NO} (?:ever )?(?:{_RUNNING} )?{_OTHER}{_GAP} (?:without|until|unless) {_PASSED}{_DO}",
    rf"{_OTHER} only after {_PASSED}{_DO}",
    rf"{_DO} first[,;]? (?:and )?then {_EACH}{_OTHER}",
    rf"first {_RUN} {_DO},? (?:and )?then {_EACH}{_OTHER}",
)
_CHOICES: Final = (
    rf"{_RUN} {_DO}{_GAP},? (?:and |but )?{_NOT} (?:{_RUNNING} )?{_OTHER}",
    rf"prefer {_DO} (?:to|over) {_OTHER}",
    rf"(?:instead of|rather than|in place of) (?:{_RUNNING} )?{_OTHER},? {_RUN} {_DO}",
    rf"{_NO} (?:ever )?(?:{_RUNNING} )?{_OTHER}{_GAP}[.,;:]? (?:but |and |please |always )*{_RUN} {_DO}",
    rf"replace {_OTHER} (?:with|by) {_DO}",
    rf"{_DO}, not {_OTHER}",
)
_BANS: Final = (rf"^(?:please |you )?(?:must |should )?{_NO} (?:ever )?(?:{_RUNNING} )?{_OTHER}{_END}",)
_STARTS: Final = (
    rf"^(?:always )?(?:start|begin){_TASK} (?:by|with) (?:{_RUNNING} )?{_DO}[.!]?$",
    rf"^(?:always )?{_RUN} {_DO} (?:first|before anything else|as the first step)[.!]?$",
)
_FINISHES: Final = (
    rf"^(?:always )?(?:finish|end){_TASK} (?:by|with) (?:{_RUNNING} )?{_DO}[.!]?$",
    rf"^before {_FINISHED}[^\u27e6\u27e7]{{0,30}}?,? (?:always )?{_RUN} {_DO}[.!]?$",
    rf"^(?:always )?{_RUN} {_DO} (?:before {_FINISHED}|at the end|last|as the last step)[^\u27e6\u27e7]{{0,30}}$",
)
_CONDITION: Final = re.compile(r"\b(?:unless|except|if|when|while|only for|on main|in tests?)\b")


def reading_of(line: str, names: ActionNames, *, names_alone: bool = False) -> Claim | None:
    """Read a line as a claim; None where its words name nothing that logs hold, or no moment for it.

    Of several that a line asks for it is the first. With `names_alone` a word that could be a name is one.
    """
    if len(line) > _LONGEST_CHARS:
        return None
    text, mentions = names.marked(_BULLET.sub("", line.strip()), names_alone=names_alone)
    if not mentions:
        return None
    return next(
        (
            claim
            for forms, reads in _FORMS
            for form in forms
            for part in dict.fromkeys((text, *_SENTENCE.split(text)))
            for match in form.finditer(part)
            if (claim := reads(match, mentions)) is not None
        ),
        None,
    )


def _is_conditional(match: re.Match[str]) -> bool:
    """Tell whether the words around a form say when it holds."""
    return bool(_CONDITION.search(f"{match.string[: match.start()]} | {match.string[match.end() :]}"))


def _order(match: re.Match[str], mentions: tuple[Mention, ...]) -> Claim | None:
    """Read an order of two; who never wants the one before the other asks for the other first."""
    first, then = mentions[int(match["do"])], mentions[int(match["other"])]
    if match.groupdict().get("no"):
        first, then = then, first
    wide = first.narrow != "more" and not then.narrow and not _is_conditional(match)
    apart = first.action != then.action
    return AnytimeBefore(action=then.action, do=first.action) if wide and apart else None


def _choice(match: re.Match[str], mentions: tuple[Mention, ...]) -> Claim | None:
    do, avoid = mentions[int(match["do"])], mentions[int(match["other"])]
    wide = do.narrow != "more" and not avoid.narrow and not _is_conditional(match)
    return Instead(do=do.action, avoid=avoid.action) if wide and do.action != avoid.action else None


def _ban(match: re.Match[str], mentions: tuple[Mention, ...]) -> Claim | None:
    avoid = mentions[int(match["other"])]
    return None if avoid.narrow else Never(avoid=avoid.action)


def _start(match: re.Match[str], mentions: tuple[Mention, ...]) -> Claim | None:
    do = mentions[int(match["do"])]
    return None if do.narrow == "more" else StartWith(do=do.action)


def _finish(match: re.Match[str], mentions: tuple[Mention, ...]) -> Claim | None:
    do = mentions[int(match["do"])]
    return None if do.narrow == "more" else FinishWith(do=do.action)


def _compiled(forms: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, forms))


_FORMS: Final[
    tuple[tuple[tuple[re.Pattern[str], ...], Callable[[re.Match[str], tuple[Mention, ...]], Claim | None]], ...]
] = (
    (_compiled(_STARTS), _start),
    (_compiled(_FINISHES), _finish),
    (_compiled(_ORDERS), _order),
    (_compiled(_CHOICES), _choice),
    (_compiled(_BANS), _ban),
)
"""The forms of each kind, the kinds in the order in which they are tried."""


def stating(texts: list[str]) -> Iterator[int]:
    """Give the places of the lines that say something: no blank, heading, rule or block of code."""
    fenced = False
    for at, text in enumerate(texts):
        bare = text.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and bare and not bare.startswith(("#", "<!--", "|--")) and set(bare) - set("-*_= "):
            yield at
