"""The bottom line: the keys that work here, drawn anew only where other keys work than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Footer

if TYPE_CHECKING:
    from textual.screen import Screen


class KeyBar(Footer):
    """Textual's footer makes its widgets anew at every change of state; most moves of the cursor change no key."""

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._drawn: tuple[tuple[str, bool], ...] = ()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Draw the keys that work now, where they are others."""
        if not (self.is_attached and screen is self.screen and screen.app.app_focus):
            super().bindings_changed(screen)
            return
        active = screen.active_bindings.values()
        keys = tuple((one.binding.key, one.enabled) for one in active if one.binding.show)
        if keys != self._drawn:
            self._drawn = keys
            super().bindings_changed(screen)
