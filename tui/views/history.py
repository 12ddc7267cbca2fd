"""The History screen as rows: the list of changes and events, and what one event says and did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from events.types.capsule_events import CapsuleMoved
from events.types.claims import (
    After,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    Instead,
    Never,
    OutputClaim,
    PluginClaim,
    Replace,
    StartWith,
)
from events.types.frozen import Frozen
from events.types.score import Delta, Score, Unmeasured
from tui.facts.scores import effect_fact
from tui.text.durations import age, ago, minute
from tui.text.numbers import count
from tui.text.rows import BLANK, LABEL_WIDTH, RowPart, cell, clean, cut_row, labelled, text_of
from tui.text.words import VERDICTS, actor_words, claim_words
from tui.views.diff import changes, diff_rows
from tui.views.fact_rows import fact_rows
from tui.views.score_bars import sparkline
from tui.views.scores import UNPROVEN, before_and_after, delta_row, score_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui.reads.history import EventDetail, EventLine
    from tui.text.rows import Row, Tone

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
    "AliasDeployed": ("→", "accent"),
    "CapsuleMoved": ("»", "accent"),
    "EvidenceErased": ("✗", "dim"),
}
_CLAIMS: Final = (
    *(After, AfterError, AnytimeBefore, Before, FinishWith),
    *(Instead, Never, OutputClaim, PluginClaim, Replace, StartWith),
)
_VERDICTS: Final[dict[str, str]] = {str(verdict): mark for verdict, (mark, _) in VERDICTS.items()}
_PLAIN: Final[tuple[str, Tone]] = (" ", "")
_FOLD: Final = 4
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


def event_row(
    line: EventLine | None, width: int, now: str, *, digits: int, mark: str, fold: str, every: bool
) -> Row:
    """Write an event in one row; `mark` is "◆" where it is one of two to compare, `every` where streams differ.

    `fold` says how many events of the same change are behind it, as "+4", or that it is one of them, as "│".
    """
    if line is None:
        return (RowPart(" …", "dim"),)
    sign, tone = _MARKERS.get(line.type, _PLAIN)
    if line.verdict:
        sign, tone = _VERDICTS[line.verdict], "dim"
    stream = (cell(clean(line.stream), _STREAM, "dim"), RowPart(" ")) if every and width >= _ROOMY else ()
    kind = (cell(line.type, _TYPE, "dim"), RowPart(" ")) if width >= _ROOMY else ()
    return cut_row(
        (
            RowPart(mark or " ", "mark" if mark else ""),
            cell(str(line.position), digits, "dim", right=True),
            cell(age(line.at, now), 5, "dim", right=True),
            RowPart(f" {sign} ", tone),
            cell(fold, _FOLD, "dim"),
            *stream,
            *kind,
            RowPart(clean(line.summary), tone if line.version else ""),
        ),
        width,
    )


def detail_rows(detail: EventDetail, width: int, now: str) -> list[Row]:
    """Tell what an event did: the headline, the change that it made, then everything else that it says."""
    envelope = detail.envelope
    rows: list[Row] = [
        (RowPart(f"{envelope.type}", "strong"), RowPart(f"   event {envelope.position}", "dim")),
        *labelled("when", (RowPart(f"{ago(envelope.at, now)}, {minute(envelope.at)} UTC"),), width),
        *labelled("who", (RowPart(clean(actor_words(envelope.actor))),), width),
        *_standing(detail, width),
    ]
    if detail.event is None:
        rows += labelled("note", (RowPart("written by a newer germline: upgrade to read it", "warn"),), width)
        return rows
    fields = dict(_fields(detail.event))
    for name in _FIRST:
        if name in fields:
            rows += _fact(name, fields.pop(name), width)
    rows += _scores(fields, width)
    if detail.diff:
        title = f"change {changes(detail.diff)}"
        rows += [BLANK, (RowPart(title, "dim"),), *diff_rows(detail.diff, width, context=_CONTEXT), BLANK]
    rows += [row for name, value in fields.items() for row in _fact(name, value, width)]
    if isinstance(detail.event, CapsuleMoved):
        rows += labelled("note", (RowPart(_MOVED),), width)
    return [cut_row(row, width) for row in rows]


def undoing_words(detail: EventDetail) -> str:
    """Say how a person goes back who asks to undo an event that no event takes back; "" for any other event."""
    event = detail.event
    if not isinstance(event, CapsuleMoved):
        return ""
    again = clean(shlex.quote(event.previous))
    return f"a move is not undone here: move the folder back, then germline import {again}"


def _standing(detail: EventDetail, width: int) -> list[Row]:
    """Say which version the skill has right after the event, and how the scores went up to there."""
    row = detail.row
    if row is None:
        return []
    unproven = (UNPROVEN, RowPart(" ")) if isinstance(row.after, Unmeasured) else ()
    trend = sparkline(detail.trend, len(detail.trend) * 2)
    return labelled(
        "skill", (RowPart(f"{clean(detail.skill)}@{detail.version} ", "accent"), *unproven, *trend), width
    )


def _scores(fields: dict[str, Any], width: int) -> list[Row]:
    """Draw what was measured, and take it out of the fields."""
    rows: list[Row] = []
    for label, prefix in (("sealed", ""), ("audit", "audit_")):
        effect = fields.pop(f"{prefix}effect", None)
        if effect is not None:
            rows += fact_rows([effect_fact(effect)._replace(label=f"{label} eff.")], width)
        before, after = fields.pop(f"{prefix}before", None), fields.pop(f"{prefix}after", None)
        if before is not None and after is not None:
            drawn = before_and_after(before, after, fields.pop(f"{prefix}delta", None), width - LABEL_WIDTH)
            rows += [
                row
                for at, score in enumerate(drawn)
                for row in labelled("" if at else label, score, width, limit=2)
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
    if isinstance(value, _CLAIMS):
        return (RowPart(clean(claim_words(value))),)
    if isinstance(value, Frozen) and not hasattr(value, "template"):
        listed = ", ".join(f"{name.replace('_', ' ')} {text_of(_value(item))}" for name, item in value if item)
        return (RowPart(listed or "none"),)
    if isinstance(value, tuple):
        return (RowPart("; ".join(_text(item) for item in value)),)
    return (RowPart(_text(value)),)


def _text(value: Any) -> str:  # noqa: ANN401 - an item of a field of any event
    if isinstance(value, _CLAIMS):
        return clean(claim_words(value))
    if hasattr(value, "template"):
        return clean(value.template or value.action)
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = clean(f"{value:,}" if isinstance(value, int) else _decimal(value))
    return text[:_ID_SHOWN] if len(text) >= _LONG_ID and text.isalnum() else text


def _decimal(value: Any) -> str:  # noqa: ANN401 - as above
    """Write what was computed in the digits that say something; everything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) and 0 < abs(value) < 1 else str(value)


def history_note(shown: int, changes: int, total: int, *, scanning: bool, needle: str) -> str:
    """Say how much is listed: `204 changes, 1,204 events`, `12 of 1,204 "SHOW" …`."""
    if not needle:
        return f"{count(changes, 'change')}, {count(total, 'event')}{' …' if scanning else ''}"
    return f'{shown:,} of {total:,} "{needle}"{" …" if scanning else ""}'
