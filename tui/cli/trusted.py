"""How far each signal can be trusted: precision, recall and lift against outcomes, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strategies.intake import all_episodes
from strategies.raising import found_signals
from strategies.signals.quality import quality
from tui.bootstrap import find_registry, open_library
from tui.cli.config import read_config
from tui.cli.facts import say_folded
from tui.cli.paint import clip, one_line, width
from tui.figures import count, interval, share

if TYPE_CHECKING:
    from strategies.signals.quality import Proportion, Quality, QualityRow
    from tui.cli.invocation import Invocation

_SHOWN = 12
"""Signals that are listed one by one beside their kinds."""
_KIND = 20
_WIDE = 80
"""Columns of a row; where there are fewer, precision and recall stand in a row of their own."""


def tell_quality(call: Invocation, *, as_json: bool) -> None:
    """Measure the signals against the outcomes of all known episodes, and print what they are worth."""
    thresholds = read_config().thresholds
    with open_library(find_registry(call.registry)) as library:
        records = all_episodes(library)
        found = quality(records, found_signals(library, records, thresholds))
    if as_json:
        call.answer("signals", {"quality": quality_json(found)})
        return
    if not found.episodes:
        call.note("no episode has an outcome yet: nothing to measure signals against")
        call.note("next       germline outcome EPISODE --value V --source ci")
        return
    base = share(found.failed / found.episodes)
    labelled = f"{count(found.episodes, 'episode')} with an outcome"
    say_folded(call, "", f"{labelled}, {found.failed:,} failed: a rate of {base}; 95 % intervals")
    call.say()
    call.say(call.paint(_row("", "failed", "of", "precision", "recall", "lift"), "dim"))
    for row in found.kinds:
        call.say(_line(row.kind, row))
    if found.kinds:
        call.say("")
    surest = sorted(found.signals, key=lambda row: -row.precision.low)
    for row in surest[:_SHOWN]:
        name = one_line(row.template or row.action) or "(no action)"
        call.say(_line(f"  {row.kind}", row))
        call.say(clip(f"    {name}", width()))
    if len(found.signals) > _SHOWN:
        call.say(f"  {len(found.signals) - _SHOWN} more: --json")
    call.say()
    say_folded(call, "", "lift 1 says nothing about failure, more speaks for it, less against it")


def _line(name: str, row: QualityRow) -> str:
    lift = "–" if row.lift is None else f"{row.lift:.2f}"
    precision, recall = _words(row.precision), _words(row.recall)
    return _row(name, f"{row.precision.hits:,}", f"{row.precision.n:,}", precision, recall, lift)


def _row(*cells: str) -> str:
    """Write a row of the table: its kind, how many failed of how many, precision, recall and lift."""
    name, failed, of, precision, recall, lift = cells
    begun = f"{clip(name, _KIND):<{_KIND}}{failed:>7} {of:>6}"
    if width() < _WIDE:
        return f"{begun} {lift:>5}\n      {precision:<19} {recall}"
    return f"{begun} {precision:<19} {recall:<19} {lift:>5}"


def _words(one: Proportion) -> str:
    return f"{share(one.value)} {interval(one.low, one.high)}"


def quality_json(found: Quality) -> dict[str, Any]:
    """Give the figures as JSON."""
    return {
        "episodes": found.episodes,
        "failed": found.failed,
        "kinds": [_row_json(row) for row in found.kinds],
        "signals": [
            {"fingerprint": row.fingerprint, "template": row.template, "action": row.action, **_row_json(row)}
            for row in found.signals
        ],
    }


def _row_json(row: QualityRow) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "precision": row.precision._asdict(),
        "recall": row.recall._asdict(),
        "lift": row.lift,
    }
