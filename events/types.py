"""The events: everything that can have happened, as frozen data.

Nothing here computes: what an event does to the state is decided in `registry/`. Line ids are counted per
gene, from 1; a line's text keeps its line ending, so that joined lines are the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.kinds import MODULES, class_of

if TYPE_CHECKING:
    from events.base import Frozen

EVENT_TYPES: Final[tuple[type[Frozen], ...]] = tuple(map(class_of, MODULES))
"""Every event class, in the order of domain.md."""
