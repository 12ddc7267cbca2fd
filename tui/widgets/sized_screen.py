"""A screen that has the classes of its size before anything on it is styled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.screen import Screen

from tui.widgets.rows_view import TONES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import ScreenResume

T = TypeVar("T")


class SizedScreen(Screen[T], inherit_bindings=False):
    """What is on it is styled once as it opens.

    Textual would do so three times: as it is mounted, at its first size, and as it is shown.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONES}

    def __init__(self, *, plain: bool) -> None:
        """Begin with the classes of the app's size; `plain` is drawn in ASCII."""
        super().__init__(classes="-ascii" if plain else None)
        app = self.app
        wide = _of_size(app.size.width, app.HORIZONTAL_BREAKPOINTS or ())
        self.add_class(wide, _of_size(app.size.height, app.VERTICAL_BREAKPOINTS or ()), update=False)
        self._was_shown = False

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Leave out styles that were given just now; those of a screen that comes back may be old."""
        event.refresh_styles = event.refresh_styles and self._was_shown
        self._was_shown = True


def _of_size(cells: int, classes: Sequence[tuple[int, str]]) -> str:
    return max((least, name) for least, name in classes if least <= cells)[1]
