"""Audits: a skill is run beside no skill on tasks without graders, and what evaluators find is mended."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.errors import NotFoundError, RefusedError, UsageError
from events.types.audit_events import MOST_ITERATIONS
from registry.actions.publish import expected_files, keep_files, require_unedited
from registry.skill_md.disk import write_skill
from registry.skill_md.folder import SkillFolder, read_skill
from registry.skill_md.skill_files import SKILL_FILE
from strategies.audit.audit_model import AskingModel
from strategies.audit.audit_plan import PAIRS, AuditPlan
from strategies.audit.audit_record import audit_record, audit_records
from strategies.audit.audit_skill import audit_skill
from strategies.audit.audit_tasks import load_audit_tasks
from strategies.audit.drafts import capsule_of_folder
from strategies.audit.interpret_tasks import interpret_tasks, read_corrections, with_anchors
from strategies.audit.propose_audit import promote_draft
from strategies.policy.active_preset import bound_by
from strategies.rollouts.compare.comparison import Rig
from strategies.rollouts.run.runner import CapReachedError
from tui.cli.config.config import on_engine, read_config
from tui.cli.config.harness import HarnessOptions, harness_on
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape, some_model
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AgentCommand, AsJson, Bar, EngineName, RunsAtOnce, Scheduler
from tui.cli.output.progress import RunLine, note_stopped
from tui.cli.printers.audit_table import print_anchors, print_audit
from tui.cli.printers.proposer import require_key
from tui.documents.audit import AnchoredTaskPart, AuditDocument, AuditPart
from tui.reads.skill_paths import find_named
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.names import SHOWN_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.audit.audit_skill import AuditEnd
    from strategies.audit.evaluators.evaluator_types import TaskRequirements
    from strategies.audit.interpret_tasks import InterpretedTask
    from strategies.rollouts.tasks.task import TaskSet
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

SkillOrFolder = Annotated[
    str, typer.Argument(metavar="SKILL", help="A skill, or the folder of one that is a draft.")
]


def audit_command(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: SkillOrFolder,
    *,
    tasks: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="FOLDER/<id>/task.md and workspace/, or a task set.")
    ] = None,
    agent: AgentCommand = "",
    iterations: Annotated[
        int, typer.Option(min=1, max=MOST_ITERATIONS, metavar="N", help="Iterations at most.")
    ] = MOST_ITERATIONS,
    pairs: Annotated[
        int,
        typer.Option(min=1, max=20, metavar="N", help="Pairs of runs of each task at most."),
    ] = PAIRS,
    requirements: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What tasks ask for, as you corrected it.")
    ] = None,
    limit_s: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="S", help="Seconds that a run may take."),
    ] = None,
    promote: Annotated[
        bool, typer.Option("--promote", help="Make the result live where it helps and keeps every anchor.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write the audited draft there.")] = None,
    preset: Bar = "",
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed of the order of runs.")] = None,
    workers: RunsAtOnce = None,
    engine: EngineName = None,
    scheduler: Scheduler = "",
    replay: ModelReplay = None,
    record: ModelRecord = False,
    status: Annotated[bool, typer.Option("--status", help="Show the audits so far, and run nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the anchors and what would be run; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Audit a skill on tasks without graders, and mend it in drafts.

    Each task is run with the skill and without, and twelve evaluators look at the pair; what hurts, does nothing
    or is missing is changed in drafts, each of which is run again and rolled back where it hurts. The last good
    draft is proposed as one candidate. Ctrl-C, and the same command goes on from there. Exit code 0 also where
    nothing was changed.
    """
    call = invocation(ctx)
    if status:
        _tell_status(call, skill, as_json=as_json)
        return
    if tasks is None:
        raise UsageError("an audit needs tasks", hint="--tasks FOLDER; docs/audit.md shows one")
    tape = opened_tape(replay, record=record and not dry_run)
    corrections = read_corrections(requirements) if requirements else {}
    options = HarnessOptions(agent=agent, workers=workers, tape=tape)
    task_set = load_audit_tasks(tasks.expanduser(), limit_s=limit_s)
    show = _show_nothing if as_json else partial(print_anchors, call)
    asked = _Asked(skill, task_set, corrections, options, iterations, pairs, seed, preset, dry_run, show)
    config = on_engine(read_config(), *(("local", "") if dry_run else (engine, scheduler)))
    line, ending = RunLine(call), _Ending(promote, out, as_json)
    with (
        open_registry(find_registry(call.registry), dry_run=dry_run) as registry,
        _planned(registry, asked, config, line) as plan,
    ):
        _require_fitting(plan, promote=promote, out=out)
        if dry_run:
            _tell_plan(call, plan, as_json=as_json)
        else:
            _run(call, plan, line, ending)


