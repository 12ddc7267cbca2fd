"""Skills tested by runs: a live skill against no skill, several against the rest of them, and lines of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from events.errors import RefusedError, UsageError
from events.types.capsule_events import SkillTested
from registry.decide.commands import RecordSkillFact
from registry.decide.retirement import require_live
from registry.query.versions import event_of
from registry.skill_md.render import label
from registry.state.capsule import is_skill_name
from strategies.gate.replay.measure import MeasurementStamp
from strategies.gate.rollout_rule import LOOKS, RolloutVerdict, figures_of, look
from strategies.gate.verdict import Verdict
from strategies.rollouts.compare.comparison import register_evaluator, require_sound, runs_of
from strategies.rollouts.compare.contest import Contest
from strategies.rollouts.compare.hashes import comparison_text
from strategies.rollouts.compare.rounds import ContestEnd, LastLook, facts_of, in_random_order
from strategies.rollouts.compare.run_figures import measured
from strategies.rollouts.compare.run_pairs import Pairing
from strategies.rollouts.run.agent_templates import MESSAGES
from strategies.rollouts.run.arms import incumbent, offered_together, without_line
from strategies.rollouts.run.runner import CapReachedError, spent_on

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from events.types.capsule_events import TestedLine
    from registry.state.capsule import Capsule
    from strategies.gate.rollout_rule import Pairs
    from strategies.policy.written_rules import RolloutPolicy
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs, RunSpending

    SkillVerdict = Literal["helps", "harms", "unclear"]


@dataclass
class _Subject:
    """A skill, or a line of one, what is offered with it and without it, and how far that came."""

    capsule: Capsule
    beside: tuple[str, ...]
    contest: Contest
    last: LastLook
    verdict: SkillVerdict | None = None
    line: TestedLine | None = None


class _Cost(NamedTuple):
    """The hash of a comparison, what was spent on it, and the cap that ended it, "" for none."""

    comparison: str
    spent: RunSpending
    stopped: str


def tested_skills(rig: Rig, names: Sequence[str]) -> list[SkillTested]:
    """Run live skills together and without each, look after the rounds of the gate, and record what came of each.

    One skill is run against no skill. Finished runs are kept, and found again. What is compared is frozen first.
    Raises: RefusedError for a retired skill, or several where the agent is given the text of one; UsageError for
    instructions; TaskFileError where tasks cannot tell good work from none; what the runner raises.
    """
    capsules = [require_live(rig.registry.capsule(name)) for name in dict.fromkeys(names)]
    if files := [capsule.name for capsule in capsules if not is_skill_name(capsule.name)]:
        raise UsageError(f"{files[0]} holds instructions: only skills are tested against none")
    if len(capsules) > 1 and rig.harness.agent.name == MESSAGES:
        raise RefusedError(
            "an agent that is a model is given the text of one skill: several are offered to a command",
            hint='--agent "claude …"',
        )
    return _tested(rig, [_subject(rig, capsules, capsule) for capsule in capsules])


def tested_lines(rig: Rig, name: str, lines: Sequence[TestedLine]) -> list[SkillTested]:
    """Run a live skill beside itself without each of some lines.

    Evidence and chance are charged for how many lines of this version were ever asked about, in one command or in
    many. Kept and frozen as above.
    Raises: RefusedError for a retired skill; what `tested_skills` raises of tasks and runs.
    """
    capsule, policy = require_live(rig.registry.capsule(name)), rig.policy
    asked = len({(line.gene, line.line) for line in (*lines, *_asked_before(rig, capsule))})
    charged = policy.model_copy(update={"least_e": policy.least_e * asked, "most_p": policy.most_p / asked})
    return _tested(rig, [_line_subject(rig, capsule, line, charged) for line in lines])


def _asked_before(rig: Rig, capsule: Capsule) -> list[TestedLine]:
    recorded = rig.registry.log.read(stream=f"capsule:{capsule.name}", types=("SkillTested",))
    tests = [event_of("SkillTested", envelope) for envelope in recorded]
    return [test.line for test in tests if test.line is not None and test.version == capsule.version]


def _tested(rig: Rig, subjects: Sequence[_Subject]) -> list[SkillTested]:
    """Make the runs that subjects need, and record what came of each."""
    with runs_of(rig) as runs:
        if rig.registry.log.document("evaluator", rig.harness.evaluator) is None:
            require_sound(rig.harness, rig.harness.divided.sealed, runs)
        comparisons = _frozen(rig, subjects)
        stopped = _run(rig, runs, subjects)
        spent = spent_on([subject.contest.incumbent.key for subject in subjects], runs.taken())
        return [
            _recorded(rig, runs, subject, _Cost(comparison, spent[subject.contest.incumbent.key], stopped))
            for subject, comparison in zip(subjects, comparisons, strict=True)
        ]


def _line_subject(rig: Rig, capsule: Capsule, line: TestedLine, policy: RolloutPolicy) -> _Subject:
    log = rig.registry.log
    contest, last = _contest(
        rig, incumbent(log, capsule), without_line(log, capsule, line.gene, line.line), policy
    )
    return _Subject(capsule, (), contest, last, line=line)


def _subject(rig: Rig, capsules: Sequence[Capsule], capsule: Capsule) -> _Subject:
    log, others = rig.registry.log, [other for other in capsules if other is not capsule]
    contest, last = _contest(rig, offered_together(log, capsules), offered_together(log, others), rig.policy)
    return _Subject(capsule, tuple(map(label, others)), contest, last)


def _contest(rig: Rig, offered: Arm, without: Arm, policy: RolloutPolicy) -> tuple[Contest, LastLook]:
    contest = Contest(
        incumbent=without,
        candidates=(offered,),
        sealed=rig.harness.divided.sealed,
        audit=(),
        policy=policy,
        seed=rig.seed,
        together=lambda names: offered if names else without,
        against_nothing=False,
    )
    none = RolloutVerdict(None, "no round is complete", figures_of((), 0))
    return contest, LastLook(none, contest.sealed, range(0), Pairing(offered, without))


def _frozen(rig: Rig, subjects: Sequence[_Subject]) -> list[str]:
    """Keep what will be compared, before the first run; give the hash of each comparison."""
    harness, log = rig.harness, rig.registry.log
    with log.transaction():
        register_evaluator(rig.registry, harness)
        texts = [
            comparison_text(
                subject.contest,
                tasks=harness.tasks,
                agent=harness.agent,
                harness=harness.digest,
                provenance=harness.provenance,
            )
            for subject in subjects
        ]
        return [log.put_blob(text.encode(), kind="comparison") for text in texts]


def _run(rig: Rig, runs: Runs, subjects: Sequence[_Subject]) -> str:
    """Run all that are offered, and the same without each that has no verdict; say which cap ended it, if any."""
    made = 0
    for rounds in LOOKS:
        going = [subject for subject in subjects if subject.verdict is None]
        if not going:
            break
        arms = {arm.key: arm for subject in going for arm in _arms(subject.contest)}
        jobs = in_random_order(tuple(arms.values()), rig.harness.divided.sealed, range(made, rounds), rig.seed)
        try:
            runs.make(jobs)
        except CapReachedError as reached:
            return reached.what
        for subject in going:
            _look(runs, subject, rounds)
        made = rounds
    return ""


def _arms(contest: Contest) -> tuple[Arm, ...]:
    return (*contest.candidates, contest.incumbent)


def _look(runs: Runs, subject: _Subject, rounds: int) -> None:
    """Look at the runs both ways: by the rule of the gate for the skill, and for doing without it."""
    contest, span = subject.contest, range(rounds)
    pairs = subject.last.pairing.pairs(runs, contest.sealed, span)
    looked = look(pairs, rounds, contest.policy)
    subject.last = replace(subject.last, looked=looked, span=span)
    subject.verdict = verdict_on(pairs, looked, contest.policy)


def verdict_on(pairs: Pairs, looked: RolloutVerdict, policy: RolloutPolicy) -> SkillVerdict | None:
    """Say what a look at pairs shows of a skill, None while the runs go on.

    Shapes: pairs as `look` takes them, with the skill minus without it. Simulated on 30 tasks: of 400 skills that
    do nothing 3 harm and 2 help, of 400 that cost 10 points 209 harm, of 400 that cost 20 points 394.
    """
    inverse = [[None if pair is None else -pair for pair in task] for task in pairs]
    if looked.decision == "promote":
        return "helps"
    if look(inverse, looked.figures.rounds, policy).decision == "promote":
        return "harms"
    return "unclear" if _is_settled(looked, policy) else None


def _is_settled(looked: RolloutVerdict, policy: RolloutPolicy) -> bool:
    """Tell whether runs rule out a difference worth having, in either direction."""
    figures = looked.figures
    return figures.rounds > 1 and max(figures.high, -figures.low) < policy.futile_below


def _recorded(rig: Rig, runs: Runs, subject: _Subject, cost: _Cost) -> SkillTested:
    """Write down what came of a skill; where somebody tampered with the runs it is unclear."""
    facts = facts_of(subject.contest, runs, subject.last, "" if subject.verdict else cost.stopped)
    verdict: SkillVerdict = "unclear" if facts.tampered or subject.verdict is None else subject.verdict
    ended = ContestEnd(Verdict("hold", (subject.last.looked.reason,)), subject.last, facts)
    stamp = MeasurementStamp(rig.harness.evaluator, rig.registry.clock.now())
    figures = measured(subject.contest, runs, ended, stamp, cost.comparison, cost.spent)
    event = SkillTested(
        capsule=subject.capsule.name,
        version=subject.capsule.version,
        beside=subject.beside,
        verdict=verdict,
        agent=rig.harness.agent.name,
        evaluator=rig.harness.evaluator,
        before=figures.before,
        after=figures.after,
        rollouts=figures.rollouts,
        line=subject.line,
    )
    rig.registry.execute(RecordSkillFact(event), actor="germline")
    return event
