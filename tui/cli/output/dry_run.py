"""What a command appends, or would append: the same words for every write."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from tui.cli.output.color import width
from tui.documents.events import event_rows
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.store.envelope import Envelope
    from registry.registry import Registry
    from tui.cli.output.invocation import Invocation
    from tui.documents.document import Document
    from tui.documents.events import EventRow

T = TypeVar("T")

_SHOWN: Final = 3
"""Events of one type that are listed one by one, where many stand in a row; `--json` has them all."""


def since(registry: Registry, position: int) -> list[Envelope]:
    """Read what came after a position."""
    return list(registry.log.read(after=position))


def append_or_rehearse(
    call: Invocation,
    registry: Registry,
    append: Callable[[], T],
    document: Callable[..., Document],
    *,
    dry_run: bool,
    as_json: bool,
) -> T | None:
    """Append, and return what `append` does; of a dry run, print the events in `document`, and return None."""
    if not dry_run:
        return append()
    rehearse(call, registry, append, document, as_json=as_json)
    return None


def rehearse(
    call: Invocation,
    registry: Registry,
    append: Callable[[], object],
    document: Callable[..., Document],
    *,
    as_json: bool,
) -> None:
    """Append and take it back, and print the events that it would be, in a document of the command for scripts."""
    with registry.rehearsal():
        before = registry.log.head().position
        append()
        rows = event_rows(since(registry, before))
    if as_json:
        call.answer(document(dry_run=True, events=rows))
    else:
        print_rehearsed(call, rows)


def print_rehearsed(call: Invocation, rows: Sequence[EventRow]) -> None:
    """Print the same for people; of many events of one type in a row, as the genes of a skill, the first."""
    what = f"would append {count(len(rows), 'event')}" if rows else "no event to append"
    call.say(f"dry run: {what}; nothing was changed")
    for kind, group in groupby(rows, lambda row: row.type):
        first, *others = group
        shown = [first, *(others[: _SHOWN - 1] if len(others) >= _SHOWN else others)]
        for row in shown:
            call.say(clip(f"  {kind:<18} {one_line(row.summary)}", width()))
        if more := len(others) + 1 - len(shown):
            call.say(f"  {'':<18} {more:,} more: --json")
