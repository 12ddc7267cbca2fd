"""The bottom line: the keys that work here, drawn anew only where other keys work than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Footer
from textual.widgets._footer import FooterKey

if TYPE_CHECKING:
    from textual.screen import Screen


class KeyBar(Footer):
    """Textual's footer makes its widgets anew at every change of state; most moves of the cursor change no key.

    Where the same keys are listed, and another one of them works, that one is told so; the rest stays as it is.
    """

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._listed: tuple[str, ...] = ()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Draw the keys that work now, where they are others."""
        if not (self.is_attached and screen is self.screen and screen.app.app_focus):
            super().bindings_changed(screen)
            return
        shown = [one for one in screen.active_bindings.values() if one.binding.show]
        listed = tuple(one.binding.key for one in shown)
        if listed != self._listed:
            self._listed = listed
            super().bindings_changed(screen)
            return
        works = {one.binding.key: one.enabled for one in shown}
        for key in self.query(FooterKey):
            if key.key in works:  # else it is about to be taken away
                key.set_class(not works[key.key], "-disabled")
                key._disabled = not works[key.key]  # noqa: SLF001 - Textual 8 keeps it twice; clicks read this one
