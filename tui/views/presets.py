"""The Presets screen as rows: the numbers side by side, and what the one under the cursor would pick next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.select.pick import KINDS
from tui.facts.fact import fact, listed
from tui.facts.presets import preset_facts, preset_figures, preset_sentence, resting_words
from tui.text.rows import BLANK, RowPart, cell, clean, cut_row, indented, wrap
from tui.text.words import signal_name, unrouted_words
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.registry_events import SignalRaised
    from strategies.policy.presets import Preset
    from strategies.select.pick import Pick
    from tui.reads.signals import PresetLine, Prospects
    from tui.text.rows import Row, Tone

_NAME: Final = 16
_BAR: Final = 16
_WIDE_BAR: Final = 40
_ROOMY: Final = 110
_FILLS: Final[dict[str, tuple[str, Tone]]] = {
    "repair": ("█", "warn"),
    "harden": ("▓", "accent"),
    "innovate": ("░", "good"),
}


def presets_header(width: int) -> list[Row]:
    """Name the columns of the table; the kinds have the fill that marks them in the bars."""
    kinds: list[RowPart] = []
    for kind in KINDS:
        fill, tone = _FILLS[kind]
        kinds += [RowPart(fill, tone), RowPart(f"{kind} ", "dim")]
    titles = (
        cell("   preset", _NAME + 3, "dim"),
        *kinds,
        RowPart(" " * max(_bar_width(width) + 13 - sum(len(part.text) for part in kinds), 1)),
        cell(" edits", 7, "dim"),
        cell("region", 7, "dim", right=True),
        cell("genes", 6, "dim", right=True),
        cell("alpha", 7, "dim", right=True),
        cell("E", 4, "dim", right=True),
    )
    return [cut_row(titles, width)]


def preset_rows(presets: Sequence[PresetLine], width: int) -> list[Row]:
    """Write one row for each preset; `▸` marks the one in force."""
    return [cut_row(_preset_row(preset, width), width) for preset in presets]


def _bar_width(width: int) -> int:
    return _WIDE_BAR if width >= _ROOMY else _BAR


def _preset_row(line: PresetLine, width: int) -> Row:
    preset, name = line.bound.preset, clean(line.bound.name)
    shares = [preset.weights.of(kind) for kind in KINDS]
    weights = [cell(str(share), 4, "" if share else "dim", right=True) for share in shares]
    edits, region, alpha, least_e = preset_figures(preset)
    return (
        RowPart(" ▸ " if line.in_force else "   ", "accent"),
        cell(name, _NAME, "strong" if line.in_force else ""),
        *shares_bar(preset, _bar_width(width)),
        *weights,
        cell(f"  {edits}", 8),
        cell(region, 7, right=True),
        cell("new" if preset.bears_genes else "–", 6, right=True),
        cell(alpha, 7, right=True),
        cell(least_e, 4, right=True),
    )


def shares_bar(preset: Preset, width: int) -> Row:
    """Draw the shares of the kinds of change as one bar; no kind with a weight is left without a cell."""
    weights = {kind: preset.weights.of(kind) for kind in KINDS}
    cells = {kind: max(weight * width // 100, 1) if weight else 0 for kind, weight in weights.items()}
    rests = sorted(KINDS, key=lambda kind: (-(weights[kind] * width % 100), KINDS.index(kind)))
    at = 0
    while sum(cells.values()) != width:
        kind = rests[at % len(rests)]
        step = 1 if sum(cells.values()) < width else -1
        cells[kind] += step if weights[kind] and cells[kind] + step else 0
        at += 1
    return tuple(RowPart(_FILLS[kind][0] * cells[kind], _FILLS[kind][1]) for kind in KINDS)


def outlook_rows(line: PresetLine, prospects: Prospects | None, width: int) -> list[Row]:
    """Say what the next picks would be under a preset, those marked that the one in force would not make."""
    width -= 2
    rows = [
        *_title(line, width),
        *wrap((RowPart(preset_sentence(line.bound.preset)),), width),
        BLANK,
        *_picks(line, prospects, width),
        BLANK,
        *fact_rows(preset_facts(line.bound.preset), width, limit=2),
    ]
    if prospects and prospects.agenda:
        agenda = prospects.agenda
        rows += fact_rows(listed("resting", map(resting_words, agenda.resting), "dim"), width, limit=1)
        if agenda.unrouted:
            rows += fact_rows([fact("unrouted", unrouted_words(agenda.unrouted), "dim")], width, limit=1)
    return indented(rows, width)


def _title(line: PresetLine, width: int) -> list[Row]:
    bound = line.bound
    force = ", in force" if line.in_force else ""
    chosen = f"   now {bound.preset.name}: {bound.because}" if bound.because else ""
    own = "   defined by a person" if line.own else ""
    title = (RowPart(f"{clean(bound.name)}{force}", "strong"), RowPart(f"{clean(chosen)}{own}", "dim"))
    return [cut_row(title, width)]


def _picks(line: PresetLine, prospects: Prospects | None, width: int) -> list[Row]:
    if prospects is None or prospects.agenda is None:
        return [(RowPart("with this preset the next picks would be …", "dim"),)]
    picks = prospects.picks.get(line.bound.name, ())
    if not picks:
        return [(RowPart("nothing would be picked: no signal is left that this preset may answer", "dim"),)]
    first = prospects.picks.get(prospects.current.bound.name, ())
    noun = "pick" if len(picks) == 1 else f"{len(picks)} picks"
    rows: list[Row] = [(RowPart(f"with this preset the next {noun} would be"),)]
    for at, pick in enumerate(picks):
        differs = at >= len(first) or first[at].offer.fingerprint != pick.offer.fingerprint
        skill = clean(prospects.agenda.routes[pick.offer.fingerprint])
        rows.append(cut_row(_pick(at, pick, skill, differs=differs), width))
    if not line.in_force:
        rows.append((RowPart("≠ the preset in force would pick another there", "dim"),))
    return rows


def _pick(at: int, pick: Pick[SignalRaised], skill: str, *, differs: bool) -> Row:
    fill, tone = _FILLS[pick.offer.calls_for]
    return (
        RowPart("≠ " if differs else "  ", "warn"),
        cell(f"{at + 1}", 2, "dim", right=True),
        RowPart(f" {fill} ", tone),
        cell(pick.offer.calls_for, 9, "strong"),
        cell(f"owed {pick.owed[pick.offer.calls_for]:.2f}", 11, "dim"),
        cell(skill, _NAME, "accent"),
        RowPart(f" {signal_name(pick.offer, clean)}"),
    )
