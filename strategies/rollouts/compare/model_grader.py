"""A judge among the layers of grading: work against a reference; it counts while it is calibrated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from events.errors import SpendingCapError
from events.model_errors import ModelError
from strategies.judge.ask_judge import Pair, asked_in_both_orders, judge_identity
from strategies.judge.calibration_rule import CODES, BothOrders, JudgeStanding, standing_of
from strategies.policy.canonical_json import digest
from strategies.rollouts.compare.hashes import rollout_evaluator
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.trial import NOTE_CHARS, LayerResult, Trial, summed
from strategies.rollouts.tasks.task import judge_layers
from strategies.rollouts.tasks.workspace import fixture_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.judge_events import JudgeCalibrated
    from strategies.models.thread_desk import Desk
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.run.runner import Runner
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.tasks.task import JudgeGrader, RolloutTask, TaskSet


class _Opinion(NamedTuple):
    """What a judge made of one work: its verdict as an outcome, None where it gave none; units: US dollars."""

    value: float | None
    cost_usd: float
    note: str = ""


@dataclass(frozen=True)
class Jury:
    """The judge of a comparison, fixed before its first run: who is asked, by which rubric, and where it counts.

    `standings` say what it may do on each family of tasks. Units: seconds that one answer may take.
    """

    desk: Desk
    model: str
    rubric: str
    standings: Mapping[str, JudgeStanding]
    within_s: float

    @property
    def counting(self) -> dict[str, list[str]]:
        """Name what results depend on: model and prompt, by the families on which its verdict counts."""
        identities = (judge_identity(self.model, self.rubric, family) for family in sorted(self.standings))
        return {
            identity.family: [identity.model, identity.prompt]
            for identity in identities
            if self.standings[identity.family].promotes
        }

    @property
    def judges_in_words(self) -> tuple[str, ...]:
        """Say for the record of a comparison who judged, and whether it counted."""
        return tuple(
            f"judge on {family}: {self.model}, {'; '.join(standing.reasons) or 'calibrated: it counts'}"
            for family, standing in sorted(self.standings.items())
        )

    def judged(self, task: RolloutTask, trial: Trial) -> Trial:
        """Add the judge's layers to a trial that was graded otherwise.

        Where the judge counts and gives no answer of use, the trial says nothing: its pair is void.
        Raises: CapReachedError where asking could pass a cap; CredentialsError, and the other errors of asking.
        """
        layers, cost_usd = list(trial.layers), 0.0
        texts = {shown_text.layer: shown_text.text for shown_text in trial.shown}
        for grader in judge_layers(task):
            if grader.name not in texts:
                continue
            counts = self.standings[grader.family].promotes
            opinion = self._opinion(task, grader, texts[grader.name], counts=counts)
            cost_usd += opinion.cost_usd
            if opinion.value is not None:
                layers.append(
                    LayerResult(
                        name=grader.name,
                        value=opinion.value,
                        threshold=grader.threshold,
                        note=opinion.note,
                        counts=counts,
                    )
                )
            elif counts:
                note = f"judge {grader.name}: {opinion.note}"[:NOTE_CHARS]
                void = {"status": "infrastructure", "note": note, "shown": ()}
                return trial.model_copy(update=void | _paid(trial, cost_usd))
        return summed(trial.model_copy(update={"layers": tuple(layers), "shown": ()} | _paid(trial, cost_usd)))

    def _opinion(self, task: RolloutTask, grader: JudgeGrader, text: str | None, *, counts: bool) -> _Opinion:
        if text is None:
            return _Opinion(0.0, 0.0, f"{grader.path} cannot be read")
        reference = grader.reference
        if not isinstance(reference, str):
            reference = fixture_bytes(task.folder, reference).decode(errors="replace")
        asked = asked_in_both_orders(Pair(task.prompt, reference, text), self.model, self.rubric)
        paid_usd, places = 0.0, []
        try:
            for question in asked:
                reply = self.desk.ask(question, within_s=self.within_s)
                paid_usd += reply.cost_usd or 0.0
                places.append(reply.answer.better)
        except SpendingCapError as error:
            if counts:
                raise CapReachedError(f"{error.message}; finished runs are kept") from error
            return _Opinion(None, paid_usd, error.message)
        except ModelError as error:
            return _Opinion(None, paid_usd + (error.cost_usd or 0.0), error.message)
        orders = BothOrders(*places)
        note = "" if orders.consistent else "the order changed its answer: a tie"
        return _Opinion(CODES[orders.verdict], paid_usd, note)


def _paid(trial: Trial, cost_usd: float) -> dict[str, object]:
    """Add what judging cost to what a run cost, where it cost anything."""
    return {"cost_usd": (trial.cost_usd or 0.0) + cost_usd} if cost_usd else {}


@dataclass(frozen=True)
class JudgedRunner:
    """Makes runs as another runner does, and lets the judge look at what they left."""

    runner: Runner
    jury: Jury

    def __call__(self, job: PlannedRun) -> Trial:
        """Make the run; raises what the other runner and `Jury.judged` raise."""
        trial = self.runner(job)
        return self.jury.judged(job.task, trial) if trial.shown else trial


def judged_families(tasks: Iterable[RolloutTask]) -> list[str]:
    """Name the families of tasks that some layer asks a judge about."""
    return sorted({grader.family for task in tasks for grader in judge_layers(task)})


def standings_of(
    families: Iterable[str], model: str, rubric: str, calibrations: Sequence[JudgeCalibrated]
) -> dict[str, JudgeStanding]:
    """Tell what a judge may do on each family, by the calibrations so far."""
    return {family: standing_of(judge_identity(model, rubric, family), calibrations) for family in families}


def with_jury(harness: Harness, tasks: TaskSet, jury: Jury, split_key: str) -> Harness:
    """Let a judge sit over the runs of a harness.

    Where it counts, model and prompt are part of the evaluator; where it only notes, results stay comparable.
    """
    counting = jury.counting
    named = digest(["judged", harness.digest, counting]) if counting else harness.digest

    def stop() -> None:
        jury.desk.stop()
        harness.end_all()

    def close() -> None:
        jury.desk.close()
        harness.close()

    return replace(
        harness,
        digest=named,
        evaluator=rollout_evaluator(tasks.digest, named, split_key, harness.divided.splits),
        runner=lambda place: JudgedRunner(harness.runner(place), jury),
        end_all=stop,
        close=close,
        provenance=(*harness.provenance, *jury.judges_in_words),
    )
