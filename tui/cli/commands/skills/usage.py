"""Usage: which lines of skills and instructions earn their place, and what a hand-written one is read as."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from events.types.registry_events import ReadingCorrected
from registry.decide.commands import RecordFact
from strategies.usage.handwritten_lines import reading_of
from strategies.usage.line_usage import claims_by_line, stating_lines, usage_ground
from tui.cli.config.config import read_config
from tui.cli.output.color import width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_facts, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.cli.output.pager import paged
from tui.documents.events import event_rows
from tui.documents.usage import LineUsageRow, UsageCorrectDocument, UsageDocument
from tui.facts.usage import (
    WORTH_MARKS,
    by_worth,
    effect_words,
    evolvability_words,
    sessions_words,
    usage_facts,
    worth_sentence,
)
from tui.reads.skill_paths import find_named
from tui.reads.usage import read_usage
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import brief, count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from registry.query.library import Library
    from strategies.usage.line_usage import FileUsage, LineUsage
    from tui.cli.output.invocation import Invocation
    from tui.documents.events import EventRow

NOTHING: Final = "none"
"""What to give for a line that asks for nothing that logs hold."""
_SHOWN: Final = 5
"""Lines of which no log could tell that are listed by themselves."""
_WIDE: Final = 100
"""From how many columns on the words of a line stand beside its figures."""


def usage(
    ctx: typer.Context,
    skill: Annotated[
        str,
        typer.Argument(metavar="[SKILL|FILE]", help="A skill or instructions, by name or path; all if left out."),
    ] = "",
    *,
    line: Annotated[
        int | None, typer.Option("--line", min=1, metavar="N", help="Only this line, with all there is.")
    ] = None,
    claim: Annotated[
        str, typer.Option("--claim", metavar="TEXT", help="Say what that line asks for, or none.")
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Lines of which no log could tell as well.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say which lines earn their place, by what sessions show.

    For each line: loaded, met, obeyed, and what that went with. A line that a person wrote is read as a claim
    where its words name an order or a choice of commands and tools. Readings are measured by the gate's own rule,
    never promoted and never part of a score; --claim corrects one. Tokens are estimated, at four characters each.
    """
    call = invocation(ctx)
    if claim:
        if not skill or not line:
            raise UsageError("--claim is about one line", hint="germline usage SKILL --line N --claim TEXT")
        _correct(call, skill, line, claim, dry_run=dry_run, as_json=as_json)
        return
    if dry_run or (line and not skill):
        raise UsageError(
            "--dry-run goes with --claim, and --line with a skill",
            hint="germline usage SKILL --line N --claim TEXT --dry-run",
        )
    with open_library(find_registry(call.registry)) as library:
        names = [find_named(library, skill).capsule.name] if skill else library.live_names()
        if line and line not in stating_lines(library.capsule(names[0])):
            raise _no_line(names[0], line)
        files = measured(library, names, line)
    if as_json:
        call.answer(UsageDocument.of(files))
        return
    with paged():
        _print(call, files, alone=bool(line), every=every)


def measured(library: Library, names: Sequence[str], line: int | None = None) -> tuple[FileUsage, ...]:
    """Measure skills, or one line of one, by the settings of the project."""
    config = read_config()
    now, logs = SystemClock().now(), config.skill_logs(library)
    return read_usage(library, names, now, seed=config.seed, logs=logs, sources=config.sources, number=line)


def _no_line(name: str, number: int) -> NotFoundError:
    return NotFoundError(f"line {number} of {name} states nothing", hint=f"germline show {name} --blame")


# -- correcting a reading ------------------------------------------------------------------------------


