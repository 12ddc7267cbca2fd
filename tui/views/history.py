"""The History screen as rows: the event list, and what one event says and did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from events.base import Frozen
from events.capsule_events import CapsuleMoved
from events.score import Delta, Score, Unmeasured
from registry.provenance import actor_of
from tui.figures import age, ago, count
from tui.views.bars import sparkline
from tui.views.claims import CLAIMS, claim_text
from tui.views.diff import changes, diff_rows
from tui.views.marks import UNPROVEN, VERDICTS, delta_row, minute
from tui.views.rows import BLANK, LABEL_WIDTH, Part, cell, clean, cut_row, labelled, text_of
from tui.views.scores import before_and_after, effect_ground, effect_row, score_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui.event_reads import EventDetail, EventLine
    from tui.views.rows import Row, Tone

_MARKERS: Final[dict[str, tuple[str, Tone]]] = {
    "CandidatePromoted": ("✓", "good"),
    "CandidateRejected": ("✗", "bad"),
    "CandidateHeld": ("·", "warn"),
    "CapsuleVersioned": ("●", "accent"),
    "CapsuleReverted": ("↶", "warn"),
    "CapsuleImported": ("↓", "accent"),
    "CapsuleBorn": ("+", "accent"),
    "SignalRaised": ("!", "warn"),
    "AliasMoved": ("→", "accent"),
    "CapsuleMoved": ("»", "accent"),
    "EvidenceErased": ("✗", "dim"),
}
_VERDICTS: Final[dict[str, str]] = {str(verdict): mark for verdict, (mark, _) in VERDICTS.items()}
_PLAIN: Final[tuple[str, Tone]] = (" ", "")
_STREAM: Final = 24
_TYPE: Final = 19
_ROOMY: Final = 90
_CONTEXT: Final = 3
_LONG_ID: Final = 32
_ID_SHOWN: Final = 12
_FIRST: Final = ("summary", "reason", "reasons", "template")
"""Fields that a detail begins with: why, in words."""

_MOVED: Final = "the text is the same, written to that folder from now on; to name another: germline import FOLDER"
_HIDDEN: Final = frozenset(
    {"type", "capsule", "front", "lines", "genes", "files", "edits", "policy", "evidence", "stamped"}
)
"""Fields that a detail leaves out: the diff shows the texts, the rest is for programs."""


def event_row(line: EventLine | None, width: int, now: str, *, digits: int, mark: str, every: bool) -> Row:
    """Write an event in one row; `mark` is "◆" where it is one of two to compare, `every` where streams differ."""
    if line is None:
        return (Part(" …", "dim"),)
    sign, tone = _MARKERS.get(line.type, _PLAIN)
    if line.verdict:
        sign, tone = _VERDICTS[line.verdict], "dim"
    stream = (cell(clean(line.stream), _STREAM, "dim"), Part(" ")) if every and width >= _ROOMY else ()
    kind = (cell(line.type, _TYPE, "dim"), Part(" ")) if width >= _ROOMY else ()
    return cut_row(
        (
            Part(mark or " ", "mark" if mark else ""),
            cell(str(line.position), digits, "dim", right=True),
            cell(age(line.at, now), 5, "dim", right=True),
            Part(f" {sign} ", tone),
            *stream,
            *kind,
            Part(clean(line.summary), tone if line.version else ""),
        ),
        width,
    )


def detail_rows(detail: EventDetail, width: int, now: str) -> list[Row]:
    """Tell what an event did: the headline, the change that it made, then everything else that it says."""
    envelope = detail.envelope
    rows: list[Row] = [
        (Part(f"{envelope.type}", "strong"), Part(f"   event {envelope.position}", "dim")),
        *labelled("when", (Part(f"{ago(envelope.at, now)}, {minute(envelope.at)} UTC"),), width),
        *labelled("who", (Part(clean(actor_of(envelope))),), width),
        *_standing(detail, width),
    ]
    if detail.event is None:
        rows += labelled("note", (Part("written by a newer germline: upgrade to read it", "warn"),), width)
        return rows
    fields = dict(_fields(detail.event))
    for name in _FIRST:
        if name in fields:
            rows += _fact(name, fields.pop(name), width)
    rows += _scores(fields, width)
    if detail.diff:
        title = f"change {changes(detail.diff)}"
        rows += [BLANK, (Part(title, "dim"),), *diff_rows(detail.diff, width, context=_CONTEXT), BLANK]
    rows += [row for name, value in fields.items() for row in _fact(name, value, width)]
    if isinstance(detail.event, CapsuleMoved):
        rows += labelled("note", (Part(_MOVED),), width)
    return [cut_row(row, width) for row in rows]


def undoing_told(detail: EventDetail) -> str:
    """Say how a person goes back who asks to undo an event that no event takes back; "" for any other event."""
    event = detail.event
    if not isinstance(event, CapsuleMoved):
        return ""
    again = clean(shlex.quote(event.previous))
    return f"a move is not undone here: move the folder back, then germline import {again}"


def _standing(detail: EventDetail, width: int) -> list[Row]:
    """Say at which version the skill stands right after the event, and how the scores went up to there."""
    row = detail.row
    if row is None:
        return []
    unproven = (UNPROVEN, Part(" ")) if isinstance(row.after, Unmeasured) else ()
    trend = sparkline(detail.trend, len(detail.trend) * 2)
    return labelled(
        "skill", (Part(f"{clean(detail.skill)}@{detail.version} ", "accent"), *unproven, *trend), width
    )


def _scores(fields: dict[str, Any], width: int) -> list[Row]:
    """Draw what was measured, and take it out of the fields."""
    rows: list[Row] = []
    for label, prefix in (("sealed", ""), ("audit", "audit_")):
        effect = fields.pop(f"{prefix}effect", None)
        if effect is not None:
            rows += [*labelled(f"{label} eff.", effect_row(effect), width)]
            rows += [*labelled("", effect_ground(effect), width)]
        before, after = fields.pop(f"{prefix}before", None), fields.pop(f"{prefix}after", None)
        if before is not None and after is not None:
            drawn = before_and_after(before, after, fields.pop(f"{prefix}delta", None), width - LABEL_WIDTH)
            rows += [
                row for at, one in enumerate(drawn) for row in labelled("" if at else label, one, width, limit=2)
            ]
    return rows


def _fields(event: Frozen) -> Iterator[tuple[str, Any]]:
    for name in type(event).model_fields:
        value = getattr(event, name)
        if name not in _HIDDEN and value not in (None, "", ()):
            yield name, value


def _fact(name: str, value: Any, width: int) -> list[Row]:  # noqa: ANN401 - a field of any event
    return labelled(_LABELS.get(name, name.replace("_", " ")), _value(value), width, limit=4)


_LABELS: Final = {
    "base_version": "base",
    "fingerprint": "signal id",
    "claims_added": "claims",
    "claims_dropped": "dropped",
    "triggers_added": "triggers",
    "calls_for": "calls for",
    "sealed_tasks": "sealed",
    "after_gene": "after gene",
    "to_version": "back to",
    "needed_tasks": "needed",
    "attribution": "share of Δ",
    "measured_at": "measured",
    "derived_from": "from gene",
    "prompt_hash": "prompt",
    "most_tokens": "at most",
    "cost_usd": "cost, USD",
}


def _value(value: Any) -> Row:  # noqa: ANN401 - a field of any event
    if isinstance(value, (Score, Unmeasured)):
        return score_row(value)
    if isinstance(value, Delta):
        return delta_row(value)
    if isinstance(value, CLAIMS):
        return (Part(claim_text(value)),)
    if isinstance(value, Frozen) and not hasattr(value, "template"):
        told = ", ".join(f"{name.replace('_', ' ')} {text_of(_value(item))}" for name, item in value if item)
        return (Part(told or "none"),)
    if isinstance(value, tuple):
        return (Part("; ".join(_text(item) for item in value)),)
    return (Part(_text(value)),)


def _text(value: Any) -> str:  # noqa: ANN401 - an item of a field of any event
    if isinstance(value, CLAIMS):
        return claim_text(value)
    if hasattr(value, "template"):
        return clean(value.template or value.action)
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = clean(f"{value:,}" if isinstance(value, int) else _decimal(value))
    return text[:_ID_SHOWN] if len(text) >= _LONG_ID and text.isalnum() else text


def _decimal(value: Any) -> str:  # noqa: ANN401 - as above
    """Write what was computed in the digits that say something; everything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) and 0 < abs(value) < 1 else str(value)


def history_note(shown: int, total: int, *, scanning: bool, needle: str) -> str:
    """Say how many events are listed: `1,204 events`, `12 of 1,204 "SHOW" …`."""
    if not needle:
        return f"{count(total, 'event')}{' …' if scanning else ''}"
    return f'{shown:,} of {total:,} "{needle}"{" …" if scanning else ""}'
