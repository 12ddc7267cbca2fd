"""Which actions stand where in episodes: the material that claims are made of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from strategies.gate.moment import first_action, last_action, previous_action
from strategies.gate.policy import WRITTEN_RULE
from strategies.logs.episode import SUBMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.logs.episode import EpisodeRecord


def action_classes(records: Iterable[EpisodeRecord]) -> list[str]:
    """List the classes that agents called, handing in apart: a line could teach nothing about it."""
    return sorted(
        {s.action for r in records for s in r.steps if s.kind == "call" and s.action not in {"", SUBMIT}}
    )


def first_classes(records: Sequence[EpisodeRecord]) -> list[str]:
    """List the classes that episodes often begin with."""
    firsts = ((record, first_action(record)) for record in records)
    return _often(record.steps[at].action for record, at in firsts if at is not None)


def last_classes(records: Sequence[EpisodeRecord]) -> list[str]:
    """List the classes that often stand last but one, where agents end episodes themselves."""
    ends = ((record, last_action(record)) for record in records if record.ended_by == "agent")
    lasts = ((record, previous_action(record, at)) for record, at in ends if at is not None)
    return _often(record.steps[at].action for record, at in lasts if at is not None)


def classes_before(records: Sequence[EpisodeRecord], actions: Iterable[str]) -> list[tuple[str, str]]:
    """List what often stands immediately before the first use of these classes: pairs of (class, before it)."""
    wanted = set(actions)
    found: list[tuple[str, str]] = []
    for record in records:
        seen: set[str] = set()
        for index, step in enumerate(record.steps):
            if step.kind != "call" or step.action not in wanted or step.action in seen:
                continue
            seen.add(step.action)
            at = previous_action(record, index)
            if at is not None and record.steps[at].action != step.action:
                found.append((step.action, record.steps[at].action))
    counts = Counter(found)
    return sorted(pair for pair, count in counts.items() if count >= WRITTEN_RULE.least_arm)


def _often(found: Iterable[str]) -> list[str]:
    """Keep the classes that enough episodes show to fill an arm."""
    counts = Counter(action for action in found if action not in {"", SUBMIT})
    return sorted(action for action, count in counts.items() if count >= WRITTEN_RULE.least_arm)
