"""A draft evaluated: its runs beside those without any skill, and what the evaluators report of each pair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from events.types.audit_events import EvaluatorReported, TaskReport
from registry.decide.commands import RecordFact
from strategies.audit.audit_model import standing_of, without_model
from strategies.audit.audit_record import REPORTS, stored_reports
from strategies.audit.audit_verdict import AuditedPair
from strategies.audit.drafts import passages_of
from strategies.audit.evaluators.evaluator_types import AuditMaterial
from strategies.audit.evaluators.evaluators_table import evaluate_pair
from strategies.audit.run_records import record_of, written_record
from strategies.gate.rollout_rule import figures_of
from strategies.policy.canonical_json import digest
from strategies.rollouts.compare.rounds import in_random_order
from strategies.rollouts.run.arms import NO_SKILL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from registry.state.capsule import Capsule
    from strategies.audit.audit_model import ModelStanding
    from strategies.audit.audit_plan import AuditPlan
    from strategies.audit.audit_record import AuditRecord
    from strategies.audit.evaluators.evaluator_types import EvaluatorReport, SkillPassage
    from strategies.audit.interpret_tasks import InterpretedTask
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs


@dataclass(frozen=True)
class EvaluatedDraft:
    """A draft with its pairs of runs and what is reported of them.

    Where the model's `standing` is too low, nothing that it says is among the reports. `lost` says which pairs
    infrastructure lost, and why. `gains` holds, for each round, what the skill gains on each task, in anchors.
    """

    capsule: Capsule
    digest: str
    pairs: tuple[AuditedPair, ...]
    standing: ModelStanding
    lost: tuple[str, ...] = ()
    gains: tuple[tuple[float | None, ...], ...] = ()

    @property
    def anchors(self) -> tuple[int, int]:
        """How many anchors held with the draft, of how many, over all pairs."""
        held = [kept for pair in self.pairs for kept in pair.material.with_skill.anchors.values()]
        return sum(held), len(held)


@dataclass
class DraftEvaluation:
    """Evaluates the drafts of one audit; what was run, asked and reported before is taken from the log."""

    plan: AuditPlan
    runs: Runs
    first: tuple[AuditedPair, ...] = ()
    _stored: dict[tuple[int, str, str], str] = field(default_factory=dict)

    def remember(self, record: AuditRecord) -> None:
        """Take what was reported before; reports of the same material are not made twice."""
        self._stored |= {(event.iteration, event.draft, event.material): event.report for event in record.reported}

    def evaluated(
        self, draft: Capsule, iteration: int, known: Sequence[tuple[float | None, ...]] = ()
    ) -> EvaluatedDraft:
        """Run a draft and no skill on every task, and let the evaluators look; raises what `Runs.make` raises.

        More pairs are made, up to those of the plan, while runs of the same task differ from pair to pair and the
        sequential rule of the gate has not decided. `known` are the gains of the same draft in earlier rounds: the
        pairs are those of further ones.
        """
        arm, skill = self.plan.arm(draft), passages_of(self.plan.rig.registry.log, draft)
        materials, lost, tasks = list[AuditMaterial](), list[str](), [task.task.id for task in self.plan.tasks]
        gains = [*known]
        for at in range(len(gains), len(gains) + self.plan.pairs):
            self._run((arm, NO_SKILL), tasks, [at])
            made = [self._material(task, arm, skill, at) for task in self.plan.tasks]
            gains.append(tuple(map(_gain, made)))
            materials += (material for material in made if material is not None)
            lost += (why for task in self.plan.tasks if (why := self._why_lost(task, arm, at)))
            if self._decided(gains):
                break
        pairs = self._looked_at(materials, iteration, arm.digest) if materials else []
        self.first = self.first or tuple(pairs)
        standing = standing_of(pairs)
        counted = tuple(pairs) if standing.counts else without_model(pairs)
        return EvaluatedDraft(draft, arm.digest, counted, standing, tuple(lost), tuple(gains))

    def tried(self, draft: Capsule, tasks: Collection[str], rounds: Sequence[int]) -> tuple[AuditedPair, ...]:
        """Run a draft and no skill on some tasks, and let the evaluators look, without a model and for this use.

        Raises: what `Runs.make` raises.
        """
        arm, skill = self.plan.arm(draft), passages_of(self.plan.rig.registry.log, draft)
        known = self._run((arm, NO_SKILL), tasks, rounds)
        made = (self._material(task, arm, skill, at) for at in rounds for task in known)
        return tuple(AuditedPair(each, evaluate_pair(each)) for each in made if each is not None)

    def bare(self, tasks: Collection[str], rounds: Sequence[int]) -> tuple[AuditedPair, ...]:
        """Run no skill on some tasks, and put each run beside that of the next round: what chance alone does."""
        known = self._run((NO_SKILL,), tasks, rounds)
        following = dict(zip(rounds, (*rounds[1:], rounds[0]), strict=True))
        made = (self._material(task, NO_SKILL, (), at, following[at]) for at in rounds for task in known)
        return tuple(AuditedPair(each, evaluate_pair(each)) for each in made if each is not None)

    def _run(self, arms: Sequence[Arm], tasks: Collection[str], rounds: Sequence[int]) -> list[InterpretedTask]:
        """Make the runs of some tasks that are missing; gives those tasks."""
        known = [task for task in self.plan.tasks if task.task.id in tasks]
        jobs = in_random_order(arms, [task.task for task in known], rounds, self.plan.rig.seed)
        self.runs.make([replace(job, watch=written_record) for job in jobs])
        return known

    def _decided(self, gains: Sequence[Sequence[float | None]]) -> bool:
        """Tell whether further pairs would say nothing new: the last two say the same, or the bar is reached."""
        if len(gains) > 1 and gains[-1] == gains[-2]:
            return True
        by_task = [list(task) for task in zip(*gains, strict=True)]
        losses = [[None if gain is None else -gain for gain in task] for task in by_task]
        bar = self.plan.rig.policy.least_e
        return any(figures_of(sides, len(gains)).e_value >= bar for sides in (by_task, losses))

    def _why_lost(self, known: InterpretedTask, arm: Arm, at: int) -> str:
        """Say which run of a pair infrastructure lost, and why; "" where both were made."""
        sides = {"with the skill": arm, "without it": NO_SKILL}
        void = ((side, self.runs.why_void(run, known.task, at)) for side, run in sides.items())
        return next((f"{known.task.id}, pair {at + 1}, {side}: {why}" for side, why in void if why), "")

    def _material(
        self, known: InterpretedTask, arm: Arm, skill: tuple[SkillPassage, ...], at: int, other: int | None = None
    ) -> AuditMaterial | None:
        """Put two runs of a task side by side, of one round or of `other`; None where infrastructure lost one."""
        log = self.plan.rig.registry.log
        having = self.runs.of(arm, known.task, (at,))[0]
        lacking = self.runs.of(NO_SKILL, known.task, (at if other is None else other,))[0]
        if having is None or lacking is None:
            return None
        return AuditMaterial(
            task=known.task.id,
            prompt=known.task.prompt,
            workspace=dict(known.texts),
            requirements=known.requirements,
            skill=skill,
            with_skill=record_of(log, known.task, having),
            without_skill=record_of(log, known.task, lacking),
        )

    def _looked_at(self, materials: Sequence[AuditMaterial], iteration: int, draft: str) -> list[AuditedPair]:
        """Let the evaluators look at the pairs of a draft, and record what they report, once."""
        registry = self.plan.rig.registry
        name = digest([material.model_dump(mode="json") for material in materials])
        known = self._stored.get((iteration, draft, name))
        stored = stored_reports(registry, known) if known else None
        if stored is None:
            pairs = [AuditedPair(material, evaluate_pair(material, self.plan.asking)) for material in materials]
            reports = tuple(report for pair in pairs for report in pair.reports)
            with registry.log.transaction():
                blob = registry.log.put_blob(REPORTS.dump_json(reports), kind="audit")
                events = tuple(self._events(reports, iteration, draft, name, blob))
                registry.execute(RecordFact(events), actor="germline")
            return pairs
        size = len(stored) // len(materials)
        return [
            AuditedPair(material, stored[at * size : (at + 1) * size]) for at, material in enumerate(materials)
        ]

    def _events(
        self, reports: Sequence[EvaluatorReport], iteration: int, draft: str, material: str, blob: str
    ) -> Iterator[EvaluatorReported]:
        """Give an event for each evaluator."""
        for evaluator in dict.fromkeys(report.evaluator for report in reports):
            own = [report for report in reports if report.evaluator == evaluator]
            yield EvaluatorReported(
                audit=self.plan.audit,
                capsule=self.plan.skill,
                iteration=iteration,
                draft=draft,
                evaluator=evaluator,
                tasks=tuple(TaskReport(task=each.task, result=each.result, reason=each.reason) for each in own),
                signals=sum(len(report.signals) for report in own),
                void=sum(len(report.void) for report in own),
                by_model=sum(report.by_model for report in own),
                material=material,
                report=blob,
            )


def _gain(material: AuditMaterial | None) -> float | None:
    """Give the share of anchors that hold with the skill, less that without; None where there is no pair."""
    if material is None:
        return None
    having, lacking = material.with_skill.anchors, material.without_skill.anchors
    return (sum(having.values()) - sum(lacking.values())) / max(len(having), 1)
