"""Markdown in colour: which characters of a skill are headings, code and marks, as Pygments reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pygments.lexers.markup import MarkdownLexer
from pygments.token import Generic, Keyword, Name, String

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygments.token import _TokenType

    from tui.text.rows import Tone

Tones = tuple[tuple[int, int, "Tone"], ...]
"""Ranges of characters of one line with their tones, rising."""

_TONES: Final[tuple[tuple[_TokenType, Tone], ...]] = (
    (Generic.Heading, "accent"),
    (Generic.Subheading, "accent"),
    (String, "code"),
    (Generic.Strong, "strong"),
    (Keyword, "accent"),
    (Name.Tag, "code"),
)
_LEXER: Final = MarkdownLexer(handlecodeblocks=False, stripnl=False, ensurenl=False)
_FENCE: Final = "---"
MOST_CHARS: Final = 64_000
"""Longer texts stay as they are: 5 µs a character would be felt (measured: 38 ms for 7,000)."""


def markdown_tones(lines: Sequence[str]) -> tuple[Tones, ...]:
    """Tell the tones of each line of a SKILL.md; its front matter is dim."""
    if sum(map(len, lines)) > MOST_CHARS:
        return tuple(() for _ in lines)
    front = _front(lines)
    rest = lines[front:]
    spans: list[list[tuple[int, int, Tone]]] = [[] for _ in rest]
    starts = [0]
    for line in rest:
        starts.append(starts[-1] + len(line))
    at, row = 0, 0
    for kind, text in _LEXER.get_tokens("".join(rest)):
        end = at + len(text)
        tone: Tone = next((tone for of, tone in _TONES if kind in of), "")
        while tone and at < end:
            while starts[row + 1] <= at:
                row += 1
            stop = min(end, starts[row + 1])
            spans[row].append((at - starts[row], stop - starts[row], tone))
            at = stop
        at = end
    dim: Tone = "dim"
    return (*(((0, len(line), dim),) for line in lines[:front]), *map(tuple, spans))


def _front(lines: Sequence[str]) -> int:
    """Count the lines of the front matter."""
    if not lines or lines[0].strip() != _FENCE:
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.strip() == _FENCE), 0)
