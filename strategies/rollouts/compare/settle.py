"""Settling: what the runs of a group say of each candidate, bundles freed of what only rides along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from events.types.runs import Attribution
from registry.decide.commands import Propose
from registry.state.line_claims import claims_by_edit
from strategies.gate.line_edits import cut_into_lines, line_edits
from strategies.gate.verdict import Verdict
from strategies.gate.vetoes import only_removes
from strategies.policy.canonical_json import digest
from strategies.rollouts.compare.ablate import unbundled
from strategies.rollouts.compare.comparison import compared
from strategies.rollouts.run.runner import CapReachedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateProposed, CandidateScored
    from registry.state.capsule import Capsule
    from strategies.rollouts.compare.ablate import Unbundled
    from strategies.rollouts.compare.comparison import Compared, Rig
    from strategies.rollouts.compare.run_figures import RunMeasurement
    from strategies.rollouts.run.runner import Runs


@dataclass(frozen=True)
class Settled:
    """A candidate with all that its runs say, and beside which others they show it; not recorded yet."""

    proposed: CandidateProposed
    verdict: Verdict
    measurement: RunMeasurement
    attributions: tuple[Attribution, ...] = ()
    company: frozenset[str] = frozenset()

    def beside(self, scored: CandidateScored) -> CandidateScored:
        """Write the measurement down in place of replay's; what replay showed of the claims stays beside it."""
        measurement = self.measurement
        return scored.model_copy(
            update={
                "before": measurement.before,
                "after": measurement.after,
                "delta": measurement.delta,
                "audit_before": measurement.audit_before,
                "audit_after": measurement.audit_after,
                "audit_delta": measurement.audit_delta,
                "rollouts": measurement.rollouts,
                "attributions": self.attributions,
            }
        )


def settled(rig: Rig, runs: Runs, capsule: Capsule, proposals: Sequence[CandidateProposed]) -> list[Settled]:
    """Run candidates in one group, the best first, and free those that pass of their passengers.

    What a bundle becomes without its passengers is a candidate of its own, and comes before it.
    """
    results = compared(rig, runs, capsule, proposals)
    ranked = sorted(proposals, key=lambda proposal: -_advantage(results[proposal.candidate], proposal.candidate))
    return [
        each for proposal in ranked for each in _freed(rig, runs, capsule, proposal, results[proposal.candidate])
    ]


def rollout_candidate_id(capsule: Capsule, proposed: CandidateProposed, evaluator: str) -> str:
    """Name a candidate by its memory key for runs: what it touches, before and after, and the evaluator."""
    genes = {edit.gene for edit in proposed.edits}
    before = {gene.id: [line.text for line in gene.lines] for gene in capsule.genes if gene.id in genes}
    edits = [edit.model_dump(mode="json") for edit in proposed.edits]
    files = [file.model_dump(mode="json") for file in proposed.files]
    born = proposed.born.model_dump(mode="json") if proposed.born else None
    drafted = [proposed.skill.model_dump(mode="json")] if proposed.skill else []
    return digest(["candidate", "rollout", capsule.name, before, edits, files, born, evaluator, *drafted])


def _advantage(compared: Compared, candidate: str) -> float:
    return next(
        (version.value for version in compared.measurement.rollouts.versions if version.version == candidate), 0.0
    )


def _freed(rig: Rig, runs: Runs, capsule: Capsule, proposed: CandidateProposed, whole: Compared) -> list[Settled]:
    """Attribute the gain of a bundle to its lines; where some ride along, test what is left without them.

    What a miner found comes edit by edit: each of its lines is a claim that logs were asked about.
    """
    company = shown_beside(runs, whole) if whole.verdict.decision == "promote" else frozenset()
    plain = Settled(proposed, whole.verdict, whole.measurement, company=company)
    known = rig.registry.candidate(proposed.candidate)
    cut = proposed if known and known.actor.startswith("miner:") else cut_into_lines(proposed)
    several = len(cut.edits) > 1 and not proposed.files and not proposed.born and not only_removes(proposed)
    if whole.verdict.decision != "promote" or not several:
        return [plain]
    try:
        parts = unbundled(rig, runs, capsule, cut, whole.last)
    except CapReachedError as reached:
        why = f"which of its {len(cut.edits)} edits carry the gain is not known yet"
        return [replace(plain, verdict=Verdict("hold", (reached.what, why, *whole.verdict.reasons)))]
    plain = replace(plain, attributions=_of_edits(proposed, cut, parts.attributions))
    if len(parts.kept) == len(cut.edits):
        return [plain]
    return _reduced(rig, runs, capsule, plain, cut, parts)


