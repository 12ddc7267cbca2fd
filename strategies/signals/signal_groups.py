"""Groups of signals that speak of one fact: an error, what it says is missing, and the loop that it led to.

Signals stay what they are, under their own names; how they belong together is looked up where they are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.step_marks import CONTEXT_OVERFLOW, RATE_LIMITED, TIMEOUT
from strategies.signals.survey import stopped
from strategies.signals.tool_failure import tool_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.registry_events import SignalRaised
    from registry.query.library import Raised
    from strategies.episodes.episode import EpisodeRecord

SAME: Final = 0.9
"""The share of the failed steps behind a signal, and of those with an error, that make both one fact (a guess)."""
PERSON_STEPS: Final = 5
"""How many failed steps weighs what a person had to look at, and to write (a guess)."""

MOSTLY: Final = 0.5
"""The share of the largest count of a group from which a signal may say what happened (a guess)."""

MOST_TELLING: Final = (
    *("missing_capability", "timeout", "rate_limited", "context_overflow", "test_failure_after_edit"),
    *("error_template", "retry_loop", "repeated_call", "burn_rate", "tool_failure", "abandoned"),
)
"""Which kind of a group says best what happened, where it counts most of it; any other is alone in its group."""

_TOOLS: Final = frozenset(("tool_failure", "burn_rate"))
_MARKS: Final = frozenset((TIMEOUT, RATE_LIMITED, CONTEXT_OVERFLOW))
_AGAIN: Final = frozenset(("retry_loop", "repeated_call"))
_BY_PERSONS: Final = frozenset(
    ("user_correction", "repeated_wish", "permission_denied", "user_interrupt", "abandoned", "revert")
)
_NO_TROUBLE: Final = frozenset(("success_streak", "stagnation"))


class SignalGroup(NamedTuple):
    """Signals that speak of one fact, the most telling first; `weight` is what it cost, in failed steps.

    `template` is the error that they are about, "" where they are about none.
    """

    signals: tuple[Raised, ...]
    template: str
    weight: int

    @property
    def head(self) -> SignalRaised:
        """The signal that says best what happened."""
        return self.signals[0].event

    @property
    def fingerprint(self) -> str:
        """The name of the group: that of the signal that was raised first, so that it stays."""
        return min(self.signals, key=lambda raised: raised.position).event.fingerprint

    @property
    def fingerprints(self) -> frozenset[str]:
        """The names of all its signals."""
        return frozenset(raised.event.fingerprint for raised in self.signals)

    @property
    def episodes(self) -> int:
        """In how many episodes it shows at least: as many as the most frequent of its signals."""
        return max(raised.event.episodes for raised in self.signals)

    @property
    def newest(self) -> Raised:
        """The signal that was raised last."""
        return max(self.signals, key=lambda raised: raised.position)


def signal_groups(
    raised: Iterable[Raised], records: Iterable[EpisodeRecord], became: Mapping[str, str]
) -> list[SignalGroup]:
    """Group signals by the fact that they speak of, the costliest first; each is in one group.

    Signals about one error are one fact. So are a mark or a failing tool and an error where nearly all failed
    steps behind either are the same, and calls that came again, whether as a loop or as a repetition. `became`
    says what a template is by now, where that is another.
    """
    failed = _FailedSteps(records)
    groups: defaultdict[tuple[str, str], list[Raised]] = defaultdict(list)
    for signal in raised:
        groups[_fact_of(signal.event, failed, became)].append(signal)
    errors = {name for about, name in groups if about == "error"}
    every = [
        SignalGroup(
            _most_telling_first(group),
            name if about == "error" else "",
            _weight(about, name, group, failed, errors),
        )
        for (about, name), group in groups.items()
    ]
    return sorted(every, key=lambda group: (-group.weight, -group.episodes, group.fingerprint))


class _FailedSteps:
    """The templates of the steps that failed: of all, of each tool, and of each mark of an action class."""

    def __init__(self, records: Iterable[EpisodeRecord]) -> None:
        self.all: Counter[str] = Counter()
        self.of_tool: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.of_mark: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for record in records:
            for step in record.steps:
                if not (step.error or step.marks) or stopped(step):
                    continue
                for mark in _MARKS.intersection(step.marks):
                    self.of_mark[mark, step.action][step.template] += 1
                if step.error:
                    self.all[step.template] += 1
                    if step.kind == "call":
                        self.of_tool[tool_of(step.action)][step.template] += 1

    def same_error(self, templates: Counter[str]) -> str:
        """Name the one error of nearly all of these steps, where it is hardly anywhere else; "" for none."""
        if not templates:
            return ""
        template, number = templates.most_common(1)[0]
        is_same = number >= SAME * templates.total() and number >= SAME * self.all[template]
        return template if is_same else ""


def _fact_of(signal: SignalRaised, failed: _FailedSteps, became: Mapping[str, str]) -> tuple[str, str]:
    """Say what a signal is about: an error, a tool, the same call again, else what only itself says."""
    if signal.template and signal.kind in MOST_TELLING:
        return "error", became.get(signal.template, signal.template)
    if signal.kind in _TOOLS:
        error = failed.same_error(failed.of_tool.get(signal.action, Counter()))
        return ("error", error) if error else ("tool", signal.action)
    if signal.kind in _MARKS:
        error = failed.same_error(failed.of_mark.get((signal.kind, signal.action), Counter()))
        return ("error", error) if error else (signal.kind, signal.fingerprint)
    if signal.kind in _AGAIN:
        return "again", signal.action
    return signal.kind, signal.fingerprint


def _most_telling_first(group: Sequence[Raised]) -> tuple[Raised, ...]:
    """Put the signal first that says best what happened, of those that count most of it."""
    most = max(raised.event.count for raised in group)
    rank = {kind: at for at, kind in enumerate(MOST_TELLING)}

    def place(raised: Raised) -> tuple[bool, int, int]:
        is_rare = raised.event.count < MOSTLY * most
        return is_rare, rank.get(raised.event.kind, len(rank)), raised.position

    return tuple(sorted(group, key=place))


def _weight(about: str, name: str, group: Sequence[Raised], failed: _FailedSteps, errors: Iterable[str]) -> int:
    """Give what a fact cost, each failed step once: of a tool, those alone that no error of its own tells of."""
    if about == "tool":
        of_tool = failed.of_tool.get(name, Counter())
        return of_tool.total() - sum(of_tool[error] for error in errors)
    return max(
        0 if kind in _NO_TROUBLE else raised.event.count * (PERSON_STEPS if kind in _BY_PERSONS else 1)
        for raised in group
        for kind in (raised.event.kind,)
    )