def _correct(call: Invocation, skill: str, number: int, text: str, *, dry_run: bool, as_json: bool) -> None:
    """Record what a person says that a line asks for, in words that can be read as any line can."""
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        name = find_named(registry, skill).capsule.name
        action_names = usage_ground(registry).names
        known = claims_by_line(registry, registry.capsule(name), action_names)
        row = next((claimed for claimed in known if claimed[0].number == number), None)
        if row is None:
            raise _no_line(name, number)
        line, before, origin = row
        if origin == "learned":
            raise UsageError(
                f"line {number} of {name} was learned from logs: its claim is its own",
                hint=f"germline why {name}:{number}",
            )
        asked = None if text == NOTHING else reading_of(text, action_names, names_alone=True)
        if asked is None and text != NOTHING:
            raise UsageError(
                f"{text!r} names no order or choice of commands and tools that logs hold",
                hint=f'as in "run X before Y", "use A, not B", "never use Z", "start with X", or {NOTHING}',
            )
        event = ReadingCorrected(capsule=name, gene=line.gene, line=line.id, claim=asked)
        command = RecordFact((event,) if asked != before or (asked is None and not origin) else ())
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: registry.execute(command),
            UsageCorrectDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
        (file,) = measured(registry, [name], number)
    _answer_corrected(call, file, before, event_rows(receipt.envelopes), as_json=as_json)


def _answer_corrected(
    call: Invocation, file: FileUsage, before: Claim | None, events: Sequence[EventRow], *, as_json: bool
) -> None:
    if as_json:
        row = LineUsageRow.of(file.lines[0])
        call.answer(UsageCorrectDocument(previous=before, line=row, events=tuple(events)))
        return
    _print(call, (file,), alone=True, every=True)
    if not events:
        call.note("nothing    it was so already")


# -- printing ------------------------------------------------------------------------------------------


def _print(call: Invocation, files: Sequence[FileUsage], *, alone: bool, every: bool) -> None:
    if not files:
        call.note("no skill and no instructions are known", f"next       {NEXT_STEPS['no skill']}")
        return
    if not alone:
        call.say(worth_sentence(files))
    for file in files:
        call.say("")
        call.say(call.paint(f"{file.capsule.name}@{file.capsule.version}", "strong"))
        say_folded(call, "  ", sessions_words(file), tone="dim")
        if not alone:
            say_folded(call, "  ", evolvability_words(file), tone="dim")
        if alone:
            _print_line(call, file.lines[0])
        else:
            _print_lines(call, file, every=every)
    name = files[0].capsule.name
    if alone:
        number = files[0].lines[0].line.number
        call.say(f'next       germline usage {name} --line {number} --claim "run X before Y"')
    else:
        first = next((usage for file in files for usage in by_worth(file)), None)
        call.say(
            f"next       germline usage {name} --line {first.line.number}" if first else "next       germline scan"
        )


def _print_line(call: Invocation, usage: LineUsage) -> None:
    say_folded(call, f"  {usage.line.number:<10}", usage.line.text.strip(), tone="strong")
    say_facts(call, usage_facts(usage))


def _print_lines(call: Invocation, file: FileUsage, *, every: bool) -> None:
    """List the lines, the harmful first; those of which no log could tell are cut to a few."""
    lines = by_worth(file)
    silent = [usage for usage in lines if usage.worth.verdict == "unwitnessed"]
    left = silent[_SHOWN:] if not every and len(silent) > _SHOWN else []
    beside = width() >= _WIDE
    heads = (
        f"  {'line':>4}   {'verdict':<12}{'loaded':>7}{'applied':>8}{'obeyed':>7}{'ignored':>8}  {'effect':<18}"
    )
    call.say(call.paint(f"{heads}{'tokens':>6}".rstrip(), "dim"))
    for usage in lines[: len(lines) - len(left)]:
        mark, tone = WORTH_MARKS[usage.worth.verdict]
        moments = (
            f"{brief(usage.applied, 7):>8}{brief(usage.obeyed, 6):>7}{brief(usage.ignored, 7):>8}"
            if usage.claim
            else f"{'':23}"
        )
        figures = f"{brief(usage.loaded, 6):>7}{moments}  {effect_words(usage):<18}{usage.tokens:>6}"
        head = f"  {usage.line.number:>4} {call.paint(f'{mark} {usage.worth.verdict:<12}', tone)}{figures}"
        words = one_line(usage.line.text.strip())
        if beside:
            call.say(f"{head}  {clip(words, width() - 75)}")
        else:
            call.say(head)
            call.say(f"         {clip(words, width() - 9)}")
    if left:
        call.say(f"  {count(len(left), 'more line')} of which no log could tell: --all")


COMMANDS: Final = {"usage": usage}
