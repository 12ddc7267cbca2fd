from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from events.errors import CredentialsError, SpendingCapError
from events.model_errors import DeclinedError, TimedOutError
from events.types.model_events import TokenUsage
from strategies.gate.vetoes import judge_figures
from strategies.judge.ask_judge import RUBRIC, PairAnswer
from strategies.judge.calibration_rule import WITHOUT, JudgeStanding
from strategies.models.protocol import Reply
from strategies.rollouts.compare.model_grader import Jury, standings_of
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.trial import LayerResult, ShownWork, Trial
from strategies.rollouts.tasks.check_types import FileExists
from strategies.rollouts.tasks.task import ChecksGrader, JudgeGrader, RolloutTask

if TYPE_CHECKING:
    from strategies.judge.calibration_rule import Place
    from strategies.models.protocol import Request

TASK = RolloutTask(
    id="t",
    prompt="Say it.",
    graders=(
        ChecksGrader(name="done", checks=(FileExists(path="done"),)),
        JudgeGrader(name="clear", family="prose", reference="a plain answer"),
    ),
)
GRADED = Trial(
    task="t",
    status="done",
    value=1.0,
    lenient=True,
    layers=(LayerResult(name="done", value=1.0, threshold=1.0),),
    shown=(ShownWork(layer="clear", text="the answer"),),
)


@dataclass
class SpokenDesk:
    """A desk that answers with what a test says, in turn."""

    says: tuple[Place | Exception, ...]
    asked: list[Request[PairAnswer]] = field(default_factory=list)

    def ask(self, request: Request[PairAnswer], *, within_s: float) -> Reply[PairAnswer]:
        assert within_s == 60.0
        answer = self.says[len(self.asked)]
        self.asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        return Reply(
            PairAnswer(reason="so", better=answer), "", (), "end_turn", TokenUsage(), 0.5, "m", "p", "r", "k"
        )


def jury(*says: Place | Exception, counts: bool = True) -> Jury:
    standing = JudgeStanding(WITHOUT | {"promote"}) if counts else JudgeStanding(WITHOUT, ("never calibrated",))
    return Jury(cast("Any", SpokenDesk(says)), "m", RUBRIC, {"prose": standing}, 60.0)


@pytest.mark.parametrize(
    ("says", "value", "passed"),
    [
        (("second", "first"), 1.0, True),
        (("tie", "tie"), 0.5, True),
        (("first", "second"), 0.0, False),
        (("first", "first"), 0.5, True),
    ],
)
def test_work_is_worth_what_the_judge_says_of_it_in_both_orders(
    says: tuple[Place, Place],
    value: float,
    passed: bool,  # noqa: FBT001 - a case of the table
) -> None:
    trial = jury(*says).judged(TASK, GRADED)
    layer = trial.layers[-1]
    assert (layer.name, layer.value, layer.passed, layer.counts) == ("clear", value, passed, True)
    assert trial.value == (1.0 + value) / 2
    assert trial.shown == ()
    assert trial.cost_usd == 1.0


def test_a_layer_that_does_not_count_moves_neither_the_value_nor_the_lenient_pass() -> None:
    trial = jury("first", "second", counts=False).judged(TASK, GRADED)
    assert (trial.value, trial.lenient) == (1.0, True)
    assert (trial.layers[-1].value, trial.layers[-1].counts) == (0.0, False)


def test_a_judge_that_counts_can_take_the_lenient_pass_away() -> None:
    assert not jury("first", "second").judged(TASK, GRADED).lenient


def test_no_answer_of_use_voids_the_pair_where_the_judge_counts() -> None:
    trial = jury("second", DeclinedError("it declined")).judged(TASK, GRADED)
    assert (trial.status, trial.note) == ("infrastructure", "judge clear: it declined")
    assert trial.shown == ()


@pytest.mark.parametrize("counts", [True, False])
def test_what_a_judge_was_paid_before_it_gave_no_answer_is_part_of_what_the_run_cost(*, counts: bool) -> None:
    trial = jury("second", DeclinedError("it declined"), counts=counts).judged(TASK, GRADED)
    assert trial.cost_usd == 0.5


@pytest.mark.parametrize("error", [DeclinedError("no"), TimedOutError("late")])
def test_no_answer_of_use_takes_nothing_with_it_where_the_judge_only_notes(error: Exception) -> None:
    trial = jury(error, counts=False).judged(TASK, GRADED)
    assert (trial.status, trial.value, len(trial.layers)) == ("done", 1.0, 1)


def test_a_cap_ends_the_runs_where_the_judge_counts_and_not_where_it_notes() -> None:
    cap = SpendingCapError("no room", cap="cap_usd_per_day", limit=1.0, spent=1.0, most=0.1)
    with pytest.raises(CapReachedError, match="no room"):
        jury(cap).judged(TASK, GRADED)
    assert jury(cap, counts=False).judged(TASK, GRADED).status == "done"


def test_a_refused_key_ends_everything() -> None:
    with pytest.raises(CredentialsError):
        jury(CredentialsError("invalid key"), counts=False).judged(TASK, GRADED)


def test_work_that_cannot_be_read_is_worth_nothing_and_nobody_is_asked() -> None:
    unread = GRADED.model_copy(update={"shown": (ShownWork(layer="clear", text=None),)})
    trial = jury().judged(TASK, unread)
    assert (trial.layers[-1].value, trial.value) == (0.0, 0.5)


def test_what_a_judge_has_yet_to_see_is_never_stored() -> None:
    assert "the answer" not in GRADED.model_dump_json()
    assert Trial.model_validate_json(GRADED.model_dump_json()).shown == ()


def test_results_depend_on_model_and_prompt_only_where_the_judge_counts() -> None:
    assert jury(counts=False).counting == {}
    assert list(jury().counting) == ["prose"]
    assert jury().counting["prose"][0] == "m"


def test_a_judge_that_finds_most_work_worse_shows_it_and_one_that_wavers_does_not() -> None:
    worse = judge_figures("clear", [[(1.0, 0.0)]] * 12 + [[(0.0, 0.5)]] * 4, counts=False)
    wavers = judge_figures("clear", [[(1.0, 0.0)], [(0.0, 1.0)]] * 8, counts=False)
    assert worse is not None
    assert wavers is not None
    assert (worse.worse, worse.pairs, worse.difference) == (True, 16, -0.625)
    assert (wavers.worse, wavers.difference) == (False, 0.0)


def test_runs_without_a_verdict_of_the_judge_show_nothing() -> None:
    assert judge_figures("clear", [[None], []], counts=False) is None
    half = judge_figures("clear", [[None, (0.5, 1.0)], [None]], counts=True)
    assert half is not None
    assert (half.before, half.after, half.pairs) == (0.5, 1.0, 1)


def test_a_judge_that_was_never_calibrated_counts_on_no_family() -> None:
    standings = standings_of(["prose", "sql"], "m", RUBRIC, [])
    assert [standing.promotes for standing in standings.values()] == [False, False]