def shown_beside(runs: Runs, whole: Compared) -> frozenset[str]:
    """Name those of its company beside which a candidate still gains: it may go live together with them.

    One that says for which tasks it is gains there, and of the others chance alone would tell.
    """
    last = whole.last
    own = last.tasks[: last.aim.tasks] if last.aim else last.tasks
    return frozenset(
        other for other in last.pairing.company if last.pairing.gains_beside(other, runs, own, last.span)
    )


def _of_edits(
    proposed: CandidateProposed, cut: CandidateProposed, lines: Sequence[Attribution]
) -> tuple[Attribution, ...]:
    """Put what was measured line by line back to the edits that brought them: one with a passenger is one.

    What an edit of several lines brings as a whole was not measured.
    """
    if cut is proposed:
        return tuple(lines)
    left, edits = list(lines), []
    for at, edit in enumerate(proposed.edits):
        size = len(line_edits(edit))
        own, left = left[:size], left[size:]
        passenger = any(line.passenger for line in own)
        edits.append(Attribution(edit=at, delta=own[0].delta if size == 1 else None, passenger=passenger))
    return tuple(edits)


def _reduced(
    rig: Rig, runs: Runs, capsule: Capsule, whole: Settled, cut: CandidateProposed, parts: Unbundled
) -> list[Settled]:
    """Propose the lines that carry the gain as a candidate of their own, and put it through the same gate."""
    kept = _without_passengers(rig, capsule, cut, parts)
    numbers = ", ".join(str(at + 1) for at in parts.kept)
    text = f"of its {len(cut.edits)} edits only {numbers} carry the gain: candidate {kept.candidate[:12]}"
    alone = f"passengers: {text}, which alone does not pass: a person decides"
    held = replace(whole, verdict=Verdict("hold", (alone, *whole.verdict.reasons)))
    registry = rig.registry
    with registry.log.transaction():
        known = registry.candidate(kept.candidate)
        if known is None:
            proposer = registry.candidate(whole.proposed.candidate)
            registry.execute(Propose(kept), actor=proposer.actor if proposer else "")
    if known is not None and known.is_decided:
        return [held]
    result = compared(rig, runs, capsule, [kept])[kept.candidate]
    carrying = [attribution for attribution in parts.attributions if not attribution.passenger]
    own = tuple(attribution.model_copy(update={"edit": at}) for at, attribution in enumerate(carrying))
    less = Settled(kept, result.verdict, result.measurement, own)
    if less.verdict.decision != "promote":
        return [less, held]
    return [less, replace(whole, verdict=Verdict("reject", (f"passengers: {text}", *whole.verdict.reasons)))]


def _without_passengers(
    rig: Rig, capsule: Capsule, proposed: CandidateProposed, parts: Unbundled
) -> CandidateProposed:
    claims = claims_by_edit(proposed.edits, proposed.claims)
    kept = proposed.model_copy(
        update={
            "edits": tuple(proposed.edits[at] for at in parts.kept),
            "claims": tuple(dict.fromkeys(claim for at in parts.kept for claim in claims[at])),
            "reason": f"{proposed.reason} (candidate {proposed.candidate[:12]} without its passengers)",
        }
    )
    name = rollout_candidate_id(capsule, kept, rig.harness.evaluator)
    return kept.model_copy(update={"candidate": name})
