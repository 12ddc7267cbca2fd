"""Picking a version: which one the next agent gets, in a folder of its own."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from registry.actions.trial_arms import in_folder
from registry.query.trials import running_trial
from registry.skill_md.render import label
from strategies.monitor.pick_version import draw_version, folder_of, written
from strategies.trials.run_trial import assign, current_trial, switch
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_fact
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Skill
from tui.documents.events import event_rows
from tui.documents.skills import PickDocument
from tui.session.open_registry import find_registry, open_registry
from tui.text.numbers import count, share

if TYPE_CHECKING:
    from registry.registry import Registry
    from registry.state.trial import SkillTrial
    from strategies.monitor.pick_version import Drawn, VersionOffer
    from tui.cli.output.invocation import Invocation

_SEED_DIGITS: Final = 8
"""Hexadecimal digits of a new id that make a seed: the last ones of a UUIDv7 are random."""


def pick(
    ctx: typer.Context,
    skill: Skill,
    *,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of the draw, to draw the same again; else a new one.")
    ] = None,
    session: Annotated[
        str,
        typer.Option(
            metavar="ID", help="The id of the session that asks, as its log has it: for a trial by session."
        ),
    ] = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Pick the version for the next agent; print its folder.

    On offer are the newest version and those that have a name. Each is drawn as often as it is likely to be the
    best one by the outcomes of the episodes that ran under it, later ones counting more. A version whose chance
    of that is under 1 % is retired. Where a trial by session runs, its coins decide.
    """
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        drawn_by = int(SystemClock().new_id()[-_SEED_DIGITS:], 16) if seed is None else seed
        before = registry.log.head().position
        trial = current_trial(registry, skill, write=not dry_run) if running_trial(registry, skill) else None
        if trial is not None:
            unit = session or registry.clock.new_id()
            _pick_arm(call, registry, trial, unit, dry_run=dry_run, as_json=as_json)
            return
        with registry.rehearsal() if dry_run else nullcontext():
            drawn = draw_version(registry, skill, drawn_by)
            events = event_rows(since(registry, before))
        name = folder_of if dry_run else written
        folder = name(registry, skill, drawn.version)
    if as_json:
        call.answer(PickDocument.of(drawn, folder, seed=drawn_by, dry_run=dry_run, events=events))
        return
    _print(call, drawn, folder)
    if dry_run:
        print_rehearsed(call, events)


def _pick_arm(
    call: Invocation, registry: Registry, trial: SkillTrial, session: str, *, dry_run: bool, as_json: bool
) -> None:
    """Give a session the arm that the coins of a trial say, or the folder that is switched for all of them."""
    before, capsule = registry.log.head().position, registry.capsule(trial.started.capsule)
    with registry.rehearsal() if dry_run else nullcontext():
        if trial.by_block:
            switch(registry, capsule.name, write=not dry_run)
            arm, folder = in_folder(registry, capsule.name), Path(capsule.source)
        else:
            given = assign(registry, trial, session, write=not dry_run)
            arm, folder = given.arm, given.folder
        events = event_rows(since(registry, before))
    if as_json:
        call.answer(PickDocument.of_trial(arm, folder, trial.id, session, dry_run=dry_run, events=events))
        return
    call.say(f"{label(arm)}  {folder}")
    say_fact(call, "trial", f"{trial.id}; session {session}" if not trial.by_block else f"{trial.id}, by blocks")
    if dry_run:
        print_rehearsed(call, events)


def _print(call: Invocation, drawn: Drawn, folder: Path) -> None:
    call.say(f"{drawn.skill}@{drawn.version}  {folder}")
    for at, version_offer in enumerate(drawn.offers):
        mark = "▸" if version_offer.version == drawn.version else " "
        say_fact(call, "" if at else "offers", f"{mark} {_offer_words(version_offer)}")
    for gone in drawn.retired:
        say_fact(call, "retired", f"@{gone.version}: {gone.reason}")
    if not any(offer.newest for offer in drawn.offers):
        call.say("next       the newest version still stands on disk:")
        call.say(f"           germline revert {drawn.skill} --to {drawn.version} --reason TEXT")


def _offer_words(offer: VersionOffer) -> str:
    called = [*(["newest"] if offer.newest else []), *offer.names]
    names = f" ({', '.join(called)})"
    known = f"expected to win {share(offer.posterior.mean)} after {count(offer.posterior.episodes, 'episode')}"
    return f"@{offer.version}{names}: {known}; the best one with a chance of {share(offer.chance)}"


COMMANDS: Final = {"pick": pick}
