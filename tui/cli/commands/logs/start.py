"""A first answer: what costs most in the sessions of a project, what worked next, and the line that says so."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import new_split_key
from events.errors import GermlineError, NotFoundError, UsageError
from registry.actions.publish import publish
from registry.decide.commands import CreateRegistry
from registry.skill_md.render import label
from registry.skill_md.write_places import REGISTRY_FOLDER
from strategies.files.project_sessions import ProjectSessions
from strategies.policy.active_preset import beginning
from strategies.policy.presets import DEFAULT_PRESET
from strategies.pool.intake import take_in_scan
from tui.cli.commands.skills.init_and_import import create_registry
from tui.cli.config.config import read_config
from tui.cli.config.read_logs import chosen_logs, discover, read_on
from tui.cli.output.dry_run import rehearse, since
from tui.cli.output.facts import say_facts, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import UNDECIDED, AsJson, DryRun, Reason, require_reason
from tui.cli.output.progress import LiveLine
from tui.documents.events import event_rows
from tui.documents.start import StartDocument
from tui.facts.start import page_sentence, thing_facts, thing_title
from tui.reads.start import SHOWN, read_start
from tui.session.open_registry import FILE, find_registry, open_library, open_registry, project_folder
from tui.session.own_registries import keep_registry
from tui.session.take_lesson import refusing, taking
from tui.text.names import unique_chars
from tui.text.numbers import count

if TYPE_CHECKING:
    from registry.query.library import Library
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation
    from tui.reads.start import StartPage
    from tui.session.open_registry import Where


def start(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH…]", help="Logs or folders; else the sessions of agents in this project."),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Without PATH: sessions of every project, not of this one alone.")
    ] = False,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Things to print with what happened; --json has all.")
    ] = SHOWN,
    take: Annotated[
        str, typer.Option(metavar="ID", help="Take the line of the thing with this id. Needs --reason.")
    ] = "",
    refused: Annotated[
        str,
        typer.Option("--refuse", metavar="ID", help="Refuse the line with this id for good. Needs --reason."),
    ] = "",
    line: Annotated[str, typer.Option(metavar="TEXT", help="With --take: the line in your own words.")] = "",
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say what costs most here, and what worked next.

    Makes a registry where there is none, and reads what agents wrote since the last time. Nobody has to say how
    the sessions ended. Each thing comes with the line that would say so. One that you take is marked as seen: it
    says how often it worked, and nothing was compared.
    On a terminal the screens open: y takes a line, n refuses it, e edits it, s shows the sessions.
    """
    call = invocation(ctx)
    _check(take, refused, line, reason)
    where, created = _begun(call, dry_run=dry_run)
    if where is None:
        _say_would_begin(call, as_json=as_json)
        return
    config = read_config()
    problem = None if dry_run else _scanned(call, where, paths, config, everything=everything)
    project = project_folder(call.registry)
    if named := take or refused:
        _decide(call, where, config, named, line if take else None, reason, dry_run=dry_run, as_json=as_json)
        return
    if _on_screens(as_json=as_json) and not problem:
        _open_screens(call, where)
        return
    with LiveLine(call) as progress, open_library(where) as library:
        progress.show("looking for what worked next")
        page = read_start(library, project, personal_data=config.personal_data, shown=top)
    after = _next(page, problem)
    if as_json:
        call.answer(StartDocument.of(page, str(where), created=created, after=after))
        return
    _print_page(call, page, problem, top)
    call.say(f"next       {after}")


def agents_worked_here() -> bool:
    """Tell whether agents worked in this folder: where it has no registry yet, a first answer is due."""
    return any(place.files for place in discover(ProjectSessions(Path.cwd())))


def _check(take: str, refused: str, line: str, reason: str) -> None:
    if take and refused:
        raise UsageError("one line at a time is taken or refused", hint="germline start --take ID --reason TEXT")
    if line and not take:
        raise UsageError(
            "--line is the text of a line to take", hint="germline start --take ID --line TEXT --reason TEXT"
        )
    if take or refused:
        option = f"--take {take}" if take else f"--refuse {refused}"
        require_reason(reason, UNDECIDED, f"germline start {option} --reason TEXT")


def _begun(call: Invocation, *, dry_run: bool) -> tuple[Where | None, bool]:
    """Find the registry, or make one here; tells whether it was made. None where a dry run would make one."""
    try:
        where = find_registry(call.registry)
        if not isinstance(where, Path) or where.exists():
            return where, False
    except NotFoundError:
        where = Path.cwd() / REGISTRY_FOLDER / FILE
    if dry_run:
        return None, False
    stated = bool(call.registry or os.environ.get("GERMLINE_REGISTRY"))
    command = CreateRegistry(new_split_key(), beginning(DEFAULT_PRESET).name)
    create_registry(where, command, None if stated else Path.cwd())
    call.note(f"registry   {where}, made now")
    return where, True


