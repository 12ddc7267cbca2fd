"""The body of a screen: two panes, below or beside each other, that a person gives more room or less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.containers import Container

if TYPE_CHECKING:
    from textual.widget import Widget

_STEP: Final = 10
_LEAST_SHARE: Final = 20
"""Percent of the room by which a pane grows, and that it keeps (guesses)."""


class Panes(Container):
    """Divides its room between two panes, which selectors name.

    `share` is the percent that the first one has; None until a person asks for some.
    """

    def __init__(self, first: str, second: str, share: int | None) -> None:
        super().__init__(id="body")
        self._selectors = first, second
        self._share = share

    def on_mount(self) -> None:
        """Divide the room as a person wanted it before."""
        self._divide()

    def on_resize(self) -> None:
        """Divide the room again: panes may be beside each other now."""
        self.call_after_refresh(self._divide)

    def give(self, step: int) -> int:
        """Give the first pane a step more room, or less; returns its share."""
        first, second = (pane.size for pane in self._panes)
        beside = self._is_beside
        room = (first.width + second.width) if beside else (first.height + second.height)
        now = (first.width if beside else first.height) * 100 // max(room, 1)
        self._share = min(max(now + step * _STEP, _LEAST_SHARE), 100 - _LEAST_SHARE)
        self._divide()
        return self._share

    @property
    def _panes(self) -> tuple[Widget, Widget]:
        first, second = self._selectors
        return self.query_one(first), self.query_one(second)

    @property
    def _is_beside(self) -> bool:
        return self.layout.name == "horizontal"

    def _divide(self) -> None:
        if self._share is None:
            return
        first, second = self._panes
        first.styles.max_height = "100%"
        size, other = f"{self._share}%", "1fr"
        beside = self._is_beside
        first.styles.width, second.styles.width = (size, other) if beside else ("1fr", "1fr")
        first.styles.height, second.styles.height = ("1fr", "1fr") if beside else (size, other)