def _show_nothing(known: InterpretedTask) -> None:
    """Print nothing of a task: what is printed is one JSON object."""
    del known


class _Ending(NamedTuple):
    """What is to become of the result, and how it is shown."""

    promote: bool
    out: Path | None
    as_json: bool


def _run(call: Invocation, plan: AuditPlan, line: RunLine, ending: _Ending) -> None:
    try:
        with line:
            end = audit_skill(plan)
    except KeyboardInterrupt:
        note_stopped(call, plan.rig.meter.runs)
        raise
    except CapReachedError as reached:
        _tell_stopped(call, plan, reached.what, as_json=ending.as_json)
        return
    _tell_end(call, plan, end, ending)


@dataclass(frozen=True)
class _Asked:
    """What was typed, as far as it makes the plan."""

    skill: str
    tasks: TaskSet
    corrections: Mapping[str, TaskRequirements]
    harness: HarnessOptions
    iterations: int
    pairs: int
    seed: int | None
    preset: str
    dry_run: bool
    show: Callable[[InterpretedTask], None]


@contextmanager
def _planned(registry: Registry, asked: _Asked, config: Config, line: RunLine) -> Iterator[AuditPlan]:
    """Lend the audit as it was asked for; the anchors of its tasks are locked before anything is run."""
    skill = _skill_or_draft(registry, asked.skill)
    if isinstance(skill, SkillFolder):
        base, version = capsule_of_folder(skill), 0
        if not asked.dry_run:
            keep_files(registry.log, skill)
    else:
        base, version = skill, skill.version
        require_unedited(registry, base.name)
    with _asking_model(registry, config, asked) as asking:
        reads = asking.read_task if asking and not asked.dry_run else None
        lock = not asked.dry_run
        tasks = interpret_tasks(registry, asked.tasks, asked.corrections, reads, lock=lock, show=asked.show)
        harness = harness_on(registry, base.name, config, asked.harness, with_anchors(asked.tasks, tasks))
        seed = config.seed if asked.seed is None else asked.seed
        rig = Rig(registry, harness, bound_by(registry, asked.preset).preset, seed, line.advance)
        yield AuditPlan(base, version, rig, tasks, asking, asked.iterations, asked.pairs)


@contextmanager
def _asking_model(registry: Registry, config: Config, asked: _Asked) -> Iterator[AskingModel | None]:
    """Lend the model that `[models] judge` names, None where none is; raises CredentialsError without a key."""
    name = config.models.judge
    if not name:
        yield None
        return
    with some_model(registry, config, tape=asked.harness.tape, dry_run=asked.dry_run) as model:
        if not asked.dry_run:
            require_key(model, name)
        yield AskingModel(model, name)


def _skill_or_draft(library: Library, skill: str) -> Capsule | SkillFolder:
    """Find a skill of the registry, or read the folder of one that is only a draft."""
    try:
        return find_named(library, skill).capsule
    except NotFoundError:
        folder = Path(skill).expanduser()
        if not (folder / SKILL_FILE).is_file():
            raise
    return read_skill(folder)


def _require_fitting(plan: AuditPlan, *, promote: bool, out: Path | None) -> None:
    """Refuse what cannot be done with the result, before anything is run."""
    if promote and not plan.version:
        raise UsageError(
            f"{plan.skill} is only a folder, so nothing can become live",
            hint="--out FOLDER writes the result; or germline import it first",
        )
    if out is not None and out.expanduser().exists():
        raise RefusedError(f"{out} is there already", hint="--out a folder that is not there yet")


