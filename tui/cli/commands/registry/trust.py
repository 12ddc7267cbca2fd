"""Trusting a project: shows what its settings could do, asks, and keeps the answer in the person's own folder."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.errors import CheckFailedError, NotFoundError, UntrustedError, UsageError
from tui.cli.config.consents import consents, keep_consent, revoke_consent
from tui.cli.config.layers import NAME, nearest_file, trust_here
from tui.cli.config.project_trust import as_toml
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.trust import GuardedSettingRow, TrustDocument, TrustedProject
from tui.session.ownership import VOUCHED
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from tui.cli.config.project_trust import ProjectTrust
    from tui.cli.output.invocation import Invocation
    from tui.documents.trust import TrustName

_YES: Final = {"y", "yes"}


def trust(
    ctx: typer.Context,
    *,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust this project no longer.")] = False,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="PATH", help="With --revoke: another project."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the projects that you trust.")] = False,
    trust_project: Annotated[
        bool, typer.Option("--trust-project", help="Do not ask: for scripts, where nobody can be asked.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let this project's settings run, reach and reveal things.

    Shows every setting of the nearest germline.toml that needs it, and asks. Your consent holds for exactly these
    values in this folder; when one of them changes you are asked again. All other settings need none.
    """
    call = invocation(ctx)
    if listed + revoke > 1 or (folder is not None and not revoke):
        raise UsageError("one thing at a time", hint="germline trust --help")
    if listed:
        _list(call, as_json=as_json)
    elif revoke:
        _revoke(call, folder, dry_run=dry_run, as_json=as_json)
    else:
        _trust(call, without_asking=trust_project or VOUCHED.get(), dry_run=dry_run, as_json=as_json)


def _trust(call: Invocation, *, without_asking: bool, dry_run: bool, as_json: bool) -> None:
    VOUCHED.set(False)  # what is asked is how things stand without an answer
    if nearest_file() is None:
        raise NotFoundError(f"there is no {NAME} here or above", hint="germline init")
    project = trust_here()
    before = project.state
    wanted = before in {"changed", "untrusted"}
    if not as_json:
        _show(call, project)
    if wanted and not dry_run:
        if not without_asking and not _is_consented(call, project, shown=not as_json):
            raise typer.Exit(CheckFailedError.exit_code)
        keep_consent(project.file.parent, project.sha256, project.values)
    if as_json:
        call.answer(_document(project, before if dry_run else trust_here().state, dry_run=dry_run))
    elif wanted:
        what = count(len(project.settings), "setting")
        done = f"dry run: would trust {what}; nothing was changed"
        call.say(done if dry_run else f"trusted    {what}, as they are")


def _is_consented(call: Invocation, project: ProjectTrust, *, shown: bool) -> bool:
    """Ask the person; raises UntrustedError where nobody is there to be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UntrustedError(
            f"{project.file} can be trusted by a person alone, and no terminal is there to ask one",
            settings=project.keys,
            hint="if you have read it: germline trust --trust-project",
        )
    if not (shown and sys.stdout.isatty()):  # nobody consents to what is not before their eyes
        for setting in project.settings:
            sys.stderr.write(f"{one_line(setting.key)} = {one_line(as_toml(setting.value))}: {setting.lets}\n")
    sys.stdout.flush()
    sys.stderr.write("trust      these settings, until one of them changes? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in _YES:
        return True
    call.note("not trusted: they stay without effect; all else works")
    return False


def _show(call: Invocation, project: ProjectTrust) -> None:
    """Print what a project could do with its settings, each with its place."""
    say_folded(call, "project    ", str(project.file))
    if project.owner:
        say_folded(call, "owner      ", f"{project.owner}, not you", tone="warn")
    lines = key_lines(project.file.read_text(encoding="utf-8"))
    earlier = project.consent.values if project.consent else {}
    for setting in project.settings:
        value = as_toml(setting.value)
        mark = "" if project.consent is None or earlier.get(setting.key) == value else "changed: "
        at = lines.get(setting.path)
        say_folded(call, f"{f'line {at}' if at else '':<10} ", f"{mark}{setting.key} = {value}", tone="dim")
        leads_to = f": {', '.join(setting.leads_to)}" if setting.leads_to else ""
        say_folded(call, f"{'':<13}", f"{setting.lets}{leads_to}")
    if project.state == "trusted":
        call.say(f"trusted    since {project.consent.at if project.consent else ''}")
    elif project.state == "not needed":
        call.say("trust      not needed: nothing in it runs, reaches or reveals anything")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Find the line on which each key of a TOML file is set, as far as a look at single lines tells."""
    numbers: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for at, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _path_of(stripped)
            numbers.setdefault(table, at)
        elif "=" in stripped:
            inner = _path_of(f"{stripped.partition('=')[0]}= 0")
            if inner:
                numbers.setdefault((*table, *inner), at)
    return numbers


def _path_of(line: str) -> tuple[str, ...]:
    """Read the key of a line of TOML by itself; empty where it is none."""
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(value, dict) and len(value) == 1:
        name, value = next(iter(value.items()))
        path.append(name)
    return tuple(path)


def _document(project: ProjectTrust, state: TrustName, *, dry_run: bool) -> TrustDocument:
    return TrustDocument(
        dry_run=dry_run,
        file=str(project.file),
        owner=project.owner or None,
        state=state,
        sha256=project.sha256,
        settings=tuple(
            GuardedSettingRow(
                key=setting.key, value=as_toml(setting.value), lets=setting.lets, leads_to=tuple(setting.leads_to)
            )
            for setting in project.settings
        ),
    )


def _revoke(call: Invocation, folder: Path | None, *, dry_run: bool, as_json: bool) -> None:
    near = nearest_file()
    place = folder.expanduser() if folder is not None else near.parent if near else Path.cwd()
    place = place.resolve()
    there = any(consent.folder == str(place) for consent in consents())
    if there and not dry_run:
        revoke_consent(place)
    if as_json:
        call.answer(TrustDocument(dry_run=dry_run, file=str(place / NAME), revoked=there))
    elif there:
        say_folded(call, "dry run    " if dry_run else "revoked    ", f"your trust in {place}")
    else:
        say_folded(call, "trust      ", f"{place} was not trusted, and nothing was changed")


def _list(call: Invocation, *, as_json: bool) -> None:
    trusted = consents()
    if as_json:
        rows = (TrustedProject(**{**consent._asdict(), "values": dict(consent.values)}) for consent in trusted)
        call.answer(TrustDocument(trusted=tuple(rows)))
        return
    for project in trusted:
        say_folded(call, f"{project.at[:10]} ", f"{project.folder}: {', '.join(project.values) or 'its owner'}")
    if not trusted:
        call.say("trust      no project yet")


COMMANDS: Final = {"trust": trust}
