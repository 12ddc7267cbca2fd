"""What a run of evolution came to, as JSON for scripts and in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from events.score import Score
from strategies.stopping import NOTHING_READ
from tui.cli.explained import effect_words, measured_words, score_words
from tui.cli.facts import say_fact, say_folded
from tui.cli.found import MARKS
from tui.cli.guided import guidance_json, print_guidance
from tui.cli.paint import clip, width
from tui.cli.picked import pick_json, pick_words, resting_json, resting_words, signal_json
from tui.cli.proposing import model_json as model_report_json
from tui.cli.proposing import print_model
from tui.cli.run_facts import run_facts
from tui.cli.shapes import model_json, models_json, score_json, why_unmeasured
from tui.cli.taken_back import print_taken_back, taken_back_json
from tui.cli.words import further_reasons, signal_words
from tui.figures import count, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.registry_events import SignalRaised
    from strategies.evolution import Evolution
    from strategies.shown import CycleResult
    from tui.cli.invocation import Invocation


def evolution_json(result: Evolution) -> dict[str, Any]:
    """Give a run as the JSON that terminal.md promises."""
    return {
        "preset": result.preset,
        "auto": {"preset": result.bound.preset.name, "because": result.bound.because}
        if result.bound.because
        else None,
        "seed": result.seed,
        "cycles": [_cycle_json(cycle) for cycle in result.cycles],
        "tried": result.tried,
        "needed_tasks": result.needed_tasks,
        "unrouted": [signal_json(signal) for signal in result.unrouted],
        "resting": [resting_json(one) for one in result.resting],
        "taken_back": [taken_back_json(one) for one in result.taken_back],
        "counts": counted(result),
        "guidance": [guidance_json(one) for one in result.guidance],
        "model": model_report_json(result.model) if result.model else None,
        "stopped": result.stop.why,
        "settled": result.stop.settled,
    }


def _cycle_json(cycle: CycleResult) -> dict[str, Any]:
    candidate = cycle.candidate
    return {
        "strategy": cycle.strategy,
        "skill": cycle.capsule,
        "signal": signal_json(cycle.signal),
        "candidate": {
            "id": candidate.id,
            "edits": [{"op": edit.op, "line": edit.line, "text": edit.text} for edit in candidate.edits],
            "claims": models_json(candidate.claims),
        }
        if candidate
        else None,
        "effect": model_json(cycle.effect),
        "verdict": cycle.verdict,
        "reasons": list(cycle.reasons),
        "before": score_json(cycle.before),
        "after": score_json(cycle.after),
        "unmeasured": why_unmeasured(cycle.after),
        "delta": model_json(cycle.delta),
        "audit": {
            "before": score_json(cycle.audit_before),
            "after": score_json(cycle.audit_after),
            "delta": model_json(cycle.audit_delta),
        }
        if candidate
        else None,
        "rollouts": model_json(cycle.rollouts),
        "version": cycle.version,
        "tried": cycle.tried,
        "needed_tasks": cycle.needed_tasks,
        "proposer": cycle.proposer or None,
        "remembered": cycle.remembered,
        "preset": cycle.preset,
        "because": cycle.because or None,
        "pick": pick_json(cycle.pick) if cycle.pick else None,
    }


def print_cycle(call: Invocation, cycle: CycleResult, *, reasons: bool = False) -> None:
    """Tell of one turn as it ends; with `reasons` also why it was this turn's."""
    mark, tone = MARKS[cycle.verdict]
    known = ", known from an earlier run" if cycle.remembered else ""
    version = f" → {cycle.capsule}@{cycle.version}" if cycle.version else ""
    call.say(f"{call.paint(mark, tone)} {cycle.strategy}: {call.paint(cycle.verdict, tone)}{version}{known}")
    facts = [("signal", signal_words(cycle.signal))]
    if reasons and cycle.pick:
        facts.append(("picked", pick_words(cycle.pick)))
    if cycle.because:
        facts.append(("preset", f"auto chose {cycle.preset}: {cycle.because}"))
    if cycle.candidate:
        for edit in cycle.candidate.edits:
            texts = [text for text in edit.text.splitlines() if text.strip()]
            facts += [("" if at else edit.op.partition("_")[0], text) for at, text in enumerate(texts)]
    if cycle.effect:
        facts.append(("effect", effect_words(cycle.effect)))
    facts += _scores(cycle)
    left = further_reasons(cycle.reasons) or (() if cycle.verdict == "promote" else cycle.reasons[:1])
    facts += [("" if at else "because", reason) for at, reason in enumerate(left)]
    for label, text in facts:
        say_fact(call, label, text)


