"""What failures cost: steps, minutes, tokens and corrections, by which lessons are put in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import moment_s
from strategies.lessons.goals import attempts_after
from strategies.signals.signal_groups import PERSON_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.fixes import SessionFailures

_LONGEST_PAUSE_S: Final = 600.0
"""What counts of the time between two steps: who takes longer was away (a guess)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took: failed steps, minutes until the goal was reached or given up, tokens, corrections.

    `tokens` are an estimate: the share of a session's that its lost steps are of all its steps; None where no log
    says how many it took.
    """

    failed: int = 0
    minutes: float = 0.0
    tokens: int | None = None
    corrections: int = 0

    @property
    def weight(self) -> int:
        """By what things are put in order."""
        return self.failed + PERSON_STEPS * self.corrections

    def __add__(self, other: Cost) -> Cost:
        tokens = [count for count in (self.tokens, other.tokens) if count is not None]
        return Cost(
            self.failed + other.failed,
            self.minutes + other.minutes,
            sum(tokens) if tokens else None,
            self.corrections + other.corrections,
        )


def cost_of(failures: Iterable[SessionFailures]) -> Cost:
    """Add up what failures of one kind took in all sessions."""
    return sum((_cost(record, failed) for record, failed in failures), Cost())


def _cost(record: EpisodeRecord, failed: Sequence[int]) -> Cost:
    """Add up what failures of one kind took in a session, each step once."""
    lost: set[int] = set()
    for at in failed:
        ends = [attempt.at for attempt in attempts_after(record, at)]
        lost.update(range(at, ends[-1]) if ends else [at])
    seconds = sum(_seconds(record, at) for at in lost)
    usage = record.usage
    known = (usage.input_tokens, usage.output_tokens) if usage else ()
    tokens = sum(count for count in known if count is not None) if any(known) else None
    share = None if tokens is None else round(tokens * len(lost) / len(record.steps))
    return Cost(len(failed), seconds / 60, share)


def _seconds(record: EpisodeRecord, at: int) -> float:
    """Tell how long it was from a step to the next one, as far as times are known."""
    following = record.steps[at + 1] if at + 1 < len(record.steps) else None
    start, end = moment_s(record.steps[at].started_at), moment_s(following.started_at) if following else None
    if start is not None and end is not None and end >= start:
        return min(end - start, _LONGEST_PAUSE_S)
    return min((record.steps[at].duration_ms or 0.0) / 1000, _LONGEST_PAUSE_S)
