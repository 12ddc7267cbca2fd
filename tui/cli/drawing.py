"""Picking a version: which one the next agent gets, in a folder of its own."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from strategies.drawing import draw_version, folder_of, written
from tui.bootstrap import find_registry, open_registry
from tui.cli.appended import event_rows, print_rehearsed, since
from tui.cli.facts import say_fact
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, DryRun, Skill
from tui.figures import count, share

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.drawing import Drawn, Offer
    from tui.cli.invocation import Invocation

_SEED_DIGITS: Final = 8
"""Hexadecimal digits of a new id that make a seed: the last ones of a UUIDv7 are random."""


def pick(
    ctx: typer.Context,
    skill: Skill,
    *,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of the draw, to draw the same again; else a new one.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Pick the version for the next agent; print its folder.

    On offer are the newest version and those that have a name. Each is drawn as often as it is likely to be the
    best one by the outcomes of the episodes that ran under it, later ones counting more. A version whose chance
    of that is under 1 % is retired.
    """
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        drawn_by = int(SystemClock().new_id()[-_SEED_DIGITS:], 16) if seed is None else seed
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            drawn = draw_version(registry, skill, drawn_by)
            events = event_rows(since(registry, before))
        name = folder_of if dry_run else written
        folder = name(registry, skill, drawn.version)
    if as_json:
        rest = {"dry_run": True, "events": events} if dry_run else {"events": events}
        call.answer("pick", {**_drawn_json(drawn, folder), "seed": drawn_by, **rest})
        return
    _print(call, drawn, folder)
    if dry_run:
        print_rehearsed(call, events)


def _drawn_json(drawn: Drawn, folder: Path) -> dict[str, Any]:
    return {
        "skill": drawn.skill,
        "version": drawn.version,
        "label": f"{drawn.skill}@{drawn.version}",
        "folder": str(folder),
        "offers": [
            {
                "version": one.version,
                "aliases": list(one.names),
                "newest": one.newest,
                "episodes": one.posterior.episodes,
                "won": one.posterior.won,
                "lost": one.posterior.lost,
                "expected": one.posterior.mean,
                "chance": one.chance,
            }
            for one in drawn.offers
        ],
        "retired": [{"version": one.version, "reason": one.reason} for one in drawn.retired],
    }


def _print(call: Invocation, drawn: Drawn, folder: Path) -> None:
    call.say(f"{drawn.skill}@{drawn.version}  {folder}")
    for at, one in enumerate(drawn.offers):
        mark = "▸" if one.version == drawn.version else " "
        say_fact(call, "" if at else "offers", f"{mark} {_offer_words(one)}")
    for gone in drawn.retired:
        say_fact(call, "retired", f"@{gone.version}: {gone.reason}")
    if not any(one.newest for one in drawn.offers):
        call.say("next       the newest version still stands on disk:")
        call.say(f"           germline revert {drawn.skill} --to {drawn.version} --reason TEXT")


def _offer_words(one: Offer) -> str:
    called = [*(["newest"] if one.newest else []), *one.names]
    names = f" ({', '.join(called)})"
    known = f"expected to win {share(one.posterior.mean)} after {count(one.posterior.episodes, 'episode')}"
    return f"@{one.version}{names}: {known}; the best one with a chance of {share(one.chance)}"


COMMANDS: Final = {"pick": pick}
