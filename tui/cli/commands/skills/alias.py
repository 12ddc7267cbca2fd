"""Aliases: movable names of versions, with their history."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from events.types.capsule_events import AliasMoved
from registry.decide.commands import MoveAlias
from tui.cli.output.color import column, width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Reason, Skill, Yes
from tui.documents.events import event_rows
from tui.documents.skills import AliasListDocument, AliasLogDocument, AliasMove, AliasRow, AliasSetDocument
from tui.session.bootstrap import find_registry, open_library, open_registry
from tui.text.numbers import ago
from tui.text.terminal_text import clip, clip_middle, one_line
from tui.text.words import actor_words

if TYPE_CHECKING:
    from registry.query.library import Library

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
        rows = [
            AliasRow(skill=capsule.name, alias=name, version=version, live=version == capsule.version)
            for capsule in map(library.capsule, [skill] if skill else library.names())
            for name, version in capsule.aliases
        ]
    if as_json:
        call.answer(AliasListDocument(aliases=tuple(rows)))
        return
    names = column([row.alias for row in rows], 10, 44)
    skills = column([row.skill for row in rows], 12, names + _BESIDE)
    for row in rows:
        live = "the live version" if row.live else ""
        called, alias = clip_middle(row.skill, skills), clip_middle(row.alias, names)
        call.say(f"{called:<{skills}} {alias:<{names}} @{row.version:<6} {live}".rstrip())
    if not rows:
        call.note("no version has a name yet", "next       germline alias set SKILL NAME VERSION")


@alias.command("set")
def set_alias(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Skill,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name: canary, production …")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="A version, or none to remove the name.")],
    *,
    reason: Reason = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let a name point at a version; production needs --yes and --reason."""
    call = invocation(ctx)
    _check(skill, name, version, reason, confirmed=yes)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        command = MoveAlias(skill, name, _version(registry, skill, version), reason)
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), AliasSetDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(AliasSetDocument(skill=skill, alias=name, version=command.version, events=events))
    elif not receipt.envelopes:
        what = "points there already" if command.version else "names no version: nothing to remove"
        call.say(f"alias      {skill} {name} {what}")
    else:
        where = f"@{command.version}" if command.version else "removed"
        call.say(f"alias      {skill} {name} → {where}, event {receipt.envelopes[0].position}")


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
            for envelope in library.history(skill, types=("AliasMoved",))
            if isinstance(event := envelope.event, AliasMoved)
        ]
    if as_json:
        rows = tuple(AliasMove.of(envelope, event) for envelope, event in moves)
        call.answer(AliasLogDocument(skill=skill, moves=rows))
        return
    now = SystemClock().now()
    names = column([event.alias for _, event in moves], 16, 40)
    for envelope, event in moves:
        move = f"{_at(event.previous)} → {_at(event.version)}"
        who = f"{ago(envelope.at, now)} {actor_words(envelope.actor)}"
        line = f"{envelope.position:>6}  {event.alias:<{names}} {move:<14} {who}  {one_line(event.reason)}"
        call.say(clip(line.rstrip(), width()))
    if not moves:
        call.note(f"no name of {skill} was ever moved")


def _at(version: int) -> str:
    return f"@{version}" if version else "nothing"


COMMANDS: Final = {"alias": alias}
