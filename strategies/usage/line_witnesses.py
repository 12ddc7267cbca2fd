"""Witnesses: by what a line of a skill could be shown to be wrong, and what would give one that has none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.types.audit_events import AuditTaskInterpreted, EvaluatorReported
from strategies.audit.audit_record import stored_anchors, stored_reports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.claims import Claim
    from registry.query.library import Library

WitnessKind = Literal["claim", "anchor", "evaluator", ""]
"""A claim that logs can refute, an anchor of an audited task, what an evaluator saw in two runs; "" for none."""

_SHORTEST_NAME: Final = 3
_FILE: Final = re.compile(r"`([\w./-]+\.\w{1,5})`")


@dataclass(frozen=True)
class LineWitness:
    """What can show that a line is wrong, in words, or what would give it something that can."""

    kind: WitnessKind
    what: str


@dataclass(frozen=True)
class AuditTraces:
    """What audits of a skill looked at: tasks, names in anchors with the anchor, quotes with who reported."""

    tasks: frozenset[str]
    anchors: tuple[tuple[str, str], ...]
    quotes: tuple[tuple[str, str], ...]


def audit_traces(library: Library, skill: str) -> AuditTraces:
    """Collect what all audits of a skill looked at."""
    anchors: dict[str, tuple[tuple[str, str], ...]] = {}
    tasks, quotes, seen = set[str](), list[tuple[str, str]](), set[str]()
    for envelope in library.log.read(types=("AuditTaskInterpreted", "EvaluatorReported")):
        match envelope.event:
            case AuditTaskInterpreted() as event:
                anchors[event.task] = tuple(_names_in(library, event))
            case EvaluatorReported() as event if event.capsule == skill:
                tasks |= {report.task for report in event.tasks}
                if event.report not in seen:
                    seen.add(event.report)
                    quotes += _quotes_in(library, event.report)
    named = (pair for task in sorted(tasks) for pair in anchors.get(task, ()))
    return AuditTraces(frozenset(tasks), tuple(dict.fromkeys(named)), tuple(dict.fromkeys(quotes)))


def witness_of(text: str, claim: Claim | None, traces: AuditTraces) -> LineWitness:
    """Name the strongest witness of a line: its claim, else an anchor that it names, else an evaluator."""
    if claim is not None:
        return LineWitness("claim", "logs can refute its claim")
    anchor = next((check for name, check in traces.anchors if _is_named(name, text)), "")
    if anchor:
        return LineWitness("anchor", f"an audit checks that {anchor}")
    bare = text.strip()
    evaluator = next((who for quote, who in traces.quotes if quote in bare or bare in quote), "")
    if evaluator:
        return LineWitness("evaluator", evaluator)
    return LineWitness("", _what_would(bare, traces))


def _what_would(text: str, traces: AuditTraces) -> str:
    file = _FILE.search(text)
    if file:
        return f"an audited task that asks for {file[1]}: its anchor would hold the line to it"
    if not traces.tasks:
        return "an audit: what agents do with the skill and without shows which lines matter"
    return f"an audited task in which it matters: in {len(traces.tasks)} no step and no file showed it"


def _names_in(library: Library, event: AuditTaskInterpreted) -> Iterator[tuple[str, str]]:
    """Give the words by which a line can name an anchor, each with that anchor."""
    for check in stored_anchors(library, event.anchors) or ():
        for part in ("path", "line", "key"):
            name = getattr(check, part, "")
            if len(name) >= _SHORTEST_NAME:
                yield name, check.name or name


def _quotes_in(library: Library, blob: str) -> Iterator[tuple[str, str]]:
    """Give the lines that evaluators quoted of a pair of runs, each with who did, on which task."""
    for report in stored_reports(library, blob) or ():
        who = f"{report.evaluator} reported on it in {report.task}"
        for quote in (*(signal.quote for signal in report.signals), *report.protected, *report.traced):
            for line in quote.splitlines():
                if line.strip():
                    yield line.strip(), who


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", text) is not None
