"""The bottom line: the keys that work here, drawn again only where other keys work than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Footer
from textual.widgets._footer import FooterKey

if TYPE_CHECKING:
    from textual.screen import Screen


class KeyBar(Footer):
    """Textual's footer makes its widgets again at every change of state; most moves of the cursor change no key.

    Where the same keys are listed, and another one of them works, that one is updated; the rest stays as it is.
    """

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._listed: tuple[str, ...] = ()

    def on_mount(self) -> None:
        """Hear what the footer hears, once it has begun to listen: its own `on_mount` runs after this one."""
        self.call_next(self._listen)

    def _listen(self) -> None:
        """Hear at once that keys have changed: they are drawn in one frame with what changed them.

        The footer has its callback queued: two rounds of messages later the frame is under way, and the keys made
        another one, 25 ms after it (measured 2026-11-22).
        """
        signal = self.screen.bindings_updated_signal
        signal.unsubscribe(self)
        signal.subscribe(self, self.bindings_changed, immediate=True)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Draw the keys that work now, where they are others; new widgets are made when it is this one's turn."""
        if not (self.is_attached and screen is self.screen and screen.app.app_focus):
            self.call_next(super().bindings_changed, screen)
            return
        shown = [
            active_binding for active_binding in screen.active_bindings.values() if active_binding.binding.show
        ]
        listed = tuple(active.binding.key for active in shown)
        if listed != self._listed:
            self._listed = listed
            self.call_next(super().bindings_changed, screen)
            return
        works = {active.binding.key: active.enabled for active in shown}
        for key in self.query(FooterKey):
            if key.key in works:  # else it is about to be taken away
                key.set_class(not works[key.key], "-disabled")
                key._disabled = not works[key.key]  # noqa: SLF001 - Textual 8 keeps it twice; clicks read this one
