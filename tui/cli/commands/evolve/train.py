"""Training: one command that runs, proposes, tests and promotes, epoch by epoch, until budget or rest."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.errors import UsageError
from strategies.policy.active_preset import bound_by
from strategies.rollouts.compare.comparison import Rig
from strategies.train.train_skill import at_rest, train
from strategies.train.training_plan import EPOCHS, MINIBATCH, PATIENCE, TrainingCaps, TrainingPlan
from strategies.train.training_proposers import (
    REFLECT,
    PopulationProposer,
    ReflectProposer,
    local_proposer,
    population_named,
    population_proposer,
)
from strategies.train.training_record import TrainingRecord, record_of, records, table_of
from tui.cli.config.config import on_engine, read_config
from tui.cli.config.harness import HarnessOptions, harness_of, sandbox_policy
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape, some_model
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import (
    AgentCommand,
    AsJson,
    Bar,
    EngineName,
    RunsAtOnce,
    Scheduler,
    Skill,
    SkillModeName,
    TaskFile,
)
from tui.cli.output.progress import RunLine, note_stopped
from tui.cli.printers.proposer import require_key
from tui.cli.printers.training_table import print_end, print_row, print_start, print_table
from tui.documents.evolve import TrainDocument, TrainingPart
from tui.session.open_registry import find_registry, open_library, open_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.registry import Registry
    from strategies.models.tape import Tape
    from strategies.train.training_proposers import CommandProposer, PythonProposer
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

MOST_STEERING_CHARS: Final = 20_000
"""What a person may say of what is wanted (a guess: about 5,000 tokens)."""


Seed = Annotated[int | None, typer.Option(metavar="N", help="The seed of every random draw.")]
WhoProposes = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="reflect (a model), pareto or gepa (a population; pareto:NAME has NAME's ideas), one of a plug-in, "
        "module:function, or a command.",
    ),
]
Steering = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A text that says what is wanted, for the proposer.")
]


def train_skill(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Skill,
    *,
    tasks: TaskFile = "",
    agent: AgentCommand = "",
    skill_mode: SkillModeName = "",
    proposer: WhoProposes = REFLECT,
    steering: Steering = None,
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="At most this many in all.")] = EPOCHS,
    minibatch: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs that a proposer looks at together.")
    ] = MINIBATCH,
    patience: Annotated[
        int, typer.Option(min=1, metavar="N", help="Epochs in a row without a change after which it rests.")
    ] = PATIENCE,
    max_runs: Annotated[int | None, typer.Option(metavar="N", help="Runs of the agent in all.")] = None,
    max_usd: Annotated[
        float | None, typer.Option(metavar="N", help="US dollars in all, the proposer's too.")
    ] = None,
    hours: Annotated[float | None, typer.Option(metavar="H", help="How long this command may go on.")] = None,
    preset: Bar = "",
    seed: Seed = None,
    workers: RunsAtOnce = None,
    engine: EngineName = None,
    scheduler: Scheduler = "",
    replay: ModelReplay = None,
    record: ModelRecord = False,
    status: Annotated[bool, typer.Option("--status", help="Show the trainings so far, and run nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and how often at most; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train a skill on tasks: run, propose, test, promote; again.

    An epoch runs the live version on the explore tasks, shows failures and successes to a proposer, and puts what
    it suggests through the gate of `candidate test`. Ctrl-C, and the same command goes on from there: finished
    runs are kept. Exit code 0 also where nothing was promoted.
    """
    call = invocation(ctx)
    if status:
        _tell_status(call, skill, as_json=as_json)
        return
    config = on_engine(read_config(), *(("local", "") if dry_run else (engine, scheduler)))
    who = AskedProposer(proposer, tasks, opened_tape(replay, record=record and not dry_run), dry_run=dry_run)
    require_caps(("--max-runs", max_runs), ("--max-usd", max_usd), ("--hours", hours))
    caps, line = TrainingCaps(max_runs or 0, max_usd or 0.0, hours or 0.0), RunLine(call)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        name, bound = registry.capsule(skill).name, bound_by(registry, preset).preset
        harness = harness_of(
            registry,
            name,
            config,
            HarnessOptions(tasks, agent, workers, tape=who.tape, skill_mode=skill_mode, tell=call.note),
        )
        call.note(*harness.notes)
        rig = Rig(registry, harness, bound, config.seed if seed is None else seed, line.advance)
        with searching_proposer_of(registry, config, name, who) as asked:
            wanted = steering_text(steering)
            plan = TrainingPlan(name, rig, asked, epochs, minibatch, patience, caps, wanted)
            if dry_run:
                _tell_plan(call, plan, as_json=as_json)
            else:
                _run(call, plan, line, as_json=as_json)


class AskedProposer(NamedTuple):
    """Who is asked for changes, as it was typed; the file of tasks lies in a folder that it need not see."""

    name: str
    tasks: str
    tape: Tape | None
    dry_run: bool


@contextmanager
def proposer_of(
    registry: Registry, config: Config, skill: str, who: AskedProposer
) -> Iterator[ReflectProposer | PythonProposer | CommandProposer]:
    """Lend the proposer; what cannot work is reported before anything is run.

    Raises: UsageError where none is named so, or no model is named; CredentialsError where one would be asked
    without a key; UntrustedError.
    """
    if who.name != REFLECT:
        settings = config.rollouts.of(skill)
        tasks = who.tasks or settings.tasks
        yield local_proposer(
            who.name,
            sandbox_policy(settings, registry),
            tasks=Path(tasks).expanduser() if tasks else None,
            network=settings.network,
            passes=settings.environment,
        )
        return
    config.require("models")
    name = config.models.model_for("proposer")
    with some_model(registry, config, tape=who.tape, dry_run=who.dry_run) as model:
        if not who.dry_run:
            require_key(model, name)
        yield ReflectProposer(model, f"{REFLECT} {name}")


