"""Scanning: logs in, episodes and signals kept."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import monotonic_s
from strategies.intake import Intake, take_in_scan
from strategies.logs.scan import Scan
from tui.bootstrap import find_registry, open_registry
from tui.cli.appended import rehearsed, since
from tui.cli.config import on_engine, read_config
from tui.cli.invocation import invocation
from tui.cli.log_reading import chosen_logs, read_on
from tui.cli.options import AsJson, DryRun, EngineName, Scheduler
from tui.cli.paint import clip, width
from tui.cli.words import KIND_WIDTH, signal_name
from tui.figures import count

if TYPE_CHECKING:
    from tui.cli.invocation import Invocation

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
    engine: EngineName = None,
    scheduler: Scheduler = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Read logs into episodes and signals.

    Only what was written since the last time is read: a file that did not change is not opened. Without PATH, and
    with none in germline.toml, the places are looked into where Claude Code and Codex keep their logs.
    """
    call = invocation(ctx)
    where, config = find_registry(call.registry), on_engine(read_config(), engine, scheduler)
    began_s = monotonic_s()
    logs = chosen_logs(call, paths, config)
    with open_registry(where, dry_run=dry_run) as registry:
        found = read_on(call, registry, logs, config, log_format=log_format, skip_broken=skip_broken)
        before = registry.log.head().position
        if dry_run:
            with registry.rehearsal():
                take_in_scan(registry, found, policy=config.policy)
                rehearsed(call, "scan", since(registry, before), as_json=as_json)
            return
        taken = take_in_scan(registry, found, policy=config.policy)
    fields = scan_json(found, taken, seconds=monotonic_s() - began_s)
    if as_json:
        call.answer("scan", fields)
    else:
        _print(call, found, taken, fields["seconds"])


def scan_json(found: Scan, taken: Intake, *, seconds: float) -> dict[str, Any]:
    """Give the figures of a scan as JSON."""
    return {
        "files": len(found.files),
        "bytes": found.size_bytes,
        "text_bytes": found.text_bytes,
        "episodes": len(found.records),
        "new_episodes": taken.new_episodes,
        "longer_episodes": taken.longer,
        "unchanged": len(found.unchanged),
        "duplicates": found.duplicates,
        "steps": found.steps,
        "errors": found.errors,
        "malformed": len(found.malformed),
        "malformed_at": [
            {"file": bad.source, "line": bad.line, "byte_start": bad.byte_start, "reason": bad.reason}
            for bad in found.malformed
        ],
        "unknown": found.unknown,
        "skipped": list(found.skipped),
        "broken": [broken.message for broken in found.broken],
        "signals": len(taken.signals),
        "raised": [signal.model_dump(mode="json", exclude={"type", "evidence"}) for signal in taken.signals],
        "seconds": round(seconds, 3),
    }


def _print(call: Invocation, found: Scan, taken: Intake, seconds: float) -> None:
    bad = f", {count(len(found.malformed), 'malformed record')} passed over" if found.malformed else ""
    skipped = f", {count(len(found.skipped), 'file')} passed over as no logs" if found.skipped else ""
    same = f", {count(len(found.unchanged), 'file')} unchanged" if found.unchanged else ""
    size = f"{count(len(found.files), 'file')}, {found.text_bytes:,} bytes of text"
    call.say(f"read       {size}, in {seconds:.1f} s{same}{skipped}{bad}")
    longer = f", {taken.longer:,} longer than before" if taken.longer else ""
    call.say(
        f"episodes   {len(found.records):,}, {taken.new_episodes:,} of them new{longer}; "
        f"{count(found.steps, 'step')}, {found.errors:,} failing"
    )
    for at, signal in enumerate(taken.signals[:_SHOWN]):
        name = clip(signal_name(signal), width() - 40)
        call.say(f"{'signals' if at == 0 else '':<10} {signal.kind:<{KIND_WIDTH}} {signal.count:>7,}×  {name}")
    if len(taken.signals) > _SHOWN:
        call.say(f"{'':<10} {len(taken.signals) - _SHOWN} more: germline signals")
    if found.records or found.unchanged:
        call.say("next       germline evolve SKILL    germline signals")
    else:
        call.say("next       germline help scan")


COMMANDS: Final = {"scan": scan_logs}
