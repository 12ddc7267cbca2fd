"""Beginning: a registry, and the skills that go into it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.clock import new_split_key
from events.errors import NotFoundError, RefusedError, UsageError
from events.sqlite.open_database import require_none_aside
from registry.actions.publish import take_in
from registry.decide.commands import CreateRegistry, ImportSkill, MoveSkill
from registry.skill_md.folder import read_skill
from registry.skill_md.instructions import (
    find_instructions,
    instructions_name,
    is_instruction_file,
    read_instructions,
)
from registry.skill_md.skill_files import SKILL_FILE, main_file, write_place
from registry.skill_md.write_places import REGISTRY_FOLDER
from registry.state.capsule import is_skill_name
from strategies.files.default_locations import usual_logs
from strategies.policy.active_preset import beginning
from tui.cli.config.config import template
from tui.cli.config.layers import NAME
from tui.cli.output.dry_run import rehearse, since
from tui.cli.output.facts import say_folded, say_listed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.cli.printers.imported_skill import note_findings, with_secrets_told
from tui.documents.events import event_rows
from tui.documents.folders import FirstEvent, ImportDocument, ImportedSkill, InitDocument, MovedSkill
from tui.session.open_registry import (
    FILE,
    Where,
    find_registry,
    open_log,
    open_registry,
    place_of,
    project_folder,
)
from tui.session.other_owners import require_unowned
from tui.session.own_registries import keep_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.folder import SkillFolder
    from tui.cli.output.invocation import Invocation

_LOG: Final = "log"
"""The word before a folder that an exported log is in."""
_HEX: Final = frozenset("0123456789abcdef")
_KEY_CHARS: Final = 32
_SKILLS: Final = ("~/.claude/skills", ".claude/skills", "skills")
"""Where tools are known to keep skills."""
_IGNORED: Final = (
    "# The registry keeps quotes of your logs: git leaves it out. Delete this file to commit it.\n*\n"
)
_FEW: Final = 3
"""Files of instructions that are offered one by one; of more, their folder is."""
MAX_DEPTH: Final = 3
"""How deep below a named folder skills are looked for: collections put them one or two folders down."""


def init(
    ctx: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="[DIR]", help="Where; here if left out.")] = ".",
    *,
    split_key: Annotated[
        str, typer.Option(metavar="HEX", help="32 hex digits that divide tasks into splits; drawn if left out.")
    ] = "",
    preset: Annotated[str, typer.Option(metavar="NAME", help="The preset to begin with.")] = "balanced",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Create a registry here; say which logs and skills could go in.

    Nothing is read that was not asked for: what is found is offered as commands to type.
    """
    call = invocation(ctx)
    stated = call.registry or ("" if folder != "." else os.environ.get("GERMLINE_REGISTRY", ""))
    path = _new_place(stated) if stated else Path(folder).expanduser() / REGISTRY_FOLDER / FILE
    command = CreateRegistry(_split_key(split_key), beginning(preset).name)
    logs = tuple(log for _, log in usual_logs())
    skills = [place for stated in _SKILLS if (place := _beside(folder, stated)).is_dir() and find_skills(place)]
    instructions = find_instructions(Path(folder).expanduser(), depth=0)
    skills += (
        [_below(file, Path(folder)) for file in instructions] if len(instructions) <= _FEW else [Path(folder)]
    )
    if dry_run:
        _rehearse_init(call, path, command, as_json=as_json)
        return
    create_registry(path, command, None if stated else Path(folder).expanduser(), logs)
    settings = Path(folder).expanduser() / NAME
    offers = [
        *(f"germline import {quote(str(skill))}" for skill in skills),
        *(["germline scan"] if logs else []),
    ]
    if as_json:
        document = InitDocument(
            registry=str(path), preset=command.preset, split_key=command.split_key, offers=tuple(offers)
        )
        call.answer(document)
        return
    say_folded(call, "registry   ", f"{path}, preset {command.preset}")
    if settings.exists():
        call.say(f"settings   {settings}")
    if isinstance(path, Path) and path.parent.joinpath(".gitignore").is_file():
        say_folded(
            call, "git        ", f"commit {NAME} and the skills; {path.parent} is kept out by its .gitignore"
        )
    say_listed(call, "next", offers or ["germline import PATH", "germline demo"])


def create_registry(
    path: Where, command: CreateRegistry, folder: Path | None, logs: Sequence[Path] | None = None
) -> None:
    """Create a registry; in a `folder` of its own with settings that name these logs, and out of sight of git."""
    with open_registry(path, create=True) as registry:
        registry.execute(command)
        keep_registry(path, registry.log, registry.clock.now())
    if folder is not None:
        _write_new(folder / NAME, template(tuple(log for _, log in usual_logs()) if logs is None else tuple(logs)))
        _write_new(folder / REGISTRY_FOLDER / ".gitignore", _IGNORED)


