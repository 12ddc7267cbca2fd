"""The timeline of a skill: its versions with their scores, and the events between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Score, Unmeasured
from registry.provenance import actor_of
from registry.summaries import summary
from tui.figures import count
from tui.report.anchors import candidate_at, event_at, version_at
from tui.report.figures import delta_cell, evaluator_of, score_cell
from tui.report.markup import element, joined, link, moment, row, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.envelope import Envelope
    from tui.report.markup import Markup
    from tui.report.reads import SkillTold, Summed

_HEADS: Final = ("version", "when", "cause", "by", "what changed", "score", "Δ", "evaluator")
_CAUSES: Final = {"adoption": "by hand"}


def versions_of(told: SkillTold, known: frozenset[str]) -> Markup:
    """Write the versions, newest first; where the evaluator changes there is a seam."""
    places = {one.id: candidate_at(told.capsule.name, one.position) for one in told.candidates}
    rows = list(_rows(told, places, known))
    if told.summed:
        rows.append(_summed_row(told.summed))
    return table(f"versions of {told.capsule.name}, newest first", _HEADS, rows)


def _rows(told: SkillTold, places: dict[str, str], known: frozenset[str]) -> Iterator[Markup]:
    newer = ""
    for one in reversed(told.versions):
        evaluator = one.score.evaluator if isinstance(one.score, Score) else ""
        if newer and evaluator and evaluator != newer:
            yield seam_row(len(_HEADS))
        newer = evaluator or newer
        unproven = element("span", " unproven", class_="warn") if isinstance(one.score, Unmeasured) else None
        name, said = one.capsule, _unplaced(one.summary, told.capsule.source)
        yield row(
            joined((element("strong", f"@{one.version}"), unproven)),
            joined((moment(one.at), element("span", f" event {one.position}", class_="dim"))),
            _CAUSES.get(one.cause, one.cause),
            _actor(one.actor),
            element("div", link(places.get(one.candidate, ""), said, known=known), class_="sentence"),
            score_cell(one.score),
            delta_cell(one.delta),
            evaluator_of(one.score),
            id_=version_at(name, one.version),
        )


def seam_row(columns: int) -> Markup:
    """Write the row that stands between scores of two evaluators."""
    said = "the evaluator changes: scores above and below are not comparable"
    return element("tr", element("td", said, colspan=columns), class_="seam")


def _summed_row(summed: Summed) -> Markup:
    causes = ", ".join(f"{number:,} by {cause}" for cause, number in summed.causes)
    said = f"{count(summed.versions, 'version')} before, {summed.since[:10]} to {summed.until[:10]}: {causes}"
    return element("tr", element("td", said, colspan=len(_HEADS)), class_="summed")


def _actor(actor: str) -> str:
    kind, _, name = actor.partition(":")
    return f"model {name.partition('#')[0]}" if kind == "model" else f"{kind} {name}".strip()


def events_of(skill: str, events: Sequence[Envelope], *, total: int, source: str = "") -> Markup:
    """List events, newest first; `skill` is "" for those of no skill, `source` the folder that it came from."""
    items = [
        element(
            "li",
            element("span", f"{one.position}", class_="n"),
            element("span", moment(one.at), " ", element("span", one.type, class_="kind")),
            element("span", _unplaced(summary(one), source), element("span", f" {actor_of(one)}", class_="dim")),
            id=event_at(skill, one.position),
        )
        for one in events
    ]
    left = total - len(events)
    more = f"{count(left, 'earlier event')} left out: germline log {skill}".strip() if left > 0 else ""
    head = f"{count(len(events), 'event')}, newest first"
    return element(
        "details",
        element("summary", head),
        element("ol", *items, class_="events"),
        element("p", more, class_="dim") if more else None,
    )


def _unplaced(said: str, source: str) -> str:
    """Name the folder that a skill came from without its parents, which tell of the machine."""
    return said.replace(source, source.rpartition("/")[2]) if source else said
