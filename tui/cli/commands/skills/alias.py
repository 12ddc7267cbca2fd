"""Aliases: movable names of versions, with their history."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from events.types.capsule_events import AliasDeployed, AliasMoved
from registry.actions.deploy_alias import deployments, require_deployable, write_deployed
from registry.decide.commands import DeployAlias, MoveAlias
from registry.query.deployed_folders import deployed_folders
from registry.skill_md.skill_files import copy_place, write_place
from tui.cli.output.color import column, width
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Reason, Skill, Yes
from tui.documents.events import event_rows
from tui.documents.skills import AliasListDocument, AliasLogDocument, AliasMove, AliasRow, AliasSetDocument
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.session.other_owners import require_unowned
from tui.session.own_registries import keep_registry, trust_in
from tui.text.durations import ago
from tui.text.terminal_text import clip, clip_middle, one_line
from tui.text.words import DEPLOYED, actor_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope
    from registry.query.library import Library
    from registry.registry import Registry
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

PROTECTED: Final = frozenset({"production"})
"""Names that other people's agents may follow: moving one takes --yes and a reason."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_TAKEN: Final = frozenset({"best"})
"""Names that already mean a version."""
_BESIDE: Final = 27
"""Columns behind a skill and a name of it: the version, and whether that is the live one."""
NOTHING: Final = "none"
"""Stands for no version: the name is removed."""

alias = typer.Typer(help="Name versions: movable names, with their history.", rich_markup_mode=None)