def _scores(cycle: CycleResult) -> list[tuple[str, str]]:
    if not (cycle.before and cycle.after and cycle.audit_before and cycle.audit_after):
        return []
    words = score_words(cycle.before, cycle.after, cycle.delta, cycle.audit_before, cycle.audit_after)
    rest = [("", measured_words(cycle.after))] if isinstance(cycle.after, Score) else []
    return [("score", words), *rest, *(run_facts(cycle.rollouts) if cycle.rollouts else ())]


_SHOWN: Final = 3
"""Signals that found no skill are counted; the first of them are shown."""


def counted(result: Evolution) -> dict[str, int]:
    """Count what became of the candidates of a run, those that an earlier run had judged as well."""
    judged = [cycle.verdict for cycle in result.cycles if cycle.candidate]
    return {
        "promoted": judged.count("promote"),
        "held": judged.count("hold"),
        "rejected": judged.count("reject"),
        "without_candidate": len(result.cycles) - len(judged),
        "known": sum(cycle.remembered for cycle in result.cycles),
    }


def _promoted(result: Evolution) -> list[CycleResult]:
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
    for signal in unrouted[:_SHOWN]:
        call.say(clip(f"{'':<10} {signal_words(signal)}", width()))
    if len(unrouted) > _SHOWN:
        call.say(f"{'':<10} {len(unrouted) - _SHOWN} more: germline signals")


def unrouted_words(unrouted: Sequence[SignalRaised]) -> str:
    """Say how many signals found no skill, and what takes them."""
    return f"{count(len(unrouted), 'signal')} no skill answers to: germline evolve SKILL"


def print_end(call: Invocation, result: Evolution) -> None:
    """Sum up a run."""
    print_taken_back(call, result.taken_back)
    promoted = _promoted(result)
    counts = counted(result)
    told = ", ".join(f"{counts[word]} {word}" for word in ("promoted", "held", "rejected"))
    without = f"; {counts['without_candidate']} without a candidate" if counts["without_candidate"] else ""
    known = f"; {counts['known']} known from earlier runs" if counts["known"] else ""
    taken = sum(cycle.pick is not None for cycle in result.cycles)
    turns = f"{count(taken, 'turn')}, {count(result.tried, 'claim')} tried"
    say_folded(call, "", f"{turns}: {told}{without}{known}")
    for at, cycle in enumerate(promoted):
        say_fact(call, "" if at else "audit", _audit_words(cycle))
    print_guidance(call, result.guidance)
    print_model(call, result)
    say_fact(call, "stopped", result.stop.why)
    if result.needed_tasks and not promoted:
        needed = count(result.needed_tasks, "task")
        say_folded(call, f"{'needed':<10} ", f"{needed} for the strongest claim: more logs decide")
    _print_unrouted(call, result.unrouted)
    for at, resting in enumerate(result.resting):
        call.say(clip(f"{'resting' if at == 0 else '':<10} {resting_words(resting)}", width()))


def print_next(call: Invocation, result: Evolution, skill: str, *, rehearsed: bool) -> None:
    """Say what to type after a run; what a dry run promoted stands nowhere yet."""
    lines = [(cycle.capsule, cycle.candidate.edits[0].line) for cycle in _promoted(result) if cycle.candidate]
    if lines and rehearsed:
        call.say("next       the same without --dry-run")
    elif lines:
        name, line = lines[0]
        call.say(f"next       germline why {name}:{line}    germline show {name} --blame")
    elif result.stop is NOTHING_READ:
        call.say("next       germline scan PATH")
    elif result.cycles and not rehearsed:
        call.say(f"next       germline candidates {skill}".rstrip())
    else:
        call.say("next       germline signals")
