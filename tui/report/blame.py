"""The blame of a skill: every line with the event that wrote it; a learned one opens what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.score import Score, Unmeasured
from tui.figures import age, count, signed
from tui.report.anchors import candidate_at, event_at, signal_at, version_at
from tui.report.figures import effect_cell, score_words, toned, verdict_mark
from tui.report.markup import element, facts, joined, link, moment
from tui.views.claims import claim_text
from tui.views.marks import tone_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.candidate import Candidate
    from tui.report.markup import Markup
    from tui.report.reads import LineTold, SignalTold, SkillTold

_QUOTED: Final = 2
"""Pieces of evidence that an opened line quotes; the rest stands with the signal."""


@dataclass(frozen=True, slots=True)
class _Around:
    """What every line is told with: its skill, signals by fingerprint, the places of the page, the time."""

    skill: str
    signals: Mapping[str, SignalTold]
    known: frozenset[str]
    now: str


def blame_of(told: SkillTold, known: frozenset[str], now: str) -> Markup:
    """Write every line of the latest version with its gutter."""
    signals = {one.raised.event.fingerprint: one for one in told.signals}
    around = _Around(told.capsule.name, signals, known, now)
    before = (None, *told.lines)
    items = (_line(one, around, after=other) for other, one in zip(before, told.lines, strict=False))
    return element("ol", *items, class_="blame")


def _line(one: LineTold, around: _Around, *, after: LineTold | None) -> Markup:
    """Write a line; one that the event of the line before wrote as well need not say so again on a phone."""
    line = one.blame.line
    said = joined(
        (
            _gutter(one, around.now),
            element("span", f"{line.number}", class_="n"),
            element("code", line.text.rstrip("\r\n") or " "),
        )
    )
    place = f"{around.skill}.l.{line.number}"
    if one.candidate is None or not line.text.strip():
        same = "same" if after and after.blame.line.origin == line.origin else None
        return element("li", element("div", said, class_="line"), class_=same, id=place)
    folded = element("details", element("summary", said, class_="line"), facts(_facts(one, one.candidate, around)))
    return element("li", folded, class_="learned", id=place)


def _gutter(one: LineTold, now: str) -> Markup:
    """Write event, age, strategy and Δ; what nobody measured is marked as such, as are lines of a stamp."""
    blame = one.blame
    unproven = isinstance(blame.row.after, Unmeasured) and blame.word != "stamp"
    if blame.delta and one.candidate:
        delta = toned(signed(blame.delta.value), tone_of(blame.delta.low, blame.delta.high))
    else:
        delta = element("span", "?", class_="warn", title="unproven") if unproven else toned("", "")
    return element(
        "span",
        toned(f"{blame.line.origin}", "dim"),
        toned(blame.word, "accent" if one.candidate else ""),
        moment(blame.at, age(blame.at, now)),
        delta,
        class_="gutter",
    )


def _facts(one: LineTold, candidate: Candidate, around: _Around) -> Iterator[tuple[str, Markup | str]]:
    line, scored, skill, known = one.blame.line, candidate.scored, around.skill, around.known
    signal = around.signals.get(candidate.proposed.fingerprint)
    for at, claim in enumerate(one.claims):
        yield ("" if at else "claim"), claim_text(claim)
    if not one.claims:
        yield "claim", toned("none: nothing that logs could refute", "warn")
    if scored and scored.effect:
        effect = scored.effect
        arms = f", {effect.obeyed:,} obeyed, {effect.disobeyed:,} did not; judged by {effect.endpoint}"
        yield "effect", joined((effect_cell(effect), arms))
    if scored and isinstance(scored.after, Score):
        yield "score", score_words(scored)
    told = link(candidate_at(skill, candidate.position), "figures and reasons", known=known)
    yield "verdict", joined((verdict_mark(candidate), ": ", told))
    if signal:
        for at, kept in enumerate(signal.evidence[:_QUOTED]):
            yield ("" if at else "evidence"), element("q", " ".join(kept.evidence.text.split()))
        yield "" if signal.evidence else "evidence", _rest(signal, skill, known)
    yield (
        "came",
        joined(
            (
                "with ",
                link(version_at(skill, line.version), f"version {line.version}", known=known),
                ", by ",
                link(event_at(skill, line.origin), f"event {line.origin}", known=known),
            )
        ),
    )
    yield "ask", element("kbd", f"germline why {skill}:{line.number}")


def _rest(signal: SignalTold, skill: str, known: frozenset[str]) -> Markup:
    """Say how much evidence there is, and where it stands."""
    kept = len(signal.evidence) + signal.more
    erased = f", {count(len(signal.erased), 'piece')} erased" if signal.erased else ""
    what = f"{count(kept, 'piece')} kept{erased}" if kept or erased else "no record is kept"
    return link(signal_at(skill, signal.raised.position), what, known=known)
