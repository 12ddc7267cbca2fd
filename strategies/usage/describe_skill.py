"""Descriptions: one rewritten from what explore sessions ask for, held to sealed sessions it was not made from."""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.types.capsule_events import DescriptionJudged, ShareChange
from registry.query.versions import event_of
from registry.skill_md.rules import MAX_DESCRIPTION
from strategies.gate.replay.contrast import contrast
from strategies.gate.rollout_rule import figures_of
from strategies.gate.stats.alpha_spending import nth_share
from strategies.gate.stats.mantel_haenszel import one_sided_p, stratifier
from strategies.pool.known_episodes import split_groups
from strategies.pool.splits import divide
from strategies.scope.word_ranking import words_of
from strategies.usage.trigger_audit import matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.library import Library
    from strategies.usage.trigger_audit import OfferedSession, TriggerAudit

ALPHA: Final = 0.01
"""The error rate that all descriptions which a registry ever judges share; claims have one of their own."""
LEAST_TASKS: Final = 10
"""Sealed tasks that need the skill, and that do not, which it takes at least (a guess)."""
LEAST_GAIN: Final = 0.05
MOST_LOSS: Final = -0.05
"""What a description must gain in one share, and may lose in the other at worst (guesses)."""
_MOST_WORDS: Final = 8
_LEAST_HELD: Final = 3
_STEP: Final = 0.01
"""Words that are added at most, requests that hold one, and what a change must bring on explore (guesses)."""
_PARTS: Final = re.compile(r"(?<=[.;,])\s+")


class Divided(NamedTuple):
    """The sessions of an audit by split: those that a writer may see, and those that judge."""

    explore: tuple[OfferedSession, ...]
    sealed: tuple[OfferedSession, ...]


def divided(library: Library, audit: TriggerAudit) -> Divided:
    """Divide the sessions as the tasks of all logs are divided; the audit split is left alone."""
    by_id = {session.record.id: session for session in audit.sessions}
    parts = divide(
        [session.record for session in audit.sessions], split_groups(library), library.about().split_key
    )
    explore, sealed = ([by_id[record.id] for record in part] for part in (parts.explore, parts.sealed))
    return Divided(tuple(explore), tuple(sealed))


def rewritten(description: str, explore: Sequence[OfferedSession]) -> str:
    """Rewrite a description: leave out parts that find what does not need the skill, add words of what does.

    Each step must find and spare more of the explore sessions, both shares weighing the same. Only sessions from
    logs that are one's own word count: who writes others could put words before agents.
    """
    explore = [session for session in explore if session.record.trust == "mine"]
    text, best = description, _balanced(description, explore)
    while True:
        parts = _PARTS.split(text)
        shorter = [_sentence([part for part in parts if part is not left]) for left in parts if len(parts) > 1]
        value, shortest = max(((_balanced(each, explore), each) for each in shorter), default=(0.0, ""))
        if value < best + _STEP:
            break
        text, best = shortest, value
    added: list[str] = []
    while len(added) < _MOST_WORDS:
        words = [
            word
            for word in _words_to_add(text, added, explore)
            if len(_with(text, [*added, word])) <= MAX_DESCRIPTION
        ]
        value, word = max(
            ((_balanced(_with(text, [*added, word]), explore), word) for word in words), default=(0.0, "")
        )
        if value < best + _STEP:
            break
        added, best = [*added, word], value
    return _with(text, added)


def _sentence(parts: Sequence[str]) -> str:
    text = " ".join(parts).rstrip(",; ")
    return text if text.endswith(".") else f"{text}."


def _with(text: str, words: Sequence[str]) -> str:
    return f"{text.rstrip('. ')}. Use it for: {', '.join(words)}." if words else text


def _words_to_add(text: str, added: Sequence[str], explore: Sequence[OfferedSession]) -> list[str]:
    known = {*words_of(text), *added}
    needing = [session.words for session in explore if session.needed]
    held = {word: sum(word in words for words in needing) for word in set().union(*needing) - known}
    return sorted(word for word, count in held.items() if count >= _LEAST_HELD)


def _balanced(description: str, sessions: Sequence[OfferedSession]) -> float:
    words = frozenset(words_of(description))
    reached = [matches(words, session) for session in sessions if session.needed]
    spared = [not matches(words, session) for session in sessions if not session.needed]
    return (fmean(reached) if reached else 0.0) / 2 + (fmean(spared) if spared else 0.0) / 2


