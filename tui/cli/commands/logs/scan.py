"""Scanning: logs in, episodes and signals kept."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import monotonic_s
from strategies.logs.explain_file import passed_over_by_name, reader_views
from strategies.logs.log_listing import log_files
from strategies.logs.scan import Scan
from strategies.pool.intake import Intake, take_in_scan
from tui.cli.config.config import on_engine, read_config
from tui.cli.config.read_logs import chosen_logs, read_on
from tui.cli.output.color import width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, EngineName, Scheduler
from tui.cli.printers.trials import step_and_tell
from tui.documents.logs import ExplainedFile, ReaderRow, ScanDocument
from tui.session.open_registry import find_registry, open_registry
from tui.text.numbers import count
from tui.text.signal_words import kind_columns
from tui.text.terminal_text import clip, clip_path, one_line
from tui.text.words import signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from tui.cli.output.invocation import Invocation

_LACKING: Final = 1
"""What --strict exits with where something was not read."""

_SHOWN: Final = 5
"""Signals that are told one by one."""


def scan_logs(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH…]", help="Logs or folders; else those of germline.toml, else the usual places."
        ),
    ] = None,
    *,
    log_format: Annotated[
        str,
        typer.Option("--format", metavar="F", help="The one format to read; else found out by looking."),
    ] = "",
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Pass over files that cannot be read, and say which.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Without PATH: sessions of every project, not of this one alone.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where a file gave no episode, or a record did not fit.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what every reader makes of the files; keep nothing.")
    ] = False,
    recount: Annotated[
        bool, typer.Option("--count", help="Count signals over all sessions again, however few are new.")
    ] = False,
    engine: EngineName = None,
    scheduler: Scheduler = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Read logs into episodes and signals.

    Only what was written since the last time is read: a file that did not change is not opened. Without PATH, and
    with none in germline.toml, the sessions of this project are read, from where Claude Code, Codex, Gemini CLI,
    GitHub Copilot CLI, Pi, Cursor, OpenCode and VS Code keep theirs.
    """
    call = invocation(ctx)
    if explain:
        config = read_config()
        config.require("logs")
        chosen = chosen_logs(call, paths, config, everything=everything)
        files = log_files(chosen.paths, only=chosen.only)
        _explain(call, [path for path, _ in files], config.mappings, as_json=as_json)
        return
    where, config = find_registry(call.registry), on_engine(read_config(), engine, scheduler)
    began_s = monotonic_s()
    logs = chosen_logs(call, paths, config, everything=everything)
    with open_registry(where, dry_run=dry_run) as registry:
        logs_scan = read_on(
            call, registry, logs, config, log_format=log_format, skip_broken=skip_broken, strict=strict
        )
        take_in = partial(take_in_scan, registry, logs_scan, policy=config.policy, may_wait=not recount)
        taken = append_or_rehearse(call, registry, take_in, ScanDocument, dry_run=dry_run, as_json=as_json)
        if taken is None:
            return
        step_and_tell(call, registry, config.skill_logs(registry))
    took_s = monotonic_s() - began_s
    if as_json:
        call.answer(ScanDocument.of(logs_scan, taken, seconds=took_s))
    else:
        _print(call, logs_scan, taken, took_s)
    if strict and (logs_scan.empty or logs_scan.malformed or logs_scan.broken):
        raise typer.Exit(_LACKING)


