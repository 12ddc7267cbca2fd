"""What the Review screen shows: candidates that wait, and promotions drawn for a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from registry.candidate import Candidate
    from registry.library import Library
    from tui.cli.proposed import Page

Standing = Literal["waits", "drawn", "seen"]


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A candidate that waits for a decision, or a promotion that was drawn, `seen` once a person said a word."""

    candidate: Candidate
    standing: Standing


def read_review(library: Library, *, every: int, seed: int) -> tuple[ReviewLine, ...]:
    """Read what waits, the newest first, then what was drawn and nobody looked at, then what somebody did."""
    from strategies.second_look import drawn  # noqa: PLC0415 - the first screen needs none of it
    from tui.cli.found import waits  # noqa: PLC0415 - as above

    candidates = library.candidates()
    waiting = [ReviewLine(one, "waits") for one in reversed(candidates) if waits(one)]
    looks = list(reversed(drawn(candidates, every=every, seed=seed)))
    unseen = [ReviewLine(one, "drawn") for one in looks if not one.looked_over]
    return (*waiting, *unseen, *(ReviewLine(one, "seen") for one in looks if one.looked_over))


def read_candidate(library: Library, candidate: Candidate) -> Page:
    """Read one of them as a whole."""
    from tui.cli.proposed import read_page  # noqa: PLC0415 - the first screen needs none of it

    return read_page(library, candidate)
