"""Finding skills for a task, and skills that get in each other's way."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from registry.state.capsule import is_skill_name
from strategies.scope.find_skills import find_skills, overlaps, skill_index
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.skills import FindDocument, FoundSkill, SkillOverlap
from tui.session.open_registry import find_registry, open_library
from tui.session.own_registries import words_file
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from events.sqlite.word_index import WordIndex
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from tui.cli.output.invocation import Invocation

_KINDS: Final = {"copied": "nearly the same text", "competing": "descriptions fit the same tasks"}
_NO_SKILLS: Final = f"next       {NEXT_STEPS['no skill']}"


def find_skill(
    ctx: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done, in your own words.")] = "",
    *,
    top: Annotated[int, typer.Option("--top", min=1, max=100, metavar="N", help="At most this many skills.")] = 3,
    overlap: Annotated[
        bool, typer.Option("--overlaps", help="Name skills that get in each other's way instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the skills that fit a task, by their words.

    Name, description, headings, commands and lines are compared with the words of the task (BM25), those of name
    and description counting most; the words that match are shown. Learned lines count like any other.
    """
    call = invocation(ctx)
    if bool(task) == overlap:
        raise UsageError(
            "find takes a task, or --overlaps",
            hint='germline find "export a table as csv"    germline find --overlaps',
        )
    path = find_registry(call.registry)
    with open_library(path) as library, skill_index(library, words_file(path)) as index:
        if overlap:
            pairs = tuple(map(SkillOverlap.of, overlaps(_skills(library))))
            document = FindDocument(task=None, searched=len(index), skills=(), overlaps=pairs)
        else:
            document = fitting_document(library, index, task, top)
    if as_json:
        call.answer(document)
    elif overlap:
        _print_overlaps(call, document)
    else:
        _print_skills(call, document)


def fitting_document(library: Library, index: WordIndex, task: str, top: int) -> FindDocument:
    """Find the skills that fit a task, at most so many."""
    ranked = find_skills(index, task, top, library)
    skills = tuple(FoundSkill.of(row, library.capsule(row.name)) for row in ranked)
    return FindDocument(task=task, searched=len(index), skills=skills, overlaps=())


def _skills(library: Library) -> list[Capsule]:
    return [library.capsule(name) for name in library.live_names() if is_skill_name(name)]


def _print_skills(call: Invocation, document: FindDocument) -> None:
    if not document.skills:
        call.say(f"nothing    none of {count(document.searched, 'skill')} shares a word with that task")
        call.say(
            'next       germline status    germline find "…" in other words' if document.searched else _NO_SKILLS
        )
        return
    best = document.skills[0]
    call.say(f"{best.name} fits best, of {count(document.searched, 'skill')}.")
    for skill in document.skills:
        call.say("")
        name = f"{skill.name}@{skill.version}"
        what_for = clip(one_line(skill.description), width() - len(name) - 2)
        call.say(f"{call.paint(name, 'strong')}  {what_for}".rstrip())
        for field, words in skill.words.items():
            call.say(f"  {field:<12} {clip(', '.join(words), width() - 16)}")
    call.say(f"next       germline show {best.name}")


def _print_overlaps(call: Invocation, document: FindDocument) -> None:
    if not document.overlaps:
        call.say(f"nothing    no two of {count(document.searched, 'skill')} get in each other's way")
        call.say("next       germline status" if document.searched else _NO_SKILLS)
        return
    call.say(
        f"{count(len(document.overlaps), 'pair')} of {count(document.searched, 'skill')} get in each other's way."
    )
    for pair in document.overlaps:
        call.say("")
        call.say(f"{pair.first}, {pair.second}: {_KINDS[pair.kind]}, {pair.share:.0%}")
        if pair.words:
            call.say(f"  both say     {clip(', '.join(pair.words), width() - 16)}")
    first = document.overlaps[0]
    call.say(f"next       germline show {first.first}    germline show {first.second}")


COMMANDS: Final = {"find": find_skill}
