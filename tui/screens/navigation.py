"""The trail: the places that were shown, one after the other, and which of them is shown now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.screens.addresses import ScreenAddress


class Trail:
    """Walks back and forward; going elsewhere forgets what lay ahead.

    A screen that is left remembers how it was left, so that the cursor is found where it was.
    """

    def __init__(self, first: ScreenAddress) -> None:
        self._places = [first]
        self._at = 0
        self._returns: list[ScreenAddress] = []

    @property
    def here(self) -> ScreenAddress:
        """The place that is shown."""
        return self._places[self._at]

    @property
    def has_past(self) -> bool:
        """Whether there is a place to step back to."""
        return self._at > 0

    def leads(self, step: int) -> bool:
        """Tell whether there is a place so many steps ahead, or back."""
        return 0 <= self._at + step < len(self._places)

    def walk(self, step: int, left: ScreenAddress) -> None:
        """Go along the trail; the place that is left is remembered as `left`."""
        self._places[self._at] = left
        self._at += step

    def go(self, place: ScreenAddress, left: ScreenAddress) -> None:
        """Go to another place, which ends the trail."""
        del self._places[self._at + 1 :]
        self._places.append(place)
        self._returns.clear()
        self.walk(1, left)

    # -- what a line said before -----------------------------------------------------------------------

    @property
    def can_return(self) -> bool:
        """Whether there is a way back to what a line says later."""
        return bool(self._returns)

    def go_before(self, place: ScreenAddress, left: ScreenAddress) -> None:
        """Go to the earlier text of a line, and remember the way back to the later one."""
        returns = [*self._returns, left]
        self.go(place, left)
        self._returns = returns

    def go_return(self, left: ScreenAddress) -> None:
        """Go back to what the line says later."""
        *returns, place = self._returns
        self.go(place, left)
        self._returns = returns
