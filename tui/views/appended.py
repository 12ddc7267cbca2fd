"""What would be appended, as rows: the events of a change, and how the text of the skill differs after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.summaries import summary
from tui.figures import count
from tui.views.diff import changes, diff_rows
from tui.views.rows import BLANK, Part, cell, clean, cut_row

if TYPE_CHECKING:
    from tui.views.rows import Row
    from tui.writing import Outcome


def appended_rows(outcome: Outcome, width: int, told: str = "") -> list[Row]:
    """List the events that a yes appends; nothing was written yet. `told` says why that is shown once more."""
    if not outcome.envelopes:
        return [BLANK, (Part("  nothing would be appended: it is so already", "dim"),)]
    rows: list[Row] = [BLANK, *([cut_row((Part(f"  {told}", "warn"),), width), BLANK] if told else [])]
    rows.append((Part(f"  this appends {count(len(outcome.envelopes), 'event')}", "strong"),))
    for envelope in outcome.envelopes:
        said = (
            Part("  + ", "added"),
            cell(envelope.type, 19),
            cell(clean(envelope.stream), 24, "dim"),
            Part(f" {clean(summary(envelope))}"),
        )
        rows.append(cut_row(said, width))
    if outcome.diff:
        head = (Part("  the skill then reads  "), Part(changes(outcome.diff), "dim"))
        rows += [BLANK, head, *diff_rows(outcome.diff, width, context=2)]
    return rows
