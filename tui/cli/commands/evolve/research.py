"""Research: one command that changes files by experiments, and keeps what surely measures better."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.errors import UsageError
from strategies.gate.rollout_rule import LOOKS
from strategies.policy.active_preset import bound_by
from strategies.policy.canonical_json import digest
from strategies.research.research_files import approve, research, undo
from strategies.research.research_plan import EXPERIMENTS, ResearchPlan, rig_of_experiments
from strategies.research.research_record import ResearchRecord, research_record, research_records
from strategies.research.research_surface import ResearchTarget, surface_now
from strategies.rollouts.compare.comparison import Rig
from strategies.rollouts.compare.metric import load_metric
from strategies.train.training_proposers import REFLECT
from tui.cli.commands.evolve.train import (
    AskedProposer,
    Seed,
    Steering,
    WhoProposes,
    proposer_of,
    require_caps,
    steering_text,
)
from tui.cli.config.config import read_config
from tui.cli.config.harness import HarnessOptions, harness_of, harness_of_metric, sandbox_policy
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import (
    UNDECIDED,
    AgentCommand,
    AsJson,
    Bar,
    Reason,
    RunsAtOnce,
    TaskFile,
    require_reason,
)
from tui.cli.output.progress import RunLine, note_stopped
from tui.cli.printers.research_table import print_experiment, print_research, print_research_end
from tui.documents.measurements import ResearchDocument, ResearchPart
from tui.reads.researched_files import find_target
from tui.session.open_registry import find_registry, open_library, open_registry

if TYPE_CHECKING:
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.compare.metric import Metric
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

MostUsd = Annotated[
    float | None, typer.Option(metavar="N", help="US dollars of this command, the proposer's too.")
]


class _Measure(NamedTuple):
    """What measures a target: a metric, or None where tasks do, and the runs that it takes."""

    target: ResearchTarget
    metric: Metric | None
    harness: Harness


def research_target(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="SKILL|FILE", help="A skill, or one file outside of any.")],
    *,
    metric: Annotated[str, typer.Option(metavar="FILE", help="The metric; else that of germline.toml.")] = "",
    tasks: TaskFile = "",
    agent: AgentCommand = "",
    surface: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Which files of the skill may change; else all of them."),
    ] = None,
    proposer: WhoProposes = REFLECT,
    steering: Steering = None,
    experiments: Annotated[int, typer.Option(min=1, metavar="N", help="At most this many in all.")] = EXPERIMENTS,
    hours: Annotated[float, typer.Option(min=0, metavar="H", help="How long this command may go on.")] = 0,
    minutes: Annotated[
        float, typer.Option(min=0, metavar="M", help="What each experiment may take; else its share of --hours.")
    ] = 0,
    max_usd: MostUsd = None,
    preset: Bar = "",
    seed: Seed = None,
    workers: RunsAtOnce = None,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    undone: Annotated[bool, typer.Option("--undo", help="Take the last kept experiment on a FILE back.")] = False,
    approved: Annotated[
        int | None,
        typer.Option("--approve", metavar="N", help="Write what the held experiment N makes of a FILE."),
    ] = None,
    reason: Reason = "",
    status: Annotated[bool, typer.Option("--status", help="Show the researches so far, and run nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run; run and write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Research files by experiments, and keep what gains.

    An experiment changes scripts and references of a skill, or one file; a metric or tasks measure it, and it is
    kept where that surely shows a gain. Ctrl-C, and the same command goes on from there. Exit code 0 also where
    nothing was kept.
    """
    call = invocation(ctx)
    where, patterns = find_registry(call.registry), tuple(surface or ())
    if status:
        with open_library(where) as library:
            _tell_status(call, library, find_target(library, target, where, patterns).name, as_json=as_json)
        return
    deciding = "--undo" if undone else f"--approve {approved}" if approved is not None else ""
    if deciding:
        require_reason(reason, UNDECIDED, f"germline research {target} {deciding} --reason TEXT")
    require_caps(("--max-usd", max_usd))
    config = read_config()
    asked = AskedProposer(proposer, tasks, opened_tape(replay, record=record and not dry_run), dry_run=dry_run)
    line = RunLine(call)
    with open_registry(where, dry_run=dry_run) as registry:
        named = find_target(registry, target, where, patterns)
        if deciding:
            _decide(call, registry, named, _Decision(approved, reason, dry_run=dry_run), as_json=as_json)
            return
        options = HarnessOptions(tasks, agent, workers, tape=asked.tape, tell=call.note)
        known, metric_file, harness = _measure_of(registry, named, config, metric, options)
        bound, policy = bound_by(registry, preset).preset, sandbox_policy(config.rollouts.of(named.name), registry)
        rig = rig_of_experiments(
            Rig(registry, harness, bound, config.seed if seed is None else seed, line.advance)
        )
        with proposer_of(registry, config, named.name, asked) as who:
            limits = (experiments, hours, minutes, max_usd or 0.0)
            plan = ResearchPlan(known, rig, who, policy, metric_file, steering_text(steering), *limits)
            (_tell_plan if dry_run else _run)(call, plan, line, as_json=as_json)


