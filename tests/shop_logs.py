"""Logs of shopping agents in the steps format: an option chosen before buying helps, a list never does."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER, LIST = "42", "- first\n- second\n- third"


def shop_log(seed: int, *, tasks: int = 300, lists: float = 0.0) -> str:
    """Write a log of two runs on each task, as JSON lines; a share of the agents answer in a list, and fail."""
    draws = random.Random(seed)
    lines = (line for number in range(tasks) for run in ("a", "b") for line in _session(draws, number, run, lists))
    return "".join(json.dumps(line) + "\n" for line in lines)


def _session(draws: random.Random, number: int, run: str, lists: float) -> Iterator[dict[str, object]]:
    name = f"{run}{number}"
    chooses, reads, answers_in_list = draws.random() < 0.5, draws.random() < 0.5, draws.random() < lists
    won = not answers_in_list and draws.random() < 0.3 + 0.35 * chooses
    yield {"type": "episode", "episode": name, "task": f"t{number}", "run": run, "prompt": f"Buy thing {number}."}
    for head in ["item", *["option"] * chooses, *["description"] * reads, "buy"]:
        yield {"type": "step", "episode": name, "tool": "click", "head": head, "text": f"{head} of {number}"}
    yield {"type": "step", "episode": name, "kind": "message", "text": LIST if answers_in_list else NUMBER}
    yield {"type": "outcome", "episode": name, "value": int(won), "source": "reward", "ended_by": "agent"}
