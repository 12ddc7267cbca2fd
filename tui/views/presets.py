"""The Presets screen as rows: the numbers side by side, and what the one under the cursor would pick next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.select import KINDS
from tui.figures import count
from tui.views.rows import BLANK, Part, cell, clean, cut_row, labelled
from tui.views.signals import signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.registry_events import SignalRaised
    from strategies.presets import Preset
    from strategies.select import Pick
    from tui.signal_reads import PresetLine, Prospects
    from tui.views.rows import Row, Tone

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
    """Name the columns of the table; the kinds have the fill that stands for them in the bars."""
    kinds: list[Part] = []
    for kind in KINDS:
        fill, tone = _FILLS[kind]
        kinds += [Part(fill, tone), Part(f"{kind} ", "dim")]
    titles = (
        cell("   preset", _NAME + 3, "dim"),
        *kinds,
        Part(" " * max(_bar_width(width) + 13 - sum(len(part.text) for part in kinds), 1)),
        cell(" edits", 7, "dim"),
        cell("region", 7, "dim", right=True),
        cell("genes", 6, "dim", right=True),
        cell("alpha", 7, "dim", right=True),
        cell("E", 4, "dim", right=True),
    )
    return [cut_row(titles, width)]


def preset_rows(presets: Sequence[PresetLine], width: int) -> list[Row]:
    """Write one row for each preset; `▸` marks the one in force."""
    return [cut_row(_preset_row(one, width), width) for one in presets]


def _bar_width(width: int) -> int:
    return _WIDE_BAR if width >= _ROOMY else _BAR


def _preset_row(one: PresetLine, width: int) -> Row:
    preset, name = one.bound.preset, clean(one.bound.name)
    shares = [preset.weights.of(kind) for kind in KINDS]
    weights = [cell(str(share), 4, "" if share else "dim", right=True) for share in shares]
    return (
        Part(" ▸ " if one.in_force else "   ", "accent"),
        cell(name, _NAME, "strong" if one.in_force else ""),
        *shares_bar(preset, _bar_width(width)),
        *weights,
        cell(f"  {preset.edit_budget.start} → {preset.edit_budget.floor}", 8),
        cell(f"{preset.trust_region:.0%}", 7, right=True),
        cell("new" if preset.bears_genes else "–", 6, right=True),
        cell(f"{preset.alpha:g}", 7, right=True),
        cell(f"{preset.least_e:g}", 4, right=True),
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
    return tuple(Part(_FILLS[kind][0] * cells[kind], _FILLS[kind][1]) for kind in KINDS)


def outlook_rows(one: PresetLine, prospects: Prospects | None, width: int) -> list[Row]:
    """Say what the next picks would be under a preset, those marked that the one in force would not make."""
    width -= 2
    rows = [*_title(one, width), BLANK, *_picks(one, prospects, width), BLANK, *_numbers(one.bound.preset, width)]
    if prospects and prospects.agenda:
        for at, resting in enumerate(prospects.agenda.resting):
            said = f"{signal_name(resting.signal)}: {count(resting.turns_left, 'turn')} left"
            rows += labelled("" if at else "resting", (Part(said, "dim"),), width, limit=1)
        if left := len(prospects.agenda.unrouted):
            told = f"{count(left, 'signal')} that no skill answers to: germline evolve SKILL"
            rows += labelled("unrouted", (Part(told, "dim"),), width, limit=1)
    return [(Part(" "), *cut_row(row, width)) if row else BLANK for row in rows]


def _title(one: PresetLine, width: int) -> list[Row]:
    bound = one.bound
    force = ", in force" if one.in_force else ""
    chosen = f"   now {bound.preset.name}: {bound.because}" if bound.because else ""
    own = "   defined by a person" if one.own else ""
    said = (Part(f"{clean(bound.name)}{force}", "strong"), Part(f"{clean(chosen)}{own}", "dim"))
    return [cut_row(said, width)]


def _picks(one: PresetLine, prospects: Prospects | None, width: int) -> list[Row]:
    if prospects is None or prospects.agenda is None:
        return [(Part("with this preset the next picks would be …", "dim"),)]
    picks = prospects.picks.get(one.bound.name, ())
    if not picks:
        return [(Part("nothing would be picked: no signal is left that this preset may answer", "dim"),)]
    first = prospects.picks.get(prospects.current.bound.name, ())
    noun = "pick" if len(picks) == 1 else f"{len(picks)} picks"
    rows: list[Row] = [(Part(f"with this preset the next {noun} would be"),)]
    for at, pick in enumerate(picks):
        differs = at >= len(first) or first[at].offer.fingerprint != pick.offer.fingerprint
        skill = clean(prospects.agenda.routes[pick.offer.fingerprint])
        rows.append(cut_row(_pick(at, pick, skill, differs=differs), width))
    if not one.in_force:
        rows.append((Part("≠ the preset in force would pick another there", "dim"),))
    return rows


def _pick(at: int, pick: Pick[SignalRaised], skill: str, *, differs: bool) -> Row:
    fill, tone = _FILLS[pick.offer.calls_for]
    return (
        Part("≠ " if differs else "  ", "warn"),
        cell(f"{at + 1}", 2, "dim", right=True),
        Part(f" {fill} ", tone),
        cell(pick.offer.calls_for, 9, "strong"),
        cell(f"owed {pick.owed[pick.offer.calls_for]:.2f}", 11, "dim"),
        cell(skill, _NAME, "accent"),
        Part(f" {signal_name(pick.offer)}"),
    )


def _numbers(preset: Preset, width: int) -> list[Row]:
    budget = preset.edit_budget
    reverts = "takes the version back by itself" if preset.auto_revert else "waits for a person"
    facts = (
        (
            "edits",
            f"{budget.start} of a candidate in the first cycle, {budget.floor} in the last, {budget.schedule}",
        ),
        ("region", f"at most {preset.trust_region:.0%} of the characters of the base may change"),
        ("gate", f"replay at alpha {preset.alpha:g}, runs at an E-value of {preset.least_e:g} or more"),
        ("promotes", f"on {' and '.join(preset.endpoints)}; a regression {reverts}"),
    )
    return [row for label, text in facts for row in labelled(label, (Part(text, "dim"),), width, limit=2)]
