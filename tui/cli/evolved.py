"""What a run of evolution came to, as JSON for scripts and in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from events.score import Score
from tui.cli.explained import effect_words, measured_words, score_words
from tui.cli.facts import say_fact
from tui.cli.found import MARKS
from tui.cli.paint import clip, width
from tui.cli.shapes import model_json, models_json, score_json, why_unmeasured
from tui.cli.words import further_reasons, signal_words
from tui.figures import count

if TYPE_CHECKING:
    from events.registry_events import SignalRaised
    from strategies.evolution import Evolution
    from strategies.shown import CycleResult
    from tui.cli.invocation import Invocation


def evolution_json(result: Evolution) -> dict[str, Any]:
    """Give a run as the JSON that terminal.md promises."""
    return {
        "preset": result.preset,
        "seed": result.seed,
        "cycles": [_cycle_json(cycle) for cycle in result.cycles],
        "tried": result.tried,
        "needed_tasks": result.needed_tasks,
        "unrouted": [_signal_json(signal) for signal in result.unrouted],
        "stopped": result.stopped,
    }


def _cycle_json(cycle: CycleResult) -> dict[str, Any]:
    candidate = cycle.candidate
    return {
        "strategy": cycle.strategy,
        "skill": cycle.capsule,
        "signal": _signal_json(cycle.signal),
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
        "version": cycle.version,
        "tried": cycle.tried,
        "needed_tasks": cycle.needed_tasks,
        "remembered": cycle.remembered,
    }


def _signal_json(signal: SignalRaised) -> dict[str, Any]:
    return {
        "kind": signal.kind,
        "fingerprint": signal.fingerprint,
        "template": signal.template,
        "action": signal.action,
        "count": signal.count,
        "episodes": signal.episodes,
    }


def print_cycle(call: Invocation, cycle: CycleResult) -> None:
    """Tell of one turn as it ends."""
    mark, tone = MARKS[cycle.verdict]
    known = ", known from an earlier run" if cycle.remembered else ""
    version = f" → {cycle.capsule}@{cycle.version}" if cycle.version else ""
    call.say(f"{call.paint(mark, tone)} {cycle.strategy}: {call.paint(cycle.verdict, tone)}{version}{known}")
    facts = [("signal", signal_words(cycle.signal))]
    if cycle.candidate:
        for edit in cycle.candidate.edits:
            texts = [text for text in edit.text.splitlines() if text.strip()]
            facts += [("" if at else edit.op, text) for at, text in enumerate(texts)]
    if cycle.effect:
        facts.append(("effect", effect_words(cycle.effect)))
    facts += _scores(cycle)
    facts += [("" if at else "because", reason) for at, reason in enumerate(further_reasons(cycle.reasons))]
    for label, text in facts:
        say_fact(call, label, text)


def _scores(cycle: CycleResult) -> list[tuple[str, str]]:
    if not (cycle.before and cycle.after and cycle.audit_before and cycle.audit_after):
        return []
    words = score_words(cycle.before, cycle.after, cycle.delta, cycle.audit_before, cycle.audit_after)
    rest = [("", measured_words(cycle.after))] if isinstance(cycle.after, Score) else []
    return [("score", words), *rest]


def print_end(call: Invocation, result: Evolution, skill: str) -> None:
    """Sum up a run, and say what to type next."""
    promoted = [cycle for cycle in result.cycles if cycle.verdict == "promote" and not cycle.remembered]
    turns = f"{count(len(result.cycles), 'turn')}, {count(result.tried, 'claim')} tried"
    call.say(f"{turns}, {count(len(promoted), 'promotion')}; {result.stopped}")
    if result.needed_tasks and not promoted:
        call.say(f"{'needed':<10} {count(result.needed_tasks, 'task')} for the strongest claim: more logs decide")
    for signal in result.unrouted:
        call.say(f"{'unrouted':<10} {clip(signal_words(signal), width() - 11)}: germline evolve SKILL takes it")
    lines = [(cycle.capsule, cycle.candidate.edits[0].line) for cycle in promoted if cycle.candidate]
    if lines:
        name, line = lines[0]
        call.say(f"next       germline why {name}:{line}    germline show {name} --blame")
    else:
        call.say(f"next       germline candidates {skill}".rstrip())