def judge_description(library: Library, audit: TriggerAudit, description: str) -> DescriptionJudged:
    """Hold a description to sealed sessions; it passes where it finds or spares surely more, and loses little.

    Words are held to stand for what agents do only where sessions that share one with the description so far load
    the skill more often: else nothing is promoted.
    """
    asked = sum(1 for _ in library.log.read(types=("DescriptionJudged",)))
    return judged_on(audit, divided(library, audit), description, nth_share(ALPHA, asked + 1))


def judged_on(audit: TriggerAudit, parts: Divided, description: str, alpha: float) -> DescriptionJudged:
    """Hold a description to the sealed sessions of an audit, at a share of the error rate."""
    old, new = frozenset(words_of(audit.description)), frozenset(words_of(description))
    reached = _change([s for s in parts.sealed if s.needed], old, new, wanted=True)
    spared = _change([s for s in parts.sealed if not s.needed], old, new, wanted=False)
    link = _link((*parts.explore, *parts.sealed), old)
    verdict, reason = _verdict(reached, spared, link, alpha)
    return DescriptionJudged(
        capsule=audit.capsule.name,
        version=audit.capsule.version,
        previous=audit.description,
        description=description,
        verdict=verdict,
        reasons=(reason,),
        reached=reached,
        spared=spared,
        link=link,
        alpha=alpha,
    )


def judged_before(library: Library, judged: DescriptionJudged) -> DescriptionJudged | None:
    """Give the verdict that a description has; None where nobody asked, or where it was held on fewer tasks."""
    asked = library.log.read(stream=f"capsule:{judged.capsule}", types=("DescriptionJudged",), newest_first=True)
    events = (event_of("DescriptionJudged", envelope) for envelope in asked)
    known = next((event for event in events if event.description == judged.description), None)
    if known is not None and known.verdict == "hold":
        tasks, before = (event.reached.tasks + event.spared.tasks for event in (judged, known))
        return known if tasks <= before else None
    return known


def _change(
    sessions: Sequence[OfferedSession], old: frozenset[str], new: frozenset[str], *, wanted: bool
) -> ShareChange:
    """Compare how often a request shares a word as wanted, paired by session, over tasks."""
    pairs: dict[str, list[float | None]] = defaultdict(list)
    before = [matches(old, session) is wanted for session in sessions]
    after = [matches(new, session) is wanted for session in sessions]
    for session, was, now in zip(sessions, before, after, strict=True):
        pairs[session.record.task].append(float(now) - float(was))
    figures = figures_of(list(pairs.values()), max(map(len, pairs.values()), default=0))
    return ShareChange(
        tasks=figures.tasks,
        before=fmean(before) if before else 0.0,
        after=fmean(after) if after else 0.0,
        low=figures.low,
        high=figures.high,
        p=figures.p,
    )


def _link(sessions: Sequence[OfferedSession], words: frozenset[str]) -> float:
    """Give the one-sided p that requests which share a word load the skill no more often than others."""
    stratum_of = stratifier([session.record for session in sessions])
    cases = [(stratum_of(s.record), s.record.task, matches(words, s), float(s.loaded)) for s in sessions]
    figures = contrast(cases)
    return 1.0 if figures is None else one_sided_p(figures.z)


def _verdict(
    reached: ShareChange, spared: ShareChange, link: float, alpha: float
) -> tuple[Literal["promote", "hold", "reject"], str]:
    if min(reached.tasks, spared.tasks) < LEAST_TASKS:
        few = f"{reached.tasks} sealed tasks need the skill and {spared.tasks} do not"
        return "hold", f"{few}: {LEAST_TASKS} of each are needed"
    if link > alpha:
        return "hold", f"what the description says does not tell which sessions load the skill (p {link:.2g})"
    changes = f"found {reached.before:.2f} → {reached.after:.2f}, spared {spared.before:.2f} → {spared.after:.2f}"
    if min(reached.high, spared.high) < 0:
        return "reject", f"it is surely worse than the one that is there: {changes}"
    if min(reached.low, spared.low) < MOST_LOSS:
        return (
            "hold",
            f"it may lose more than {-MOST_LOSS:.2f} of what the one that is there gets right: {changes}",
        )
    gains = [(change.after - change.before, change.p) for change in (reached, spared)]
    if not any(gain >= LEAST_GAIN and p <= alpha / 2 for gain, p in gains):
        return "hold", f"that it finds or spares more is not shown: {changes}"
    return "promote", changes
