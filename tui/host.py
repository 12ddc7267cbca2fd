"""The host: what every screen may ask of the app, without knowing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.library import Library
    from tui.places import Place

T = TypeVar("T")


class Host(Protocol):
    """Reads for the screens, leads from one to the next, and knows the time.

    `preset` and `head` are as the last read found them; `live` is false while the registry cannot be read.
    """

    preset: str
    head: int
    live: bool

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        ...

    async def read(self, ask: Callable[[Library], T]) -> T:
        """Answer a question about the registry in the reading thread; raises what it raises."""
        ...

    def go(self, place: Place) -> None:
        """Show another place, and remember the one left."""
        ...

    def go_before(self, place: Place) -> None:
        """Show what a line said before, and remember the way back to what it says later."""
        ...

    @property
    def can_return(self) -> bool:
        """Whether there is a way back to what a line says later."""
        ...

    def go_return(self) -> None:
        """Return to what a line says later."""
        ...

    def step_back(self) -> None:
        """Go back to where the person came from, else up to the view above."""
        ...

    def close_view(self) -> None:
        """Close the view for the one above it; the last one quits."""
        ...

    def copy(self, text: str) -> None:
        """Put a text on the clipboard of the terminal."""
        ...
