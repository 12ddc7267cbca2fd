"""What a run of evolution came to, in words for people."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from events.types.score import Score
from registry.query.signal_kinds import kind_word
from registry.query.tier_sentences import tier_sentence
from strategies.evolve.stop_reason import NO_SKILL, NOTHING_READ
from strategies.select.pick import KINDS
from tui.cli.output.facts import say_fact, say_facts, say_folded, say_listed
from tui.cli.printers.proposer import print_model
from tui.cli.printers.rollback import print_taken_back, print_tier_moves
from tui.documents.evolve import EvolveCounts
from tui.facts.candidates import signal_fact
from tui.facts.fact import Fact, fact, listed
from tui.facts.presets import resting_words
from tui.facts.runs import run_facts
from tui.facts.scores import effect_fact, pair_facts
from tui.facts.skill_life import description_words, proposal_words
from tui.text.names import SHOWN_CHARS
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count, owed_words, share
from tui.text.rows import RowPart
from tui.text.words import TIER_TONES, VERDICT_WORDS, VERDICTS, further_reasons, signal_words, unrouted_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.registry_events import SignalRaised
    from strategies.evolve.guidance import Guidance
    from strategies.evolve.loop import Evolution
    from strategies.evolve.results import CycleResult
    from strategies.select.pick import Pick
    from tui.cli.output.invocation import Invocation


def print_cycle(call: Invocation, cycle: CycleResult, *, reasons: bool = False) -> None:
    """Tell of one turn as it ends; with `reasons` also why it was this turn's."""
    mark, tone = VERDICTS[cycle.verdict]
    known = ", known from an earlier run" if cycle.remembered else ""
    version = f" → {cycle.capsule}@{cycle.version}" if cycle.version else ""
    call.say(f"{call.paint(mark, tone)} {cycle.strategy}: {call.paint(cycle.verdict, tone)}{version}{known}")
    say_facts(call, _facts(cycle, reasons=reasons))


def _facts(cycle: CycleResult, *, reasons: bool) -> Iterator[Fact]:
    yield signal_fact(cycle.signal)
    if reasons and cycle.pick:
        yield fact("picked", pick_words(cycle.pick))
    if cycle.because:
        yield fact("preset", f"auto chose {cycle.preset}: {cycle.because}")
    for edit in cycle.candidate.edits if cycle.candidate else ():
        yield from listed(edit.op.partition("_")[0], (text for text in edit.text.splitlines() if text.strip()))
    if cycle.tier:
        yield fact(cycle.tier.tier, tier_sentence(cycle.tier), TIER_TONES[cycle.tier.tier])
    if cycle.effect:
        yield effect_fact(cycle.effect)
    if cycle.before and cycle.after:
        yield from pair_facts("score", cycle.before, cycle.after, cycle.delta)
        if isinstance(cycle.audit_after, Score) and cycle.audit_before:
            yield from pair_facts("audit", cycle.audit_before, cycle.audit_after, cycle.audit_delta, drawn=False)
        yield from run_facts(cycle.rollouts) if cycle.rollouts else ()
    yield from listed(
        "because", further_reasons(cycle.reasons) or (() if cycle.verdict == "promote" else cycle.reasons[:1])
    )
    if cycle.needed and cycle.candidate:
        yield fact("needed", f"{cycle.needed.words}, if the figures stay as they are")


_SHOWN: Final = 3
"""Signals that found no skill are counted; the first of them are shown."""


def promoted_in(result: Evolution) -> list[CycleResult]:
    """List the turns of a run in which something became a version."""
    return [cycle for cycle in result.cycles if cycle.verdict == "promote" and not cycle.remembered]


def _audit_words(cycle: CycleResult) -> str:
    """Say how a promoted version does on the logs that decided nothing, and whether it rose there too."""
    called = f"{cycle.capsule}@{cycle.version}"
    before, after = cycle.audit_before, cycle.audit_after
    if not (isinstance(before, Score) and isinstance(after, Score)):
        return f"{called} was not measured on the audit split"
    rose = after.value > before.value
    verdict = (
        "it rose on logs that decided nothing, too" if rose else "it did not rise: the gate may be overfitted"
    )
    return f"{called} {share(before.value)} → {share(after.value)}; {verdict}"


def _print_unrouted(call: Invocation, unrouted: Sequence[SignalRaised]) -> None:
    """Count the signals that found no skill, and show the first of them."""
    if unrouted:
        call.say(f"{'unrouted':<10} {unrouted_words(unrouted)}")
    lines = [f"{signal.fingerprint[:8]} {signal_words(signal)}" for signal in unrouted]
    say_listed(call, "", lines, cut=True, most=_SHOWN, more="germline signals")


