"""The digest that the Skills screen opens on: what failed this week, what waits for a person, what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.text.durations import ago
from tui.text.numbers import count
from tui.text.rows import RowPart, clean, cut, indented, labelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.reads.skills import OpenWork, SkillCard, Week
    from tui.text.rows import Row

_READING = (RowPart("…", "dim"),)


def digest_rows(
    cards: Sequence[SkillCard], work: OpenWork | None, week: Week | None, width: int, now: str
) -> list[Row]:
    """Write the three rows; `work` and `week` are None while they are being read."""
    rows = (
        *labelled("failed", _failed(week) if week else _READING, width - 2, limit=1),
        *labelled("waits", _waiting(work, week) if work and week else _READING, width - 2, limit=1),
        *labelled("learned", _learned(cards, week, width, now) if week else _READING, width - 2, limit=1),
    )
    return indented(rows, width)


def _failed(week: Week) -> Row:
    if not week.sessions:
        return RowPart("no session of the last seven days is known   ", "dim"), RowPart("germline scan", "accent")
    sessions = count(week.sessions, "session")
    what = f"{week.failed:,} of {sessions} in seven days"
    if not week.labelled:
        what = f"{count(week.errors, 'step')} in {sessions} in seven days, none with an outcome"
    elif week.labelled < week.sessions:
        what += f", {week.labelled:,} with an outcome"
    most = f"   most: {clean(week.costliest)}" if week.costliest else ""
    return RowPart(what, "bad" if week.failed else ""), RowPart(most, "dim")


def _waiting(work: OpenWork, week: Week) -> Row:
    candidates = sum(row.waiting for row in work.by_skill.values())
    parts = [
        *([f"{count(candidates, 'candidate')} to decide on (key 6)"] if candidates else []),
        *([f"{count(work.second_looks, 'promotion')} to look over (key 6)"] if work.second_looks else []),
        *([f"{count(week.open, 'open signal')} (key 4)"] if week.open else []),
    ]
    return (RowPart("   ".join(parts), "warn"),) if parts else (RowPart("nothing waits for you", "dim"),)


def _learned(cards: Sequence[SkillCard], week: Week, width: int, now: str) -> Row:
    versions = sorted(
        (row for card in cards for row in card.versions if row.candidate), key=lambda row: row.position
    )
    if not versions:
        return RowPart("nothing yet   ", "dim"), RowPart("germline start    germline evolve", "accent")
    last, lately = versions[-1], sum(row.at >= week.since for row in versions)
    number = f"{count(lately, 'version')} in seven days; last" if lately else "nothing in seven days; last"
    tail = f"   {ago(last.at, now)}"
    head = f"{number} {last.capsule}@{last.version}: "
    return (
        RowPart(head),
        RowPart(cut(clean(last.summary), width - 12 - len(head) - len(tail))),
        RowPart(tail, "dim"),
    )
