"""The chain of causes of a line, one row high: where in it one looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.views.why import chain_row
from tui.widgets.rows_view import LineView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.reads.skills import Link


class ChainLine(LineView):
    """Shows the links from the evidence to the line; one looks at the line until one walks."""

    def __init__(self, *, id: str, classes: str) -> None:  # noqa: A002 - as every widget
        super().__init__(id=id, classes=classes)
        self._links: Sequence[Link] = ()
        self._at = 0

    def show_links(self, links: Sequence[Link]) -> None:
        """Show the chain of another line, from its end."""
        if links != self._links:
            self._links, self._at = links, max(len(links) - 1, 0)
        self._draw()

    @property
    def link(self) -> Link | None:
        """The link that is looked at; None where that is the line itself."""
        return self._links[self._at] if self._at < len(self._links) - 1 else None

    def leads(self, step: int) -> bool:
        """Tell whether the chain goes on there."""
        return 0 <= self._at + step < len(self._links)

    def walk(self, step: int) -> None:
        """Look at the next cause, or the next effect."""
        if self.leads(step):
            self._at += step
            self._draw()

    def _draw(self) -> None:
        self.show(lambda width: chain_row(self._links, self._at, width))
