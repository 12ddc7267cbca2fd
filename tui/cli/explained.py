"""Explanations of one line, as JSON for scripts and as a page for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from events.fields import is_score, new_lines
from registry.claimed import is_unclaimed
from registry.provenance import endpoint_of
from registry.rendering import label
from tui.cli.asked import asked_json, asked_words
from tui.cli.blamed import kind_of
from tui.cli.facts import say_fact
from tui.cli.paint import clip, one_line, width
from tui.cli.quoted import evidence_json, print_evidence
from tui.cli.shapes import audit_json, model_json, score_json, why_unmeasured
from tui.cli.words import actor_words, claim_words, further_reasons, scope_words, signal_words, since_words
from tui.figures import ago, count, interval, share, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.candidate_events import CandidateScored
    from events.envelope import Envelope
    from events.registry_events import SignalRaised
    from events.score import Delta, Effect, Measured, Score
    from registry.candidate import Candidate
    from registry.provenance import Why
    from registry.versions import VersionRow
    from tui.cli.file_history import FileLine
    from tui.cli.invocation import Invocation
    from tui.cli.places import Named

SHOWN_EARLIER: Final = 3
"""How many earlier forms of a line are told unasked."""


def why_json(told: Why, there: Sequence[bool], counted: SignalRaised | None) -> dict[str, Any]:
    """Give an explanation as the JSON that terminal.md promises; `counted` is the signal as it stands now."""
    candidate, event = told.candidate, told.origin.event
    scored = candidate.scored if candidate else None
    before, after = getattr(event, "before", None), getattr(event, "after", None)
    raised = told.signal
    return {
        "skill": told.capsule.name,
        "version": told.capsule.version,
        "line": told.line.number,
        "text": told.line.text.rstrip("\r\n"),
        "since_version": told.line.version,
        "origin": _origin(told.origin, candidate),
        "signal": {
            "kind": raised.event.kind,
            "fingerprint": raised.event.fingerprint,
            "template": raised.event.template,
            "action": raised.event.action,
            "count": raised.event.count,
            "episodes": raised.event.episodes,
            "runs": list(raised.event.runs),
            "position": raised.position,
            "by_now": {"count": counted.count, "episodes": counted.episodes} if counted else None,
        }
        if raised
        else None,
        "claim": model_json(told.claim),
        "evidence": evidence_json(told.evidence, there),
        "erased": [{"id": one.id, "at": one.at, "reason": one.reason} for one in told.erased],
        "before": score_json(before),
        "after": score_json(after),
        "unproven": candidate is None or not is_score(after),
        "unmeasured": why_unmeasured(after),
        **_judged_json(candidate, scored),
        "model": asked_json(told.asked) if told.asked else None,
        "taken_back": _back_json(told.taken_back) if told.taken_back else None,
        "previous": [
            {"version": one.version, "text": one.text.rstrip("\r\n"), "event": one.event} for one in told.previous
        ],
        "tried": [
            {"candidate": one.id, "verdict": one.verdict, "reasons": list(one.reasons), "event": one.judged}
            for one in told.tried
        ],
    }


def _origin(origin: Envelope, candidate: Candidate | None) -> dict[str, Any]:
    return {
        "event": origin.event_id,
        "position": origin.position,
        "type": origin.type,
        "at": origin.at,
        "actor": origin.actor,
        "strategy": candidate.proposed.strategy if candidate else None,
        "preset": candidate.proposed.preset if candidate else None,
        "proposer": candidate.proposed.proposer if candidate else None,
        "derived_from": getattr(origin.event, "derived_from", None),
        "hash": origin.hash,
    }


def _back_json(row: VersionRow) -> dict[str, Any]:
    return {
        "version": row.version,
        "event": row.position,
        "at": row.at,
        "actor": row.actor,
        "reason": row.summary,
    }


def _judged_json(candidate: Candidate | None, scored: CandidateScored | None) -> dict[str, Any]:
    effect = scored.effect if scored else None
    return {
        "candidate": candidate.id if candidate else None,
        "delta": model_json(scored.delta) if scored else None,
        "endpoint": effect.endpoint if effect else None,
        "effect": model_json(effect),
        "outcome_effect": model_json(scored.outcome_effect) if scored else None,
        "audit": audit_json(scored),
        "verdict": candidate.verdict if candidate else None,
        "reasons": list(candidate.reasons) if candidate else [],
        "scope": list(effect.scope) if effect else [],
        "reverted": candidate.reverted if candidate else False,
    }


def file_json(named: Named, number: int, line: FileLine) -> dict[str, Any]:
    """Give the explanation of a line of another file in the same shape."""
    event = line.origin.event
    return {
        "skill": named.capsule.name,
        "version": named.capsule.version,
        "path": named.path,
        "line": number,
        "text": line.text.rstrip("\r\n"),
        "since_version": line.row.version,
        "origin": _origin(line.origin, None),
        "signal": None,
        "claim": None,
        "evidence": [],
        "before": score_json(getattr(event, "before", None)),
        "after": score_json(getattr(event, "after", None)),
        "unproven": True,
        "verdict": None,
        "previous": [],
    }


def print_why(
    call: Invocation, told: Why, there: Sequence[bool], now: str, counted: SignalRaised | None, *, every: bool
) -> None:
    """Print an explanation: what the line says, why, since when, on what evidence, what it did."""
    call.say(call.paint(f"{label(told.capsule)}, line {told.line.number}", "strong"))
    call.say(f"  {one_line(told.line.text)}\n")
    for name, text in _facts(told, now, counted):
        say_fact(call, name, text)
    print_evidence(call, told.evidence, told.erased, there, every=every)
    for name, text in _others(told, every=every):
        say_fact(call, name, text)
    call.say(f"\n  {'    '.join(_next(told))}")


def _facts(told: Why, now: str, counted: SignalRaised | None) -> Iterator[tuple[str, str]]:
    candidate, scored = told.candidate, told.candidate.scored if told.candidate else None
    yield from _origin_facts(told, now)
    if told.signal:
        yield "signal", f"{signal_words(told.signal.event)}{since_words(told.signal.event, counted)}"
    effect = scored.effect if scored else None
    if told.claim:
        judged = f"; judged by {effect.endpoint}" if effect else ""
        yield "claim", f"{claim_words(told.claim)}{judged}"
    elif is_unclaimed(told.capsule.gene(told.line.gene), told.line, told.origin.event):
        yield "claim", "none: nothing that logs could refute"
    if endpoint := endpoint_of(scored):
        yield "endpoint", endpoint
    if effect:
        yield "effect", effect_words(effect)
    if scored:
        yield (
            "score",
            score_words(scored.before, scored.after, scored.delta, scored.audit_before, scored.audit_after),
        )
        if is_score(scored.after):
            yield "", measured_words(scored.after)
    if candidate:
        yield "verdict", f"{candidate.verdict}: {'; '.join(further_reasons(candidate.reasons))}"
    if told.taken_back:
        row = told.taken_back
        when = f"{ago(row.at, now)} {actor_words(row.actor)}"
        yield "undone", f"version {row.version}, {when}, event {row.position}: {row.summary}"


def _origin_facts(told: Why, now: str) -> Iterator[tuple[str, str]]:
    """Say who wrote the line and when, which model suggested it, and where it comes from."""
    yield "why", _who(told)
    if told.asked:
        yield "model", asked_words(told.asked)
    yield "when", _when(told.origin, told.line.version, now)
    if source := getattr(told.origin.event, "derived_from", None):
        yield "from", f"gene {source}, which answers the same signal in another skill"


def _who(told: Why) -> str:
    """Say what kind of change it was, and on whose word."""
    actor, candidate = actor_words(told.origin.actor), told.candidate
    if candidate is None:
        return f"{kind_of(told.origin)} {actor}; {_unproven(told)}"
    said = f"{actor_words(candidate.actor)}; approved {actor}" if candidate.reviewed else actor
    stamp = "" if told.line.id else "the stamp of a version that came by "
    unproven = "" if is_score(getattr(told.origin.event, "after", None)) else f"; {_unproven(told)}"
    return f"{stamp}{candidate.proposed.strategy}, by preset {candidate.proposed.preset}; {said}{unproven}"


def _unproven(told: Why) -> str:
    reason = why_unmeasured(getattr(told.origin.event, "after", None))
    return f"unproven: {reason}" if reason else "unproven"


def _when(origin: Envelope, version: int, now: str) -> str:
    return f"{ago(origin.at, now)}, version {version}, event {origin.position}"


def effect_words(effect: Effect) -> str:
    """Write an effect: the risk difference on sealed logs, its interval, both arms, where it holds."""
    ground = f"; ground: {scope_words(effect.scope)}" if effect.scope else ""
    return (
        f"{signed(effect.risk_difference, 2)} on sealed logs {interval(effect.low, effect.high, 2)}, "
        f"{effect.obeyed:,} obeyed and {effect.disobeyed:,} did not, in {count(effect.tasks, 'task')}{ground}"
    )


def score_words(
    before: Measured, after: Measured, delta: Delta | None, audit_before: Measured, audit_after: Measured
) -> str:
    """Write scores before and after with the paired difference, and the audit's beside them."""
    if not is_score(before) or not is_score(after):
        return f"not measured: {why_unmeasured(after) or why_unmeasured(before)}"
    change = f"   Δ {signed(delta.value)} {interval(delta.low, delta.high)}" if delta else ""
    audit = ""
    if is_score(audit_before) and is_score(audit_after):
        audit = f"   audit {share(audit_before.value)} → {share(audit_after.value)}"
    return f"{share(before.value)} → {share(after.value)}{change}{audit}"


