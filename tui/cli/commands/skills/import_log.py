"""Importing a log: what other registries made of skills, merged into this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import RefusedError, StorageError, UntrustedError
from events.store.histories import histories
from registry.actions.publish import publish
from registry.skill_md.skill_files import write_place
from strategies.merge.log_folder import read_log_folder
from strategies.merge.merge_history import MergeTerms, merge_history
from strategies.policy.active_preset import bound_by
from tui.cli.output.dry_run import since
from tui.cli.output.facts import say_folded
from tui.cli.printers.imported_skill import note_findings, with_secrets_told
from tui.documents.events import event_rows
from tui.documents.folders import ImportDocument, MergedSkillRow
from tui.session.open_registry import find_registry, open_registry
from tui.session.other_owners import require_unowned
from tui.session.own_registries import keep_registry, trust_in
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.registry import Registry
    from strategies.merge.merge_history import MergedSkill
    from tui.cli.output.invocation import Invocation
    from tui.documents.events import EventRow
    from tui.session.open_registry import Where

_ASIDE: Final = "merged"
"""Where copies of what no candidate can hold are put, beside the registry."""


class _Imported(NamedTuple):
    """What an import did: the registries whose log was there, and the skills that are not as they were."""

    registries: int
    skills: list[MergedSkill]
    events: tuple[EventRow, ...]


def import_log(call: Invocation, folder: Path, *, confirmed: bool, dry_run: bool, as_json: bool) -> None:
    """Merge what an exported log holds of other registries; all of it in one transaction, then the files."""
    events = read_log_folder(folder)
    where = find_registry(call.registry)
    with open_registry(where, dry_run=dry_run) as registry:
        own = {digest.hex() for digest in registry.log.hashes()}
        others = [history for history in histories(events) if history[-1].hash not in own]
        terms = MergeTerms(
            folder,
            None if dry_run else registry.log.beside.parent / _ASIDE,
            bound_by(registry).preset,
            instructing=confirmed,
            require_free=lambda place: require_unowned(where, [place]),
        )
        before = registry.log.head().position
        merged: list[MergedSkill] = []
        with registry.rehearsal() if dry_run else registry.log.transaction():
            for history in others:
                merged += merge_history(registry, history, terms)
            rows = event_rows(since(registry, before))
        if not dry_run:
            _publish(call, registry, where, merged)
    changed = [skill for skill in merged if skill.result != "known"]
    registries = len({history[0].hash for history in others})
    _report(call, folder, _Imported(registries, changed, rows), dry_run=dry_run, as_json=as_json)


def _publish(call: Invocation, registry: Registry, where: Where, merged: Sequence[MergedSkill]) -> None:
    """Write the files of what became a version; what a person edited, or wrote there, is left as it is."""
    new = [skill.skill for skill in merged if skill.result == "new"]
    places = [write_place(name, registry.capsule(name).source) for name in new]
    keep_registry(where, registry.log, registry.clock.now(), places)
    registry.places = trust_in(where, registry.log).places
    for name in dict.fromkeys(skill.skill for skill in merged if skill.result in {"new", "version"}):
        try:
            publish(registry, name)
        except (RefusedError, StorageError, UntrustedError) as error:
            call.note(f"warning    {name} is merged, and its files are not written: {error.message}")
            call.note(f"           {error.hint}")


def _report(call: Invocation, folder: Path, done: _Imported, *, dry_run: bool, as_json: bool) -> None:
    texts = [with_secrets_told(skill.folder) if skill.folder else None for skill in done.skills]
    if as_json:
        rows = tuple(
            MergedSkillRow.of(skill, text.warnings if text else ())
            for skill, text in zip(done.skills, texts, strict=True)
        )
        call.answer(ImportDocument(dry_run=dry_run, merged=rows, events=done.events))
        return
    if dry_run:
        call.say(f"dry run: would append {count(len(done.events), 'event')}; nothing was changed")
    for skill, text in zip(done.skills, texts, strict=True):
        say_folded(call, f"{skill.result:<10} ", _words(skill))
        if text is not None:
            for warning in text.warnings:
                call.note(f"warning    {skill.skill}: {warning}")
            note_findings(call, text)
    if not done.skills:
        call.say(f"nothing    {folder} holds nothing that is new here: {_others(done.registries)}")
    waits = any(skill.result == "candidate" for skill in done.skills)
    call.say(f"next       {'germline candidates' if waits else 'germline status'}    germline export log")


def _others(registries: int) -> str:
    if not registries:
        return "no registry but this one"
    return f"what {'another registry' if registries == 1 else f'{registries:,} other registries'} made is known"


def _words(skill: MergedSkill) -> str:
    """Say what became of a skill, in one sentence."""
    theirs = f"{skill.skill}@{skill.origin_version} of registry {skill.registry[:8]}"
    match skill.result:
        case "new" | "version":
            return f"{skill.skill}@{skill.version}, from {theirs}; unproven here until measured"
        case "candidate":
            waits = f"candidate {skill.candidate[:SHOWN_CHARS]} waits for you"
            return f"{theirs}: both changed it since a version in common; {waits}"
        case "aside":
            copy = f"a copy lies in {skill.place}" if skill.place else "a copy would lie beside the registry"
            return f"{theirs}: no candidate can hold it ({skill.reason}); {copy}"
        case _:
            return f"{theirs} is left out: {skill.reason}"
