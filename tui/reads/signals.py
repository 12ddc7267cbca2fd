"""What each preset would pick next, for the Signals and Presets screens; read in threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from strategies.policy.active_preset import Bound
    from strategies.scope.log_globs import LogGlobs
    from strategies.select.pick import Pick
    from strategies.select.queue import Agenda

PICKS: Final = 5
"""Turns that the Presets screen looks ahead: as many as `preset preview` does."""

RANKED: Final = 50
"""Turns within which the Signals screen names the turn of a signal (a guess: more is not worth waiting for)."""


@dataclass(frozen=True, slots=True)
class PresetLine:
    """A preset as the table shows it; `own` where a person defined it."""

    bound: Bound
    in_force: bool
    own: bool


@dataclass(frozen=True, slots=True)
class Prospects:
    """What would be picked next: by preset, and by whom.

    `agenda` is None until that is known. `proposers` are those that answer each kind of signal, in their order;
    `turns` the turn of each signal under the preset in force, counted from 1, as far as that was looked ahead.
    """

    current: PresetLine
    agenda: Agenda | None = None
    picks: Mapping[str, Sequence[Pick[SignalRaised]]] = field(default_factory=dict)
    proposers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    turns: Mapping[str, int] = field(default_factory=dict)


def read_presets(library: Library) -> tuple[PresetLine, ...]:
    """Read every preset, germline's own first, `auto` last."""
    from strategies.policy.active_preset import Bound, bound_by, known_presets  # noqa: PLC0415 - as above
    from strategies.policy.auto import AUTO  # noqa: PLC0415 - the first screen needs none of it
    from strategies.policy.presets import PRESETS  # noqa: PLC0415 - as above

    current = library.about().preset
    bound = [*(Bound(name, preset) for name, preset in known_presets(library).items()), bound_by(library, AUTO)]
    return tuple(
        PresetLine(preset, preset.name == current, preset.name not in {*PRESETS, AUTO}) for preset in bound
    )


def read_prospects(library: Library, *, seed: int, logs: LogGlobs | None = None) -> Prospects:
    """Look ahead: what `evolve` would pick under each preset, on all logs; nothing is mined or written."""
    from strategies.gate.replay.skill_grounds import grounds_of  # noqa: PLC0415 - as above
    from strategies.propose.by_signal import PROPOSERS  # noqa: PLC0415 - as above
    from strategies.select.queue import agenda_on, foreseen  # noqa: PLC0415 - the first screen needs none of it

    presets = read_presets(library)
    grounds = grounds_of(library, logs)
    agenda, met = agenda_on(library, grounds.scope, PROPOSERS), grounds.evaluators(library)
    picks = {
        preset.bound.name: foreseen(
            library, agenda, preset.bound, seed=seed, evaluators=met, count=RANKED if preset.in_force else PICKS
        )
        for preset in presets
    }
    current = next(preset for preset in presets if preset.in_force)
    turns = {pick.offer.fingerprint: at for at, pick in enumerate(picks[current.bound.name], 1)}
    return Prospects(
        current=current,
        agenda=agenda,
        picks={name: chosen[:PICKS] for name, chosen in picks.items()},
        proposers={
            kind: tuple(getattr(change, "__name__", type(change).__name__) for change in every)
            for kind, every in PROPOSERS.items()
        },
        turns=turns,
    )
