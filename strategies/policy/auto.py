"""The preset `auto`: which preset binds now, read off what the registry has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.open_signals import REGRESSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.registry_events import CycleFinished, SignalRaised
    from strategies.policy.presets import Preset

AUTO: Final = "auto"
"""What a person writes to have the preset chosen."""
EARLY_CYCLES: Final = 10
"""Cycles of a young registry: one full run of `evolve` (a guess)."""
SATURATED_CYCLES: Final = 10
"""Cycles in a row without a promotion from which a registry is saturated: one full run (a guess)."""


def automatic(cycles: Sequence[CycleFinished], signals: Iterable[SignalRaised]) -> tuple[Preset, str]:
    """Choose a preset, and say why.

    Repair-only while a regression is open, which it is until a cycle about it promotes; early-stabilize for the
    first cycles; steady-state on saturation; else the default.
    Shapes: cycles and signals in the order of the log.
    """
    from strategies.policy.presets import DEFAULT_PRESET, PRESETS  # noqa: PLC0415 - few registries are on `auto`

    answered = {cycle.fingerprint for cycle in cycles if cycle.verdict == "promote"}
    open_ones = [signal for signal in signals if signal.kind == REGRESSION and signal.fingerprint not in answered]
    if open_ones:
        return PRESETS["repair-only"], f"a regression is open ({open_ones[0].fingerprint})"
    if len(cycles) < EARLY_CYCLES:
        return PRESETS["early-stabilize"], f"{len(cycles)} of the first {EARLY_CYCLES} cycles are done"
    if all(cycle.verdict != "promote" for cycle in cycles[-SATURATED_CYCLES:]):
        return PRESETS["steady-state"], f"the last {SATURATED_CYCLES} cycles promoted nothing"
    return PRESETS[DEFAULT_PRESET], "past the first cycles, and still learning"
