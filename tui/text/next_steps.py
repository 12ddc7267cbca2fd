"""What to type next: the command that leads on from each state that an answer can leave a person in.

Following them from any state ends at what a person decides (a line, a candidate, a label, logs to read), and never
leads back to where it began: `tests/e2e/test_next_commands.py` walks them.
"""

from __future__ import annotations

from typing import Final, Literal

Situation = Literal[
    "no sessions",
    "no skill",
    "no labels",
    "no label decides",
    "not evolved",
    "nothing proposed",
]

NEXT_STEPS: Final[dict[Situation, str]] = {
    "no sessions": "germline scan PATH",
    "no skill": "germline import PATH",
    "no labels": "germline outcome --queue",
    "no label decides": "germline sessions --unlabelled",
    "not evolved": "germline evolve",
    "nothing proposed": "germline start",
}
"""The command for each; `start` offers lines that need neither labels nor a comparison."""
