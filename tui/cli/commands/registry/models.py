"""The models that agents run on: which were seen, and which skill goes with which."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from registry.skill_md.render import label
from registry.state.capsule import is_skill_name
from tui.cli.commands.skills.skill_triggers import scope_here
from tui.cli.output.color import column, width
from tui.cli.output.dry_run import since
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll
from tui.documents.events import event_rows
from tui.documents.usage import ModelsCompareDocument, ModelsListDocument, SeenModelRow
from tui.facts.skill_life import between_words, lines_words, model_words, refuted_words, suits_words
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.durations import age
from tui.text.names import as_arguments
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.terminal_text import clip, clip_middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.capsule_events import SkillModelsCompared
    from tui.cli.output.invocation import Invocation

models = typer.Typer(help="List models; say which skill goes with which of them.", rich_markup_mode=None)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model, as `models list` has it.")]
_SHOWN: Final = 40
"""Models that are listed; the rest is counted."""
_BESIDE: Final = 50
"""Columns of the figures beside the name of a model."""


@models.command("list")
def list_models(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """List the models that sessions ran on, the one seen last first, and the skills measured under each."""
    from strategies.monitor.known_models import models_in  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.monitor.live_version import measurement_of  # noqa: PLC0415 - the same

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        records = scope_here(library).records
        seen = models_in(records)
        measurements = {name: measurement_of(library, name, records) for name in library.live_names()}
        measured = {label(library.capsule(name)): own.models for name, own in measurements.items() if own}
    rows = tuple(
        SeenModelRow.described(
            row, measured=tuple(version for version, models in measured.items() if row.model in models)
        )
        for row in sorted(seen, key=lambda row: (row.until, row.model), reverse=True)
    )
    unnamed = len(records) - sum(row.sessions for row in rows)
    if as_json:
        call.answer(ModelsListDocument(models=rows, unnamed=unnamed))
        return
    call.say(f"{count(len(rows), 'model')} in {count(len(records), 'session')}; {unnamed:,} name none.")
    _print_models(call, rows)
    both = as_arguments(*(row.model for row in reversed(rows[:2]))) if len(rows) > 1 else ""
    call.say(f"next       {f'germline models compare {both}' if both else NEXT_STEPS['no sessions']}")


def _print_models(call: Invocation, rows: Sequence[SeenModelRow]) -> None:
    now = SystemClock().now()
    names = column([row.model for row in rows], 20, _BESIDE)
    for row in rows[:_SHOWN]:
        last = age(row.until, now) if row.until else "–"
        figures = f"{row.sessions:>7,} sessions {row.labelled:>7,} with an outcome {last:>5}"
        call.say(clip(f"  {clip_middle(row.model, names):<{names}} {figures}", width()))
        if row.measured:
            say_folded(call, f"{'':<4}", f"measured: {', '.join(row.measured)}")
    if len(rows) > _SHOWN:
        call.say(f"  {len(rows) - _SHOWN:,} more: --json")


@models.command("compare")
def compare_models(
    ctx: typer.Context,
    first: Model,
    second: Model,
    skill: OneOrAll = "",
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say which of two models live skills go with, from sessions and kept runs, and record it.

    For each model: what came of sessions with the skill, their cost and time, and whether they did better than
    others of the same run; for both: the tasks that both did; for each learned line: whether sealed sessions bear
    its claim out. Neither model counts for being newer. All comparisons ever made share one error rate. Nothing is
    run: `germline compare` runs the same tasks under both.
    """
    from strategies.monitor.known_models import require_known  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.monitor.model_fit import compared_models  # noqa: PLC0415 - the same
    from strategies.rollouts.run.export import finished_runs  # noqa: PLC0415 - the same

    call = invocation(ctx)
    if first == second:
        raise UsageError(f"{first} was named twice: two models are compared", hint="germline models list")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        scope, runs = scope_here(registry), finished_runs(registry)
        require_known((first, second), scope.records, runs)
        names = [registry.capsule(skill).name] if skill else [*filter(is_skill_name, registry.live_names())]
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            compared = compared_models(registry, names, (first, second), scope, runs)
            events = event_rows(since(registry, before))
    if as_json:
        call.answer(ModelsCompareDocument(dry_run=dry_run, skills=tuple(compared), events=events))
        return
    for event in compared:
        _print_compared(call, event)
    new = f"{len(events)} of {count(len(compared), 'comparison')} recorded" if events else "nothing new to record"
    noted = "dry run" if dry_run else new
    say_folded(call, "", f"{noted}; sessions are observed: germline compare runs the same tasks under both")
    call.say(f"next       germline compare {compared[0].capsule} --models {quote(f'{first},{second}')}")


def _print_compared(call: Invocation, event: SkillModelsCompared) -> None:
    call.say(f"{event.capsule}@{event.version} {suits_words(event)}.")
    for figures in (event.first, event.second):
        say_folded(call, "  ", f"{figures.model}: {model_words(figures)}")
    say_fact(call, "between", between_words(event))
    if lines := lines_words(event):
        say_fact(call, "lines", lines)
    for words in refuted_words(event):
        say_fact(call, "line", words)


COMMANDS: Final = {"models": models}
