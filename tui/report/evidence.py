"""Evidence: the records behind each signal, what was removed from them, and those that were erased."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tui.figures import count
from tui.report.anchors import signal_at
from tui.report.figures import toned
from tui.report.markup import element, facts, joined, moment
from tui.rereading import place_words
from tui.views.evidence import template_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.erasing import ErasedEvidence
    from registry.provenance import KeptEvidence
    from tui.report.markup import Markup
    from tui.report.reads import SignalTold, SkillTold


def evidence_of(told: SkillTold) -> Markup:
    """Write each signal that something was proposed for, with its evidence."""
    if not told.signals:
        return element("p", "No candidate rests on a signal yet.", class_="dim")
    return joined(_signal(told.capsule.name, one) for one in told.signals)


def _signal(skill: str, told: SignalTold) -> Markup:
    raised, event = told.raised, told.raised.event
    kept = len(told.evidence) + told.more
    head = f"{count(kept, 'piece')} kept" if kept else "no record is kept"
    if told.erased:
        head += f", {len(told.erased):,} erased"
    pieces = [
        _piece(kept, event.template, there=there) for kept, there in zip(told.evidence, told.there, strict=True)
    ]
    more = f"{count(told.more, 'further piece')} not shown: germline why {skill}:LINE --all" if told.more else ""
    return element(
        "details",
        element("summary", element("strong", f"“{event.template or event.action}”"), toned(f" {head}", "dim")),
        facts(_facts(told)),
        element("p", "raised ", moment(raised.at), f", event {raised.position}", class_="dim"),
        element("ol", *pieces, *_erased(told.erased), class_="pieces"),
        element("p", more, class_="dim") if more else None,
        class_="card",
        id=signal_at(skill, raised.position),
    )


def _facts(told: SignalTold) -> Iterator[tuple[str, str]]:
    event = told.raised.event
    yield "kind", f"{event.kind}, calls for {event.calls_for}"
    yield "action", event.action
    runs = f" of {count(len(event.runs), 'run')}: {', '.join(event.runs)}" if event.runs else ""
    yield "seen", f"{event.count:,} times in {count(event.episodes, 'episode')}{runs}"


def _piece(kept: KeptEvidence, template: str, *, there: bool) -> Markup:
    """Write one record: the file's name without its folder, which tells of the machine, and what it says."""
    one = kept.evidence
    where = f"{one.file.rpartition('/')[2]}, {place_words(one.file, one.line)}, byte {one.byte_start:,}"
    standing = toned("✓ still there", "good") if there else toned("✗ no longer there", "warn")
    rules = Counter(mark.rule for mark in one.redactions)
    told = ", ".join(f"{rule} {number}×" if number > 1 else rule for rule, number in rules.items())
    redacted = f"{count(len(one.redactions), 'redaction')}: {told}" if rules else ""
    return element(
        "li",
        element("div", where, " ", standing),
        element("pre", *_text_of(kept, template)),
        element("div", redacted, class_="warn") if redacted else None,
        element("div", f"evidence {kept.id[:12]}, episode {one.episode[:12]}", class_="dim"),
    )


def _text_of(kept: KeptEvidence, template: str) -> Iterator[Markup]:
    """Mark what matches the template, and what stands for text that was removed; line by line, so lines stay."""
    text = kept.evidence.text
    spans = [(start, end, "removed") for start, end in _redacted(kept)]
    if not spans:
        spans = [(start, end, "") for start, end in template_spans(text, template)]
    at = 0
    for start, end, kind in [*spans, (len(text), len(text), "")]:
        yield _lines(text[at:start])
        if end > start:
            yield element("mark", _lines(text[start:end]), class_=kind or None)
        at = max(at, end)


def _redacted(kept: KeptEvidence) -> Iterator[tuple[int, int]]:
    at = 0
    for one in sorted(kept.evidence.redactions, key=lambda one: one.start):
        if one.start >= at:
            yield one.start, one.end
            at = one.end


def _lines(text: str) -> Markup:
    """Keep the lines of a text, which must stay lines, and nothing else that would steer what shows it."""
    lines = text.split("\n")
    return joined(joined((element("br") if at else None, line)) for at, line in enumerate(lines))


def _erased(erased: tuple[ErasedEvidence, ...]) -> Iterator[Markup]:
    for (on, reason), number in Counter((one.at[:10], one.reason) for one in erased).items():
        said = f"✗ {count(number, 'piece')} erased on {on} because {reason}"
        yield element("li", toned(said, "warn"), class_="erased")