def print_end(call: Invocation, result: Evolution) -> None:
    """Sum up a run."""
    print_taken_back(call, result.taken_back)
    for event in result.retirements:
        say_folded(call, f"· {event.capsule}: ", proposal_words(event), tone="warn")
        call.say(f"  next       germline skill retire {event.capsule} --reason TEXT")
    _print_descriptions(call, result)
    print_tier_moves(call, result.moves)
    promoted = promoted_in(result)
    counts = EvolveCounts.of(result.cycles)
    verdicts = ", ".join(f"{getattr(counts, word)} {word}" for word in ("promoted", "held", "rejected"))
    without = f"; {counts.without_candidate} without a candidate" if counts.without_candidate else ""
    known = f"; {counts.known} known from earlier runs" if counts.known else ""
    taken = sum(cycle.pick is not None for cycle in result.cycles)
    turns = f"{count(taken, 'turn')}, {count(result.tried, 'claim')} tried"
    say_folded(call, "", f"{turns}: {verdicts}{without}{known}")
    say_facts(call, listed("audit", map(_audit_words, promoted)))
    print_guidance(call, result.guidance)
    print_model(call, result)
    say_fact(call, "stopped", result.stop.why)
    if result.needed and not promoted:
        say_folded(call, f"{'needed':<10} ", f"the nearest claim has {result.needed.words}: more logs decide")
    _print_unrouted(call, () if result.stop is NO_SKILL else result.unrouted)
    say_listed(call, "resting", [*map(resting_words, result.resting)], cut=True)


def _print_descriptions(call: Invocation, result: Evolution) -> None:
    """Say which descriptions miss what they are for, and what came of others in their place."""
    misfits: defaultdict[str, list[SignalRaised]] = defaultdict(list)
    for signal in result.misfits:
        misfits[signal.action.partition("@")[0]].append(signal)
    for judged in result.descriptions:
        mark, tone = {"promote": ("✓", "good"), "hold": ("·", "warn"), "reject": ("✗", "bad")}[judged.verdict]
        words = f"{judged.capsule}, its description: {judged.verdict}: {description_words(judged)}"
        say_folded(call, f"{call.paint(mark, tone)} ", words)
        say_facts(call, map(signal_fact, misfits.pop(judged.capsule, ())))
        say_fact(call, "after", judged.description)
    for name, signals in misfits.items():
        kinds = " and ".join(kind_word(signal.kind) for signal in signals)
        say_folded(call, f"{call.paint('·', 'warn')} ", f"{name}, its description: {kinds}")
        say_facts(call, map(signal_fact, signals))
        say_fact(call, "next", f"germline skill describe {name}")


def print_next(call: Invocation, result: Evolution, skill: str, *, rehearsed: bool) -> None:
    """Say what to type after a run; what a dry run promoted is recorded nowhere yet."""
    promoted = [(cycle, cycle.candidate.edits[0].line) for cycle in promoted_in(result) if cycle.candidate]
    if promoted and rehearsed:
        call.say("next       the same without --dry-run")
    elif promoted:
        cycle, line = next((both for both in promoted if both[1]), promoted[0])
        name, version = cycle.capsule, cycle.version or 1
        look = f"germline why {name}:{line}" if line else f"germline diff {name} {version - 1} {version}"
        call.say(f"next       {look}    germline show {name} --blame")
    elif result.stop is NOTHING_READ:
        call.say(f"next       {NEXT_STEPS['no sessions']}")
    elif result.stop is NO_SKILL:
        call.say(f"next       {NEXT_STEPS['no skill']}")
    elif any(cycle.candidate for cycle in result.cycles) and not rehearsed:
        call.say(f"next       germline candidates {skill}".rstrip())
    else:
        call.say(f"next       {NEXT_STEPS['nothing proposed']}    germline signals")


def pick_words(pick: Pick[SignalRaised]) -> str:
    """Say why this kind, and why this signal of it."""
    kind = pick.offer.calls_for
    others = ", ".join(f"{other} {owed_words(pick.owed[other])}" for other in KINDS if other != kind)
    waiting = pick.waiting[kind]
    rank = f"the only {kind} signal" if waiting == 1 else f"the most severe of {waiting:,} {kind} signals"
    return f"{kind} is owed {owed_words(pick.owed[kind])} turns, {others}; {rank}, {share(pick.offer.severity)}"


def print_guidance(call: Invocation, measured: Iterable[Guidance]) -> None:
    """Tell how the same explore tasks fare under the first and the last version of a run, and what that led to."""
    for guidance in measured:
        groups = [f"{len(tasks)} {name.replace('_', ' ')}" for name, tasks in guidance.changes._asdict().items()]
        tasks = count(sum(map(len, guidance.changes)), "explore task")
        versions = f"{guidance.skill}@{guidance.first} against @{guidance.last}"
        say_fact(call, "guidance", f"{versions} on {tasks}: {', '.join(groups)}")
        result = guidance.result
        if result is None or result.candidate is None:
            continue
        mark, tone = VERDICTS[result.verdict]
        lines = (line.strip() for edit in result.candidate.edits for line in edit.text.splitlines())
        text = " ".join(line for line in lines if line and not line.startswith("#"))
        where = f" as {guidance.skill}@{result.version}" if result.version else ""
        verdict = f"{VERDICT_WORDS[result.verdict]}{where}"
        led = RowPart(f" {result.candidate.id[:SHOWN_CHARS]} {verdict}: {text}")
        say_facts(call, [Fact("", (RowPart(mark, tone), led))])
