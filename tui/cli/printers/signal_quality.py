"""How far each signal can be trusted: precision, recall and lift against outcomes, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from registry.query.signal_kinds import kind_word
from strategies.gate.replay.recovery_endpoint import recoveries
from strategies.pool.known_episodes import all_episodes, world_of
from strategies.pool.raise_signals import found_signals
from strategies.signals.quality import quality
from strategies.signals.source_quality import LEAST_TASKS, source_quality
from strategies.signals.survey import truth
from tui.cli.output.color import width
from tui.cli.output.facts import say_folded
from tui.reads.signal_facts import read_signal_facts
from tui.session.open_registry import find_registry, open_library
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count, interval, share
from tui.text.terminal_text import clip
from tui.text.words import signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.signals.quality import Proportion, QualityRow
    from strategies.signals.source_quality import SourceQuality, TaskShare
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation
    from tui.reads.signal_facts import SignalFacts, SignalFilter

RECOVERED = "recovered"
_SHOWN = 12
"""Signals that are listed one by one beside their kinds."""
_KIND = 20
_WIDE = 80
"""Columns of a row; where there are fewer, precision and recall stand in a row of their own."""


def tell_quality(
    call: Invocation, config: Config, wanted: SignalFilter, *, fingerprint: str = "", as_json: bool
) -> None:
    """Measure the signals against the outcomes of all known episodes, and print what they are worth.

    With a filter, or the fingerprint of a signal, of all facts only those are listed.
    """
    with open_library(find_registry(call.registry)) as library:
        records = all_episodes(library)
        facts = read_signal_facts(library, logs=config.skill_logs(library), records=records)
        chosen = [facts.named(fingerprint)] if fingerprint else wanted.chosen(facts.facts)
        asked = frozenset[str]().union(*(fact.group.fingerprints for fact in chosen))
        any_outcome = any(truth(record) is not None for record in records)
        measured = quality(records, found_signals(library, records, config.policy) if any_outcome else ())
        if fingerprint or wanted.words:
            rows = tuple(row for row in measured.signals if row.fingerprint in asked)
            measured = replace(measured, signals=rows)
        sources = source_quality(records, world_of(library, records), recoveries(records))
    if as_json:
        from tui.documents.signals import SignalsDocument  # noqa: PLC0415 - the table needs none of it

        call.answer(SignalsDocument.of_quality(measured, sources))
        return
    if not measured.episodes:
        _tell_sources(call, sources, len(records))
        call.note("no episode has an outcome yet: nothing to measure signals against")
        call.note(f"next       {NEXT_STEPS['no labels' if records else 'no sessions']}")
        return
    base = share(measured.failed / measured.episodes)
    labelled = f"{count(measured.episodes, 'episode')} with an outcome"
    say_folded(call, "", f"{labelled}, {measured.failed:,} failed: a rate of {base}; 95 % intervals")
    call.say()
    call.say(call.paint(_row("", "failed", "of", "precision", "recall", "lift"), "dim"))
    if not fingerprint:
        for row in measured.kinds:
            call.say(_line(kind_word(row.kind), row))
        call.say()
    _tell_facts(call, facts, measured.signals)
    call.say()
    say_folded(call, "", "lift 1 says nothing about failure, more speaks for it, less against it")
    call.say()
    _tell_sources(call, sources, len(records))
    call.say(
        f"next       germline signals {chosen[0].id[: facts.short]}" if chosen else "next       germline signals"
    )


def _tell_facts(call: Invocation, facts: SignalFacts, rows: Sequence[QualityRow]) -> None:
    """List the facts that tell most surely of failure, each by the surest of its signals."""
    surest = sorted(rows, key=lambda row: -row.precision.low)
    first = {fact.id: (fact, row) for row in reversed(surest) if (fact := facts.fact_of(row.fingerprint))}
    shown = sorted(first.values(), key=lambda each: -each[1].precision.low)
    if not shown:
        call.say("no signal that was asked for shows in an episode with an outcome")
    for fact, row in shown[:_SHOWN]:
        call.say(_line(f"{fact.id[: facts.short]} {fact.word}", row))
        call.say(clip(f"    {signal_name(fact.group.head)}", width()))
    if len(shown) > _SHOWN:
        call.say(f"  {len(shown) - _SHOWN} more: --json")


def _tell_sources(call: Invocation, sources: Sequence[SourceQuality], episodes: int) -> None:
    """Say of each source from the world on how many sessions it speaks, and how far labels agree."""
    if all(row.source == RECOVERED for row in sources):
        call.say(f"the world hints at the outcome of none of {count(episodes, 'episode')}")
    about = "hints from the world, and whether the next attempt of what failed worked (recovered): no labels. "
    about += "Against labels each task counts once, and silence misses"
    if not sources:
        return
    say_folded(call, "", about)
    for row in sources:
        call.say(f"{row.source:<{_KIND}}speaks on {row.sessions:,} of {count(episodes, 'episode')}")
        labelled = f"{count(row.labelled, 'label')} on {count(row.labelled_tasks, 'task')}"
        if not row.enough:
            say_folded(call, "  ", f"{labelled}: too few to tell, {LEAST_TASKS} tasks are needed")
            continue
        say_folded(call, f"{'  agrees':<{_KIND}}", f"{_share_words(row.agreement)} with {labelled}")
        for name, precision, recall in (
            ("success", row.success_precision, row.success_recall),
            ("failure", row.failure_precision, row.failure_recall),
        ):
            if precision is not None:
                figures = f"precision {_share_words(precision)}  recall {_share_words(recall)}"
                say_folded(call, f"{f'  {name}':<{_KIND}}", figures)


def _share_words(figure: TaskShare | None) -> str:
    return "–" if figure is None else f"{share(figure.value)} {interval(figure.low, figure.high)}"


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


def _words(proportion: Proportion) -> str:
    return f"{share(proportion.value)} {interval(proportion.low, proportion.high)}"
