"""What a command appends, or would append: the same words for every write."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from registry.summaries import summary
from tui.cli.paint import clip, one_line, width
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.envelope import Envelope
    from registry.registry import Registry
    from tui.cli.invocation import Invocation

_SHOWN: Final = 3
"""Events of one type that are listed one by one, where many stand in a row; `--json` has them all."""


def since(registry: Registry, position: int) -> list[Envelope]:
    """Read what came after a position."""
    return list(registry.log.read(after=position))


def event_rows(envelopes: Iterable[Envelope]) -> list[dict[str, Any]]:
    """Describe events for scripts, payload included; what stands only once it is appended is left out."""
    return [
        {
            "type": envelope.type,
            "stream": envelope.stream,
            "actor": envelope.actor,
            "summary": summary(envelope),
            "payload": json.loads(envelope.payload),
        }
        for envelope in envelopes
    ]


def rehearsed(call: Invocation, command: str, envelopes: Sequence[Envelope], *, as_json: bool) -> None:
    """Print the events that a dry run would have appended."""
    rows = event_rows(envelopes)
    if as_json:
        call.answer(command, {"dry_run": True, "events": rows})
    else:
        print_rehearsed(call, rows)


def print_rehearsed(call: Invocation, rows: Sequence[dict[str, Any]]) -> None:
    """Print the same for people; of many events of one type in a row, as the genes of a skill, the first."""
    what = f"would append {count(len(rows), 'event')}" if rows else "no event to append"
    call.say(f"dry run: {what}; nothing was changed")
    for kind, found in groupby(rows, lambda row: row["type"]):
        first, *others = found
        shown = [first, *(others[: _SHOWN - 1] if len(others) >= _SHOWN else others)]
        for row in shown:
            call.say(clip(f"  {kind:<18} {one_line(row['summary'])}", width()))
        if more := len(others) + 1 - len(shown):
            call.say(f"  {'':<18} {more:,} more: --json")