def measured_words(score: Score) -> str:
    """Write what a score rests on."""
    what = "run" if score.kind == "rollout" else "episode"
    return (
        f"{interval(score.low, score.high)} over {count(score.n, what)}, coverage {score.coverage:.0%}, "
        f"by {score.kind} {score.evaluator[:8]}"
    )


def _others(told: Why, *, every: bool) -> Iterator[tuple[str, str]]:
    """Say what stood there before, and what else was tried for the same signal."""
    if told.previous:
        for at, one in enumerate(told.previous if every else told.previous[:SHOWN_EARLIER]):
            text = clip(one_line(one.text), max(width() - 40, 30))
            yield ("before" if at == 0 else ""), f"version {one.version}: {text}   event {one.event}"
        if len(told.previous) > SHOWN_EARLIER and not every:
            yield "", "older ones: --all"
    elif told.line.version > 1 and told.line.id:
        yield "before", f"no such line in version {told.line.version - 1}"
    for at, other in enumerate(told.tried):
        lines = " / ".join(one_line(text) for text in new_lines(other.proposed) if text.strip())
        verdict = {"reject": "rejected", "hold": "held"}.get(other.verdict or "", "open")
        text = f'"{clip(lines, max(width() - 40, 30))}": {verdict}, event {other.judged or other.position}'
        yield ("tried" if at == 0 else ""), text


def _next(told: Why) -> list[str]:
    name, since = told.capsule.name, told.line.version
    commands = [f"germline show {label(told.capsule)} --blame"]
    if since > 1:
        commands.append(f"germline diff {name} {since - 1} {since}")
        commands.append(f"germline revert {name} --to {since - 1}")
    else:
        commands.append(f"germline log {name}")
    return commands


def print_file_line(call: Invocation, named: Named, number: int, line: FileLine, now: str) -> None:
    """Print the explanation of a line of another file of a skill."""
    call.say(call.paint(f"{label(named.capsule)}, {named.path}, line {number}", "strong"))
    call.say(f"  {one_line(line.text)}\n")
    say_fact(call, "why", f"{kind_of(line.origin)} {actor_words(line.origin.actor)}; unproven")
    say_fact(call, "when", _when(line.origin, line.row.version, now))
    name, version = named.capsule.name, line.row.version
    further = f"    germline diff {name} {version - 1} {version}" if version > 1 else ""
    call.say(f"\n  germline show {label(named.capsule)}    germline log {name}{further}")
