"""The Usage screen as rows: lines of skills and instructions with what became of each, and one of them in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tui.facts.usage import WORTH_MARKS, by_worth, effect_words, usage_facts
from tui.text.numbers import brief
from tui.text.rows import RowPart, cell, clean, cut_row, indented, labelled
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.usage.line_usage import FileUsage, LineUsage
    from tui.text.rows import Row

_ROOMY: Final = 100
_VERDICT: Final = 11


class UsageLine(NamedTuple):
    """A line in the list: the file that it is in, and what became of it."""

    file: FileUsage
    usage: LineUsage

    @property
    def address(self) -> str:
        """The line as `why` takes it."""
        return f"{self.file.capsule.name}:{self.usage.line.number}"


def usage_lines(files: Sequence[FileUsage]) -> list[UsageLine]:
    """List the lines of some files, in each those first that hurt."""
    return [UsageLine(file, usage) for file in files for usage in by_worth(file)]


def usage_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    roomy = width >= _ROOMY
    titles = (
        cell("   verdict", _VERDICT + 3, "dim"),
        *((cell("loaded", 8, "dim", right=True),) if roomy else ()),
        cell("applied", 8, "dim", right=True),
        cell("obeyed", 7, "dim", right=True),
        *((cell("ignored", 8, "dim", right=True),) if roomy else ()),
        cell("  effect", 20, "dim"),
        *((cell("tokens", 7, "dim", right=True),) if roomy else ()),
        RowPart("  line", "dim"),
    )
    return [cut_row(titles, width)]


def usage_row(line: UsageLine, width: int) -> Row:
    """Write one line in one row; of what logs cannot hold there is nothing to count."""
    usage, roomy = line.usage, width >= _ROOMY
    mark, tone = WORTH_MARKS[usage.worth.verdict]
    applied, obeyed, ignored = (
        (brief(usage.applied, 7), brief(usage.obeyed, 6), brief(usage.ignored, 7)) if usage.claim else ("", "", "")
    )
    return cut_row(
        (
            RowPart(f" {mark} ", tone),
            cell(usage.worth.verdict, _VERDICT, tone),
            *((cell(brief(usage.loaded, 7), 8, right=True),) if roomy else ()),
            cell(applied, 8, right=True),
            cell(obeyed, 7, right=True),
            *((cell(ignored, 8, right=True),) if roomy else ()),
            cell(f"  {effect_words(usage)}", 20),
            *((cell(str(usage.tokens), 7, "dim", right=True),) if roomy else ()),
            RowPart(f"  {usage.line.number}: ", "dim"),
            RowPart(clean(usage.line.text.strip())),
        ),
        width,
    )


def usage_detail_rows(line: UsageLine, sentence: str, width: int) -> list[Row]:
    """Tell about one line: what it says, what it is read as, what sessions did, and what would tell.

    The sentence about all lines comes first where the bar has no room for it.
    """
    above = [] if width >= _ROOMY else labelled("all", (RowPart(sentence),), width - 2)
    width -= 2
    capsule = line.file.capsule
    place = f"{clean(capsule.name)}@{capsule.version}:{line.usage.line.number}"
    rows = [
        *above,
        *labelled("line", (RowPart(clean(line.usage.line.text.strip()), "strong"),), width, limit=3),
        *labelled("", (RowPart(place, "dim"),), width),
        *fact_rows(usage_facts(line.usage), width),
    ]
    return indented(rows, width)
