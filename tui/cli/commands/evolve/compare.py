"""Comparing models: the same sealed tasks under several models and versions of a skill."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, TaskFile
from tui.cli.output.progress import RunLine, note_stopped
from tui.documents.measurements import CompareDocument
from tui.session.open_registry import find_registry, open_registry
from tui.text.names import split_skill
from tui.text.numbers import count, interval, share, signed
from tui.text.terminal_text import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.registry import Registry
    from strategies.rollouts.compare.models import ComparedModel, ModelsCompared
    from strategies.rollouts.run.arms import Arm
    from tui.cli.output.invocation import Invocation

_HINT: Final = "germline compare SKILL --models A,B"


def compare(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="SKILL[@V]…", help="Versions of one skill; the live one if none is named."),
    ],
    *,
    models: Annotated[str, typer.Option(metavar="A,B", help="The models; all others are paired with the first.")],
    tasks: TaskFile = "",
    rounds: Annotated[int, typer.Option(metavar="N", min=1, max=8, help="Runs of each on each task.")] = 1,
    no_skill: Annotated[bool, typer.Option("--no-skill", help="Also without any skill.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed of the order of tasks.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="Runs at once.")] = None,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the same sealed tasks under several models and versions.

    Each row is paired with the first, task by task. Nothing is promoted by it. Finished runs are kept, and
    found again.
    """
    from strategies.policy.presets import DEFAULT_PRESET, PRESETS  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.rollouts.compare.comparison import Rig  # noqa: PLC0415 - the same
    from strategies.rollouts.compare.models import compare_models  # noqa: PLC0415 - the same
    from strategies.rollouts.run.agent_templates import MESSAGES  # noqa: PLC0415 - the same
    from strategies.rollouts.run.runner import Meter  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same
    from tui.cli.config.harness import HarnessOptions, harness_of  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    wanted = list(dict.fromkeys(name.strip() for name in models.split(",") if name.strip()))
    if not wanted:
        raise UsageError("no model is named", hint=_HINT)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, RunLine(call) as line:
        skill, arms = _arms(registry, names, no_skill=no_skill)
        tape = opened_tape(replay, record=record)
        meter, draws = Meter(), config.seed if seed is None else seed
        rigs = {}
        for model in wanted:
            asked = HarnessOptions(tasks, MESSAGES, workers, model, tape, tell=call.note)
            harness = harness_of(registry, skill, config, asked)
            rigs[model] = Rig(registry, harness, PRESETS[DEFAULT_PRESET], draws, line.advance, meter=meter)
        if dry_run:
            sealed = len(rigs[wanted[0]].harness.divided.sealed)
            _tell_plan(call, sealed, len(wanted) * len(arms) * sealed * rounds, as_json=as_json)
            return
        try:
            compared = compare_models(rigs, arms, rounds)
        except KeyboardInterrupt:
            note_stopped(call, meter.runs)
            raise
    if as_json:
        call.answer(CompareDocument.of(skill, compared))
    else:
        _print(call, skill, compared)


def _arms(registry: Registry, names: Sequence[str], *, no_skill: bool) -> tuple[str, list[Arm]]:
    """Give the versions that are compared, each once, and whose they are."""
    from strategies.rollouts.run.arms import NO_SKILL, incumbent  # noqa: PLC0415 - the list of commands pays for none

    split = [split_skill(name) for name in names]
    skills = sorted({name for name, _ in split})
    if len(skills) != 1:
        raise UsageError(f"versions of one skill are compared; these are of {', '.join(skills)}", hint=_HINT)
    capsules = {capsule.version: capsule for capsule in (registry.capsule(name, ref) for name, ref in split)}
    arms = [incumbent(registry.log, capsule) for capsule in capsules.values()]
    return skills[0], [*arms, NO_SKILL] if no_skill else arms


def _tell_plan(call: Invocation, sealed: int, most: int, *, as_json: bool) -> None:
    if as_json:
        call.answer(CompareDocument(dry_run=True, sealed_tasks=sealed, most_runs=most, events=()))
        return
    call.say(f"dry run: {count(sealed, 'sealed task')}, at most {count(most, 'run')}, less what the bank has")


def _print(call: Invocation, skill: str, compared: ModelsCompared) -> None:
    made = f"{compared.made:,} run now, {compared.reused:,} from the bank"
    ground = f"{count(compared.tasks, 'sealed task')}, {count(compared.rounds, 'round')}"
    call.say(f"{skill} on {ground}; {made}\n")
    heading = f"  {'model':<22} {'version':<8} {'score':<17} {'to the first':<20} {'USD':>6}"
    call.say(call.paint(heading.rstrip(), "dim"))
    for row in compared.rows:
        call.say(_line(row).rstrip())
    missing = sum(row.missing for row in compared.rows)
    if missing:
        call.note("", f"{count(missing, 'run')} missing: lost to infrastructure, or not made")
    if compared.stopped:
        call.note(f"stopped    {compared.stopped}")
    widest = max(
        (row.against.detectable for row in compared.rows if row.against and row.against.tasks), default=None
    )
    if widest is not None:
        call.say(f"\n  95 % intervals, paired by task; the least that such tasks show: {signed(widest, 2)}")
    call.say(f"next       germline compare {skill} --models … --rounds {min(compared.rounds + 1, 8)}")


def _line(row: ComparedModel) -> str:
    version = f"@{row.version.rpartition('@')[2]}" if "@" in row.version else row.version
    score, against = row.score, row.against
    shown = f"{_two(score.difference)} {interval(max(score.low, 0.0), score.high, 2)}" if score.tasks else "no run"
    beside = ""
    if against is not None and against.tasks:
        beside = f"{signed(against.difference, 2)} {interval(against.low, against.high, 2)}"
    cost = f"{row.cost_usd:,.2f}" if row.runs > row.unpriced else "–"
    return f"  {clip(row.model, 22):<22} {clip(version, 8):<8} {shown:<17} {beside:<20} {cost:>6}"


def _two(value: float) -> str:
    return share(round(value, 2))[:-1]


COMMANDS: Final = {"compare": compare}
