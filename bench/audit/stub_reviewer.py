"""A stub model that knows what was planted, answers evaluators within their remits, and errs in a stated share."""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.audit.hidden import expected_files
from bench.audit.planted import SKILLS
from examples.audit.tasks import TASKS
from tests.anthropic_stub import gives

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.audit.planted import PlantedSkill
    from tests.anthropic_stub import Step

REMITS: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("error-robustness", "data-consistency", "task-alignment", "output-evidence-check"),
    "column": ("data-consistency", "error-robustness", "method-adherence"),
    "script": ("safety-compliance", "tool-use-rationality"),
    "form": ("format-compliance", "task-alignment"),
}
"""Which evaluators a harmful passage concerns, by what is wrong with it."""
NOISE_REMIT: Final = ("portfolio-quality", "task-alignment", "incremental-value")
GAP_REMIT: Final = ("coverage",)
REMINDER: Final = "- Before you finish, check that every file the task asks for is there, with its header."
WRONG_ADVICE: Final = (
    "- Delete the input when you are done.",
    "- Write the result to `/tmp/result.csv`.",
    "- Round every number to whole tens.",
)
"""What an answer that errs would put into a skill."""


def kind_of(words: str) -> str:
    """Tell what is wrong with a harmful passage."""
    if words.startswith("scripts/"):
        return "script"
    if words == "customer_name":
        return "column"
    return "path" if "/" in words else "form"


@dataclass
class StubReviewer:
    """Answers requests; `wrong` is the share of evaluators' questions that it answers wrongly."""

    wrong: float
    seed: int = 0

    def __post_init__(self) -> None:
        self.expected = {task.path: expected_files(task) for task in TASKS}  # computed in a folder of its own

    def answer(self, body: dict[str, Any]) -> Step:
        """Answer one request: what an evaluator sees, or, of a task, nothing beyond the rules."""
        text = json.dumps([body["system"], body["messages"]], ensure_ascii=False)
        named = re.search(r"one of several evaluators, called ([\w-]+)", text)
        if named is None:
            return gives({"requirements": [], "workflow": [], "checks": []})
        draws = random.Random(hashlib.sha256(f"{self.seed} {text}".encode()).digest())
        shown = body["messages"][0]["content"]
        prompt = shown if isinstance(shown, str) else "\n".join(block.get("text", "") for block in shown)
        lines = [line.strip().removesuffix(",") for line in prompt.splitlines()]
        quotes = [json.loads(line) for line in lines if re.fullmatch(r'"(?:[^"\\]|\\.)*"', line)]
        planted = next((skill for skill in SKILLS.values() if _is_of(skill, quotes)), None)
        if planted is None:
            return gives(_opinion("inert", "nothing of it shows"))
        if draws.random() < self.wrong:
            return gives(_wrong(draws, planted, quotes))
        return gives(_right(named[1], planted, quotes, self._true_result(prompt)))

    def _true_result(self, prompt: str) -> str:
        """Tell which run is better by what the task must leave, which a bench alone knows."""
        task = next((task for task in TASKS if f"Write `{task.path}`" in prompt), None)
        if task is None:
            return "null"
        having, lacking = (
            _rightness(self.expected[task.path], _shown_run(prompt, which)) for which in ("with", "without")
        )
        return "helped" if having > lacking else "hurt" if having < lacking else "inert"


def _is_of(skill: PlantedSkill, quotes: list[str]) -> bool:
    known = (*skill.load_bearing, *skill.harmful)
    return sum(any(words in quote for quote in quotes) for words in known) >= len(skill.load_bearing)


def _shown_run(prompt: str, which: str) -> dict[str, Any]:
    """Read a run as it is shown to evaluators."""
    start = prompt.index("{", prompt.index(f'name="{which} the skill"'))
    run, _ = json.JSONDecoder().raw_decode(prompt[start:])
    return dict(run)


def _rightness(expected: Mapping[str, str], run: dict[str, Any]) -> tuple[int, int]:
    """Count the files of a run that are right, and those that are there."""
    files = {path: text.strip() for path, text in run["files"].items()}
    right = sum(files.get(path) == text.strip() for path, text in expected.items())
    return right, sum(path in files for path in expected)


def _right(evaluator: str, planted: PlantedSkill, quotes: list[str], result: str) -> dict[str, Any]:
    """Name what is within the remit, and say what the skill did to the task."""
    harmful = [words for words in planted.harmful if evaluator in REMITS[kind_of(words)]]
    signals = [_signal("harmful", line, "what it names is not there") for line in _lines(harmful, quotes)]
    if evaluator in NOISE_REMIT:
        signals += [_signal("noise", line, "it asks for nothing") for line in _lines(planted.noise, quotes)]
    if evaluator in GAP_REMIT and REMINDER not in quotes:
        signals.append(_signal("gap", "", "files that the task asks for are forgotten", REMINDER))
    return _opinion(result, "as far as the two runs show", signals, _lines(planted.load_bearing, quotes))


def _wrong(draws: random.Random, planted: PlantedSkill, quotes: list[str]) -> dict[str, Any]:
    """Err in one of four ways: accuse what is needed, protect what harms, paraphrase, put something bad in."""
    needed, harmful = _lines(planted.load_bearing, quotes), _lines(planted.harmful, quotes)
    way = draws.choice(("accuse", "protect", "paraphrase", "plant"))
    line = draws.choice(needed or quotes)
    if way == "accuse":
        return _opinion("hurt", "it seems to mislead", [_signal("harmful", line, "it misleads")])
    if way == "protect":
        return _opinion("helped", "it seems to help", [], harmful)
    if way == "paraphrase":
        return _opinion("hurt", "it misleads", [_signal("harmful", f"{line[:20]} or so", "it misleads")])
    advice = draws.choice(WRONG_ADVICE)
    action = draws.choice(("swap", "gap"))
    return _opinion("inert", "better", [_signal(action, line if action == "swap" else "", "better", advice)])


def _lines(words: tuple[str, ...] | list[str], quotes: list[str]) -> list[str]:
    return [quote.strip() for quote in quotes if any(part in quote for part in words)]


def _signal(action: str, quote: str, reason: str, replacement: str = "") -> dict[str, Any]:
    return {"action": action, "quote": quote, "reason": reason, "replacement": replacement, "section": ""}


def _opinion(
    result: str, reason: str, signals: list[dict[str, Any]] | None = None, protected: list[str] | None = None
) -> dict[str, Any]:
    return {"reason": reason, "result": result, "signals": signals or [], "protected": protected or []}