def _measure_of(
    registry: Registry, target: ResearchTarget, config: Config, named: str, options: HarnessOptions
) -> _Measure:
    """Set up what measures a target; what measures it is locked.

    Raises: UsageError where a file has no metric, or the metric's command does not take what is measured; what
    `harness_of` raises.
    """
    settings = config.rollouts.of(target.name)
    path = named or ("" if options.tasks else settings.metric)
    if not path:
        if target.file:
            raise UsageError(
                f"{target.name} lies outside of any skill, and no metric is named for it",
                hint="--metric FILE; docs/research.md shows one",
            )
        if not (options.tasks or settings.tasks):
            config.require("rollouts")  # a folder that is not trusted may well name them
            raise UsageError(
                f"nothing is named that measures {target.name}",
                hint="--metric FILE, or --tasks FILE with --agent; docs/research.md shows both",
            )
        tasks = Path(options.tasks or settings.tasks).expanduser().resolve()
        locked = target._replace(locked=(tasks.parent,))
        return _Measure(locked, None, harness_of(registry, target.name, config, options))
    if not named:
        config.require("rollouts")
    unknown = int(digest(["seeds", registry.about().split_key])[:8], 16)  # no answer is learned by heart
    metric = replace(load_metric(Path(path).expanduser()), first_seed=unknown)
    if target.file is not None:
        inside = target.file.is_relative_to(metric.folder)
        target = target._replace(
            place=target.file.relative_to(metric.folder).as_posix() if inside else target.place
        )
        metric = replace(metric, measured=target.place)
    needed = "{file}" if target.file else "{skill_dir}"
    if not any(needed in word for word in metric.file.command):
        raise UsageError(
            f"the command of the metric {metric.file.name} does not name {needed}, so it would measure nothing "
            f"of {target.name}",
            hint="docs/research.md shows a metric",
        )
    measuring = (Path(path).expanduser().name, metric.file.steering, *metric.file.files)
    target = target._replace(locked=tuple((metric.folder / each).resolve() for each in measuring))
    return _Measure(target, metric, harness_of_metric(registry, target.name, config, options, metric))


def _run(call: Invocation, plan: ResearchPlan, line: RunLine, *, as_json: bool) -> None:
    """Research, with a row of the table as each experiment ends."""
    registry, shown = plan.rig.registry, list[int]()

    def tell(record: ResearchRecord) -> None:
        line.clear()
        if as_json:
            return
        if shown:
            print_experiment(call, registry, record.ended[-1])
        else:
            print_research(call, registry, record)
        shown.append(len(record.ended))
        call.flush()

    try:
        with line:
            end = research(plan, tell)
    except KeyboardInterrupt:
        note_stopped(call, plan.rig.meter.runs)
        raise
    if as_json:
        part = ResearchPart.of(end.record)
        call.answer(ResearchDocument(target=plan.target.name, researches=(part,), why=end.why))
        return
    if not shown:
        print_research(call, registry, end.record)
    print_research_end(call, end.record, end.why)


def _tell_plan(call: Invocation, plan: ResearchPlan, line: RunLine, *, as_json: bool) -> None:
    """Say what would be run."""
    line.clear()
    registry = plan.rig.registry
    with registry.log.transaction():
        files = tuple(file.path for file in surface_now(registry, plan.target).files)
    known = research_record(registry, plan.research)
    done, pairs = len(known.ended) if known else 0, len(plan.rig.harness.divided.sealed)
    most = 2 * pairs * LOOKS[-1] * max(plan.experiments - done, 0)
    if as_json:
        document = ResearchDocument(
            dry_run=True,
            target=plan.target.name,
            researches=(ResearchPart.of(known),) if known else (),
            surface=files,
            measured_by=plan.measured_by,
            proposer=plan.proposer.name,
            most_runs=most,
        )
        call.answer(document)
        return
    each = f", each in {plan.experiment_s:,.0f} s at most" if plan.experiment_s else ""
    ended = f", {done} of which have ended" if done else ""
    say_folded(
        call,
        "plan       ",
        f"{plan.experiments} experiments{ended}, suggested by {plan.proposer.name}: at most {most:,} runs, beside "
        f"those that measure the noise{each}",
    )
    say_fact(call, "surface", ", ".join(files))
    say_fact(call, "measure", plan.measured_by)
    call.say("dry run    nothing was run or written")


class _Decision(NamedTuple):
    """What a person says: a held experiment by its number is approved, or, without one, the last kept goes."""

    approved: int | None
    reason: str
    dry_run: bool


def _decide(
    call: Invocation, registry: Registry, target: ResearchTarget, decision: _Decision, *, as_json: bool
) -> None:
    """Write what a held experiment makes of a file, or take the last kept one back."""
    number, reason, dry_run = decision
    if target.file is None:
        held = "germline candidates, then germline candidate approve ID --reason TEXT"
        undo_hint = f"germline revert {target.name} --to N --reason TEXT"
        what, hint = ("keeps", undo_hint) if number is None else ("holds", held)
        kind = "version" if number is None else "candidate"
        raise UsageError(f"what research {what} of {target.name} is a {kind} of it", hint=hint)
    with registry.rehearsal() if dry_run else nullcontext():
        if number is None:
            taken_back = undo(registry, target, reason, dry_run=dry_run).experiment
            outcome = f"undone     experiment {taken_back}: {target.name} is as it was before"
        else:
            taken_back = None
            approve(registry, target, number, reason, dry_run=dry_run)
            outcome = f"approved   experiment {number}: {target.name} is as it proposes; nothing was measured"
    if as_json:
        parts = tuple(map(ResearchPart.of, research_records(registry, target.name)))
        document = ResearchDocument(target=target.name, researches=parts, undone=taken_back, dry_run=dry_run)
        call.answer(document)
        return
    call.say(outcome)
    call.say(
        "dry run    nothing was written" if dry_run else f"next       germline research {target.name} --status"
    )


def _tell_status(call: Invocation, library: Library, target: str, *, as_json: bool) -> None:
    """Show the researches of a target, the last one at the end."""
    records = research_records(library, target)
    if as_json:
        call.answer(ResearchDocument(target=target, researches=tuple(map(ResearchPart.of, records))))
        return
    for record in records:
        print_research(call, library, record)
    if not records:
        call.say(f"{target} was never researched")
        call.say(f"next       germline research {target} --metric FILE --dry-run")


COMMANDS: Final = {"research": research_target}
