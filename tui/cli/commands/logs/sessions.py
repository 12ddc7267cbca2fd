"""Sessions: what agents did, in a list, and one of them step by step."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from strategies.advice.deciding_step import deciding_step
from strategies.episodes.episode import began_at, lasted_ms
from strategies.pool.known_episodes import world_of
from strategies.pool.late_outcomes import named_episodes
from tui.cli.config.config import read_config
from tui.cli.output.color import width
from tui.cli.output.facts import folded, say_facts
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, moment_since
from tui.cli.output.pager import paged
from tui.documents.sessions import SessionDocument, SessionsDocument
from tui.facts.fact import fact
from tui.facts.sessions import (
    NOTHING,
    cost_words,
    decided_fact,
    duration_words,
    mark_of,
    outcome_part,
    part_lines,
    project_words,
    session_facts,
    tokens_words,
)
from tui.reads.sessions import (
    SessionFilter,
    chosen,
    errors_in,
    read_session,
    read_sessions,
    read_tasks,
    short_ids,
    with_neighbours,
)
from tui.reads.sessions import failed as failed_session
from tui.session.open_registry import find_registry, open_library
from tui.text.durations import age
from tui.text.numbers import brief, count
from tui.text.rows import RowPart
from tui.text.terminal_text import clip, columns, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.advice.deciding_step import DecidingStep
    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.world_outcomes import World
    from tui.cli.output.invocation import Invocation
    from tui.reads.sessions import SessionChoice, SessionDetail, SessionStep

_BESIDE: Final = 5
"""Lines that a screen needs beside the rows: the sentence, the names of columns, what to type next, the prompt."""
_WATCHED_ROWS: Final = 20
"""Rows where nobody says how high the terminal is, and at least."""
_WIDE: Final = 116
"""From how many columns on a session takes one line: project and format stand beside the figures."""
_OUTCOME: Final = 10
_PROJECT: Final = 16
_FORMAT: Final = 12
_LABEL: Final = 8
_INDENT: Final = 16
_DEEPEST: Final = 20
"""Columns by which a line of a text may be indented as in its log."""


def sessions(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Only those with an outcome below .5.")] = False,
    project: Annotated[
        str, typer.Option(metavar="FOLDER", help="Only those that ran in or below a folder: its path or name.")
    ] = "",
    skill: Annotated[str, typer.Option(metavar="NAME", help="Only those that loaded this skill.")] = "",
    since: Annotated[str, typer.Option(metavar="WHEN", help="Only since 2026-11-01, or 7d ago.")] = "",
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Only those without an outcome.")] = False,
    log_format: Annotated[str, typer.Option("--format", metavar="F", help="Only those of this format.")] = "",
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="At most this many; else as many as the screen holds.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """List the sessions that were read, newest first.

    Each with when and where it ran, how it ended and who says so, what failed in it, and what it took. Tokens are
    those read and written together; cost is what the log says, and is not worked out from prices. The task is read
    from the log itself.
    """
    call = invocation(ctx)
    wanted = SessionFilter(failed, project, skill, moment_since(since), unlabelled, log_format)
    config = read_config()  # its mappings read tasks again
    with open_library(find_registry(call.registry)) as library:
        every = read_sessions(library)
        choice = chosen(every, wanted)
        shown = choice.records[: limit or _screenful()]
        tasks = read_tasks(library, shown, personal_data=config.personal_data)
        short = short_ids(every)
    if as_json:
        call.answer(SessionsDocument.of(choice, shown, tasks, short))
    elif shown:
        _print_list(call, choice, wanted.words, shown, tasks)
    else:
        _print_nothing(call, every, choice, wanted)


def _screenful() -> int:
    lines = get_terminal_size((80, 0)).lines - _BESIDE
    return max(lines // (1 if width() >= _WIDE else 2), _WATCHED_ROWS)


def _print_list(
    call: Invocation,
    choice: SessionChoice,
    asked: str,
    shown: Sequence[EpisodeRecord],
    tasks: Sequence[str],
) -> None:
    short = short_ids(choice.records)
    matching, now = len(choice.records), SystemClock().now()
    fitting, known = count(matching, "session"), count(choice.known, "session")
    which = f"{matching:,} of {known} {asked}" if asked else f"{fitting} known"
    left = f"the newest {len(shown):,} are shown, {matching - len(shown):,} more with --limit {matching}"
    call.say(f"{which}; {left}" if matching > len(shown) else f"{which}, newest first")
    wide = width() >= _WIDE
    beside = f"{'project':<{_PROJECT}} {'format':<{_FORMAT}} " if wide else ""
    titles = f"{'err':>4} {'steps':>6} {'time':>6} {'tokens':>6} {'USD':>7} "
    head = f"{'id':<{short}} {'age':>4} {'outcome':<{_OUTCOME}} {titles}"
    call.say(call.paint(f"{head} {beside}{'task' if wide else 'project'}", "dim"))
    for record, task in zip(shown, tasks, strict=True):
        outcome, errors = outcome_part(record), errors_in(record)
        old = age(at, now) if (at := began_at(record)) else NOTHING
        failing = call.paint(f"{brief(errors, 4):>4}", "bad" if errors else "dim")
        figures = (
            f"{record.id[:short]} {old:>4} {_cell(call, outcome.text, outcome.tone, _OUTCOME)} {failing}"
            f" {brief(len(record.steps), 6):>6} {duration_words(lasted_ms(record)):>6} {tokens_words(record):>6}"
            f" {cost_words(record):>7}  "
        )
        place = f"{_fit(project_words(record), _PROJECT)} {_fit(record.format, _FORMAT)} "
        words, room = one_line(" ".join(task.split())) or NOTHING, width() - len(head) - 1
        if wide:
            call.say(f"{figures}{place}{clip(words, room - len(beside))}")
        else:
            call.say(f"{figures}{clip(one_line(project_words(record)), room)}")
            call.say(f"{'':<{short}}      {clip(words, width() - short - 6)}")
    call.say(f"next       germline session {shown[0].id[:short]}")


def _cell(call: Invocation, text: str, tone: str, room: int) -> str:
    return call.paint(clip(text, room), tone) + " " * (room - columns(clip(text, room)))


def _fit(text: str, room: int) -> str:
    text = clip(one_line(text), room)
    return text + " " * (room - columns(text))


def _print_nothing(
    call: Invocation, every: Sequence[EpisodeRecord], choice: SessionChoice, wanted: SessionFilter
) -> None:
    """Say which question left no session, and what there is in its place."""
    if not every:
        call.note("no session was read yet", "next       germline scan")
        return
    more = f": {choice.short_of}" if choice.short_of else ""
    call.note(one_line(f"none of {count(choice.known, 'session')} {wanted.words}{more}"))
    if wanted.failed and not any(record.outcome for record in every):
        call.note("none of them has an outcome", "next       germline outcome ID --value 0 --source user")
        return
    for name, asked, known in (
        ("projects", wanted.project, {project_words(record) for record in every}),
        ("skills", wanted.skill, {name for record in every for name, _ in record.skills}),
        ("formats", wanted.log_format, {record.format for record in every}),
    ):
        if asked and choice.missing.endswith(asked):
            there = ", ".join(sorted(map(one_line, known - {NOTHING})))
            call.note(clip(f"{name:<10} {there or 'none is known'}", width()))
    call.note("next       germline sessions")


def session(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="An id, the beginning of one, or a name.")],
    *,
    full: Annotated[bool, typer.Option("--full", help="Long texts with their middle.")] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Only steps that failed, and the ones around them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one session step by step, errors marked.

    Each step is what was asked, called and answered. Texts are read from the log itself, without their secrets,
    and never where a person had one of them erased. Long ones are shown without their middle.
    """
    call = invocation(ctx)
    config = read_config()  # its mappings read texts again
    with open_library(find_registry(call.registry)) as library:
        every = read_sessions(library)
        matching = named_episodes(every, name)
        if len(matching) > 1:
            names = ", ".join(record.id[: short_ids(every)] for record in matching[:3])
            raise UsageError(
                f"{len(matching)} sessions have the label {name}: {names} …", hint="give an id of one"
            )
        detail = read_session(library, matching[0], personal_data=config.personal_data)
        hints = world_of(library, every).get(matching[0].id, {})
    decided = deciding_step(detail.record, every) if failed_session(detail.record) else None
    steps = with_neighbours(detail.steps) if errors else detail.steps
    if as_json:
        call.answer(SessionDocument.of(detail, steps, short_ids(every), hints, decided))
        return
    with paged():
        _print_session(call, detail, steps, hints, decided, full=full)


