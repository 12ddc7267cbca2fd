"""The rules of a valid SKILL.md: the reference validator's and stricter, so that every consumer reads it alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from events.errors import SkillFormatError
from registry.skill_md.front_matter import FrontMatterEntry, read_front
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.text import FENCE, front_end, split_lines
from registry.state.capsule import MAX_NAME, is_skill_name
from registry.state.instruction_formats import is_instructions_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
# Limits of the Agent Skills specification.
MAX_DESCRIPTION = 1_024
MAX_COMPATIBILITY = 500
ADVISED_LINES = 500
ADVISED_TOKENS = 5_000
DEEPEST_PARTS = 2  # a folder and a file in it
CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb for English text
NAMED_AT_MOST = 5  # hidden characters that one warning spells out

_ODD_IN_YAML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that a skill breaks: its name, what is wrong and where, and how to mend it."""

    rule: str
    message: str
    mend: str


def check_skill(text: str, name: str, *, encoding: str = "utf-8") -> list[Breach]:
    """List what forbids projecting a changed version of a skill; `name` is that of its folder.

    Hidden characters are not among it: they are refused in new text, and only reported in imported text.
    """
    lines = split_lines(text)
    breaches = _file_breaches(text, encoding)
    end = front_end(lines)
    if not end:
        mend = "begin the file with a line ---, then name: and description:, then a line ---"
        return [*breaches, Breach("front-matter", "has no front matter", mend)]
    start = next(at for at, line in enumerate(lines) if line.strip())
    breaches += _fence_breaches(lines, start, end)
    breaches += _character_breaches(lines[start:end], start + 1)
    read = read_front(lines[start + 1 : end - 1], start + 2)
    breaches += [Breach(error.rule, error.message, error.hint) for error in read.refused]
    for entry in read.entries:
        breaches += _entry_breaches(entry, name)
    breaches += [
        Breach(key, f"front matter lacks {key}", f"write `{key}:` with its value")
        for key in ("name", "description")
        if key not in read.keys
    ]
    return breaches


def require_valid(text: str, name: str, *, encoding: str = "utf-8") -> None:
    """Refuse a skill text that may not be projected; `name` is the skill's. Instructions may say anything.

    Raises: SkillFormatError, naming the first rule that it breaks, and how many more.
    """
    breaches = [] if is_instructions_name(name) else check_skill(text, name, encoding=encoding)
    if breaches:
        first, *others = breaches
        more = f", and {len(others)} more" if others else ""
        raise SkillFormatError(
            f"the SKILL.md of {name} breaks the rule {first.rule!r}: {first.message}{more}",
            rule=first.rule,
            hint=first.mend,
        )


def advise(text: str) -> list[Breach]:
    """List what a skill may do but had better not: long bodies, deep references, characters that do not show."""
    lines = split_lines(text)
    body = lines[front_end(lines) :]
    advice = []
    tokens = sum(map(len, body)) // CHARACTERS_PER_TOKEN
    if len(body) >= ADVISED_LINES or tokens > ADVISED_TOKENS:
        advice.append(
            Breach(
                "body-size",
                f"the body has {len(body)} lines and about {tokens:,} tokens; under {ADVISED_LINES} lines and "
                f"{ADVISED_TOKENS:,} tokens is advised",
                "move detail to files beside SKILL.md and refer to them",
            )
        )
    links = re.findall(r"\]\((?![a-z]+:|#|/)([^()\s]+)\)", "".join(body))
    deep = [link for link in links if len(PurePosixPath(link).parts) > DEEPEST_PARTS]
    if deep:
        advice.append(
            Breach("reference-depth", f"refers to {deep[0]}", "keep references one level below SKILL.md")
        )
    return advice + hidden_advice(text)


def hidden_advice(text: str) -> list[Breach]:
    """Name the characters of a text that do not show, in one piece of advice; none where there are none."""
    hidden = hidden_characters(text)
    if not hidden:
        return []
    shown = ", ".join(f"{char.name} at {char.line}:{char.column}" for char in hidden[:NAMED_AT_MOST])
    more = f" and {len(hidden) - NAMED_AT_MOST} more" if len(hidden) > NAMED_AT_MOST else ""
    return [Breach("hidden-characters", f"holds characters that do not show: {shown}{more}", "take them out")]


def _file_breaches(text: str, encoding: str) -> list[Breach]:
    breaches = []
    if encoding == "utf-8-sig":
        breaches.append(Breach("encoding", "begins with a byte order mark", "save it as UTF-8 without BOM"))
    elif encoding != "utf-8":
        breaches.append(Breach("encoding", "is not UTF-8", "save it as UTF-8"))
    if "\r" in text:
        number = text.count("\n", 0, text.index("\r")) + 1
        breaches.append(Breach("line-ending", f"line {number} holds a carriage return", "save it with LF endings"))
    return breaches


def _fence_breaches(lines: Sequence[str], start: int, end: int) -> list[Breach]:
    breaches = []
    if start:
        breaches.append(Breach("start", "begins with a blank line", "begin with ---"))
    breaches += [
        Breach("fence", f"line {at + 1} has blanks after ---", "take them out")
        for at in (start, end - 1)
        if lines[at].rstrip("\r\n") != FENCE
    ]
    breaches += [
        Breach("fence", f"line {at + 1} holds --- inside front matter, where some parsers cut", "write it apart")
        for at in range(start + 1, end - 1)
        if FENCE in lines[at]
    ]
    return breaches


def _character_breaches(front: Sequence[str], first_number: int) -> Iterator[Breach]:
    """Yield the characters that some YAML parsers take for line ends, or refuse."""
    for number, line in enumerate(front, start=first_number):
        if "\t" in line:
            yield Breach("tab", f"line {number} holds a tab", "use spaces in front matter")
        if _ODD_IN_YAML.search(line):
            yield Breach("control-character", f"line {number} holds a control character", "take it out")


def _entry_breaches(entry: FrontMatterEntry, folder: str) -> list[Breach]:
    """Hold one front matter entry against the rule of its key."""
    if entry.key not in KEYS:
        mend = f'move it below metadata: as `{entry.key}: "..."`'
        return [Breach("key", f"line {entry.number} has the key {entry.key}, which no consumer must know", mend)]
    if entry.key == "metadata":
        return [] if isinstance(entry.value, tuple) else [_not_a_block(entry)]
    if entry.key == "allowed-tools" or not isinstance(entry.value, str):
        return []
    return list(_text_breaches(entry.key, entry.value, folder))


def _not_a_block(entry: FrontMatterEntry) -> Breach:
    return Breach("metadata", f"line {entry.number} has metadata that is no block", "indent `key: value` below it")


def _text_breaches(key: str, value: str, folder: str) -> Iterator[Breach]:
    """Yield what is wrong with the text of a key."""
    limits = {"description": MAX_DESCRIPTION, "compatibility": MAX_COMPATIBILITY, "name": MAX_NAME}
    limit = limits.get(key)
    if limit and len(value) > limit:
        yield Breach(key, f"{key} has {len(value):,} characters, {limit:,} are allowed", "shorten it")
    if not value.strip():
        yield Breach(key, f"{key} is blank", f"write what the {key} is")
    if key == "description" and re.search("[<>]", value):
        yield Breach(key, "description holds < or >", "say it in words: descriptions are put inside markup")
    if key == "name" and value.strip() and len(value) <= MAX_NAME:
        if not is_skill_name(value):
            mend = "use lowercase letters, digits and single hyphens between them"
            yield Breach(key, f"{value!r} is no valid name", mend)
        elif value != folder:
            yield Breach(key, f"the skill is named {value}, its folder {folder}", "rename one of them")
