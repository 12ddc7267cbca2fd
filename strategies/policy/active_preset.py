"""Which preset binds: one of germline's own, one that a person defined, or the one that `auto` chooses now."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from events.errors import NotFoundError
from registry.projection.stored_documents import definition_in
from strategies.policy.auto import AUTO, automatic
from strategies.policy.preset_toml import preset_of
from strategies.policy.presets import PRESETS
from strategies.signals.open_signals import REGRESSION, open_among

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.store.protocol import Receipt
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.policy.presets import Preset


@dataclass(frozen=True, slots=True)
class Bound:
    """The preset that binds, under the name that a person gave; `because` says why `auto` chose it, else ""."""

    name: str
    preset: Preset
    because: str = ""


def bound_by(library: Library, name: str = "") -> Bound:
    """Give the preset of a name, else the one in force; raises NotFoundError with the nearest name."""
    asked = name or library.about().preset
    if asked == AUTO:
        regressions = [raised.event for raised in library.signals() if raised.event.kind == REGRESSION]
        still_open = open_among(library, regressions) if regressions else frozenset()
        preset, because = automatic(
            library.cycles(), [signal for signal in regressions if signal.fingerprint in still_open]
        )
        return Bound(AUTO, preset, because)
    known = known_presets(library)
    return Bound(asked, known.get(asked) or _none_such(known, asked))


def beginning(name: str) -> Bound:
    """Give one of germline's own presets, or `auto` as it is in a registry that has seen nothing yet.

    Raises: NotFoundError with the nearest name.
    """
    if name == AUTO:
        return Bound(AUTO, *automatic((), ()))
    return Bound(name, PRESETS.get(name) or _none_such(PRESETS, name))


def known_presets(library: Library) -> dict[str, Preset]:
    """Give every preset but `auto` by its name: germline's own, then a person's as they defined it last."""
    defined = (definition_in(library.log, document) for document in library.log.documents("preset"))
    own = (preset_of(text, "the registry") for text in defined)
    return {**PRESETS, **{preset.name: preset for preset in own}}


def definitions(library: Library, name: str) -> list[tuple[int, str]]:
    """List what a person defined a preset to be, oldest first: the event's position and the TOML."""
    return [
        (document.seq, definition_in(library.log, document)) for document in library.log.documents("preset", name)
    ]


def define(registry: Registry, text: str, source: str) -> tuple[Preset, Receipt]:
    """Let a preset be known; `source` names it in errors, which are those of `preset_of`."""
    from registry.decide.commands import DefinePreset  # noqa: PLC0415 - reading which preset binds needs no command

    preset = preset_of(text, source)
    return preset, registry.execute(DefinePreset(preset.name, text))


def _none_such(known: Iterable[str], name: str) -> Preset:
    names = [*known, AUTO]
    near = tuple(get_close_matches(name, names, n=1, cutoff=0.6))
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    raise NotFoundError(f"there is no preset {name}", hint=hint, nearest=near)