def _write_new(file: Path, text: str) -> None:
    if not file.exists():
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)


def _new_place(stated: str) -> Where:
    """Read where a registry is to be: a file as it is named, in a folder that is there, or at an address."""
    path = Path(stated).expanduser()
    return place_of(stated) if "://" in stated or path.is_dir() else path


def _is_there(place: Where) -> bool:
    """Tell whether there is a registry, or a file, already."""
    if isinstance(place, Path):
        require_none_aside(place)
        return place.exists()
    try:
        open_log(place, read_only=True).close()
    except NotFoundError as error:
        if error.hint != "germline init":  # the database itself is not there
            raise
        return False
    return True


def _split_key(stated: str) -> str:
    key = stated.lower() or new_split_key()
    if len(key) != _KEY_CHARS or not set(key) <= _HEX:
        raise UsageError(f"{stated!r} is no split key", hint=f"give {_KEY_CHARS} hex digits, or leave it out")
    return key


def _below(file: Path, folder: Path) -> Path:
    """Write where instructions are as a person would type it, who stated that folder."""
    return folder / file.relative_to(folder.expanduser().resolve())


def _beside(folder: str, stated: str) -> Path:
    return Path(stated).expanduser() if stated.startswith("~") else Path(folder).expanduser() / stated


def _rehearse_init(call: Invocation, path: Where, command: CreateRegistry, *, as_json: bool) -> None:
    """Say what would be begun; there is no log yet to rehearse in."""
    if _is_there(path):
        what = "file" if isinstance(path, Path) else "registry"
        raise RefusedError(f"there is a {what} {path} already", hint="germline status")
    summary = f"registry created, preset {command.preset}"
    if as_json:
        payload = {"split_key": command.split_key, "preset": command.preset}
        event = FirstEvent(type="RegistryCreated", stream="registry", summary=summary, payload=payload)
        call.answer(InitDocument(dry_run=True, registry=str(path), events=(event,)))
    else:
        say_folded(call, "", f"dry run: would create {path} and append 1 event; nothing was changed")
        call.say(f"  RegistryCreated    {summary}")


