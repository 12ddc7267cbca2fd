"""The knowledge of a skill: sources packed as its files, compared with what they became, taken out again."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import CheckFailedError, NotFoundError
from registry.actions.publish import publish
from registry.skill_md.render import label
from strategies.knowledge.stale_sources import known_corpora, known_corpus, source_states
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Reason, Skill, require_reason
from tui.documents.events import event_rows
from tui.documents.folders import (
    KnowledgeAddDocument,
    KnowledgeCheckDocument,
    KnowledgeListDocument,
    KnowledgeRemoveDocument,
    KnowledgeSource,
    unkept_rows,
)
from tui.session.open_registry import find_registry, open_library, open_registry, project_folder
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.query.library import Library
    from strategies.knowledge.corpus import Corpus, SourceState
    from strategies.knowledge.pack_knowledge import PackedKnowledge
    from tui.cli.output.invocation import Invocation

knowledge = typer.Typer(help="Pack files as what a skill knows; check and remove them.", rich_markup_mode=None)

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE…", help="Paths as `knowledge list` has them.")]
_SHOWN_STALE: Final = 5


@knowledge.command("add")
def add_knowledge(
    ctx: typer.Context,
    skill: Skill,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Text files, or folders of them.")],
    *,
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Propose files as what a skill knows: passages, an index, and a script that looks questions up.

    They are copied without secrets and personal data, each with its path from the project, its hash and the day.
    The result is a candidate: `candidate test` runs an agent with and without it, or you approve it. A source that
    is there already is read again. The script needs Python alone. Needs --reason.
    """
    from strategies.knowledge.pack_knowledge import pack, propose_knowledge  # noqa: PLC0415 - the list of commands pays for none
    from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - the same

    call = invocation(ctx)
    again = f"germline knowledge add {skill} PATH --reason TEXT"
    require_reason(reason, "a proposal needs a reason: it is kept with the event", again)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        sources = _read(paths, project_folder(call.registry))
        packed = pack(registry, skill, sources, SystemClock().now()[:10])
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            propose_knowledge(registry, packed, reason=reason, preset=bound_by(registry, "").preset)
            events = since(registry, before)
    candidate = events[0].stream.removeprefix("candidate:")
    removed = tuple(sorted({rule for each in packed.kept for rule in each.removed}))
    if as_json:
        document = KnowledgeAddDocument(
            dry_run=dry_run,
            skill=skill,
            candidate=candidate,
            sources=tuple(map(KnowledgeSource.of, packed.corpus.sources)),
            left_out=unkept_rows(packed.corpus),
            removed=removed,
            events=event_rows(events),
        )
        call.answer(document)
        return
    if dry_run:
        print_rehearsed(call, event_rows(events))
    else:
        call.say(f"proposed   {candidate[:SHOWN_CHARS]}, event {events[0].position}: {reason}")
    _print_packed(call, packed, removed)
    if not dry_run:
        short = candidate[:SHOWN_CHARS]
        call.say(f"next       germline candidate test {short}    germline candidate show {short}")


def _read(paths: Sequence[Path], project: Path) -> dict[str, bytes]:
    """Read the named files, and those in the named folders, by path from the project; no hidden ones."""
    files: list[Path] = []
    for named in paths:
        path = named.expanduser()
        if path.is_dir():
            below = (file for file in sorted(path.rglob("*")) if file.is_file())
            files += [
                file for file in below if not any(part.startswith(".") for part in file.relative_to(path).parts)
            ]
        elif path.is_file():
            files.append(path)
        else:
            raise NotFoundError(f"there is no file {named}", hint="name text files, or folders of them")
    return {Path(os.path.relpath(file, project)).as_posix(): file.read_bytes() for file in files}


def _print_packed(call: Invocation, packed: PackedKnowledge, removed: Sequence[str]) -> None:
    passages = sum(len(each.source.passages) for each in packed.kept)
    say_fact(call, "read", f"{count(passages, 'passage')} of {count(len(packed.kept), 'source')}")
    _print_left_out(call, packed.corpus)
    if removed:
        say_fact(call, "removed", f"{', '.join(removed)}: such text is in no copy")


def _print_left_out(call: Invocation, corpus: Corpus) -> None:
    if corpus.left_out:
        listed = ", ".join(f"{each.source} ({each.why})" for each in corpus.left_out)
        say_fact(call, "without", listed)


