"""Advice: what would help a skill, by rule from how its runs failed. Pure; the figures come from failing.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.advice.failure_stats import FAILS_UNDER, ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.judgements import FailureFigures, Track

GOOD_ENOUGH: Final = 0.85
MOST_PERSISTENT: Final = 0.4
MOST_DESPITE_SKILL: Final = 0.3
MOST_KNOWLEDGE_GAP: Final = 0.4
MOST_OF_ONE_TYPE: Final = 0.5
LEAST_EXAMPLES: Final = 500
"""The written thresholds."""
MOST_UNUSED: Final = 0.5
"""Above this share of failures without the skill, what an agent reads before it loads it is at fault (guess)."""
MOST_TOOL_FAULTS: Final = 0.4
"""As for the other shares (a guess)."""
LEAST_ABOVE_GOOD: Final = 0.1
"""How much more often failures must show a signal than good runs do (a guess): else it explains little."""
LEAST_RUNS: Final = 20
"""Runs below which nothing is advised: what the gate asks of each arm."""


class AdviceCheck(NamedTuple):
    """One measured signal: what it is, its value, the threshold that it is held to, and whether it passes that.

    `value` is None where nobody can tell, and then it passes nothing; `why` says why, or what it counts.
    """

    name: str
    value: float | None
    threshold: float
    fires: bool
    why: str


@dataclass(frozen=True)
class Advice:
    """What to work on, the reasons for it, and every signal that was looked at."""

    track: Track
    reasons: tuple[str, ...]
    checks: tuple[AdviceCheck, ...]


def advise(figures: FailureFigures) -> Advice:
    """Name the track that the figures ask for.

    Where several do, in this order: broken tools before all else, for nothing else can be measured through them;
    then knowledge and training, where the failures have shown that they stay; then words, which cost least.
    """
    checks = tuple(checks_of(figures))
    if figures.runs < LEAST_RUNS:
        why = f"{figures.runs} runs have an outcome, {LEAST_RUNS} are needed to tell anything"
        return Advice("none", (why,), checks)
    if figures.mean >= GOOD_ENOUGH:
        return Advice(
            "none", (f"runs end in {figures.mean:.2f} on average: {GOOD_ENOUGH:g} is good enough",), checks
        )
    if not figures.failed:
        return Advice("none", (f"no run ends under {FAILS_UNDER:g}",), checks)
    fired = {check.name: check.why for check in checks if check.fires}
    track, names = _track(frozenset(fired))
    reasons = [fired[name] for name in names]
    if "persistent" in fired and "examples" not in fired:
        reasons.append(f"training would need {LEAST_EXAMPLES} examples, there are {figures.examples:,}: not that")
    return Advice(track, tuple(reasons) or (_SPREAD,), checks)


_SPREAD: Final = "failures share no cause that can be measured: what the agent is told in general comes first"


def checks_of(figures: FailureFigures) -> Iterator[AdviceCheck]:
    """Hold each signal to its threshold."""
    used = figures.despite_skill
    unused = None if used is None else 1 - used
    of_type = f"of the type {figures.type_name}" if figures.type_name else "of one type"
    yield _above(
        "persistent", figures.persistent, MOST_PERSISTENT, f"tasks that failed still do {ROUNDS} rounds on"
    )
    yield _above("despite skill", used, MOST_DESPITE_SKILL, "failures came although the skill was used")
    yield _above("skill unused", unused, MOST_UNUSED, "failures came without the skill being used")
    gap = _above(
        "knowledge gap", figures.knowledge_gap, MOST_KNOWLEDGE_GAP, "failures met a name that is not there"
    )
    yield _more(gap, figures.good_knowledge_gap)
    faults = _above("tool faults", figures.tool_faults, MOST_TOOL_FAULTS, "failures met a tool that broke")
    yield _more(faults, figures.good_tool_faults)
    one_type = _above("one type", figures.one_type, MOST_OF_ONE_TYPE, f"failures are on tasks {of_type}")
    yield _more(one_type, figures.good_one_type)
    trainable = figures.examples >= LEAST_EXAMPLES
    text = f"{figures.examples:,} runs are good enough to train on"
    yield AdviceCheck("examples", float(figures.examples), LEAST_EXAMPLES, trainable, text)


def _above(name: str, value: float | None, threshold: float, what: str) -> AdviceCheck:
    text = f"{value:.0%} of the {what}" if value is not None else f"nobody can tell how many {what}"
    return AdviceCheck(name, value, threshold, value is not None and value > threshold, text)


def _more(check: AdviceCheck, of_good: float | None) -> AdviceCheck:
    """Let a signal fire only where failures show it clearly more often than good runs do."""
    if check.value is None or of_good is None:
        return check
    text = f"{check.why}, {of_good:.0%} of the good runs as well"
    return check._replace(fires=check.fires and check.value >= of_good + LEAST_ABOVE_GOOD, why=text)


def _track(fired: frozenset[str]) -> tuple[Track, tuple[str, ...]]:
    """Name the track, and the signals that it follows from."""
    trainable = ("persistent", "examples") if {"persistent", "examples"} <= fired else ()
    at_fault = tuple(name for name in ("despite skill", "one type") if name in fired)
    if "tool faults" in fired:
        return "code", ("tool faults",)
    if "knowledge gap" in fired:
        return "knowledge + fine-tune" if trainable else "knowledge", ("knowledge gap", *trainable)
    if trainable:
        return "fine-tune", trainable
    if "skill unused" in fired:
        return "both" if at_fault else "prompt", (*at_fault, "skill unused")
    return "skill" if at_fault else "prompt", at_fault
