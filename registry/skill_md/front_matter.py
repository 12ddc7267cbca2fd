"""Front matter in the subset of YAML that every parser reads alike; whatever it does not know, it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from events.errors import SkillFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from registry.state.capsule import Capsule


@dataclass(frozen=True, slots=True)
class FrontMatterEntry:
    """A key with its value: text, the items of a list, or the entries below it; `number` is its file line."""

    key: str
    value: str | tuple[str, ...] | tuple[FrontMatterEntry, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says, and what of it was refused; `keys` are those of both."""

    entries: tuple[FrontMatterEntry, ...]
    refused: tuple[SkillFormatError, ...]
    keys: frozenset[str]


class _Row(NamedTuple):
    number: int
    indent: int
    text: str


_KEY = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*):(?: +(.*))?")
_LITERAL = re.compile(r"([|>])([-+]?)")
# What YAML 1.1 or 1.2 parsers read as something other than text: null, booleans, numbers, times, merge keys.
_NOT_TEXT = re.compile(
    r"~|null|y|n|yes|no|true|false|on|off|=|<<"
    r"|[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?)"
    r"|[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t ].*)?",
    re.IGNORECASE,
)
_QUOTE_IT = 'put the value in double quotes, with \\" and \\\\ for quotes and backslashes in it'
_INDICATORS = {
    **dict.fromkeys("[]{},", ("flow", "write lists and mappings as indented lines, and quote text")),
    **dict.fromkeys("&*", ("anchor", _QUOTE_IT)),
    **dict.fromkeys("!", ("tag", _QUOTE_IT)),
    **dict.fromkeys("-?:#|>%@`\"'", ("plain-scalar", _QUOTE_IT)),
}
_ESCAPES = {r"\"": '"', r"\\": "\\", r"\/": "/", r"\n": "\n", r"\t": "\t"}


def read_front(lines: Sequence[str], first_number: int) -> FrontMatter:
    """Read the lines between the two `---`; `first_number` is the file line of the first of them."""
    rows = [_row(number, line) for number, line in enumerate(lines, start=first_number)]
    return _entries(rows, 0, _top_value)


def described(front: Sequence[str]) -> str:
    """Read what front matter says a skill is for, both `---` lines included; "" where that cannot be read."""
    parsed = read_front([line for line in front if line.strip() != "---"], 1)
    values = (entry.value for entry in parsed.entries if entry.key == "description")
    return next((value for value in values if isinstance(value, str)), "")


def description_of(capsule: Capsule) -> str:
    """Read what a skill says that it is for, "" where it does not."""
    return described([line.text for line in capsule.front])


def _row(number: int, line: str) -> _Row:
    """Measure a line; only spaces count as blanks, as in YAML."""
    text = line.rstrip("\r\n").rstrip(" ")
    return _Row(number, len(text) - len(text.lstrip(" ")), text.lstrip(" "))


def _entries(
    rows: Sequence[_Row], indent: int, read: Callable[[str, str, _Row, list[_Row]], FrontMatterEntry]
) -> FrontMatter:
    """Read the `key: value` lines that stand at one indentation, each with the deeper lines below it."""
    entries: list[FrontMatterEntry] = []
    refused: list[SkillFormatError] = []
    keys: set[str] = set()
    at = 0
    while at < len(rows):
        row, at = rows[at], at + 1
        if not row.text or row.text.startswith("#"):
            continue
        start = at
        while at < len(rows) and _belongs(rows[at], indent):
            at += 1
        try:
            match = _KEY.fullmatch(row.text)
            if row.indent != indent or match is None:
                raise _refuse(row, "yaml", f"is not understood: {row.text[:60]!r}", "write `key: value`")
            if _NOT_TEXT.fullmatch(match[1]):
                raise _refuse(row, "key", f"has a key that is no text: {match[1]}", "choose another key")
            if match[1] in keys:
                raise _refuse(row, "duplicate-key", f"repeats the key {match[1]}", "keep one of them")
            keys.add(match[1])
            entries.append(read(match[1], match[2] or "", row, list(rows[start:at])))
        except SkillFormatError as error:
            refused.append(error)
    return FrontMatter(tuple(entries), tuple(refused), frozenset(keys))


def _belongs(row: _Row, indent: int) -> bool:
    return not row.text or row.indent > indent or (row.indent == indent and row.text.startswith("- "))


