"""Presets: the numbers that bind the strategies; switching is an event with a reason."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Final

import typer

from events.errors import NotFoundError, UsageError
from registry.commands import SwitchPreset
from strategies.presets import PRESETS, Preset
from tui.bootstrap import find_registry, open_library, open_registry
from tui.cli.appended import event_rows, rehearsed, since
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, DryRun, Reason

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a preset.")]

preset = typer.Typer(help="List, show and switch the presets that bind the strategies.", rich_markup_mode=None)


def known_preset(name: str) -> Preset:
    """Return a preset by name; raises NotFoundError with the nearest name."""
    found = PRESETS.get(name)
    if found is None:
        near = tuple(get_close_matches(name, PRESETS, n=1, cutoff=0.4))
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(PRESETS)}"
        raise NotFoundError(f"there is no preset {name}", hint=hint, nearest=near)
    return found


@preset.command("list")
def list_presets(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """List the presets side by side, the one in force marked."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        current = library.about().preset
    if as_json:
        rows = [{**one.model_dump(mode="json"), "in_force": one.name == current} for one in PRESETS.values()]
        call.answer("preset-list", {"preset": current, "presets": rows})
        return
    call.say("                   repair  harden  innovate   edits   region   alpha      E")
    for one in PRESETS.values():
        weights, budget = one.weights, one.edit_budget
        call.say(
            f"{'▸' if one.name == current else ' '} {one.name:<16} {weights.repair:>6}  {weights.harden:>6}  "
            f"{weights.innovate:>8}   {budget.start} → {budget.floor}   {one.trust_region:>6.0%}   "
            f"{one.alpha:<6g} {one.least_e:>5g}"
        )


@preset.command("show")
def show_preset(ctx: typer.Context, name: _Name, *, as_json: AsJson = False) -> None:
    """Show the numbers of one preset, and what each is for."""
    call = invocation(ctx)
    one = known_preset(name)
    if as_json:
        call.answer("preset-show", {"preset": one.model_dump(mode="json")})
        return
    weights, budget = one.weights, one.edit_budget
    call.say(one.name)
    call.say(f"  weights   repair {weights.repair} %, harden {weights.harden} %, innovate {weights.innovate} %")
    call.say(
        f"  edits     {budget.start} in the first cycle down to {budget.floor} in the last, {budget.schedule}"
    )
    call.say(f"  region    at most {one.trust_region:.0%} of the base's characters may change")
    call.say(f"  genes     new genes are {'allowed' if one.new_genes else 'not allowed'}")
    call.say(f"  gate      replay at alpha {one.alpha:g}, rollouts at an e-value of {one.least_e:g} or more")


@preset.command("use")
def use_preset(
    ctx: typer.Context, name: _Name, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Let another preset bind the strategies from here on; needs --reason."""
    call = invocation(ctx)
    one = known_preset(name)
    if not reason.strip():
        raise UsageError("switching needs a reason", hint=f"germline preset use {one.name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        previous, before = registry.about().preset, registry.log.head().position
        if dry_run:
            with registry.rehearsal():
                registry.execute(SwitchPreset(one.name, reason))
                rehearsed(call, "preset-use", since(registry, before), as_json=as_json)
            return
        receipt = registry.execute(SwitchPreset(one.name, reason))
    if as_json:
        fields = {"preset": one.name, "previous": previous, "events": event_rows(receipt.envelopes)}
        call.answer("preset-use", fields)
    elif receipt.envelopes:
        call.say(f"preset     {previous} → {one.name}, event {receipt.envelopes[0].position}")
    else:
        call.say(f"preset     {one.name} is in force already")


COMMANDS: Final = {"preset": preset}
