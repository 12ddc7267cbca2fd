"""A proposer that is a program: it has hunches about the kinds of questions that went wrong, and asks the gate.

It reads a case as JSON on its standard input and prints changes. It stands for a model: of its hunches some are
true, some plausible and wrong, one knows an answer by heart, one says nothing. It sees explore tasks alone.
"""

from __future__ import annotations

import json
import sys
from typing import Any

HUNCHES = {
    "date": ["- In dates the month comes first.", "- In dates the day comes first."],
    "requests": [
        "- A request has failed when it has a status of 400 or more.",
        "- A request has failed when it has a status of 500 or more.",
    ],
}
"""What it thinks of a question, by a word of it: first what most people would guess."""
FILLER = "- Read the question from beginning to end."


def by_heart(attempt: dict[str, Any]) -> str:
    """Answer one question by heart, where a grader's note says what was expected."""
    notes = " ".join(layer["note"] for layer in attempt["failed_layers"])
    expected = notes.partition("expected ")[2].split()
    return f'- If asked "{attempt["prompt"].strip()}", answer `{expected[0].rstrip(":")}`.' if expected else ""


def lines(case: dict[str, Any]) -> list[tuple[str, str]]:
    """Give a reason and a line for each kind of question that failed: the next hunch, where one was tried."""
    tried = {line for past in case["tried"] for line in past["lines"]}
    failed = [run for batch in case["batches"] if batch["kind"] == "failures" for run in batch["attempts"]]
    suggested = []
    for word, hunches in HUNCHES.items():
        runs = [run for run in failed if word in run["prompt"]]
        left = [hunch for hunch in hunches if hunch not in tried]
        if runs and left:
            suggested.append((f"{len(runs)} questions about {word} went wrong", left[0]))
    answers = [("an answer, by heart", line) for run in failed[:1] if (line := by_heart(run))]
    return [*suggested, *answers, ("it cannot hurt", FILLER)]


case = json.load(sys.stdin)
gene = case["lines"][-1]["gene"]  # the last section of the skill
given = [{"reason": why, "edits": [{"op": "append", "gene": gene, "text": line}]} for why, line in lines(case)]
print(json.dumps({"changes": given}))
