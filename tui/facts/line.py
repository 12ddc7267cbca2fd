"""A line of a skill as facts: who wrote it and why, what it claims, what was measured, what came before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.score import Score
from registry.query.provenance import endpoint_of
from registry.state.line_claims import is_unclaimed
from tui.facts.audit_moves import move_facts
from tui.facts.candidates import (
    UNCLAIMED,
    signal_fact,
    tier_facts,
    training_facts,
    verdict_facts,
    verdict_part,
)
from tui.facts.fact import Fact, fact
from tui.facts.scores import score_facts, why_unmeasured
from tui.facts.skill_life import description_words
from tui.facts.trials import trial_facts
from tui.text.durations import ago, minute
from tui.text.numbers import count
from tui.text.rows import RowPart
from tui.text.words import TIER_TONES, VERDICTS, actor_words, claim_words, further_reasons, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.store.envelope import Envelope
    from events.types.capsule_events import VersionMerged
    from events.types.claims import Claim
    from events.types.registry_events import SignalRaised
    from registry.query.model_prompts import ModelPrompt
    from registry.query.provenance import Why
    from tui.reads.file_history import FileLine

UNTESTED = "not tested by logs"
"""How it begins where a line stands for another reason than what it claims."""
_HASH_CHARS = 12


def line_facts(why: Why, now: str, counted: SignalRaised | None = None) -> Iterator[Fact]:
    """Say why a line is there and what it did; `counted` is its signal as it is counted by now."""
    candidate, scored = why.candidate, why.candidate.scored if why.candidate else None
    judged = getattr(why.origin.event, "judged", None)
    yield from [fact("judged", description_words(judged))] if judged else tier_facts(why.tier, candidate)
    yield fact("why", _who(why))
    if why.asked:
        yield fact("model", asked_words(why.asked))
    yield when_fact(why.origin, why.line.version, now)
    if source := getattr(why.origin.event, "derived_from", None):
        yield fact("from", f"gene {source}, which answers the same signal in another skill")
    if why.merged:
        yield fact("merged", merged_words(why.merged))
    yield from _signal_facts(why, now, counted)
    yield from _claim_facts(why)
    if endpoint := endpoint_of(scored):
        yield fact("endpoint", endpoint, "warn")
    if scored:
        yield from score_facts(scored)
    yield from trial_facts(why.trials)
    if candidate:
        reasons = "; ".join(further_reasons(candidate.reasons))
        yield Fact("verdict", (verdict_part(candidate), RowPart(f": {reasons}" if reasons else "")))
    if row := why.taken_back:
        when = f"{ago(row.at, now)} {actor_words(row.actor)}"
        yield fact("undone", f"version {row.version}, {when}, event {row.position}: {row.summary}", "warn")


def file_line_facts(line: FileLine, now: str) -> Iterator[Fact]:
    """Say why a line of a file beside SKILL.md is there, and what its candidate did."""
    candidate, actor = line.candidate, actor_words(line.origin.actor)
    yield fact(line.tier, line.sentence, TIER_TONES[line.tier])
    proposed = candidate.proposed if candidate else None
    what = f"{proposed.strategy}, by preset {proposed.preset};" if proposed else kind_of(line.origin)
    yield fact("why", f"{what} {actor}{'' if line.figures else '; unproven'}")
    yield when_fact(line.origin, line.row.version, now)
    if candidate is not None:
        yield fact("reason", candidate.proposed.reason)
        yield from score_facts(candidate.scored)
        yield from verdict_facts(candidate)


def _claim_facts(why: Why) -> Iterator[Fact]:
    """Say what a line claims, or that no log can be held against it, or was."""
    known = why.signal.event.template if why.signal else ""
    tested = why.candidate is None or why.candidate.claims_tested
    if why.claim:
        yield fact("claim", claim_words(why.claim, known=known))
        if not tested:
            yield fact("", f"{UNTESTED}, and counted by no score", "warn")
    elif is_unclaimed(why.capsule.gene(why.line.gene), why.line, why.origin.event):
        words = "; ".join(claim_words(claim, known=known) for claim in _untested(why))
        yield fact("claim", f"{UNTESTED}, so no score counts it: {words}" if words else UNCLAIMED, "warn")
    elif getattr(why.origin.event, "judged", None):
        yield fact("claim", "a session whose request shares a word with it needs the skill, and no other does")
    elif why.candidate is None and why.line.text.strip():
        yield fact("claim", "none: no log speaks for it or against it", "dim")


def _untested(why: Why) -> tuple[Claim, ...]:
    """List what the candidate of a line claimed, where no log was asked and the line is one that it was about."""
    if why.candidate is None or why.candidate.claims_tested:
        return ()
    from strategies.gate.lint import unclaimed_lines  # noqa: PLC0415 - most lines were tested, or claim nothing

    proposed = why.candidate.proposed
    return () if why.line.text.strip() in unclaimed_lines(proposed) else proposed.claims


def _signal_facts(why: Why, now: str, counted: SignalRaised | None) -> Iterator[Fact]:
    if why.signal:
        yield signal_fact(why.signal.event, counted)
    if why.candidate:
        yield from training_facts(why.candidate.proposed)
    yield from move_facts(why.moves)
    if given := why.assigned:
        when = f"{ago(given.at, now)} {actor_words(given.actor)}"
        yield fact("assigned", f"to {given.skill} {when}, event {given.position}")


def when_fact(origin: Envelope, version: int, now: str) -> Fact:
    """Say when a line was written, as which version, by which event."""
    text = f"{ago(origin.at, now)}, version {version}, event {origin.position}"
    return Fact("when", (RowPart(text), RowPart(f", {minute(origin.at)}", "dim")))


def _who(why: Why) -> str:
    """Say what kind of change it was, and on whose word."""
    actor, candidate = actor_words(why.origin.actor), why.candidate
    if candidate is None:
        unproven = "" if getattr(why.origin.event, "judged", None) else f"; {_unproven(why)}"
        return f"{kind_of(why.origin)} {actor}{unproven}"
    word = f"{actor_words(candidate.actor)}; approved {actor}" if candidate.reviewed else actor
    stamp = "" if why.line.id else "the stamp of a version that came by "
    spoken_for = candidate.tier or isinstance(getattr(why.origin.event, "after", None), Score)
    unproven = "" if spoken_for else f"; {_unproven(why)}"
    return f"{stamp}{candidate.proposed.strategy}, by preset {candidate.proposed.preset}; {word}{unproven}"


def _unproven(why: Why) -> str:
    reason = why_unmeasured(getattr(why.origin.event, "after", None))
    return f"unproven: {reason}" if reason else "unproven"


def merged_words(merged: VersionMerged) -> str:
    """Say whose version a line came with, and what that registry says of it, as its word."""
    origin, tiers = merged.origin, ", ".join(merged.origin_tiers)
    there = f"{merged.origin_cause}{f', with lines that are {tiers}' if tiers else ''}"
    return (
        f"with version {merged.origin_version} of registry {origin.registry[:8]}, event {origin.position}, "
        f"{actor_words(origin.actor)}, {origin.at[:10]}; there: {there}, which nothing here confirms"
    )


def asked_words(asked: ModelPrompt) -> str:
    """Name the model and the prompt, and say what it cost."""
    event = asked.event
    tokens = event.usage.total if event.usage else event.most_tokens
    cost = "price unknown" if event.cost_usd is None else f"{event.cost_usd:.4f} USD"
    replayed = ", replayed" if event.replayed else ""
    return (
        f"{event.model}, prompt {event.prompt_hash[:_HASH_CHARS]}, {count(tokens, 'token')}, {cost}{replayed}, "
        f"event {asked.position}"
    )


def earlier_facts(why: Why, *, most: int | None = None) -> Iterator[Fact]:
    """Say what the line was before: its last `most` forms, all of them where that is None."""
    for at, form in enumerate(why.previous[:most]):
        place = RowPart(f"version {form.version}: ", "dim")
        event = RowPart(f"   event {form.event}", "dim")
        yield Fact("" if at else "before", (place, RowPart(form.text.rstrip("\r\n"), "removed"), event))
    if not why.previous and why.line.id:
        before = why.line.version - 1
        none = f"no such line in version {before}" if before else "it is there from the first version on"
        yield fact("before", none, "dim")


def tried_facts(why: Why) -> Iterator[Fact]:
    """Say what other changes were tried for the same signal, and what became of it."""
    for at, other in enumerate(why.tried):
        mark, tone = VERDICTS[other.verdict]
        text = " / ".join(line.strip() for line in other.proposed.new_lines if line.strip())
        reason = f"  {other.reasons[0]}" if other.reasons else ""
        event = RowPart(f"{reason}, event {other.judged or other.position}", "dim")
        yield Fact("" if at else "tried", (RowPart(f"{mark} ", tone), RowPart(text), event))
