"""Presets: the numbers that bind the strategies; switching and defining are events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import NotFoundError, UsageError
from registry.decide.commands import SwitchPreset
from strategies.policy.active_preset import beginning, bound_by, define, definitions, known_presets
from strategies.policy.auto import AUTO
from strategies.policy.preset_toml import MOST_CHARACTERS, written
from strategies.policy.presets import PRESETS
from tui.cli.commands.evolve.preset_preview import preview
from tui.cli.output.color import width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_facts, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Reason, require_reason
from tui.documents.events import event_rows
from tui.documents.presets import (
    AutoChoice,
    PresetDefineDocument,
    PresetDefinition,
    PresetListDocument,
    PresetRow,
    PresetShowDocument,
    PresetUseDocument,
)
from tui.facts.presets import preset_facts, preset_figures, preset_sentence
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.numbers import count
from tui.text.terminal_text import clip_middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.policy.active_preset import Bound
    from tui.cli.output.invocation import Invocation

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a preset.")]
_HEADS: Final = ("repair", "harden", "innovate", "edits", "region", "alpha", " E")
_SHORT: Final = ("repair", "harden", "innov.", "edits", "region", "alpha", " E")
_NAME_COLUMNS: Final = 15
_WIDE: Final = 78
"""Columns of a row with whole words above and room between them."""

preset = typer.Typer(help="List, show, preview, use and define presets.", rich_markup_mode=None)


@preset.command("list")
def list_presets(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """List the presets side by side, the one in force marked; your own come last."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        current, known, auto = library.about().preset, known_presets(library), bound_by(library, AUTO)
    if as_json:
        rows = (
            PresetRow(
                **dict(known_preset), in_force=known_preset.name == current, own=known_preset.name not in PRESETS
            )
            for known_preset in known.values()
        )
        chosen = AutoChoice(preset=auto.preset.name, because=auto.because, in_force=current == AUTO)
        call.answer(PresetListDocument(preset=current, presets=tuple(rows), auto=chosen))
        return
    heads, apart = (_HEADS, "  ") if width() >= _WIDE else (_SHORT, "")
    names = _NAME_COLUMNS + len(apart)
    call.say(_row("", names, heads, heads, apart))
    for known_preset in known.values():
        weights = known_preset.weights
        figures = (f"{weights.repair}", f"{weights.harden}", f"{weights.innovate}", *preset_figures(known_preset))
        called = f"{_mark(known_preset.name, current)} {clip_middle(known_preset.name, names)}"
        call.say(_row(called, names, figures, heads, apart))
    say_folded(call, f"{_mark(AUTO, current)} {AUTO:<{names}} ", f"{auto.preset.name} now: {auto.because}")


def _row(name: str, names: int, figures: Sequence[str], heads: Sequence[str], apart: str) -> str:
    """Write a row of the table of presets; its columns are as wide as what heads them."""
    cells = (f"{apart} {figure:>{len(head)}}" for figure, head in zip(figures, heads, strict=True))
    return f"{name:<{names + 2}}{''.join(cells)}"


def _mark(name: str, current: str) -> str:
    return "▸" if name == current else " "


@preset.command("show")
def show_preset(
    ctx: typer.Context,
    name: _Name,
    *,
    as_toml: Annotated[
        bool, typer.Option("--toml", help="Print the file that defines it, to begin one of your own with.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the numbers of one preset, and what each is for."""
    call = invocation(ctx)
    bound, defined = _named(call, name)
    if as_toml:
        call.say((defined[-1][1] if defined else written(bound.preset)).rstrip("\n"))
        return
    if as_json:
        history = tuple(PresetDefinition(event=position, definition=text) for position, text in defined)
        call.answer(PresetShowDocument(preset=bound.preset, because=bound.because or None, defined=history))
        return
    _print_preset(call, bound)
    if defined:
        events = ", ".join(str(position) for position, _ in defined)
        call.say(f"  defined   {count(len(defined), 'time')}, event {events}")


def _named(call: Invocation, name: str) -> tuple[Bound, list[tuple[int, str]]]:
    """Find a preset and its definitions; germline's own are known without a registry."""
    if name in PRESETS:
        return beginning(name), []
    with open_library(find_registry(call.registry)) as library:
        return bound_by(library, name), definitions(library, name)


def _print_preset(call: Invocation, bound: Bound) -> None:
    in_force = bound.preset
    call.say(f"{bound.name}, now {in_force.name}: {bound.because}" if bound.because else in_force.name)
    say_folded(call, "", preset_sentence(in_force))
    say_facts(call, preset_facts(in_force))


@preset.command("use")
def use_preset(
    ctx: typer.Context, name: _Name, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Let another preset bind the strategies from here on; needs --reason."""
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        bound = bound_by(registry, name)
        require_reason(reason, "switching needs a reason", f"germline preset use {name} --reason TEXT")
        previous, command = registry.about().preset, SwitchPreset(name, reason)
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), PresetUseDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    now = f"; now that is {bound.preset.name}: {bound.because}" if bound.because else ""
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(PresetUseDocument(preset=name, previous=previous, events=events))
    elif receipt.envelopes:
        call.say(f"preset     {previous} → {name}, event {receipt.envelopes[0].position}{now}")
    else:
        call.say(f"preset     {name} is in force already{now}")


@preset.command("define")
def define_preset(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A TOML file that holds one preset.")],
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Define a preset of your own from a TOML file; it may be stricter than the written rule, never looser.

    What it was before stays in the history. One that is in force binds again from here on.
    """
    call = invocation(ctx)
    text = _read(Path(file).expanduser())
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        definition = append_or_rehearse(
            call,
            registry,
            lambda: define(registry, text, file),
            PresetDefineDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if definition is None:
            return
        defined, receipt = definition
        times, in_force = len(definitions(registry, defined.name)), registry.about().preset == defined.name
    if as_json:
        call.answer(PresetDefineDocument(preset=defined, times=times, events=event_rows(receipt.envelopes)))
        return
    what = f"defined, event {receipt.envelopes[0].position}" if receipt.envelopes else "is defined so already"
    again = f", for the {times}. time" if receipt.envelopes and times > 1 else ""
    call.say(f"preset     {defined.name} {what}{again}{'; it is in force' if in_force else ''}")
    call.say(
        f"next       germline preset preview {defined.name}    germline preset use {defined.name} --reason TEXT"
    )


def _read(path: Path) -> str:
    """Read a definition, and no more of a file than a definition may hold."""
    try:
        with path.open(encoding="utf-8") as stream:
            return stream.read(MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file", hint="germline preset show balanced --toml > FILE") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text: {error.reason}", hint="a preset is TOML, in UTF-8") from error


preset.command("preview")(preview)

COMMANDS: Final = {"preset": preset}
