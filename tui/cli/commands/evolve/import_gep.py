"""Importing the genes of Evolver: each file, or all of them together, as one skill that nobody measured yet."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, RefusedError, UsageError
from registry.actions.publish import keep_files, write_out
from registry.decide.commands import ImportSkill
from registry.state.capsule import is_skill_name
from strategies.files.whole_file import read_up_to
from strategies.interchange.gep import MOST_BYTES, GepFile, read_gep
from strategies.interchange.gep_skill import PROVENANCE, gep_skill, named_after
from tui.cli.output.color import width
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Yes
from tui.documents.events import event_rows
from tui.documents.folders import GepSkillRow, ImportGepDocument
from tui.session.open_registry import find_registry, open_registry
from tui.session.own_registries import keep_registry, trust_in
from tui.text.numbers import count
from tui.text.terminal_text import clip, harmless, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.registry import Registry
    from strategies.interchange.gep_skill import GepSkill
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 3
"""Doubtful lines that are told one by one."""


def import_gep(
    ctx: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Genes, capsules, events: JSON or JSON lines.")
    ],
    *,
    skill: Annotated[
        str, typer.Option("--skill", metavar="NAME", help="All of them as this skill; else one for each file.")
    ] = "",
    to: Annotated[
        str, typer.Option("--to", metavar="DIR", help="Where the skill is written; skills/ here.")
    ] = "skills",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import genes of Evolver (GEP) as skills, unproven.

    A gene becomes a section with its steps, its signals become triggers. Its validation commands are kept as
    proposals for anchors and are never run; capsules and events are kept as records of where it was used. Scores
    are not taken over: nothing was measured for them. Lines that give orders to a model need --yes.
    """
    call = invocation(ctx)
    if skill and not is_skill_name(skill):
        raise UsageError(f"{skill!r} is no name of a skill", hint="lowercase letters, digits and single hyphens")
    read = [_read(Path(file).expanduser()) for file in dict.fromkeys(files)]
    made = [
        gep_skill(
            name,
            (Path(to).expanduser() / name).resolve(),
            _together(parts, read, whole=bool(skill)),
            _sources(parts),
        )
        for name, parts in _parts(read, skill).items()
    ]
    doubts = [line for made_skill in made for line in made_skill.doubts]
    if doubts and not yes and not dry_run:
        shown = "; ".join(clip(one_line(line), 120) for line in doubts[:_SHOWN])
        raise CheckFailedError(
            f"{count(len(doubts), 'line')} would instruct a model: {shown}",
            hint="read them, then: germline import-gep … --yes",
        )
    where = find_registry(call.registry)
    with open_registry(where, dry_run=dry_run) as registry:
        before = registry.log.head().position
        for made_skill in made:
            _require_free(registry, made_skill)
        if dry_run:
            with registry.rehearsal():
                _append(registry, made)
                _rehearsed(call, registry, made, before, as_json=as_json)
            return
        with registry.log.transaction():  # all of them or none
            _append(registry, made)
        places = [Path(made_skill.folder.source) for made_skill in made]
        keep_registry(where, registry.log, registry.clock.now(), places)
        registry.places = trust_in(where, registry.log).places
        for made_skill in made:
            write_out(registry, registry.capsule(made_skill.folder.name))
        _report(call, registry, made, before, as_json=as_json)


