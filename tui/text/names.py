"""Names as people type them: a skill, perhaps at a version, perhaps a line of it."""

from __future__ import annotations

import re
from itertools import pairwise
from os.path import commonprefix
from shlex import join, quote
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from events.errors import NotFoundError, UsageError
from registry.state.instruction_formats import is_instructions_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from registry.query.library import Library
    from registry.state.candidate import Candidate

ItemT = TypeVar("ItemT")
_SKILL: Final = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?:@(?P<ref>\S+))?")
SHOWN_CHARS: Final = 12
"""How much of an id is written where people read it."""
LEAST_CHARS: Final = 6
"""Of an id that was shortened as far as it stays the only one."""
_HINT: Final = "write it as sql-analyst:7, sql-analyst@3:7, path/SKILL.md:7 or CLAUDE.md:7"


class LineName(NamedTuple):
    """A line that was named: of a skill (at `ref`, "" for now), of a file on disk, or of instructions (`path`)."""

    line: int
    name: str = ""
    ref: str = ""
    path: str = ""


def as_arguments(*words: str) -> str:
    """Write words as the arguments of a command: quoted, behind `--` where one could be taken for an option."""
    return join(("--", *words) if any(word.startswith("-") for word in words) else words)


def split_skill(text: str) -> tuple[str, str]:
    """Split SKILL[@VERSION] into name and version, "" where none is named; a folder in a name may hold an @."""
    name, at, ref = text.rpartition("@")
    if not at or "/" in ref:
        return text, ""
    if not ref:
        raise UsageError(f"{text!r} names no version after the @", hint=f"germline log {name}")
    return name, ref


def split_place(text: str) -> LineName:
    """Read SKILL[@VERSION]:LINE or PATH:LINE; raises UsageError for anything else."""
    what, colon, number = text.rpartition(":")
    if not colon or not what:
        hint = _HINT if colon or not text else f"germline why {quote(text)}:1"
        raise UsageError(f"{text!r} names no line", hint=hint)
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(f"{number!r} is no line number", hint=f"lines count from 1; {_HINT}")
    named = _SKILL.fullmatch(what)
    if named:
        return LineName(int(number), name=named["name"], ref=named["ref"] or "")
    name, _, ref = what.rpartition("@")
    if ref and is_instructions_name(name):
        return LineName(int(number), name=name, ref=ref)
    return LineName(int(number), path=what)


def named_candidate(library: Library, text: str) -> Candidate:
    """Find a candidate by its id or the beginning of it.

    Raises: NotFoundError where there is none; UsageError where several begin so.
    """
    if whole := library.candidate(text.lower()):
        return whole
    matching = [candidate for candidate in library.candidates() if text and candidate.id.startswith(text.lower())]
    if not matching:
        raise NotFoundError(f"no candidate {text or '(empty)'} was proposed", hint="germline candidates")
    if len(matching) > 1:
        begun = ", ".join(candidate.id[:SHOWN_CHARS] for candidate in matching[:3])
        raise UsageError(f"{len(matching)} candidates begin with {text}: {begun} …", hint="write more of it")
    return matching[0]


def by_beginnings(
    items: Sequence[ItemT], names: Sequence[str], id_of: Callable[[ItemT], str], kind: tuple[str, str], hint: str
) -> list[ItemT]:
    """Find what is named by the beginnings of ids, each once; all of them where no name is given.

    `kind` says what they are, as in ("run", "with a transcript"). Raises: NotFoundError for a name that is the
    beginning of none, or of several.
    """
    if not names:
        return list(items)
    noun, which = kind
    chosen: list[ItemT] = []
    for name in names:
        matching = [item for item in items if name and id_of(item).startswith(name.lower())]
        if len(matching) != 1:
            what = f"{len(matching)} {noun}s {which} begin" if matching else f"no {noun} {which} begins"
            raise NotFoundError(f"{what} with {name!r}", hint=hint)
        chosen += (item for item in matching if item not in chosen)
    return chosen


def unique_chars(names: Iterable[str]) -> int:
    """Give how many characters tell every name from all others, as git abbreviates hashes."""
    shared = map(commonprefix, pairwise(sorted(set(names))))
    return max([LEAST_CHARS, *(len(prefix) + 1 for prefix in shared)])
