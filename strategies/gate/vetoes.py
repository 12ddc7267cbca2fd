"""What may stop a candidate that the paired rule would promote: anchors, tampering, no skill at all, lost runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from events.types.runs import AgainstNoSkill, JudgeFigures
from strategies.gate.aimed_rule import aimed_rules
from strategies.gate.rollout_rule import figures_of, removal_rules, rollout_rules
from strategies.gate.rule import Rule, failed
from strategies.gate.verdict import Verdict
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.runs import AimFigures, Attribution, Rollouts
    from strategies.gate.rollout_rule import Pairs, RolloutFigures, RolloutVerdict
    from strategies.gate.rule import Decision
    from strategies.policy.written_rules import RolloutPolicy

CONFIRMING_ROUNDS: Final = 4
"""Rounds after which an anchor that is always kept and then never kept is lost, and not bad luck: with pass rates
of Beta(.3, .3) a false alarm per task in 1,300 (computed: B(4.3, 4.3) / B(.3, .3))."""
MOST_VOID: Final = 0.2
"""The share of pairs that may be lost to infrastructure before what is left cannot be trusted (a guess)."""


@dataclass(frozen=True)
class AnchoredTask:
    """A task with anchors: which of them failed in each round that both versions ran, (incumbent, candidate)."""

    task: str
    anchors: int
    failed: tuple[tuple[frozenset[str], frozenset[str]], ...]

    @property
    def suspects(self) -> frozenset[str]:
        """The anchors that the incumbent always kept and the candidate never did."""
        if not self.failed:
            return frozenset()
        never = frozenset.intersection(*(candidate for _, candidate in self.failed))
        return never.difference(*(incumbent for incumbent, _ in self.failed))


@dataclass(frozen=True)
class RunFacts:
    """What a verdict on runs rests on beside the paired rule; can be rebuilt from `Rollouts`.

    `tampered` names what was tried, in runs of whichever version; `stopped` says which cap was reached; `judges`
    are the layers that asked one. Units: `void` is the share of pairs that were lost.
    """

    tampered: tuple[str, ...] = ()
    stopped: str = ""
    void: float = 0.0
    lost_anchors: tuple[str, ...] = ()
    no_skill: AgainstNoSkill | None = None
    judges: tuple[JudgeFigures, ...] = ()


def facts_as_stored(rollouts: Rollouts) -> RunFacts:
    """Rebuild the facts of a candidate that was measured by runs."""
    return RunFacts(
        tampered=rollouts.tampered,
        stopped=rollouts.stopped,
        void=rollouts.void / rollouts.pairs if rollouts.pairs else 0.0,
        lost_anchors=rollouts.lost_anchors,
        no_skill=rollouts.no_skill,
        judges=rollouts.judges,
    )


def rules_of_runs(
    figures: RolloutFigures, policy: RolloutPolicy, aim: AimFigures | None = None, *, removal: bool = False
) -> tuple[Rule, ...]:
    """Apply the written rule for what a candidate is: one with an `aim`, a `removal`, or any other."""
    if aim is not None:
        return tuple(aimed_rules(aim, policy))
    return removal_rules(figures, policy) if removal else rollout_rules(figures, policy)


def only_removes(proposed: CandidateProposed) -> bool:
    """Tell whether a candidate takes lines away and brings none."""
    brings = proposed.files or proposed.born or proposed.skill or proposed.new_lines
    return bool(proposed.edits) and not brings


def rollout_verdict(
    looked: RolloutVerdict,
    facts: RunFacts,
    policy: RolloutPolicy,
    aim: AimFigures | None = None,
    *,
    removal: bool = False,
) -> Verdict:
    """Decide on a candidate whose runs have ended: what stops it first, then what the paired rule says.

    Shapes: `aim` is what the tasks showed that it is for, if it named any.
    """
    rules = rules_of_runs(looked.figures, policy, aim, removal=removal)
    decision, missing = failed((*veto_rules(facts), *rules))
    if decision == "promote" and facts.no_skill is not None:
        return Verdict(decision, (looked.reason, told_no_skill(facts.no_skill)))
    beside = [reason for reason in missing if reason not in looked.reason]
    return Verdict(decision, (*beside, looked.reason))


def veto_rules(facts: RunFacts) -> Iterator[Rule]:
    """Ask that nothing stops a candidate: tampering by either side never promotes, lost data decides nothing."""
    tried = "; ".join(facts.tampered)
    yield _decisive("tampering", tried or "none", "none", not tried, f"runs were tampered with: {tried}", "reject")
    lost = f"{facts.void:.0%} of the pairs were lost to infrastructure"
    most = f"at most {MOST_VOID:.0%}"
    yield _decisive("lost pairs", lost, most, facts.void <= MOST_VOID, f"{lost}, {most} may be", "hold")
    yield _decisive(
        "caps", facts.stopped or "none reached", "none reached", not facts.stopped, facts.stopped, "hold"
    )
    anchors = "; ".join(facts.lost_anchors)
    text = f"anchors that the incumbent keeps are lost: {anchors}"
    yield _decisive("anchors", anchors or "none lost", "none lost", not anchors, text, "reject")
    yield from _judge_rules(facts.judges)
    audit = facts.no_skill
    if audit is not None:
        text = told_no_skill(audit)
        yield _decisive("no skill", text, "not hurt", audit.effect != "hurt", text, "reject")


def _judge_rules(judges: Sequence[JudgeFigures]) -> Iterator[Rule]:
    """Ask that no judge which may not promote finds the candidate worse; of one that may the score tells."""
    for judge in judges:
        if not judge.counts:
            text = f"{judge.layer}: {judge.difference:+.3f} [{judge.low:+.3f}, {judge.high:+.3f}], a note"
            missing = f"the judge finds it worse, {text}: a person decides"
            yield _decisive("judge", text, "not worse", not judge.worse, missing, "hold")


def edit_rules(attributions: Sequence[Attribution]) -> Iterator[Rule]:
    """Ask that no edit of a bundle only rides along; nothing is asked where none was measured."""
    if attributions:
        kept = sum(not attribution.passenger for attribution in attributions)
        text = f"{kept} of {len(attributions)} carry the gain"
        holds = kept == len(attributions)
        yield _decisive("edits", text, "all of them", holds, f"passengers: of its edits {text}", "reject")


def _decisive(
    name: str,
    figure: str,
    asks: str,
    holds: bool,  # noqa: FBT001 - the answer of the rule
    missing: str,
    otherwise: Decision,
) -> Rule:
    return Rule(name, figure, asks, holds, missing, otherwise, decisive=True)


def told_no_skill(audit: AgainstNoSkill) -> str:
    """Say what the paired audit showed."""
    nulls = f", {audit.nulls} pairs say nothing" if audit.nulls else ""
    return (
        f"against no skill: {audit.effect}, difference {audit.difference:+.3f} "
        f"[{audit.low:+.3f}, {audit.high:+.3f}], {audit.tasks} tasks{nulls}"
    )


def against_no_skill(pairs: Pairs, rounds: int) -> AgainstNoSkill:
    """Tell whether a candidate helps, hurts or does nothing, compared with no skill.

    Shapes: pairs holds, for each sealed task, candidate minus no skill of each round; None where the run without
    a skill never got going, which is no win for the candidate.
    What counts as shown is what the gate asks of a gain: p at most .10, and at least 2 points.
    """
    figures = figures_of(pairs, rounds)
    turned = [[None if pair is None else -pair for pair in task] for task in pairs]
    effect: Literal["helped", "hurt", "inert"] = "inert"
    if _is_shown(figures):
        effect = "helped"
    elif _is_shown(figures_of(turned, rounds)):
        effect = "hurt"
    return AgainstNoSkill(
        effect=effect,
        difference=figures.difference,
        low=figures.low,
        high=figures.high,
        tasks=figures.tasks,
        nulls=sum(pair is None for task in pairs for pair in task[:rounds]),
    )


def judge_figures(
    layer: str, both: Sequence[Sequence[tuple[float, float] | None]], *, counts: bool
) -> JudgeFigures | None:
    """Tell what a judge made of incumbent and candidate; None where it saw no pair of runs.

    Shapes: both holds (incumbent, candidate) of each round for each sealed task, None where either has no verdict.
    """
    seen = [pair for task in both for pair in task if pair is not None]
    if not seen:
        return None
    rounds = max(map(len, both))
    differences = [[None if pair is None else pair[1] - pair[0] for pair in task] for task in both]
    figures = figures_of(differences, rounds)
    turned = [[None if task_value is None else -task_value for task_value in task] for task in differences]
    return JudgeFigures(
        layer=layer,
        before=fmean(before for before, _ in seen),
        after=fmean(after for _, after in seen),
        difference=figures.difference,
        low=figures.low,
        high=figures.high,
        pairs=len(seen),
        counts=counts,
        worse=_is_shown(figures_of(turned, rounds)),
    )


def _is_shown(figures: RolloutFigures) -> bool:
    return figures.p <= ROLLOUT_RULE.most_p and figures.difference >= ROLLOUT_RULE.least_difference


def lost_anchors(tasks: Sequence[AnchoredTask]) -> tuple[str, ...]:
    """Name the anchors that regress: lost for certain on one task, or kept less often over all of them.

    One failed run is no regression where agents vary; so a loss is one that `CONFIRMING_ROUNDS` show without an
    exception, or a fall over all tasks that the sign-flip test shows.
    """
    lost = [
        f"{task.task}: {anchor}"
        for task in tasks
        if len(task.failed) >= CONFIRMING_ROUNDS
        for anchor in sorted(task.suspects)
    ]
    fewer = [
        [(len(candidate) - len(incumbent)) / task.anchors for incumbent, candidate in task.failed]
        for task in tasks
        if task.anchors
    ]
    figures = figures_of(fewer, max((len(rounds) for rounds in fewer), default=0))
    if _is_shown(figures):
        lost.append(f"{figures.difference:.0%} fewer anchors hold over all tasks, p {figures.p:.3f}")
    return tuple(lost)


def counted(notes: Iterable[str]) -> tuple[str, ...]:
    """Say each note once, with how often it came, the most frequent first."""
    counts = Counter(notes)
    return tuple(note if times == 1 else f"{note} ({times} runs)" for note, times in counts.most_common())
