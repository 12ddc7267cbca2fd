"""The bottom line: the keys that work here, each of which a click presses."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.binding import ActiveBinding
    from textual.events import MouseDown, MouseMove
    from textual.screen import Screen
    from textual.style import Style

_KEY, _DESCRIPTION, _DIM, _UNDER_MOUSE = (
    f"key-bar--{name}" for name in ("key", "description", "dim", "under-mouse")
)


class KeyShown(NamedTuple):
    """A key of the bottom line, and what it does; the name of a group has no key."""

    key: str
    written: str
    description: str
    tooltip: str = ""
    works: bool = True


class KeyBar(Widget):
    """One widget for all keys: Textual's footer has one for each, and makes them again at each change."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {_KEY, _DESCRIPTION, _DIM, _UNDER_MOUSE}

    shown: reactive[tuple[KeyShown, ...]] = reactive((), init=False)
    under_mouse: reactive[KeyShown | None] = reactive(None, init=False)

    def on_mount(self) -> None:
        """Hear at once that keys have changed: they are drawn in one frame with what changed them."""
        self.screen.bindings_updated_signal.subscribe(self, self.bindings_changed, immediate=True)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Show the keys that work now; those of an app without the focus stay as they were."""
        if self.is_attached and screen is self.screen and screen.app.app_focus:
            self.shown = tuple(self._keys_of(screen))

    def _keys_of(self, screen: Screen[object]) -> Iterator[KeyShown]:
        """Give one key of each action, in order; those of a group side by side, then what they do together."""
        of_action: dict[str, ActiveBinding] = {}
        for active in screen.active_bindings.values():
            if active.binding.show:
                of_action.setdefault(active.binding.action, active)
        for group, members in groupby(of_action.values(), lambda active: active.binding.group):
            together = list(members)
            named = group if len(together) > 1 else None
            for _, binding, works, tooltip in together:
                description = "" if named else f" {binding.description} "
                written = self.app.get_key_display(binding)
                yield KeyShown(binding.key, written, description, tooltip or binding.description, works)
            if named:
                yield KeyShown("", "", f" {named.description} ")

    def render(self) -> Content:
        """Write all keys in one line: dim are those that do not work now."""
        return Content.assemble(*(part for key in self.shown for part in self._parts(key)))

    def _parts(self, key: KeyShown) -> Iterator[tuple[str, Style]]:
        state = [_DIM] if not key.works else []
        if key == self.under_mouse:
            state.append(_UNDER_MOUSE)
        yield key.written, self.get_visual_style(_KEY, *state)
        yield key.description, self.get_visual_style(_DESCRIPTION, *state)

    def key_at(self, column: int) -> KeyShown | None:
        """Find the key that is written at a column of the line."""
        for key in self.shown:
            text = key.written + key.description
            if column < len(text):
                return key if key.key and column < len(text.rstrip()) else None
            column -= len(text)
        return None

    def on_mouse_move(self, event: MouseMove) -> None:
        """Mark the key under the mouse, and say what it does."""
        offset = event.get_content_offset(self)
        self.under_mouse = self.key_at(offset.x) if offset is not None else None

    def on_leave(self) -> None:
        """Mark none any more."""
        self.under_mouse = None

    def watch_under_mouse(self, key: KeyShown | None) -> None:
        """Say what the key under the mouse does."""
        self.tooltip = key.tooltip if key is not None else None

    def on_mouse_down(self, event: MouseDown) -> None:
        """Press the key under the mouse, if it works."""
        offset = event.get_content_offset(self)
        key = self.key_at(offset.x) if offset is not None else None
        if key is not None and key.works:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()