def _tell_plan(call: Invocation, plan: AuditPlan, *, as_json: bool) -> None:
    """Show the anchors as compiled, and what would be run."""
    if as_json:
        document = AuditDocument(
            dry_run=True,
            skill=plan.skill,
            most_runs=plan.most_runs,
            tasks=tuple(AnchoredTaskPart.of(known) for known in plan.tasks),
            requirements=tuple(known.requirements for known in plan.tasks),
        )
        call.answer(document)
        return
    for known in plan.tasks:
        print_anchors(call, known)
    say_folded(
        call,
        "plan       ",
        f"at most {plan.most_runs:,} runs of {plan.rig.harness.agent.name}: {plan.skill} as given, no skill, and "
        f"what {plan.iterations} iterations try, on {len(plan.tasks)} tasks; {plan.search_runs:,} of them where"
        " no run shows which passage hurts",
    )
    call.say("dry run    nothing was run or written")


def _tell_stopped(call: Invocation, plan: AuditPlan, what: str, *, as_json: bool) -> None:
    """Say which cap ended the runs, and what is known by then."""
    record = audit_record(plan.rig.registry, plan.audit)
    if as_json:
        parts = (AuditPart.of(record),) if record else ()
        call.answer(AuditDocument(skill=plan.skill, audits=parts, stopped=what))
        return
    if record:
        print_audit(call, record)
    say_folded(call, "stopped    ", what)


def _tell_end(call: Invocation, plan: AuditPlan, end: AuditEnd, ending: _Ending) -> None:
    """Say what came of it; make it live, and write it, where that was asked for."""
    registry, ended = plan.rig.registry, end.record.ended
    held, anchors = end.draft.anchors
    candidate = ended.candidate if ended else ""
    fits = end.verdict.result == "helped" and not end.verdict.lost_anchors
    promoted = promote_draft(registry, candidate) if ending.promote and fits and candidate else 0
    written = _write(plan, end, ending.out.expanduser()) if ending.out else ()
    if ending.as_json:
        document = AuditDocument(
            skill=plan.skill, audits=(AuditPart.of(end.record),), result=end.verdict.result, written=written
        )
        call.answer(document.model_copy(update={"version": promoted}) if promoted else document)
        return
    print_audit(call, end.record)
    if promoted:
        call.say(f"live       {plan.skill}@{promoted}, decided by the audit; nothing was proven")
    elif ending.promote:
        call.say(f"not live   the audit says {end.verdict.result}, {held} of {anchors} anchors held")
    if written:
        say_folded(call, "written    ", f"{', '.join(written)}, in {ending.out}")
    call.say(f"next       {_next(plan, candidate, promoted)}")


def _write(plan: AuditPlan, end: AuditEnd, folder: Path) -> tuple[str, ...]:
    """Write the last good draft to a folder, whole."""
    return write_skill(folder, expected_files(plan.rig.registry.log, end.draft.capsule))


def _next(plan: AuditPlan, candidate: str, promoted: int) -> str:
    if promoted:
        return f"germline show {plan.skill}@{promoted} --blame    germline diff {plan.skill} {promoted - 1}"
    if candidate:
        short = candidate[:SHOWN_CHARS]
        return f"germline candidate show {short}    germline candidate approve {short} --reason TEXT"
    return f"germline audit {plan.skill} --status"


def _tell_status(call: Invocation, skill: str, *, as_json: bool) -> None:
    """Show the audits of a skill, the last one at the end."""
    with open_library(find_registry(call.registry)) as library:
        name = _skill_or_draft(library, skill).name
        records = audit_records(library, name)
    if as_json:
        call.answer(AuditDocument(skill=name, audits=tuple(map(AuditPart.of, records))))
        return
    for record in records:
        print_audit(call, record)
    if not records:
        call.say(f"{name} was never audited")
        call.say(f"next       germline audit {name} --tasks FOLDER --agent CMD --dry-run")


COMMANDS: Final = {"audit": audit_command}