@knowledge.command("list")
def list_knowledge(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """List what skills know: each source, when it was read, and in how many passages it is kept."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        known = _corpora(library, skill)
    if as_json:
        skills = {name: tuple(map(KnowledgeSource.of, corpus.sources)) for name, corpus in known.items()}
        left_out = {name: unkept_rows(corpus) for name, corpus in known.items()}
        call.answer(KnowledgeListDocument(skills=skills, left_out=left_out))
        return
    _say_none(call, known, skill)
    for name, corpus in known.items():
        call.say(f"{name} knows {count(len(corpus.sources), 'source')}.")
        for source in corpus.sources:
            size = count(len(source.passages), "passage")
            say_folded(call, "  ", f"{source.source}: {size}, read {source.read}, in {source.path}")
        _print_left_out(call, corpus)
    if known:
        call.say("next       germline knowledge check    germline knowledge remove SKILL SOURCE --reason TEXT")


@knowledge.command("check")
def check_knowledge(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """Compare what skills know with its sources; exit code 3 where a source changed or is gone."""
    call = invocation(ctx)
    project = project_folder(call.registry)
    with open_library(find_registry(call.registry)) as library:
        states = {name: source_states(corpus, project) for name, corpus in _corpora(library, skill).items()}
    stale = {name: [state for state in listed if state.state != "current"] for name, listed in states.items()}
    number = sum(map(len, stale.values()))
    if as_json:
        skills = {name: tuple(map(KnowledgeSource.compared, listed)) for name, listed in states.items()}
        call.answer(KnowledgeCheckDocument(skills=skills, stale=number))
    else:
        _say_none(call, states, skill)
        for name, listed in states.items():
            _print_states(call, name, listed, stale[name])
    if number:
        name = next(name for name, listed in stale.items() if listed)
        source = quote(stale[name][0].source.source)
        hint = f"germline knowledge add {name} {source} --reason TEXT"
        if stale[name][0].state == "missing":
            hint = f"germline knowledge remove {name} {source} --reason TEXT"
        raise CheckFailedError(f"{count(number, 'source')} changed since a skill read it", hint=hint)


def _print_states(
    call: Invocation, name: str, states: Sequence[SourceState], stale: Sequence[SourceState]
) -> None:
    current = len(states) - len(stale)
    call.say(f"{name}: {current:,} of {count(len(states), 'source')} are as they were read.")
    for state in stale:
        places = [f"lines {each.first}-{each.last} ({each.title})" for each in state.stale[:_SHOWN_STALE]]
        more = f" and {len(state.stale) - _SHOWN_STALE} more" if len(state.stale) > _SHOWN_STALE else ""
        which = f": stale are {', '.join(places)}{more}" if places else ": no kept passage differs, others came"
        say_folded(call, f"  {state.state:<8} ", f"{state.source.source}{which}")


def _corpora(library: Library, skill: str) -> dict[str, Corpus]:
    """Read the knowledge of one skill, or of all that have some."""
    from strategies.knowledge.corpus import Corpus  # noqa: PLC0415 - the list of commands pays for none of it

    return {skill: known_corpus(library, skill) or Corpus()} if skill else known_corpora(library)


def _say_none(call: Invocation, known: Mapping[str, object], skill: str) -> None:
    if not known:
        call.say("No skill has knowledge yet.")
        call.say(f"next       germline knowledge add {skill or 'SKILL'} PATH --reason TEXT")


@knowledge.command("remove")
def remove_sources(
    ctx: typer.Context,
    skill: Skill,
    sources: Sources,
    *,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase what was ever kept of them, and what quotes it, for good.")
    ] = False,
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take sources out of what a skill knows, by a new version on your word. Needs --reason.

    Earlier versions keep them, until --erase: then their text is gone from every version, candidate and run, and
    those versions can no longer be written out. Backups and copies of the registry keep what they had.
    """
    from strategies.knowledge.pack_knowledge import erase_knowledge, remove_knowledge  # noqa: PLC0415 - as above

    call = invocation(ctx)
    again = f"germline knowledge remove {skill} {sources[0]} --reason TEXT"
    require_reason(reason, "what is taken out needs a reason: it is kept with the event", again)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            version = remove_knowledge(registry, skill, sources)
            if erase:
                erase_knowledge(registry, skill, sources, reason)
            events = event_rows(since(registry, before))
        if version and not dry_run:
            publish(registry, skill)
        final = registry.log.scrub() if erase and not dry_run else None
        capsule = registry.capsule(skill)
    if as_json:
        document = KnowledgeRemoveDocument(dry_run=dry_run, skill=skill, version=capsule.version, events=events)
        call.answer(document if final is None else document.model_copy(update={"final": final}))
        return
    if dry_run:
        print_rehearsed(call, events)
        return
    what = "erased" if erase else "removed"
    say_folded(call, f"{what:<10} ", f"{', '.join(sources)}; {label(capsule)} is live")
    if final is False:
        call.note("note       a reader was in the way of clearing the files: run it again, or germline verify")
    call.say(f"next       germline knowledge list {skill}    germline verify")


COMMANDS: Final = {"knowledge": knowledge}
