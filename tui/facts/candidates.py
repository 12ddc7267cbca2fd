"""A candidate as facts: what it proposes and why, what was measured, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.candidate_events import TRAINER
from registry.query.event_summaries import origin_words
from registry.query.tier_sentences import draft_sentence, line_sentence
from tui.facts.audit_moves import move_facts
from tui.facts.fact import Fact, fact, listed
from tui.facts.scores import score_facts
from tui.facts.trials import trial_facts
from tui.text.durations import ago
from tui.text.numbers import count, interval, share, signed
from tui.text.rows import RowPart, tone_of
from tui.text.words import (
    TIER_TONES,
    VERDICT_WORDS,
    VERDICTS,
    actor_words,
    claim_words,
    seen_figures_words,
    seen_words,
    signal_name,
    since_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.registry_events import SignalRaised
    from registry.state.candidate import Candidate
    from registry.state.tiers import LineTier
    from strategies.gate.file_findings import FileFinding
    from strategies.monitor.agreement import Agreement
    from tui.reads.review import CandidatePage
    from tui.text.rows import Tone

_FINDINGS_SHOWN: Final = 60
_MONTHS_SHOWN: Final = 3
UNCLAIMED: Final = "none: nothing that logs could refute"


def signal_fact(signal: SignalRaised, counted: SignalRaised | None = None) -> Fact:
    """Say what recurs, how often, and where; `counted` is the same signal as it is counted by now."""
    seen = f", {seen_words(signal)}{since_words(signal, counted)}"
    return Fact("signal", (RowPart(f'"{signal_name(signal)}"', "warn"), RowPart(seen)))


def tier_facts(tier: LineTier, candidate: Candidate | None) -> Iterator[Fact]:
    """Say in one plain sentence what speaks for a line, behind its tier; nothing of a line that states nothing."""
    if sentence := line_sentence(tier, candidate):
        yield fact("no tier" if tier == "none" else tier, sentence, TIER_TONES[tier])


def support_facts(candidate: Candidate) -> Iterator[Fact]:
    """Say in one plain sentence what speaks for the lines of a candidate, or does not suffice."""
    if sentence := draft_sentence(candidate):
        tier = candidate.tier.tier if candidate.tier else "none"
        yield fact("no tier" if tier == "none" else tier, sentence, TIER_TONES[tier])


def training_facts(proposed: CandidateProposed) -> Iterator[Fact]:
    """Say in which epoch of a training a change was proposed, and why; nothing of any other change."""
    if proposed.proposer == TRAINER:
        yield fact("training", proposed.reason)


def tag_words(tags: Iterable[str]) -> str:
    """Say for which tasks a change is meant."""
    return f"{', '.join(dict.fromkeys(tags))}: runs look first at the tasks that have one of these"


def candidate_facts(page: CandidatePage, now: str) -> Iterator[Fact]:
    """Say what a candidate proposes, on what signal, and what was measured of it."""
    candidate, proposed = page.candidate, page.candidate.proposed
    who = f"{origin_words(proposed)}, preset {proposed.preset}; {actor_words(candidate.actor)}"
    yield fact("what", f"{who}, {ago(candidate.at, now)}, event {candidate.position}")
    if page.signal:
        yield signal_fact(page.signal.event)
    yield from training_facts(proposed)
    yield from move_facts(page.moves)
    if proposed.tags:
        yield fact("tags", tag_words(proposed.tags))
    yield from proposal_facts(proposed, known=page.signal.event.template if page.signal else "")
    yield from finding_facts(page.findings)
    if proposed.skill:
        yield fact("folder", f"{proposed.skill.source}, once it is approved")
    yield from score_facts(candidate.scored)
    yield from trial_facts(page.trials)


def finding_facts(findings: Sequence[FileFinding]) -> Iterator[Fact]:
    """Say line by line what is to be seen in the files that a candidate changes, what instructs first."""
    ranked = sorted(findings, key=lambda finding: finding.level == "notice")
    for at, finding in enumerate(ranked[:_FINDINGS_SHOWN]):
        tone: Tone = "warn" if finding.level == "notice" else "bad"
        where = f"{finding.path}:{finding.line}" if finding.line else finding.path
        yield Fact("" if at else "files", (RowPart(f"{where}  {finding.what}: ", tone), RowPart(finding.text)))
    if len(ranked) > _FINDINGS_SHOWN:
        yield fact("", f"and {len(ranked) - _FINDINGS_SHOWN} more: germline candidate show ID --json")


def proposal_facts(proposed: CandidateProposed, *, known: str = "") -> Iterator[Fact]:
    """Say what a proposal claims, what it removes, and its reason; `known` is a template shown beside it."""
    yield from listed("claim", (claim_words(claim, known=known) for claim in proposed.claims))
    yield from listed("removes", (claim_words(claim, known=known) for claim in proposed.removes))
    if not proposed.claims and not proposed.removes:
        yield fact("claim", UNCLAIMED, "warn")
    yield fact("reason", proposed.reason)


def verdict_words(candidate: Candidate) -> str:
    """Say what became of a candidate."""
    taken_back = ", taken back since" if candidate.reverted else ""
    return f"{VERDICT_WORDS[candidate.verdict]}{taken_back}"


def verdict_part(candidate: Candidate) -> RowPart:
    """Say what became of a candidate, behind its mark."""
    mark, tone = VERDICTS["reject" if candidate.reverted else candidate.verdict]
    return RowPart(f"{mark} {verdict_words(candidate)}", tone)


def verdict_facts(candidate: Candidate) -> Iterator[Fact]:
    """Say what became of a candidate, as which version, by whose word, and for what reasons."""
    mark, tone = VERDICTS["reject" if candidate.reverted else candidate.verdict]
    reviewed = candidate.reviewed if candidate.verdict != "hold" else None
    by = f" by a person: {reviewed.reason}" if reviewed else ""
    where = f" as {candidate.proposed.capsule}@{candidate.version}" if candidate.version else ""
    back = ", taken back since" if candidate.reverted else ""
    yield fact("verdict", f"{mark} {VERDICT_WORDS[candidate.verdict]}{where}{by}{back}", tone)
    yield from (fact("", reason) for reason in (() if reviewed else candidate.reasons))


def figure_part(candidate: Candidate) -> RowPart | None:
    """Write what speaks for a candidate in one figure with its bounds; None where nothing was measured."""
    scored = candidate.scored
    if candidate.tier is not None and candidate.tier.tier == "seen":
        return RowPart(seen_figures_words(candidate.tier), TIER_TONES["seen"])
    if scored and scored.rollouts and scored.delta:
        value, low, high = scored.delta.value, scored.delta.low, scored.delta.high
    elif scored and scored.effect:
        value, low, high = scored.effect.risk_difference, scored.effect.low, scored.effect.high
    else:
        return None
    return RowPart(f"{signed(value, 2)} {interval(low, high, 2)}", tone_of(low, high))


def proposed_text(proposed: CandidateProposed) -> str:
    """Join the lines that a candidate brings; of a new skill what follows its front matter."""
    front = len(proposed.skill.front) if proposed.skill else 0
    return " / ".join(text.strip() for text in proposed.new_lines[front:] if text.strip())


def agreement_words(agreement: Agreement) -> str:
    """Say how often people agreed with the gate, by month as well; "" where nobody answered it."""
    words = []
    if agreement.answers:
        of = count(agreement.answers, "candidate")
        bounds = f"{share(agreement.agreed / agreement.answers)} {interval(agreement.low, agreement.high)}"
        words = [f"people agree on {agreement.agreed:,} of {of} that the gate let through, {bounds}"]
        months = agreement.months[-_MONTHS_SHOWN:]
        if len(months) > 1:
            words.append(", ".join(f"{month.month} {month.agreed:,} of {month.answers:,}" for month in months))
    if agreement.accepted or agreement.rejected:
        words.append(
            f"of what the gate left open people took {agreement.accepted:,} and refused {agreement.rejected:,}"
        )
    return "; ".join(words)