@contextmanager
def searching_proposer_of(
    registry: Registry, config: Config, skill: str, who: AskedProposer
) -> Iterator[ReflectProposer | PythonProposer | CommandProposer | PopulationProposer]:
    """Lend the proposer, which may search a population with the ideas of another one; raises as `proposer_of`."""
    population = population_named(who.name)
    search, ideas = population or ("", who.name)
    with proposer_of(registry, config, skill, who._replace(name=ideas)) as asked:
        yield population_proposer(search, asked) if population else asked


def steering_text(path: Path | None) -> str:
    """Read the text that says what is wanted; raises UsageError for a file that cannot be one."""
    if path is None:
        return ""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the steering text {path}: {error}", hint="name a text file") from error
    if not text.strip() or len(text) > MOST_STEERING_CHARS:
        size = f"{len(text):,} characters"
        raise UsageError(
            f"the steering text {path} has {size}", hint=f"say it in 1 to {MOST_STEERING_CHARS:,} characters"
        )
    return text.strip()


def _run(call: Invocation, plan: TrainingPlan, line: RunLine, *, as_json: bool) -> None:
    """Train, with a row of the table as each epoch ends."""
    registry, shown = plan.rig.registry, list[TrainingRecord]()

    def tell(record: TrainingRecord) -> None:
        line.clear()
        if as_json:
            return
        rows = table_of(registry, record)
        if not shown:
            print_start(call, record)
            print_table(call, rows)
        else:
            print_row(call, rows[-1])
        shown.append(record)
        call.flush()

    try:
        with line:
            end = train(plan, tell)
    except KeyboardInterrupt:
        note_stopped(call, plan.rig.meter.runs)
        raise
    rows, live = table_of(registry, end.record), registry.capsule(plan.skill).version
    if as_json:
        call.answer(TrainDocument(skill=plan.skill, trainings=(TrainingPart.of(end.record, rows),), why=end.why))
        return
    if not shown:
        print_start(call, end.record)
        print_table(call, rows)
    asked = plan.proposer.ideas_of if isinstance(plan.proposer, PopulationProposer) else plan.proposer
    failures = asked.failures if isinstance(asked, ReflectProposer) else []
    print_end(call, end.record, live, end.why, failures)


def _tell_plan(call: Invocation, plan: TrainingPlan, *, as_json: bool) -> None:
    """Say what would be run."""
    registry, harness = plan.rig.registry, plan.rig.harness
    known, divided = record_of(registry, plan.training), harness.divided
    parts = (TrainingPart.of(known, table_of(registry, known)),) if known else ()
    if as_json:
        document = TrainDocument(
            dry_run=True,
            skill=plan.skill,
            trainings=parts,
            explore_tasks=len(divided.explore),
            sealed_tasks=len(divided.sealed),
            audit_tasks=len(divided.audit),
            agent=harness.agent.name,
            proposer=plan.proposer.name,
            most_runs=plan.most_runs,
        )
        call.answer(document)
        return
    rest = at_rest(plan, known) if known else ""
    done = f", {len(known.epochs)} of which have ended" if known else ""
    searched = isinstance(plan.proposer, PopulationProposer) and not plan.caps.runs
    beside = ", beside those that the search makes on explore tasks" if searched else ""
    say_folded(
        call,
        "plan       ",
        f"at most {plan.most_runs:,} runs in {plan.epochs} epochs{done}{beside}: {len(divided.explore)} "
        f"explore tasks are shown to {plan.proposer.name}, {len(divided.sealed)} sealed ones decide, "
        f"{len(divided.audit)} are audit",
    )
    if rest:
        say_folded(call, f"{'':>11}", f"nothing would be run: {rest}")
    least = plan.rig.policy.least_tasks
    if len(divided.sealed) < least:
        call.note(f"warning    the gate needs {least} sealed tasks: on {len(divided.sealed)} it only holds")
    if not divided.explore and not plan.steering:
        call.note("warning    no task is in explore, so a proposer would see no run: germline tasks list FILE")
    call.say("dry run    nothing was run or written")


def require_caps(*caps: tuple[str, float | None]) -> None:
    """Raise UsageError for a cap that lets nothing run, each given with its option."""
    for option, cap in caps:
        if cap is not None and cap <= 0:
            raise UsageError(
                f"{option} {cap:g} lets nothing run", hint=f"leave out {option} for no cap; --dry-run runs nothing"
            )


def _tell_status(call: Invocation, skill: str, *, as_json: bool) -> None:
    """Show the trainings of a skill, the last one at the end."""
    with open_library(find_registry(call.registry)) as library:
        name = library.capsule(skill).name
        trainings = [(record, table_of(library, record)) for record in records(library, name)]
    if as_json:
        call.answer(TrainDocument(skill=name, trainings=tuple(TrainingPart.of(*each) for each in trainings)))
        return
    for record, rows in trainings:
        print_start(call, record)
        print_table(call, rows)
    if not trainings:
        call.say(f"{name} was never trained")
        call.say(f"next       germline train {name} --tasks FILE --agent CMD --dry-run")


COMMANDS: Final = {"train": train_skill}
