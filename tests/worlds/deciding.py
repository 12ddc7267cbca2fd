"""Failed and successful sessions of which it is known at which step each was decided."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from tests.worlds import call, episode

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

ACTIONS: Final = ("Read", "Edit", "Bash:ls", "Bash:rg", "Bash:make")
ERRORS: Final = ("no such file: <*>", "exit status <*>", "permission denied: <*>")
DECIDING: Final = ("Bash:pytest", "assertion failed: <*>")
"""The action whose failure decides, by what is done next: looking saves the session, trying again loses it."""
SAVES: Final = "Read"
LOSES: Final = "Bash:pytest"
SYMPTOM: Final = ("Bash:sudo", "permission denied: <*>")
"""What agents often do once they are lost: it goes with failure, and decides nothing."""
LEAST_STEPS: Final = 6
MOST_STEPS: Final = 14


class Decided(NamedTuple):
    """A session, and the index of the step that decided it."""

    record: EpisodeRecord
    step: int


def decided_sessions(seed: int, sessions: int, *, noise: float) -> list[Decided]:
    """Live through sessions with errors that decide nothing, and one whose answer decides but for noise.

    Who answered it wrongly often does what helps nobody, and comes after what decided.
    """
    draws = random.Random(seed)
    lived = []
    for number in range(sessions):
        steps = [
            call(draws.choice(ACTIONS), draws.choice(ERRORS) if draws.random() < 0.3 else "")
            for _ in range(draws.randint(LEAST_STEPS, MOST_STEPS))
        ]
        at = draws.randint(1, len(steps) - 2)
        saved = draws.random() < 0.5
        steps[at : at + 2] = [call(*DECIDING), call(SAVES if saved else LOSES)]
        if not saved:
            later = range(at + 2, len(steps))
            steps = [
                call(*SYMPTOM) if place in later and draws.random() < 0.5 else step
                for place, step in enumerate(steps)
            ]
        won = saved if draws.random() >= noise else draws.random() < 0.5
        record = structs.replace(episode(steps, outcome=float(won), task=f"t{number}"), id=f"s{number:05}")
        lived.append(Decided(record, at + 1))
    return lived
