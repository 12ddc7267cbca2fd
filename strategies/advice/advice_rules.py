"""Advice: what would help a skill, by rule from how its runs failed. Pure; the figures come from failing.py."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.judgements import Assessment
from strategies.advice.failure_stats import FAILS_UNDER, ROUNDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from events.types.judgements import FailureFigures, Level, Track

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
    assessment: Assessment


_EFFORT_AND_RISK: Final[dict[Track, tuple[Level, Level]]] = {
    "none": ("low", "low"),
    "prompt": ("low", "low"),
    "skill": ("low", "low"),
    "both": ("medium", "low"),
    "code": ("high", "medium"),
    "knowledge": ("medium", "low"),
    "fine-tune": ("high", "high"),
    "knowledge + fine-tune": ("high", "high"),
}
"""What each track takes (guesses); knowledge is little effort where there is some to extend."""


def advise(figures: FailureFigures) -> Advice:
    """Name the track that the figures ask for.

    Where several do, in this order: broken tools before all else, for nothing else can be measured through them;
    then knowledge and training, where the failures have shown that they stay; then words, which cost least.
    """
    checks = tuple(checks_of(figures))
    if figures.runs < LEAST_RUNS:
        why = f"{figures.runs} runs have an outcome, {LEAST_RUNS} are needed to tell anything"
        return Advice("none", (why,), checks, _assessed("none", 0.0, figures))
    if figures.mean >= GOOD_ENOUGH:
        why = f"runs end in {figures.mean:.2f} on average: {GOOD_ENOUGH:g} is good enough"
        sure = _chance_above(figures.mean, GOOD_ENOUGH, figures.runs)
        return Advice("none", (why,), checks, _assessed("none", sure, figures))
    if not figures.failed:
        return Advice("none", (f"no run ends under {FAILS_UNDER:g}",), checks, _assessed("none", 1.0, figures))
    fired = {check.name: check.why for check in checks if check.fires}
    track, names = _track(frozenset(fired))
    reasons = [fired[name] for name in names]
    if "persistent" in fired and "examples" not in fired:
        reasons.append(f"training would need {LEAST_EXAMPLES} examples, there are {figures.examples:,}: not that")
    if "knowledge gap" in names and figures.corpus is not None:
        reasons.append(_WITH_CORPUS if figures.corpus else _WITHOUT_CORPUS)
    assessment = _assessed(track, _confidence(checks, names, figures), figures)
    return Advice(track, tuple(reasons) or (_SPREAD,), checks, assessment)


def _assessed(track: Track, confidence: float, figures: FailureFigures) -> Assessment:
    effort, risk = _EFFORT_AND_RISK[track]
    if track == "knowledge" and figures.corpus:
        effort = "low"
    return Assessment(confidence=confidence, effort=effort, risk=risk)


def _confidence(checks: Iterable[AdviceCheck], names: Collection[str], figures: FailureFigures) -> float:
    """Give the least sure of the signals that decide; where none fires, of those that might have."""
    chances = [
        _chance_above(
            check.value, check.threshold, figures.repeated if check.name == "persistent" else figures.failed
        )
        for check in checks
        if check.value is not None and check.name != "examples" and (not names or check.name in names)
    ]
    return min((chance if names else 1 - chance for chance in chances), default=0.0)


def _chance_above(share: float, threshold: float, runs: int) -> float:
    """Give the chance that the share behind one in a sample is above a threshold, in the normal approximation."""
    mean = (share * runs + 1) / (runs + 2)
    return NormalDist().cdf((mean - threshold) / sqrt(mean * (1 - mean) / (runs + 2)))


_WITH_CORPUS: Final = "the skill has knowledge already: it may be stale, or lack what is asked"
_WITHOUT_CORPUS: Final = "the skill has no knowledge yet: sources have to be found first"
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
