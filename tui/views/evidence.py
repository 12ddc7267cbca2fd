"""Evidence as rows: the records behind a line, the words that match marked, whether each still is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from rich.cells import cell_len

from strategies.episodes.clipped_text import clipped
from tui.facts.evidence import STILL_THERE, erased_words
from tui.reads.evidence import in_packed_sample, parts_beside, place_words
from tui.text.numbers import count
from tui.text.rows import (
    BLANK,
    LABEL_WIDTH,
    RowPart,
    cell,
    clean,
    cut_left,
    cut_row,
    labelled,
    marked,
    pad_row,
    slice_row,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.query.library import Raised
    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from strategies.pool.evidence_context import EvidenceContext
    from tui.text.rows import Row


class Evidenced(Protocol):
    """What rests on the evidence of a signal: a line, a candidate, the signal itself."""

    @property
    def signal(self) -> Raised | None:
        """The signal, None where there is none."""
        ...

    @property
    def evidence(self) -> tuple[KeptEvidence, ...]:
        """The records that are kept."""
        ...

    @property
    def erased(self) -> tuple[ErasedEvidence, ...]:
        """Those whose text was removed."""
        ...


_SHOWN: Final = 3
_WILDCARD: Final = "<*>"
_PLACE: Final = 17
_INDENT: Final = 5
_WORD: Final = 9
_PART_CHARS: Final = 800
"""What is shown of a request, a call or an answer beside a record (a guess)."""


def evidence_summary(why: Evidenced, there: Sequence[bool] | None, width: int) -> list[Row]:
    """Write the first pieces of evidence, one row each, and what was erased, when and why."""
    rows: list[Row] = []
    for at, kept in enumerate(why.evidence[:_SHOWN]):
        standing = there[at] if there is not None and at < len(there) else None
        row = _evidence_row(kept, why, width - LABEL_WIDTH, standing=standing)
        rows += labelled("" if rows else "evidence", row, width, limit=1)
    left = len(why.evidence) - len(rows)
    rows += labelled("", (RowPart(f"{left} more: e", "dim"),), width) if left > 0 else []
    for text in erased_words(why.erased):
        rows += labelled("" if rows else "evidence", (RowPart(clean(text), "warn"),), width, limit=2)
    return rows


def _evidence_row(kept: KeptEvidence, why: Evidenced, width: int, *, standing: bool | None) -> Row:
    """Write one record in one row: where it is, what it says with the matching words marked, if it still is."""
    evidence = kept.evidence
    mark, tone = STILL_THERE[standing]
    place = cut_left(clean(f"{_name(evidence.file)}:{evidence.line}"), max(width // 4, _PLACE))
    room = max(width - cell_len(place) - cell_len(mark) - 4, 8)
    text = " ".join(clean(evidence.text).split())
    snippet = cut_row(_from_match(text, _template(why)), room)
    return RowPart(f"{place}  ", "dim"), *pad_row(snippet, room), RowPart(f"  {mark}", tone)


def _part_rows(word: str, text: str, width: int) -> Iterator[Row]:
    """Write a part of what is around a record below it."""
    lead = word
    for line in map(clean, clipped(text, _PART_CHARS).splitlines()):
        for row in wrap((RowPart(line),), width - _INDENT - _WORD - 1):
            yield (RowPart(" " * _INDENT), cell(lead, _WORD, "dim"), *row)
            lead = ""


def _template(why: Evidenced) -> str:
    return why.signal.event.template if why.signal else ""


def _from_match(text: str, template: str) -> Row:
    """Mark what matches a template, and leave out what comes before it."""
    spans = template_spans(text, template)
    start = spans[0][0] if spans else 0
    lead = (RowPart("… ", "dim"),) if start else ()
    return *lead, *slice_row(marked(text, spans, "mark"), start, len(text))


def template_spans(text: str, template: str) -> list[tuple[int, int]]:
    """Find the literal words of a template in a text, piece after piece; none where they do not all occur."""
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in template.split(_WILDCARD):
        words = piece.strip()
        if not words:
            continue
        start = text.find(words, at)
        if start < 0:
            return []
        at = start + len(words)
        spans.append((start, at))
    return spans


def evidence_rows(
    why: Evidenced,
    there: Sequence[bool] | None,
    width: int,
    contexts: Sequence[EvidenceContext | None] = (),
) -> list[Row]:
    """Write all evidence of a line in full: where each record is, whether it still is there, what it says.

    `contexts` are what is around the records, once that is read. Below it is what was erased: of that the day
    and the reason are left.
    """
    template = _template(why)
    rows: list[Row] = []
    for at, kept in enumerate(why.evidence):
        evidence = kept.evidence
        mark, tone = STILL_THERE[there[at] if there is not None and at < len(there) else None]
        place = cut_left(clean(f"{evidence.file}:{evidence.line}"), width - _INDENT - cell_len(mark) - 3)
        redacted = f", {count(len(evidence.redactions), 'redaction')}" if evidence.redactions else ""
        packed = f"{place_words(evidence.file, evidence.line)}, " if in_packed_sample(evidence.file) else ""
        about = (
            f"{packed}bytes {evidence.byte_start:,} to {evidence.byte_end:,}{redacted}, evidence {kept.id[:12]}"
        )
        rows += [BLANK] if rows else []
        rows += [
            (
                cell(str(at + 1), 3, "dim", right=True),
                RowPart("  "),
                RowPart(place, "strong"),
                RowPart(f"   {mark}", tone),
            ),
            (RowPart(" " * _INDENT), RowPart(f"{about}, episode {clean(evidence.episode)[:12]}", "dim")),
        ]
        for line in evidence.text.splitlines():
            text = clean(line)
            words = marked(text, template_spans(text, template), "mark")
            rows += [(RowPart(" " * _INDENT), *row) for row in wrap(words, width - _INDENT - 1)]
        context = contexts[at] if at < len(contexts) else None
        for word, text in parts_beside(evidence, context):
            rows += _part_rows(word, text, width)
    for at, erased in enumerate(why.erased, start=len(why.evidence) + 1):
        rows += [BLANK] if rows else []
        rows += [
            (cell(str(at), 3, "dim", right=True), RowPart(f"  ✗ erased on {erased.at[:10]}", "warn")),
            (RowPart(" " * _INDENT), RowPart(f"evidence {erased.id[:12]}", "dim")),
        ]
        because = wrap((RowPart(f"because {clean(erased.reason)}"),), width - _INDENT - 1)
        rows += [(RowPart(" " * _INDENT), *row) for row in because]
    return [cut_row(row, width) for row in rows]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
