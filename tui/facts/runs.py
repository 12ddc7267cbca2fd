"""What runs of an agent showed, as facts behind labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.facts.fact import fact
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count, interval, share, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.runs import AimFigures, Attribution, Rollouts
    from tui.facts.fact import Fact


def _aim_facts(aim: AimFigures | None) -> Iterator[Fact]:
    """Say what the tasks showed that a change is for, and what all of them did in fresh runs."""
    if aim is None:
        return
    of = f"{aim.tasks} of {count(aim.sealed, 'sealed task')}, tagged {', '.join(aim.tags)}"
    first = f"{signed(aim.difference, 2)} on {of}, in {count(aim.rounds, 'round')}"
    yield fact("for", f"{first}: e-value {aim.evidence:.1f}")
    if fresh := aim.fresh:
        over = f"{signed(fresh.difference, 2)} over all tasks, {signed(fresh.low, 2)} at least (95 %)"
        yield fact("afresh", f"{count(fresh.rounds, 'round')}: {over}; e-value {fresh.evidence:.1f}")


def run_facts(rollouts: Rollouts, attributions: Sequence[Attribution] = ()) -> Iterator[Fact]:
    """Say what runs showed beside the score: each fact behind its label."""
    void = f", {count(rollouts.void, 'pair')} lost" if rollouts.void else ""
    ground = f"{count(rollouts.rounds, 'round')} on {count(rollouts.tasks, 'sealed task')}{void}"
    priced = rollouts.runs > rollouts.unpriced
    cost = f", {rollouts.cost_usd:.2f} USD" if priced else ", cost not told" if rollouts.runs else ""
    made = f"{rollouts.runs:,} run now, {rollouts.reused:,} from the bank{cost}"
    yield fact("runs", f"{ground}; {made}")
    least = (
        f"; the least that such tasks show is about {signed(rollouts.detectable, 2)}"
        if rollouts.detectable
        else ""
    )
    yield fact("figures", f"e-value {rollouts.evidence:.1f}, p {rollouts.p:.3f}{least}")
    yield from _aim_facts(rollouts.aim)
    audit = rollouts.no_skill
    if audit is not None:
        between = f"{signed(audit.difference, 2)} {interval(audit.low, audit.high, 2)}"
        yield fact("no skill", f"{audit.effect}: {between} in {count(audit.tasks, 'task')}")
    for at, change in enumerate(rollouts.tags):
        yield fact(
            "" if at else "tags",
            f"{change.tag:<16} {share(change.before)} → {share(change.after)}   {change.tasks} tasks",
        )
    for at, judge in enumerate(rollouts.judges):
        between = f"{share(judge.before)} → {share(judge.after)}"
        note = "" if judge.counts else ", a note: it is not calibrated"
        yield fact("" if at else "judge", f"{judge.layer:<16} {between}   {count(judge.pairs, 'pair')}{note}")
    if len(rollouts.versions) > 2:  # noqa: PLR2004 - with two, the advantage says what the delta says
        for at, version in enumerate(rollouts.versions):
            named = version.version if "@" in version.version else version.version[:SHOWN_CHARS]
            yield fact("" if at else "group", f"{named:<24} {signed(version.value, 2)} over {version.runs} runs")
    for at, part in enumerate(attributions):
        gain = "a passenger" if part.passenger or part.delta is None else signed(part.delta.value)
        within = f" {interval(part.delta.low, part.delta.high)}" if part.delta and not part.passenger else ""
        yield fact("" if at else "edits", f"edit {part.edit + 1}: {gain}{within}")
