"""What a command appends, or would append: the same words for every write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from registry.summaries import summary
from tui.cli.paint import clip, one_line, width
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.envelope import Envelope
    from registry.registry import Registry
    from tui.cli.invocation import Invocation


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
    """Print the same for people."""
    call.say(f"dry run: would append {count(len(rows), 'event')}; nothing was changed")
    for row in rows:
        call.say(clip(f"  {row['type']:<18} {one_line(row['summary'])}", width()))
