"""The intake policy: what a person decided about what comes in from logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strategies.signals.thresholds import DEFAULTS, Thresholds

if TYPE_CHECKING:
    from strategies.episodes.episode import Trust, WorldSource
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.logs.formats.mapped.log_mapping import LogMapping


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """What a person decided about what comes in.

    `rules` read outcomes from episodes whose log tells none, `mappings` the files that they claim; `thresholds`
    say from when an observation is a signal. `gitleaks` is the binary that is asked for secrets beside the
    built-in rules, "" for none; `personal_data` has e-mail addresses, card and phone numbers taken out as well.
    `trust` says whose word the logs are; those of another user of this machine are never one's own, nor are those
    that git tracks and a project names (`by_project`), for a clone may have brought both. Hints from the world of
    these `sources` stand for labels where there are none.
    """

    thresholds: Thresholds = DEFAULTS
    gitleaks: str = ""
    rules: tuple[OutcomeRule, ...] = ()
    mappings: tuple[LogMapping, ...] = ()
    trust: Trust = "mine"
    by_project: bool = False
    personal_data: bool = True
    sources: tuple[WorldSource, ...] = ()


DEFAULT_POLICY: Final = IntakePolicy()
