"""Evolving: turns of evolution on logs, and what each of them came to."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError
from strategies.engines.engine import engine_of
from strategies.evolve.loop import MAX_CYCLES, Evolution, Plan, evolve
from strategies.gate.replay.explore_split import forget
from strategies.policy.active_preset import bound_by
from strategies.policy.auto import AUTO
from strategies.pool.intake import take_in_scan
from tui.cli.config.config import on_engine, read_config
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape
from tui.cli.config.read_logs import ChosenLogs, read_logs, read_on
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, EngineName, OneOrAll, Scheduler
from tui.cli.printers.evolve import print_cycle, print_end, print_next, promoted_in
from tui.cli.printers.proposer import OFFLINE, Proposer, reflecting_of
from tui.cli.printers.trials import try_supported
from tui.documents.events import EventRow, event_rows
from tui.documents.evolve import EvolveDocument
from tui.session.open_registry import find_registry, open_registry

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.evolve.results import CycleResult
    from strategies.logs.scan import Scan
    from strategies.pool.intake_policy import IntakePolicy
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation


_Review = Annotated[bool, typer.Option("--review", help="Promote nothing: hold what the gate lets through.")]
_ExitCode = Annotated[
    bool, typer.Option("--exit-code", help="End with exit code 3 where nothing became a version.")
]


def evolve_skills(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: OneOrAll = "",
    *,
    logs: Annotated[
        list[str] | None,
        typer.Option("--logs", metavar="PATH", help="Limit the run, and its evaluator, to these; repeatable."),
    ] = None,
    preset: Annotated[str, typer.Option(metavar="P", help="The preset of this run; else the one in force.")] = "",
    cycles: Annotated[int, typer.Option(min=1, metavar="N", help="At most this many turns.")] = MAX_CYCLES,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of every random draw; else that of germline.toml.")
    ] = None,
    proposer: Proposer = OFFLINE,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    review: _Review = False,
    engine: EngineName = None,
    scheduler: Scheduler = "",
    exit_code: _ExitCode = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do all of it, print the events, and take it back.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take turns of evolution: scan, select, propose, gate, project.

    Holding is a result: a run that promotes nothing ends with exit code 0, with --exit-code 3. Each signal goes to
    its own skill, as `germline signals` says, and each skill learns from its own logs. With SKILL only its signals
    count, and with --logs too those that no skill answers to.
    """
    call = invocation(ctx)
    config = on_engine(read_config(), engine, scheduler)
    config.require("rollouts", *(() if logs else ("scan.paths",)))  # before anything is read
    tape = opened_tape(replay, record=record and not dry_run)
    with (
        open_registry(find_registry(call.registry), dry_run=dry_run) as registry,
        reflecting_of(registry, config, proposer, tape=tape, dry_run=dry_run) as reflecting,
    ):
        bound = bound_by(registry, preset)
        plan = Plan(
            preset=bound.preset,
            auto=bound.name == AUTO,
            seed=config.seed if seed is None else seed,
            skill=registry.capsule(skill).name if skill else "",  # an unknown one is told before logs are read
            cycles=cycles,
            write=not dry_run,
            review=review,
            policy=config.policy,
            reflecting=reflecting,
            logs=config.skill_logs(registry),
        )
        scan = _scan(call, registry, config, logs)
        if logs and scan:
            plan = replace(plan, only={record.id for record in scan.records})
        if config.rollouts.decide:
            from tui.cli.config.harness import trials_of  # noqa: PLC0415 - most runs of evolve make no runs of agents

            plan = replace(plan, trials=trials_of(registry, config, deferred=dry_run, tape=tape, tell=call.note))
        workers = engine_of(config.engine, processes=config.workers, forget=forget).sharing()
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext(), workers as sharing:
            result = _run(call, registry, replace(plan, sharing=sharing), scan, config.policy, quiet=as_json)
            events = event_rows(since(registry, before)) if dry_run else ()
        if bound.preset.trials and not (dry_run or review):
            try_supported(call, registry, result.cycles, plan.logs)
    _tell(call, result, skill, events if dry_run else None, as_json=as_json)
    if exit_code and not promoted_in(result):
        raise typer.Exit(CheckFailedError.exit_code)


def _scan(call: Invocation, registry: Registry, config: Config, logs: list[str] | None) -> Scan | None:
    """Read the logs that are named, from their beginnings, else on in those of the settings."""
    if logs:
        return read_logs(call, [Path(path).expanduser() for path in logs], config)
    return read_on(call, registry, ChosenLogs(list(config.paths)), config) if config.paths else None


def _tell(
    call: Invocation, result: Evolution, skill: str, events: tuple[EventRow, ...] | None, *, as_json: bool
) -> None:
    """Tell what a run came to; `events` are those of a dry run."""
    if as_json:
        call.answer(EvolveDocument.of_run(result, events))
        return
    print_end(call, result)
    if events is not None:
        print_rehearsed(call, events)
    print_next(call, result, skill, rehearsed=events is not None)


def _run(
    call: Invocation,
    registry: Registry,
    plan: Plan,
    scan: Scan | None,
    policy: IntakePolicy,
    *,
    quiet: bool,
) -> Evolution:
    """Take in what was read, then take the turns, telling of each as it ends."""

    def tell(result: CycleResult) -> None:
        if not quiet:
            print_cycle(call, result, reasons=not plan.write)

    if scan is not None:
        take_in_scan(registry, scan, policy=policy)
    return evolve(registry, plan, tell)


COMMANDS: Final = {"evolve": evolve_skills}