def _print_session(
    call: Invocation,
    detail: SessionDetail,
    steps: Sequence[SessionStep],
    hints: World,
    decided: DecidingStep | None,
    *,
    full: bool,
) -> None:
    record = detail.record
    call.say(f"session {record.id}")
    say_facts(call, session_facts(record, detail.task, SystemClock().now()))
    if hints:
        named = ", ".join(f"{source} {value:g}" for source, value in hints.items())
        say_facts(call, [fact("hints", f"{named}; from the world, no labels", "dim")])
    if decided:
        say_facts(call, [decided_fact(decided)])
    elif failed_session(record):
        say_facts(call, [fact("decided", "no step, as far as other sessions tell", "dim")])
    if detail.without_text:
        call.say(f"texts are not shown: {detail.without_text}")
    before = 0
    for step in steps:
        if step.number > before + 1:
            call.say(call.paint(f"{'':<7}{count(step.number - before - 1, 'step')} left out", "dim"))
        before = step.number
        _print_step(call, step, full=full, decided=decided is not None and step.number == decided.step + 1)
    left = len(detail.steps) - before
    if left:
        call.say(call.paint(f"{'':<7}{count(left, 'step')} left out", "dim"))
    if record.outcome is None:
        call.say(f"next       germline outcome {record.id[:12]} --value V --source user")


def _print_step(call: Invocation, step: SessionStep, *, full: bool, decided: bool) -> None:
    mark = RowPart("◆", "bad") if decided else mark_of(step)
    for at, part in enumerate(step.parts):
        head = f"{call.paint(mark.text, mark.tone)}{step.number:>5} " if at == 0 else " " * 7
        label = call.paint(f"{part.label:<{_LABEL}}", part.tone or "dim")
        lines = [piece for line in part_lines(part, full=full) for piece in _indented(one_line(line))]
        for number, line in enumerate(lines):
            call.say(f"{head}{label} {line}".rstrip() if number == 0 else f"{'':<{_INDENT}}{line}".rstrip())


def _indented(line: str) -> list[str]:
    """Break a line of a text, each piece as far indented as the line is."""
    indent = min(len(line) - len(line.lstrip()), _DEEPEST)
    return [f"{'':<{indent}}{piece}" for piece in folded(line, width() - _INDENT - indent)]


COMMANDS: Final = {"sessions": sessions, "session": session}
