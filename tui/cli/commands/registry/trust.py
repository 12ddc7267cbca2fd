"""Trusting a project: shows what its settings and its registry could do, asks, and keeps the person's answer."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from events.clock import SystemClock
from events.errors import CheckFailedError, NotFoundError, UntrustedError, UsageError
from registry.skill_md.write_places import REGISTRY_FOLDER
from tui.cli.config.consents import consents, keep_consent, revoke_consent
from tui.cli.config.layers import NAME, nearest_file, trust_here
from tui.cli.config.project_trust import as_toml
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.registry_files import (
    GuardedSettingRow,
    TrustDocument,
    TrustedProject,
    TrustedRegistry,
)
from tui.documents.status import RegistryTrustState
from tui.session.open_registry import FILE, find_registry, open_library
from tui.session.own_registries import (
    RegistryTrust,
    SkillPlace,
    forget_registry,
    keep_registry,
    own_registries,
    own_registry,
    skill_places,
    trust_in,
)
from tui.session.ownership import NOTED, VOUCHED
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from tui.cli.config.project_trust import ProjectTrust
    from tui.cli.output.invocation import Invocation
    from tui.documents.status import TrustName
    from tui.session.open_registry import Where

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
    """Let a project's settings and registry take effect.

    Shows every setting of the nearest germline.toml that needs it, whether the registry is yours, and each place
    outside the project that its skills would be written to, and asks. Your consent holds for exactly these values
    and places in this folder; when one of them changes you are asked again. All else needs none.
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


class _Registry(NamedTuple):
    """The registry here, how far it is trusted, and the places outside the project that it names."""

    trust: RegistryTrust
    places: tuple[SkillPlace, ...]

    @property
    def wanted(self) -> bool:
        """Whether something of it waits for the person's consent."""
        return not self.trust.is_writable or not all(place.confirmed for place in self.places)

    @property
    def lines(self) -> tuple[str, ...]:
        """What it would do."""
        why = f"{self.trust.summary}: it is read-only until you trust it" if self.trust.summary else ""
        outside = (f"{place.folder}: {place.skill} would be written there" for place in self._waiting)
        return (*filter(None, [why]), *outside)

    @property
    def named(self) -> str:
        """What a consent is given to, in a few words."""
        places = count(len(self._waiting), "place") if self._waiting else ""
        outside = f"{places} outside the project" if places else ""
        return " and ".join(filter(None, ["" if self.trust.is_writable else "the registry", outside]))

    @property
    def _waiting(self) -> list[SkillPlace]:
        return [place for place in self.places if not place.confirmed]


def _registry(call: Invocation) -> _Registry | None:
    """Look at the registry here; None where there is none, or it is another user's."""
    try:
        where = find_registry(call.registry)
    except NotFoundError:
        return None
    except UntrustedError as error:
        call.note(f"warning    {error.message}; {error.hint}")
        return None
    with open_library(where) as library:
        trust = trust_in(where, library.log)
        return _Registry(trust, skill_places(library, trust))


def _trust(call: Invocation, *, without_asking: bool, dry_run: bool, as_json: bool) -> None:
    VOUCHED.set(False)  # what is asked is how things stand without an answer
    NOTED.set(lambda _: None)  # and it is shown below
    registry = _registry(call)
    if nearest_file() is None and registry is None:
        raise NotFoundError(f"there is neither {NAME} nor a registry here or above", hint="germline init")
    project = trust_here()
    before = project.state
    settings, places = before in {"changed", "untrusted"}, registry is not None and registry.wanted
    if not as_json:
        _show(call, project, registry)
    if (settings or places) and not dry_run:
        if not without_asking and not _is_consented(call, project, registry, shown=not as_json):
            raise typer.Exit(CheckFailedError.exit_code)
        if settings:
            keep_consent(project.file.parent, project.sha256, project.values)
        if registry is not None and places:
            _keep(registry)
    if as_json:
        now = (before, registry) if dry_run else (trust_here().state, _registry(call))
        call.answer(_document(project, *now, dry_run=dry_run))
    elif settings or places:
        what = [f"{count(len(project.settings), 'setting')}, as they are"] if settings else []
        what += [registry.named] if registry and places else []
        done = f"dry run: would trust {'; '.join(what)}; nothing was changed"
        call.say(done if dry_run else f"trusted    {'; '.join(what)}")