def _say_would_begin(call: Invocation, *, as_json: bool) -> None:
    place = Path.cwd() / REGISTRY_FOLDER / FILE
    if as_json:
        call.answer(StartDocument(dry_run=True, registry=str(place), next="germline start"))
        return
    say_folded(call, "", f"dry run: would make {place} and read the sessions of this project; nothing was changed")
    call.say("next       germline start")


def _scanned(
    call: Invocation, where: Where, paths: list[str] | None, config: Config, *, everything: bool
) -> GermlineError | None:
    """Read what is new; gives back why there is nothing to read, where no log was named."""
    try:
        logs = chosen_logs(call, paths, config, everything=everything)
    except UsageError as error:
        if paths:
            raise
        return error
    with open_registry(where) as registry:
        logs_scan = read_on(call, registry, logs, config)
        with LiveLine(call) as progress:
            progress.show(f"keeping {count(len(logs_scan.records), 'session')}, and what recurs in all of them")
            take_in_scan(registry, logs_scan, policy=config.policy, may_wait=True)
    return None


def _on_screens(*, as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


def _open_screens(call: Invocation, where: Where) -> None:
    from tui.cli.commands.registry.ui import open_screens  # noqa: PLC0415 - only on a terminal

    open_screens(call, where, at="/start")


def lessons_document(library: Library, where: Where, project: Path, config: Config, top: int) -> StartDocument:
    """Say what costs most in the sessions that were read, and what worked next; reads none for it."""
    page = read_start(library, project, personal_data=config.personal_data, shown=top)
    return StartDocument.of(page, str(where), created=False, after=_next(page, None))


def _next(page: StartPage, problem: GermlineError | None) -> str:
    if problem is not None and not page.sessions:
        return f"{problem.hint}    germline demo"
    if page.things:
        first = page.things[0]
        return (
            f"germline start --take {first.id[: _short(page)]} --reason TEXT    "
            f"germline session {first.lesson.sessions[0][:12]}"
        )
    return "germline sessions    germline signals" if page.sessions else "germline start PATH    germline demo"


def _print_page(call: Invocation, page: StartPage, problem: GermlineError | None, top: int) -> None:
    if not page.sessions:
        what = f"No session was read: {problem.message}." if problem else "No session was found in these logs."
        say_folded(call, "", what)
        return
    if problem is not None:
        call.note(f"note       nothing new was read: {problem.message}")
    say_folded(call, "", page_sentence(page), tone="strong")
    short = _short(page)
    for thing in page.things[:top]:
        call.say()
        say_folded(call, f"{thing.id[:short]}  ", thing_title(thing), tone="strong")
        say_facts(call, thing_facts(thing))
    more = len(page.things) - top
    if more > 0:
        call.say()
        call.say(f"{count(more, 'further thing')} with a line: germline start --top {len(page.things)}")
    if page.without_line:
        call.say()
        call.say("These cost much too, and nothing that was done next stands out:")
        for thing in page.without_line:
            say_folded(call, "  ", thing_title(thing))
            say_facts(call, [each for each in thing_facts(thing) if each.label == "cost"])
    call.say()


def _short(page: StartPage) -> int:
    return unique_chars(thing.id for thing in page.things)


def _decide(  # noqa: PLR0913 - what was asked for
    call: Invocation,
    where: Where,
    config: Config,
    named: str,
    line: str | None,
    reason: str,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take the line of a thing, in its own words unless others are given, or refuse it where `line` is None."""
    project = project_folder(call.registry)
    with open_registry(where, dry_run=dry_run) as registry:
        page = read_start(registry, project, personal_data=config.personal_data, shown=0)
        thing = page.named(registry, named)
        before = registry.log.head().position
        change = refusing(thing) if line is None else taking(thing, line)
        if dry_run:
            rehearsed = partial(StartDocument, registry=str(where))
            rehearse(call, registry, lambda: change.act(registry, reason), rehearsed, as_json=as_json)
            return
        with registry.log.transaction():
            change.act(registry, reason)
        if thing.home.file:
            keep_registry(where, registry.log, registry.clock.now(), [Path(thing.home.file)])
        written = publish(registry, change.skill) if change.skill else ()
        capsule, envelopes = registry.capsule(thing.home.name), since(registry, before)
    taken = line or thing.lesson.line
    if as_json:
        decision = {"refused": thing.lesson.line} if line is None else {"taken": taken, "written": tuple(written)}
        document = StartDocument.model_validate(
            {"registry": str(where), "skill": capsule.name, "events": event_rows(envelopes), **decision}
        )
        call.answer(document)
        return
    if line is None:
        say_folded(call, "refused    ", thing.lesson.line)
        call.say("next       germline start")
        return
    say_folded(call, "taken      ", taken)
    say_folded(call, "written    ", f"{', '.join(written)}, in {capsule.source}: {label(capsule)}")
    undo = f"germline revert {quote(capsule.name)} --to {capsule.version - 1} --reason TEXT"
    call.say(f"next       germline start    {undo}")


COMMANDS: Final = {"start": start}