def _top_value(key: str, rest: str, row: _Row, below: list[_Row]) -> FrontMatterEntry:
    inner = [line for line in below if line.text and not line.text.startswith("#")]
    if key == "metadata" and not rest and inner:
        read = _entries(below, inner[0].indent, _flat_value)
        if read.refused:
            raise read.refused[0]
        return FrontMatterEntry(key, read.entries, row.number)
    if key == "allowed-tools" and not rest and inner and inner[0].text.startswith("- "):
        return FrontMatterEntry(key, tuple(_item(item, inner[0].indent) for item in inner), row.number)
    return _flat_value(key, rest, row, below)


def _item(row: _Row, indent: int) -> str:
    if row.indent != indent or not row.text.startswith("- "):
        raise _refuse(row, "yaml", "is no item of the list above it", "write each item as `- text`")
    return _scalar(row.text[2:].lstrip(" "), row, [])


def _flat_value(key: str, rest: str, row: _Row, below: list[_Row]) -> FrontMatterEntry:
    return FrontMatterEntry(key, _scalar(rest, row, below), row.number)


def _scalar(rest: str, row: _Row, below: list[_Row]) -> str:
    literal = _LITERAL.fullmatch(rest)
    if literal:
        return _block(literal[1], literal[2], row, below)
    more = [line for line in below if line.text]
    if not rest and not more:
        raise _refuse(row, "plain-scalar", "has no value, which parsers read differently", 'write "" or drop it')
    if rest[:1] in {'"', "'"}:
        return _quoted(rest, row, more)
    if more and more != below[: len(more)]:
        raise _refuse(row, "yaml", "has a value with an empty line in it", "write it as a block after `|`")
    return _plain([line for line in (row._replace(text=rest), *more) if line.text])


def _plain(rows: list[_Row]) -> str:
    """Fold a plain value, one row a line, where every parser takes it for text."""
    for at, row in enumerate(rows):
        if row.text[0] in _INDICATORS and (at == 0 or row.text[0] in "#-?:"):
            rule, mend = _INDICATORS[row.text[0]]
            raise _refuse(row, rule, f"begins a value with {row.text[0]}", mend)
        if ": " in row.text or row.text.endswith(":") or " #" in row.text:
            raise _refuse(row, "plain-scalar", "has a colon or # that some parsers split the value at", _QUOTE_IT)
    value = " ".join(row.text for row in rows)
    if _NOT_TEXT.fullmatch(value):
        raise _refuse(
            rows[0], "plain-scalar", f"has a value that some parsers take for no text: {value}", _QUOTE_IT
        )
    return value


def _quoted(rest: str, row: _Row, more: list[_Row]) -> str:
    double = re.fullmatch(r'"((?:[^"\\]|\\["\\/nt])*)"', rest)
    single = re.fullmatch(r"'((?:[^']|'')*)'", rest)
    if more or not (double or single):
        raise _refuse(
            row,
            "quoted-scalar",
            "has a quoted value that does not close on its line, is followed by something, or has odd escapes",
            'write it on one line, with no escapes but \\" \\\\ \\/ \\n \\t',
        )
    if double:
        return re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], double[1])
    return rest[1:-1].replace("''", "'")


def _block(style: str, chomp: str, row: _Row, below: list[_Row]) -> str:
    """Read a block scalar: `|` keeps its lines, `>` folds them."""
    inner = [line for line in below if line.text]
    if not inner or below[0] != inner[0]:
        raise _refuse(row, "block-scalar", "opens a block without text right below", _QUOTE_IT)
    indent = inner[0].indent
    if indent <= row.indent or any(
        line.indent < indent or (style == ">" and line.indent > indent) for line in inner
    ):
        raise _refuse(row, "block-scalar", "opens a block whose lines are not aligned", "indent them alike")
    last = max(at for at, line in enumerate(below) if line.text)
    texts = [" " * (line.indent - indent) + line.text if line.text else "" for line in below[: last + 1]]
    value = "\n".join(texts) if style == "|" else re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(texts))
    if style == ">":
        value = re.sub(r"\n(\n+)", r"\1", value)
    return value + {"-": "", "": "\n", "+": "\n" * (len(below) - last)}[chomp]


def _refuse(row: _Row, rule: str, what: str, mend: str) -> SkillFormatError:
    return SkillFormatError(f"line {row.number} {what}", rule=rule, hint=mend)