def import_skills(
    ctx: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="A skill folder, a CLAUDE.md or its like, a folder of such."),
    ],
    *,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Move a skill here whose other folder is still there, or another registry writes."
        ),
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import skills and instructions; each is projected in place.

    Importing loses nothing: projected without an edit, every file is byte for byte what it was. Rules that a
    skill breaks are warnings now, and must be mended before a changed version is projected. Lines that instruct an
    agent against its user, and what scripts run, reach and read, are shown. A skill that is known is left
    alone; one whose folder was moved is projected to the new place from then on. Instructions (CLAUDE.md,
    AGENTS.md, GEMINI.md, .claude/rules, .cursor/rules and so on) are named by their path below the project;
    those that a person has for every project come in only where they are named. `log FOLDER` merges what
    `export log` of another registry wrote there.
    """
    call = invocation(ctx)
    if paths[0] == _LOG and len(paths) == len([_LOG, "FOLDER"]):
        from tui.cli.commands.skills.import_log import import_log  # noqa: PLC0415 - `init` and `start` merge nothing

        import_log(call, Path(paths[1]).expanduser(), confirmed=yes, dry_run=dry_run, as_json=as_json)
        return
    where, project = find_registry(call.registry), project_folder(call.registry)
    places = list(dict.fromkeys(place for path in paths for place in _named(Path(path).expanduser(), project)))
    skills = [with_secrets_told(_read(place, project)) for place in places]
    if not yes:
        require_unowned(where, [write_place(skill.name, skill.source) for skill in skills])
    with open_registry(where, dry_run=dry_run) as registry:
        before = registry.log.head().position
        arrivals = _arrivals(registry, skills, confirmed=yes)
        if dry_run:
            for skill in arrivals.new:
                note_findings(call, skill)
            commands: list[ImportSkill | MoveSkill] = [*map(ImportSkill, arrivals.new), *arrivals.moved]
            rehearse(
                call,
                registry,
                lambda: [registry.execute(command) for command in commands],
                ImportDocument,
                as_json=as_json,
            )
            return
        with registry.log.transaction():  # all of them or none
            for skill in arrivals.new:
                take_in(registry, Path(skill.source)) if is_skill_name(skill.name) else registry.execute(
                    ImportSkill(skill)
                )
            for move in arrivals.moved:
                registry.execute(move)
        keep_registry(
            where, registry.log, registry.clock.now(), [write_place(skill.name, skill.source) for skill in skills]
        )
        _report(call, registry, arrivals, before, as_json=as_json)


class Arrivals(NamedTuple):
    """What an import is to do: the skills that are new, those that moved, and those that are known as they are."""

    new: list[SkillFolder]
    moved: list[MoveSkill]
    known: list[SkillFolder]


def _arrivals(library: Library, skills: Sequence[SkillFolder], *, confirmed: bool) -> Arrivals:
    """Tell what an import is to do; raises RefusedError where that is nothing, or a skill is in two places."""
    names = set(library.names())
    arrivals = Arrivals([], [], [])
    for skill in skills:
        if skill.name not in names:
            arrivals.new.append(skill)
            continue
        source = Path(library.capsule(skill.name).source)
        if source.resolve() == Path(skill.source):
            arrivals.known.append(skill)
        elif confirmed or not (source / main_file(skill.name)).exists():
            arrivals.moved.append(MoveSkill(skill.name, skill.source))
        else:
            there = quote(str(write_place(skill.name, skill.source)))
            raise RefusedError(
                f"a skill named {skill.name} is imported already, from {source}",
                hint=f"germline import {there} --yes makes that its place",
            )
    if not arrivals.new and not arrivals.moved:
        first = arrivals.known[0]
        raise RefusedError(
            f"a skill named {first.name} is imported already, from {first.source}",
            hint=f"germline adopt {first.name}",
        )
    return arrivals


def _report(call: Invocation, registry: Registry, arrivals: Arrivals, before: int, *, as_json: bool) -> None:
    new, moved, known = arrivals
    if as_json:
        document = ImportDocument(
            skills=tuple(map(ImportedSkill.of, new)),
            moved=tuple(MovedSkill(skill=move.capsule, source=move.source) for move in moved),
            known=tuple(skill.name for skill in known),
            events=event_rows(since(registry, before)),
        )
        call.answer(document)
        return
    for skill in new:
        size = f"{count(len(skill.files) + 1, 'file')}, {count(len(skill.sections), 'section')}"
        say_folded(call, "imported   ", f"{skill.name}@1, {size}, from {write_place(skill.name, skill.source)}")
        for warning in skill.warnings:
            call.note(f"warning    {skill.name}: {warning}")
        note_findings(call, skill)
    for move in moved:
        say_folded(call, "moved      ", f"{move.capsule}, to {move.source}")
    for skill in known:
        say_folded(call, "known      ", f"{skill.name}, from {skill.source}")
    if new:
        call.say(f"next       germline evolve {new[0].name} --logs PATH    germline show {new[0].name} --blame")
    else:
        call.say("next       germline status")


def _read(place: Path, project: Path) -> SkillFolder:
    """Read a skill folder, or a file of instructions."""
    if is_instruction_file(place):
        return read_instructions(place, instructions_name(place, project))
    return read_skill(place.resolve())


def _named(path: Path, project: Path) -> list[Path]:
    """Find the skill folders and files of instructions that a path names: itself, or those below it.

    Below a folder outside the project only skills are looked for.
    """
    if path.name == SKILL_FILE and path.is_file():
        return [path.parent]
    if is_instruction_file(path) and not path.is_dir():
        return [path]
    hint = f"name a folder that holds {SKILL_FILE}, or a file like CLAUDE.md, AGENTS.md, .cursor/rules/NAME.mdc"
    if not path.is_dir():
        what = "no agent reads it as instructions" if path.exists() else "no such file or folder"
        raise NotFoundError(f"{path}: {what}", hint=hint)
    inside = path.resolve().is_relative_to(project.resolve())
    places = [*find_skills(path), *(find_instructions(path) if inside else ())]
    if not places:
        what = f"{path} holds no {SKILL_FILE}{' and no instructions' if inside else ''}, nor does a folder in it"
        beside = "" if inside else "; outside the project, name each file of instructions"
        raise NotFoundError(what, hint=f"{hint}{beside}")
    return places


def find_skills(folder: Path, depth: int = MAX_DEPTH) -> list[Path]:
    """List the skill folders at or below a folder, sorted; a skill's own folders are not searched."""
    if (folder / SKILL_FILE).is_file():
        return [folder]
    if depth == 0:
        return []
    below = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    return [skill for entry in below if not entry.is_symlink() for skill in find_skills(entry, depth - 1)]


COMMANDS: Final = {"init": init, "import": import_skills}
