"""A verdict, step by step: every rule that a candidate was held to, as far as what was stored can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.types.registry_events import EvaluatorRegistered
from events.types.research_events import RESEARCHER
from events.types.score import Unmeasured
from registry.query.library import base_of
from strategies.claims.applicability import live_claims
from strategies.gate.file_findings import file_changes
from strategies.gate.grave_actions import person_rules
from strategies.gate.lint import findings_on, limits_of, unclaimed_lines
from strategies.gate.replay.measure import figures_as_stored
from strategies.gate.rollout_rule import RolloutFigures
from strategies.gate.rule import Rule, failed
from strategies.gate.rules import inert_rules, replay_rules
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.gate.verdict import explore_rule
from strategies.gate.vetoes import edit_rules, facts_as_stored, only_removes, rules_of_runs, veto_rules
from strategies.policy.active_preset import bound_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed, CandidateScored
    from events.types.claims import Claim
    from events.types.runs import Attribution, Rollouts
    from registry.query.library import Library
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.gate.file_findings import FileChange
    from strategies.gate.lint import LintFinding
    from strategies.gate.rule import Decision, NeededTasks
    from strategies.policy.presets import Preset


Way = Literal["explore", "replay", "removal", "rollouts", "person"]
"""How a candidate was judged: on explore alone, by replay, by the rule for removals, by runs of an agent, or not
at all."""

WRITER: Final = "writer"
"""The proposer that is a model which writes whole sections."""
WRITTEN: Final = "a model wrote this"
"""How the reason begins for which it waits."""
WITHOUT_REMOVALS: Final = "rollout-1"
"""The method that asked a removal for a gain, as any other change."""
WITHOUT_EARLY_BAR: Final = frozenset({WITHOUT_REMOVALS, "rollout-2", "rollout-3"})
"""The methods that asked for as much evidence after one round as after the last."""
UNCLAIMED: Final = "no claim covers it, so a person decides"
"""How the reason begins where nothing can be measured."""


@dataclass(frozen=True)
class Explanation:
    """What a candidate was held to, rule by rule."""

    way: Way
    steps: tuple[Rule, ...]

    @property
    def decision(self) -> Decision:
        """What these steps come to."""
        return failed(self.steps)[0]

    @property
    def needed(self) -> NeededTasks | None:
        """The tasks that would do for all that is missing; None where nothing is, or where no number would.

        Of rules that count other tasks the one speaks that is furthest from having enough.
        """
        missed = [step for step in self.steps if not step.holds]
        needed = [step.needed for step in missed if step.needed is not None]
        if not needed or len(needed) < len(missed):
            return None
        return max(needed, key=lambda tasks: (tasks.needed / max(tasks.known, 1), tasks.needed))


def explain(
    proposed: CandidateProposed,
    scored: CandidateScored | None,
    base: Capsule,
    live: Sequence[Claim],
    preset: Preset,
    files: Sequence[FileChange] = (),
    method: str = "",
) -> Explanation:
    """Apply the rules again to what was stored of a candidate, in the order in which the gate goes.

    Shapes: base is the version that it was measured on, live are its claims; preset is the one that judged;
    files are what becomes of those beside SKILL.md; method is that of its evaluator, "" for today's.
    """
    limits = limits_of(preset, proposed.proposer)
    unclaimed = () if scored and scored.rollouts else unclaimed_lines(proposed)
    text = text_rules(findings_on(base, proposed, limits, unclaimed=unclaimed, files=files))
    weight, claim = weight_rule(proposed, preset), claim_rule(proposed)
    first_looks = person_rules(proposed, files)
    genes = *gene_rules(proposed, preset), *author_rules(proposed)
    first = (*first_looks, weight, *genes, claim)
    seen = claim.holds and all(rule.holds for rule in first_looks) and proposed.proposer != WRITER
    if scored is None or (scored.effect is None and scored.rollouts is None and not seen):
        return Explanation("person", (*first, *text))
    if scored.rollouts is not None:
        return Explanation(
            "rollouts",
            (
                *first_looks,
                weight,
                *genes,
                *_by_runs(proposed, scored.rollouts, scored.attributions, preset, method),
                *text,
            ),
        )
    if not scored.sent and isinstance(scored.after, Unmeasured):
        return Explanation("explore", (*first, explore_rule(scored.after.reason), *text))
    figures = figures_as_stored(scored, proposed.claims, live)
    policy = preset.policy()
    inert = inert_rules(figures, policy)
    rules = tuple(inert if proposed.inert else replay_rules(figures, policy, scored.sent))
    return Explanation("removal" if proposed.removes else "replay", (*first, *rules, *text))


def weight_rule(proposed: CandidateProposed, preset: Preset) -> Rule:
    """Ask that the preset wants this kind of change at all."""
    weight = preset.weights.of(proposed.strategy)
    return Rule(
        "preset",
        f"{proposed.strategy} has a weight of {weight} % under {preset.name}",
        "above 0",
        weight > 0,
        f"the preset {preset.name} does not {proposed.strategy}",
        decisive=True,
    )


def gene_rules(proposed: CandidateProposed, preset: Preset) -> tuple[Rule, ...]:
    """Ask that the preset allows new genes, where a candidate would bring one."""
    if proposed.born is None and proposed.skill is None:
        return ()
    missing = f"the preset {preset.name} allows no new gene"
    return (
        Rule(
            "new gene",
            f"{proposed.born.title!r}" if proposed.born else f"those of a new skill, {proposed.capsule}",
            "a preset that allows new genes",
            preset.bears_genes,
            missing,
            decisive=True,
        ),
    )


def author_rules(proposed: CandidateProposed) -> tuple[Rule, ...]:
    """Ask a person to read what a model wrote at length."""
    if proposed.proposer != WRITER:
        return ()
    what = "skill" if proposed.skill else "section"
    asks, missing = f"a person's word on a {what} that a model wrote", f"{WRITTEN} {what}: a person decides"
    return (Rule("author", f"proposed by {WRITER}", asks, holds=False, missing=missing, decisive=True),)


def claim_rule(proposed: CandidateProposed) -> Rule:
    """Ask for a claim that logs can refute."""
    claims = len(proposed.claims) + len(proposed.removes)
    missing = f"{UNCLAIMED}: {proposed.reason}"
    return Rule(
        "claim", f"{claims} of them", "at least one that logs can refute", claims > 0, missing, decisive=True
    )


def text_rules(findings: Iterable[LintFinding]) -> Iterator[Rule]:
    """Turn what lint noticed into rules: what refuses a candidate rejects it; what a person must see holds it."""
    asks = "nothing that refuses it, nothing that a person must see"
    serious = [finding for finding in findings if finding.severity != "warn"]
    refusing = [finding for finding in serious if finding.severity == "refuse"]
    for finding in refusing or serious:
        otherwise: Decision = "reject" if refusing else "hold"
        yield Rule(
            finding.about, finding.what, asks, holds=False, missing=f"lint: {finding.what}", otherwise=otherwise
        )
    if not serious:
        yield Rule("text", "nothing noticed", asks, holds=True, missing="")


def _by_runs(
    proposed: CandidateProposed,
    rollouts: Rollouts,
    attributions: Sequence[Attribution],
    preset: Preset,
    method: str,
) -> Iterator[Rule]:
    """Apply what vetoes whatever was gained, then the rule over the paired runs."""
    yield from veto_rules(facts_as_stored(rollouts))
    figures = RolloutFigures(
        rounds=rollouts.rounds,
        tasks=rollouts.tasks,
        e_value=rollouts.evidence,
        p=rollouts.p,
        difference=rollouts.difference,
        error=max(rollouts.high - rollouts.difference, rollouts.difference - rollouts.low) / Z95,
        low=rollouts.low,
        high=rollouts.high,
        detectable=rollouts.detectable,
    )
    policy = preset.rollout_policy()
    policy = policy.of_experiments if proposed.proposer == RESEARCHER else policy
    if method in WITHOUT_EARLY_BAR:
        policy = policy.looked_once
    removal = only_removes(proposed) and method != WITHOUT_REMOVALS
    yield from rules_of_runs(figures, policy, rollouts.aim, removal=removal)
    yield from edit_rules(attributions)


def explain_stored(library: Library, candidate: Candidate) -> tuple[Explanation, Preset]:
    """Apply the rules again to a candidate's stored figures, under the preset that judged it; answers with both.

    What a person decided, or nobody yet, goes by the preset that it was proposed under.
    Raises: NotFoundError for a preset that is known no more.
    """
    proposed = candidate.proposed
    base = base_of(library, proposed, str(proposed.base_version))
    preset = bound_by(library, candidate.preset or proposed.preset).preset
    files = file_changes(library.log, base, proposed.files)
    method = _method_of(library, candidate)
    return explain(proposed, candidate.scored, base, live_claims(base), preset, files, method), preset


def _method_of(library: Library, candidate: Candidate) -> str:
    """Name the method by which a candidate was judged; "" where nobody registered its evaluator."""
    registered = library.registration(candidate.evaluator)
    return registered.event.method if registered and isinstance(registered.event, EvaluatorRegistered) else ""
