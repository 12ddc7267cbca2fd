"""How files can be written, as far as it can be seen in them: what a passage asks for without naming a text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import re2

from strategies.audit.evaluators.table_text import is_json, likely_separator, separated_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from strategies.audit.evaluators.evaluator_types import RunRecord

_DECIMAL: Final = re.compile(r"(?<![\w.])-?\d+\.(\d+)(?![\w.])")
_CELL: Final = re.compile(r"(?<![^\s,;|\"':\[])-?\d+\.(\d+)(?=\s*(?:[,;|\"'\]}\n\t]|$))")
"""A number that is a cell or a value as a whole."""
_COUNTS: Final = {"no": 0, "without": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS: Final = re.compile(
    r"\b(one|two|three|four|no|without|\d) (?:decimals?|digits? after|fraction digits?)", re.IGNORECASE
)
_WHOLE: Final = re.compile(
    r"\b(?:whole|integer) (?:number|value|unit|dollar|euro)s?\b|\bintegers?\b", re.IGNORECASE
)
NO_FILE: Final = "no file"
"""The style of a run that writes none."""
_NO_FILE: Final = re2.compile(
    r"(?i)\b(?:do not|don't|never|without|instead of|rather than|only|just|skip)\b.*"
    r"\b(?:writ(?:e|ing)|sav(?:e|ing)|creat(?:e|ing)|files?|print|stdout|answer|reply|chat)\b"
)
_ORDERS: Final = frozenset({"ascending", "descending"})
_LEAST_ROWS: Final = 3
"""Rows below which an order may be chance."""


@lru_cache(maxsize=4_096)
def asked_styles(text: str) -> frozenset[str]:
    """Name the styles that a passage speaks of."""
    named = {name for name, (words, _) in _STYLES.items() if words.search(text)}
    named.update(f"{_COUNTS.get(word.lower(), word)} decimals" for word in _DECIMALS.findall(text))
    if _WHOLE.search(text):
        named.add("0 decimals")
    if _NO_FILE.search(text):
        named.add(NO_FILE)
    return frozenset(named)


def styles_gained(having: RunRecord, lacking: RunRecord) -> frozenset[str]:
    """Name the styles of files and answer that one run shows there and the other does not, though it could."""
    texts = {**having.files, "": having.answer}
    others = {**lacking.files, "": lacking.answer}
    named = [
        text_styles([text]) - text_styles([others.get(path, "")]) - _untold(others.get(path, ""))
        for path, text in texts.items()
    ]
    no_file = {NO_FILE} if lacking.files and not having.files else frozenset()
    return frozenset[str]().union(*named, no_file)


def text_styles(texts: Iterable[str]) -> frozenset[str]:
    """Name the styles that texts show."""
    texts = [text for text in texts if text.strip()]
    named = {name for name, (_, holds) in _STYLES.items() if any(map(holds, texts))}
    for text in texts:
        digits = {len(fraction) for fraction in (_CELL if _is_data(text) else _DECIMAL).findall(text)}
        if len(digits) == 1:
            named.add(f"{digits.pop()} decimals")
        elif not _DECIMAL.search(text) and re.search(r"\d", text):
            named.add("0 decimals")
    return frozenset(named)


def _untold(text: str) -> frozenset[str]:
    """Name the styles of which a text says nothing: a table of very few rows has no order."""
    table = separated_table(text, likely_separator(_first_line(text)))
    is_short = table is not None and len(table.columns) > 1 and len(table.rows) < _LEAST_ROWS
    return _ORDERS if is_short else frozenset()


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _is_data(text: str) -> bool:
    """Tell whether programs read a text: there a number with a unit is none."""
    table = separated_table(text, likely_separator(_first_line(text)))
    widths = {len(row) for row in (table.columns, *table.rows)} if table else {1}
    return (len(widths) == 1 and widths != {1}) or _is_json_block(text)


def _is_json_block(text: str) -> bool:
    return text.lstrip().startswith(("{", "[")) and is_json(text)


def _begins_with_data(text: str) -> bool:
    cells = re.split(r"[,;\t|]", _first_line(text))
    return len(cells) > 1 and any(re.fullmatch(r"\s*-?\d+(?:\.\d+)?\s*", cell) for cell in cells)


def _ordered(text: str, *, down: bool) -> bool:
    table = separated_table(text, likely_separator(_first_line(text)))
    if table is None or len(table.rows) < _LEAST_ROWS or len(table.rows[0]) == 1:
        return False
    width = min(map(len, table.rows))
    return any(_is_ordered(table.cells(at), down=down) for at in range(width))


def _is_ordered(column: list[str], *, down: bool) -> bool:
    try:
        keys: list[float] | list[str] = [float(value) for value in column]
    except ValueError:
        keys = column
    return len(set(column)) > 1 and list(keys) == sorted(keys, reverse=down)


def _style(words: str, holds: Callable[[str], bool]) -> tuple[re2._Regexp, Callable[[str], bool]]:
    return re2.compile(f"(?i){words}"), holds


def _has(form: str) -> Callable[[str], bool]:
    pattern = re.compile(form, re.MULTILINE)
    return lambda text: pattern.search(text) is not None


_STYLES: Final = {
    "ISO dates": _style(r"\biso\b|yyyy-mm-dd", _has(r"\b\d{4}-\d\d-\d\d\b")),
    "dates with slashes": _style(r"\b(?:dd/mm|mm/dd|d/m|m/d)/y", _has(r"\b\d\d?/\d\d?/\d{2,4}\b")),
    "dates with dots": _style(r"\bdd\.mm\.yy", _has(r"\b\d\d?\.\d\d?\.\d{4}\b")),
    "semicolons": _style(r"semicolon", lambda text: ";" in _first_line(text)),
    "tabs": _style(r"\btab(?:s|-separated| separated)?\b|\btsv\b", lambda text: "\t" in _first_line(text)),
    "pipes": _style(r"\bpipes?\b", lambda text: "|" in _first_line(text)),
    "JSON": _style(r"\bjson\b", _is_json_block),
    "JSON lines": _style(
        r"\bjsonl\b|json lines|ndjson",
        lambda text: text.count("\n") > 1 and all(map(_is_json_block, text.strip().splitlines())),
    ),
    "upper case": _style(
        r"upper-? ?case|capital letters|all caps", lambda text: text.upper() == text != text.lower()
    ),
    "lower case": _style(r"lower-? ?case", lambda text: text.lower() == text != text.upper()),
    "ascending": _style(
        r"\bsort|ascending|alphabetical|\border(?:ed)? by\b", lambda text: _ordered(text, down=False)
    ),
    "descending": _style(
        r"descending|largest first|highest first|newest first|most .* first|reverse",
        lambda text: _ordered(text, down=True),
    ),
    "Markdown headings": _style(r"\bheadings?\b", _has(r"^#{1,6} \S")),
    "bullets": _style(r"\bbullets?\b|bulleted", _has(r"^\s*[-*] \S")),
    "percent signs": _style(r"percent(?:age)? sign|per ?cent sign|with %", _has(r"\d ?%")),
    "currency signs": _style(r"currency (?:sign|symbol)|dollar sign|euro sign", _has(r"[$€£] ?\d|\d ?[$€£]")),
    "thousands separators": _style(r"thousands? separators?", _has(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?!\d)")),
    "quoted values": _style(r"\bquote (?:all|each|every)|in double quotes", _has(r"^\"[^\"]*\"(?:[,;\t]\"|$)")),
    "no header": _style(r"\b(?:no|without|skip|omit|drop|leave out)\b (?:\w+ ){0,2}header", _begins_with_data),
    "a total row": _style(
        r"\btotals?\b.*\b(?:row|line)\b|\b(?:row|line)\b.*\btotals?\b", _has(r"(?i)^\W*total\b")
    ),
}
"""Each style: the words by which a passage asks for it, and whether a text shows it."""