def _explain(call: Invocation, files: Sequence[Path], mappings: tuple[LogMapping, ...], *, as_json: bool) -> None:
    """Say which readers look at each file, which one is asked, and what each that takes it finds."""
    if as_json:
        explained = tuple(ExplainedFile(file=str(path), readers=_rows(path, mappings)) for path in files)
        call.answer(ScanDocument(explained=explained))
        return
    for path in files:
        rows = _rows(path, mappings)
        taking = [row for row in rows if row.takes]
        others = "not theirs: " + ", ".join(row.format for row in rows if not row.takes)
        call.say(f"file       {clip_path(str(path), width() - 11)}")
        for row in taking:
            mark = "reads it" if row.chosen else "would read it"
            if not row.format:
                call.say(f"  cannot be read: {one_line(row.problem)}")
                continue
            figures = f"{count(row.episodes, 'episode')}, {count(row.steps, 'step')}, {row.failing:,} failing"
            call.say(f"  {row.format:<18} {mark}: {figures}")
            for line in row.matches:
                call.say(f"  {'':<18} {clip(one_line(line), width() - 21)}")
            if row.problem:
                call.say(f"  {'':<18} {clip(one_line(row.problem), width() - 21)}")
        if not taking:
            named = ": its name is that of a source or a text" if passed_over_by_name(path) else ""
            call.say(f"  no reader takes it for its own{named}")
        for line in wrap(others, width() - 2) if len(taking) < len(rows) else ():
            call.say(f"  {line}")
    call.say("next       germline scan FILE --format F    germline help scan")


def _rows(path: Path, mappings: tuple[LogMapping, ...]) -> tuple[ReaderRow, ...]:
    return tuple(ReaderRow.model_validate(view) for view in reader_views(path, mappings))


def _print(call: Invocation, logs_scan: Scan, taken: Intake, seconds: float) -> None:
    bad = f", {count(len(logs_scan.malformed), 'malformed record')} passed over" if logs_scan.malformed else ""
    skipped = f", {count(len(logs_scan.skipped), 'file')} passed over as no logs" if logs_scan.skipped else ""
    lacking = f" ({len(logs_scan.lacking):,} not read whole: --strict says why)" if logs_scan.lacking else ""
    same = f", {count(len(logs_scan.unchanged), 'file')} unchanged{lacking}" if logs_scan.unchanged else ""
    size = f"{count(len(logs_scan.files), 'file')}, {logs_scan.text_bytes:,} bytes of text"
    call.say(f"read       {size}, in {seconds:.1f} s{same}{skipped}{bad}")
    if not (logs_scan.files or logs_scan.unchanged or logs_scan.skipped or logs_scan.links or logs_scan.broken):
        call.say("nothing    no files are there; in a folder, those whose names begin with a dot are passed over")
    bare = [file.source for file in logs_scan.files if not file.size_bytes]
    if bare and not logs_scan.records:
        more = f", and {count(len(bare) - 1, 'file')} more" if len(bare) > 1 else ""
        call.say(f"nothing    {clip_path(bare[0], width() // 2)} is empty{more}")
    for file in logs_scan.empty[:_SHOWN]:
        call.say(
            f"nothing    {clip_path(file.source, width() // 2)}: read as {file.format}, {one_line(file.why_empty)}"
        )
    if len(logs_scan.empty) > _SHOWN:
        call.say(f"{'':<10} {count(len(logs_scan.empty) - _SHOWN, 'more file')} that gave no episode")
    longer = f", {taken.longer:,} longer than before" if taken.longer else ""
    longer += f", {taken.copies:,} in copies of other files" if taken.copies else ""
    call.say(
        f"episodes   {len(logs_scan.records):,}, {taken.new_episodes:,} of them new{longer}; "
        f"{count(logs_scan.steps, 'step')}, {logs_scan.errors:,} failing"
    )
    for at, signal in enumerate(taken.signals[:_SHOWN]):
        name = clip(signal_name(signal), width() - 34)
        call.say(f"{'signals' if at == 0 else '':<10} {kind_columns(signal.kind, f'{signal.count:,}')}  {name}")
    if taken.uncounted:
        call.say(
            f"signals    not counted again for {count(taken.uncounted, 'new session')}: germline scan --count"
        )
    if len(taken.signals) > _SHOWN:
        call.say(f"{'':<10} {len(taken.signals) - _SHOWN} more: germline signals")
    if logs_scan.empty:
        call.say("next       germline scan FILE --explain")
    elif logs_scan.records or logs_scan.unchanged:
        call.say("next       germline evolve    germline signals")
    else:
        call.say("next       germline help scan")


COMMANDS: Final = {"scan": scan_logs}