class _Read:
    """A file that was read: its path, its hash, and what it holds."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.gep = read_gep(raw, str(path))


def _read(path: Path) -> _Read:
    return _Read(path, read_up_to(path, MOST_BYTES, hint="name a genes.json of Evolver"))


def _parts(read: Sequence[_Read], skill: str) -> dict[str, list[_Read]]:
    """Say which files make which skill; files of records alone go to whatever names their genes."""
    with_genes = [read_file for read_file in read if read_file.gep.genes]
    if not with_genes:
        raise UsageError(
            f"{read[0].path} holds records, and no gene that they are of",
            hint="name the genes.json beside it, too",
        )
    if skill:
        return {skill: list(read)}
    parts: dict[str, list[_Read]] = {}
    for read_file in with_genes:
        name = named_after(read_file.path)
        if name in parts:
            raise UsageError(f"two files would make the skill {name}", hint="--skill NAME makes one of them all")
        parts[name] = [read_file]
    return parts


def _together(parts: Sequence[_Read], read: Sequence[_Read], *, whole: bool) -> GepFile:
    """Join what files hold: the genes of these, and every record that was read."""
    genes = tuple(gene for part in parts for gene in part.gep.genes)
    records = tuple(record for part in (parts if whole else read) for record in part.gep.records)
    return GepFile(genes, records)


def _sources(parts: Sequence[_Read]) -> list[tuple[str, str]]:
    return [(part.path.name, part.sha256) for part in parts]


def _require_free(registry: Registry, made: GepSkill) -> None:
    """Raise RefusedError where the skill, or something in its folder, is there already."""
    name, place = made.folder.name, made.folder.source
    if name in registry.names():
        raise RefusedError(
            f"a skill named {name} is in the registry already",
            hint=f"--skill ANOTHER, or propose it: germline candidate propose {name} --from FILE --reason TEXT",
        )
    if os.path.lexists(place):
        raise RefusedError(f"something is at {place} already", hint="--to ANOTHER-FOLDER, or --skill ANOTHER")


def _append(registry: Registry, made: Sequence[GepSkill]) -> None:
    for made_skill in made:
        keep_files(registry.log, made_skill.folder)
        registry.execute(ImportSkill(made_skill.folder, made_skill.triggers))


def _rehearsed(
    call: Invocation, registry: Registry, made: Sequence[GepSkill], before: int, *, as_json: bool
) -> None:
    document = _document(registry, made, before, dry_run=True)
    if as_json:
        call.answer(document)
        return
    print_rehearsed(call, document.events)
    for made_skill in made:
        call.say()
        say_folded(call, "", f"{made_skill.folder.source}/SKILL.md")
        for line in (
            *made_skill.folder.front,
            *(line for section in made_skill.folder.sections for line in section.lines),
        ):
            call.say(f"  {harmless(line.rstrip())}".rstrip())


def _report(call: Invocation, registry: Registry, made: Sequence[GepSkill], before: int, *, as_json: bool) -> None:
    if as_json:
        call.answer(_document(registry, made, before, dry_run=False))
        return
    for made_skill in made:
        name = made_skill.folder.name
        say_folded(
            call,
            "imported   ",
            f"{name}@1, {count(_genes(made_skill), 'gene')}, unproven, in {made_skill.folder.source}",
        )
        if made_skill.checks:
            call.say(f"checks     {made_skill.checks}, none of them run: proposals for anchors, in {PROVENANCE}")
        if made_skill.records:
            call.say(f"records    {made_skill.records} of use, without their scores, in {PROVENANCE}")
        for unsealed in made_skill.unsealed[:_SHOWN]:
            call.note(
                clip(f"warning    {one_line(unsealed)}: its asset id is not the hash of what it says", width())
            )
    first = made[0].folder.name
    call.say(f"next       germline show {first} --blame    germline evolve {first} --logs PATH")


def _genes(made: GepSkill) -> int:
    return len(made.folder.sections) - sum(not section.title for section in made.folder.sections)


def _document(registry: Registry, made: Sequence[GepSkill], before: int, *, dry_run: bool) -> ImportGepDocument:
    skills = (
        GepSkillRow(
            skill=made_skill.folder.name,
            version=1,
            folder=made_skill.folder.source,
            genes=_genes(made_skill),
            checks=made_skill.checks,
            records=made_skill.records,
            doubts=tuple(made_skill.doubts),
            asset_id_does_not_hold=tuple(made_skill.unsealed),
        )
        for made_skill in made
    )
    return ImportGepDocument(dry_run=dry_run, skills=tuple(skills), events=event_rows(since(registry, before)))


COMMANDS: Final = {"import-gep": import_gep}