@alias.command("list")
def list_aliases(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """List the names of versions, of one skill or of all."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        rows = [row for name in ([skill] if skill else library.names()) for row in _rows(library, name)]
    if as_json:
        call.answer(AliasListDocument(aliases=tuple(rows)))
        return
    names = column([row.alias for row in rows], 10, 44)
    skills = column([row.skill for row in rows], 12, names + _BESIDE)
    for row in rows:
        live = "the live version" if row.live else ""
        if row.folder:
            live = f"{live}{', ' if live else ''}in {row.folder}{DEPLOYED[row.standing or 'projected']}"
        called, alias = clip_middle(row.skill, skills), clip_middle(row.alias, names)
        say_folded(call, f"{called:<{skills}} {alias:<{names}} @{row.version:<6} ", live)
    if not rows:
        call.note("no version has a name yet", "next       germline alias set SKILL NAME VERSION")


def _rows(library: Library, skill: str) -> list[AliasRow]:
    capsule = library.capsule(skill)
    deployed = {there.alias: there for there in deployments(library, skill)}
    return [
        AliasRow(
            skill=skill,
            alias=name,
            version=version,
            live=version == capsule.version,
            folder=deployed[name].folder if name in deployed else None,
            standing=deployed[name].standing if name in deployed else None,
        )
        for name, version in capsule.aliases
    ]


@alias.command("set")
def set_alias(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Skill,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name: canary, production …")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="A version, or none to remove the name.")],
    *,
    reason: Reason = "",
    to: Annotated[
        str, typer.Option("--to", metavar="FOLDER", help="Let FOLDER/SKILL follow the name; none ends that.")
    ] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let a name point at a version; production needs --yes and --reason.

    With --to the version is written to FOLDER/SKILL, and that folder follows the name, back as well.
    What a person edited there is never overwritten.
    """
    call = invocation(ctx)
    _check(skill, name, version, reason, confirmed=yes)
    where = find_registry(call.registry)
    with open_registry(where, dry_run=dry_run) as registry:
        number, before = _version(registry, skill, version), registry.log.head().position
        known = deployed_folders(registry, skill).get(name, "")
        folder = _folder(skill, to, known) if number else ""
        if folder:
            require_deployable(registry, skill, str(number), name, folder)
        if folder and to and not dry_run:
            _confirm(where, registry, write_place(skill, folder))
        with registry.rehearsal() if dry_run else registry.log.transaction():
            registry.execute(MoveAlias(skill, name, number, reason))
            if number:
                registry.execute(DeployAlias(skill, name, folder, known, reason))
            appended = since(registry, before)
            events = event_rows(appended)
        written = write_deployed(registry, skill, name) if folder and not dry_run else ()
    if as_json:
        deployed = {"folder": folder, "written": written} if folder else {}
        call.answer(
            AliasSetDocument(dry_run=dry_run, skill=skill, alias=name, version=number, events=events, **deployed)
        )
    elif dry_run:
        print_rehearsed(call, events)
    else:
        _tell_set(call, f"{skill} {name}", number, appended)
        if folder:
            files = ", ".join(written) or "as it was"
            say_folded(call, "folder     ", f"{folder} holds @{number}: {files}")
        elif known:
            say_folded(call, "folder     ", f"{known} no longer follows {name}, and stays as it is")


def _folder(skill: str, to: str, known: str) -> str:
    """Name the folder that follows a name from now on: below the one that was asked for, or as before."""
    if to in {"", NOTHING}:
        return "" if to else known
    return str(copy_place(skill, Path(to).expanduser().resolve()))


def _confirm(where: Where, registry: Registry, place: Path) -> None:
    """Let the registry write to a place that a person named; raises RefusedError where another one writes it."""
    require_unowned(where, [place])
    keep_registry(where, registry.log, registry.clock.now(), [place])
    registry.places = trust_in(where, registry.log).places


def _tell_set(call: Invocation, named: str, version: int, appended: Sequence[Envelope]) -> None:
    moved = next((envelope for envelope in appended if envelope.type == "AliasMoved"), None)
    if moved:
        call.say(f"alias      {named} → {f'@{version}' if version else 'removed'}, event {moved.position}")
    else:
        what = "points there already" if version else "names no version: nothing to remove"
        call.say(f"alias      {named} {what}")


def _version(library: Library, skill: str, stated: str) -> int:
    if stated == NOTHING:
        library.capsule(skill)
        return 0
    return library.version_of(skill, stated)


def _check(skill: str, name: str, version: str, reason: str, *, confirmed: bool) -> None:
    """Refuse a name that would mean something else, and a protected one that is moved in passing."""
    if not _NAME.fullmatch(name) or name in _TAKEN or name == NOTHING:
        raise UsageError(
            f"{name!r} cannot name a version",
            hint="use lowercase letters, digits and hyphens, a letter first; best and none are taken",
        )
    if name in PROTECTED and not (confirmed and reason.strip()):
        raise UsageError(
            f"{name} is a protected name: moving it needs --yes and a reason",
            hint=f"germline alias set {skill} {name} {version} --yes --reason TEXT",
        )


@alias.command("log")
def log_aliases(ctx: typer.Context, skill: Skill, *, as_json: AsJson = False) -> None:
    """Show where the names of a skill pointed, newest first."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        moves = [
            (envelope, event)
            for envelope in library.history(skill, types=("AliasMoved", "AliasDeployed"))
            if isinstance(event := envelope.event, AliasMoved | AliasDeployed)
        ]
    if as_json:
        rows = tuple(AliasMove.of(envelope, event) for envelope, event in moves)
        call.answer(AliasLogDocument(skill=skill, moves=rows))
        return
    now = SystemClock().now()
    names = column([event.alias for _, event in moves], 16, 40)
    for envelope, event in moves:
        move = _move(event)
        who = f"{ago(envelope.at, now)} {actor_words(envelope.actor)}"
        line = f"{envelope.position:>6}  {event.alias:<{names}} {move:<14} {who}  {one_line(event.reason)}"
        call.say(clip(line.rstrip(), width()))
    if not moves:
        call.note(f"no name of {skill} was ever moved")


def _move(event: AliasMoved | AliasDeployed) -> str:
    """Say where a name went, or which folder follows it from then on."""
    if isinstance(event, AliasMoved):
        return f"{_at(event.previous)} → {_at(event.version)}"
    return f"deployed to {event.folder}" if event.folder else f"left {event.previous}"


def _at(version: int) -> str:
    return f"@{version}" if version else "nothing"


COMMANDS: Final = {"alias": alias}