def _keep(registry: _Registry) -> None:
    """Put the registry into the person's list, with the places that were shown."""
    where = registry.trust.where
    with open_library(where) as library:
        if trust_in(where, library.log).created != registry.trust.created:
            raise UntrustedError(f"{where} became another registry meanwhile", hint="germline trust")
        keep_registry(where, library.log, SystemClock().now(), [Path(place.folder) for place in registry.places])


def _is_consented(call: Invocation, project: ProjectTrust, registry: _Registry | None, *, shown: bool) -> bool:
    """Ask the person; raises UntrustedError where nobody is there to be asked."""
    lines = registry.lines if registry else ()
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        what = str(project.file if project.settings or registry is None else registry.trust.where)
        raise UntrustedError(
            f"{what} can be trusted by a person alone, and no terminal is there to ask one",
            settings=project.keys,
            hint="if you have read it: germline trust --trust-project",
        )
    if not (shown and sys.stdout.isatty()):  # nobody consents to what is not before their eyes
        for setting in project.settings:
            sys.stderr.write(f"{one_line(setting.key)} = {one_line(as_toml(setting.value))}: {setting.lets}\n")
        sys.stderr.writelines(f"{one_line(line)}\n" for line in lines)
    sys.stdout.flush()
    what = "all of this, until it changes" if lines else "these settings, until one of them changes"
    sys.stderr.write(f"trust      {what}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in _YES:
        return True
    call.note("not trusted: they stay without effect; all else works" if not lines else "not trusted")
    return False


def _show(call: Invocation, project: ProjectTrust, registry: _Registry | None) -> None:
    """Print what a project could do: its settings, each with its place, and its registry."""
    if project.file.is_file():
        _show_settings(call, project)
    if registry is None:
        return
    say_folded(call, "registry   ", f"{registry.trust.where}{'' if registry.wanted else ', yours'}")
    for line in registry.lines:
        say_folded(call, f"{'':<13}", line, tone="warn")
    for place in registry.places:
        if place.confirmed:
            say_folded(call, "confirmed  ", f"{place.folder}: {place.skill} is written there")


def _show_settings(call: Invocation, project: ProjectTrust) -> None:
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


def _document(
    project: ProjectTrust, state: TrustName, registry: _Registry | None, *, dry_run: bool
) -> TrustDocument:
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
        registry=RegistryTrustState.of(registry.trust, registry.places) if registry else None,
    )


def _revoke(call: Invocation, folder: Path | None, *, dry_run: bool, as_json: bool) -> None:
    near = nearest_file()
    place = folder.expanduser() if folder is not None else near.parent if near else Path.cwd()
    place = place.resolve()
    where = place / REGISTRY_FOLDER / FILE if folder is not None else _where(call, place)
    there = any(consent.folder == str(place) for consent in consents()) or own_registry(where) is not None
    if there and not dry_run:
        revoke_consent(place)
        forget_registry(where)
    if as_json:
        call.answer(TrustDocument(dry_run=dry_run, file=str(place / NAME), revoked=there))
    elif there:
        say_folded(call, "dry run    " if dry_run else "revoked    ", f"your trust in {place}")
    else:
        say_folded(call, "trust      ", f"{place} was not trusted, and nothing was changed")


def _where(call: Invocation, place: Path) -> Where:
    """Find the registry here; where it would be in a folder without one."""
    try:
        return find_registry(call.registry)
    except (NotFoundError, UntrustedError):
        return place / REGISTRY_FOLDER / FILE


def _list(call: Invocation, *, as_json: bool) -> None:
    trusted, registries = consents(), own_registries()
    if as_json:
        rows = (TrustedProject(**{**consent._asdict(), "values": dict(consent.values)}) for consent in trusted)
        listed = (TrustedRegistry.model_validate(own._asdict()) for own in registries)
        call.answer(TrustDocument(trusted=tuple(rows), registries=tuple(listed)))
        return
    for project in trusted:
        say_folded(call, f"{project.at[:10]} ", f"{project.folder}: {', '.join(project.values) or 'its owner'}")
    for own in registries:
        outside = f", and {', '.join(own.skills)}" if own.skills else ""
        say_folded(call, f"{own.at[:10]} ", f"{own.place}{outside}")
    if not trusted and not registries:
        call.say("trust      no project yet")


COMMANDS: Final = {"trust": trust}
