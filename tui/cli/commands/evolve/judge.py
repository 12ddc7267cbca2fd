"""The judge: a model that compares outputs, how it agrees with people's labels, and what it may do for that."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.errors import CheckFailedError, UsageError
from tui.cli.config.model_options import ModelRecord, ModelReplay, model_of
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.documents.judge import (
    CalibrationRow,
    JudgeCalibrateDocument,
    JudgeScoreDocument,
    JudgeShowDocument,
    LabelledPairs,
)
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from strategies.judge.ask_judge import PairJudge
    from strategies.judge.labels import LabelFile
    from strategies.judge.run_scores import Scoring
    from strategies.models.protocol import Model
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

_RUNS: Final = 20
"""Runs that are scored unasked: some 300,000 tokens at most (a guess)."""

judge = typer.Typer(help="Calibrate a model as judge; say what it may do.", rich_markup_mode=None)


@judge.command("calibrate")
def calibrate_judge(
    ctx: typer.Context,
    *,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Pairs that people compared, as JSONL.")
    ] = None,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Measure a judge against pairs that people compared: may its verdict count?

    Each pair with mixed results is asked about in both orders, blind. The judge may promote while its model, its
    prompt and the family of tasks stay as they are. Exit code 3 where it may not for one of the families.
    """
    from strategies.judge.calibrate import ORDERS, PAIRS_AT_ONCE, calibrate, to_judge  # noqa: PLC0415 - `judge show` asks nobody
    from strategies.judge.calibration_rule import missing_from  # noqa: PLC0415 - the same
    from strategies.judge.labels import read_labels  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the list of commands pays for none of it
    from tui.cli.output.progress import Counted  # noqa: PLC0415 - the same
    from tui.cli.printers.judge import print_calibration  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    if labels is None:
        raise UsageError("a judge is calibrated on labels", hint="germline judge calibrate --labels FILE")
    file = read_labels(labels.expanduser())
    wanted = to_judge(file)
    pairs = sum(map(len, wanted.values()))
    config.require("models", "judge.rubric")
    name = config.models.model_for("judge")
    if dry_run:
        _tell_plan(call, file, name, pairs * ORDERS, as_json=as_json)
        return
    with (
        open_registry(find_registry(call.registry)) as registry,
        model_of(registry, config, replay=replay, record=record) as model,
        Counted(call, "judging", pairs) as progress,
    ):
        at_once = pairs if config.models.batch else PAIRS_AT_ONCE  # a batch is waited for as a whole
        judge = _judge(model, name, config)
        calibrated = calibrate(registry, judge, file, at_once=at_once, on_progress=progress.advance)
    if as_json:
        call.answer(JudgeCalibrateDocument(calibrations=tuple(map(CalibrationRow.of, calibrated))))
    else:
        _tell_left_out(call, file, wanted)
        for calibration in calibrated:
            print_calibration(call, calibration)
        call.say("next       germline judge show")
    if any(missing_from(calibration) for calibration in calibrated):
        raise typer.Exit(CheckFailedError.exit_code)


def _judge(model: Model | None, name: str, config: Config) -> PairJudge:
    from strategies.judge.ask_judge import PairJudge  # noqa: PLC0415 - the list of commands pays for none of it
    from tui.cli.config.model_options import rubric_of  # noqa: PLC0415 - the same

    if model is None:  # the settings name a model by now, and it is no dry run
        raise UsageError("no model is named", hint='judge = "MODEL" under [models] in germline.toml')
    return PairJudge(model, name, rubric_of(config))


def _tell_plan(call: Invocation, file: LabelFile, name: str, requests: int, *, as_json: bool) -> None:
    """Say what would be asked."""
    families = {
        family: LabelledPairs(pairs=len(pairs), labelled=sum(pair.label is not None for pair in pairs))
        for family, pairs in file.families.items()
    }
    if as_json:
        document = JudgeCalibrateDocument(
            dry_run=True, model=name, families=families, requests=requests, events=()
        )
        call.answer(document)
        return
    call.say(f"dry run: would ask {name} {count(requests, 'question')}; nothing was asked or changed")
    for family, figures in families.items():
        label_words = f"{count(figures.pairs, 'pair')} with mixed results, {figures.labelled:,} labelled"
        call.say(f"  {family:<18} {label_words}")


