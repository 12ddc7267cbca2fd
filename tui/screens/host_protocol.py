"""The host: what every screen may ask of the app, without knowing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.episodes.episode import WorldSource
    from strategies.scope.log_globs import LogGlobs
    from strategies.signals.thresholds import Thresholds
    from tui.screens.addresses import ScreenAddress, View
    from tui.session.access import Access


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person set for the screens; `keys` are those of bindings, by their ids.

    `seed`, `logs`, `sources` and `draw_every` are those of the configuration: what is picked next, whose logs are
    whose, which hints stand for labels, and what is drawn for a second look; `thresholds` say from when on
    something is a signal, None for the usual ones. `project` is the folder whose instructions a line may go to;
    with `personal_data` e-mail addresses, card and phone numbers are left out of what is read again.
    """

    theme: str = "textual-dark"
    ascii: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    logs: LogGlobs | None = None
    sources: tuple[WorldSource, ...] = ()
    draw_every: int = 10
    project: Path = field(default_factory=Path.cwd)
    personal_data: bool = True
    thresholds: Thresholds | None = None
    registry: str = ""


class Host(Protocol):
    """Gives the screens the registry, leads from one to the next, and knows the time.

    `shares` are the percent that the first pane of a view has, where a person changed that. `waiting` counts what
    waits for a person, by view.
    """

    access: Access
    settings: Settings
    shares: dict[View, int]
    waiting: Mapping[str, int]

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        ...

    def keep_what_is_there(self) -> None:
        """Leave what is in memory now out of searches for garbage: it stays."""
        ...

    def follow(self) -> object:
        """Look whether the log has grown, and show what is new."""
        ...

    def go(self, place: ScreenAddress) -> None:
        """Show another place, and remember the one left."""
        ...

    def go_before(self, place: ScreenAddress) -> None:
        """Show the earlier text of a line, and remember the way back to the later one."""
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
        """Put a text on the clipboard of the terminal, and into a file."""
        ...