def _tell_left_out(call: Invocation, file: LabelFile, wanted: dict[str, Any]) -> None:
    """Say what of the file was not asked about."""
    alike = sum(not pair.mixed for pair in file.pairs)
    if alike:
        call.note(f"left out   {count(alike, 'pair')} on which results are not mixed: any judge is as good there")
    for family in file.families.keys() - wanted.keys():
        call.note(f"left out   the family {family}: none of its pairs has a label")


@judge.command("score")
def score_by_criteria(
    ctx: typer.Context,
    *,
    runs: Annotated[int, typer.Option("--runs", min=1, metavar="N", help="How many runs, at most.")] = _RUNS,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Score single runs by five criteria, as a note beside them: no verdict looks at it.

    Chosen are runs of tasks that some runs solve and some do not, which a proposer may see; each is scored once by
    a model and a prompt.
    """
    from strategies.judge.ask_criteria import RunScorer, criteria_prompt  # noqa: PLC0415 - `judge show` asks nobody
    from strategies.judge.run_scores import explore_to_score, score_runs  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the list of commands pays for none of it

    call, config = invocation(ctx), read_config()
    config.require("models", "judge.rubric")
    name = config.models.model_for("judge")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        chosen = explore_to_score(registry, (name, criteria_prompt()), runs)
        if dry_run:
            number = len(chosen)
            if as_json:
                call.answer(JudgeScoreDocument(dry_run=True, model=name, runs=number, requests=number, events=()))
            else:
                call.say(
                    f"dry run: would ask {name} about {count(len(chosen), 'run')}; nothing was asked or changed"
                )
            return
        if not chosen:
            raise UsageError(
                "no run is left to score: none of a task with mixed results that has no score yet",
                hint="germline scan PATH    germline judge show",
            )
        with model_of(registry, config, replay=replay, record=record) as model:
            if model is None:
                raise UsageError("no model is named", hint='judge = "MODEL" under [models] in germline.toml')
            scoring = score_runs(registry, RunScorer(model, name), chosen)
    if scoring.event is None and scoring.failed:
        raise scoring.failed[0]
    _tell_scored(call, scoring, as_json=as_json)


def _tell_scored(call: Invocation, scoring: Scoring, *, as_json: bool) -> None:
    scored = scoring.event.runs if scoring.event else 0
    if as_json:
        cost = scoring.event.cost_usd if scoring.event else 0.0
        call.answer(JudgeScoreDocument(runs=scored, gone=scoring.gone, failed=len(scoring.failed), cost_usd=cost))
        return
    call.say(f"scored     {count(scored, 'run')}, as a note beside {'it' if scored == 1 else 'them'}")
    if scoring.gone:
        call.say(f"           {count(scoring.gone, 'run')} without a text: the log is gone, or a text was erased")
    for error in dict.fromkeys(str(failure) for failure in scoring.failed):
        call.note(f"warning    {error}")
    call.say("next       germline judge show")


@judge.command("show")
def show_judge(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """Show what judges may do, how they stand to labels, and what scores of runs are worth."""
    from strategies.judge.calibrate import calibrations  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.judge.run_scores import scored_runs, tested  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same
    from tui.cli.config.model_options import present_prompt  # noqa: PLC0415 - the same
    from tui.cli.printers.judge import Present, print_judges  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    with open_library(find_registry(call.registry)) as library:
        known = calibrations(library)
        scores = [tested(model, prompt, rows) for (model, prompt), rows in scored_runs(library).items()]
    config.require("models.judge", "judge.rubric")
    present = Present(config.models.judge, present_prompt(config), str(config.rubric or ""))
    if as_json:
        judge_now = (present.model, present.prompt, present.rubric)
        call.answer(JudgeShowDocument.of(judge_now, present.standings(known), known, scores))
    else:
        print_judges(call, present, known, scores)


COMMANDS: Final = {"judge": judge}
