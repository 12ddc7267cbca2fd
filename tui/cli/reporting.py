"""The report: the registry as one HTML page for people who have no germline."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from tui.bootstrap import find_registry, open_library
from tui.cli.facts import say_folded
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, Yes
from tui.cli.outputs import write_over
from tui.figures import count

if TYPE_CHECKING:
    from tui.cli.invocation import Invocation
    from tui.report.reads import ReportTold

_HEAD_CHARS: Final = 2_000
"""Within these a report says that it is one."""


def report(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skills: Annotated[
        list[str] | None, typer.Argument(metavar="[SKILL…]", help="Names of skills; all of them if left out.")
    ] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The page: FILE.html.")
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", min=1, metavar="N", help="Versions of a skill told in full; 50.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Tell every version, event and candidate.")] = False,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page of all there is to say; no network.

    Trends, timeline, the blame of every line, verdicts and evidence, for browsers, phones and paper. Of each skill
    the last 50 versions are told in full, what came before is summed. A report that is there is written anew; any
    other FILE only with --yes.
    """
    from tui.report.page import page_of  # noqa: PLC0415 - the list of commands pays for none of it
    from tui.report.reads import LAST, read_report  # noqa: PLC0415 - the same

    call = invocation(ctx)
    hint = f"germline report {' '.join(skills or ())} -o report.html".replace("  ", " ")
    if output is None:
        raise UsageError("where to was not said", hint=hint)
    if every and last:
        raise UsageError("--all and --last contradict each other", hint=hint)
    place = output.expanduser()
    _require_writable(place, sure=yes)
    with open_library(find_registry(call.registry)) as library:
        told = read_report(library, skills or (), last=None if every else last or LAST, now=SystemClock().now())
    page = page_of(told)
    if not dry_run:
        write_over(place, page)
    _tell(call, told, place, len(page.encode()), dry_run=dry_run, as_json=as_json)


def _require_writable(place: Path, *, sure: bool) -> None:
    """Refuse to write over what is no report, unless a person is sure; never over what is no file."""
    from tui.report.page import GENERATOR  # noqa: PLC0415 - as above

    if not place.parent.is_dir():
        raise UsageError(f"there is no folder {place.parent}", hint=f"mkdir -p {place.parent}")
    if not place.exists():
        return
    if not place.is_file():
        raise UsageError(f"{place} is no file", hint="-o ANOTHER-FILE")
    with place.open("rb") as file:
        begins = file.read(_HEAD_CHARS)
    if f'name="generator" content="{GENERATOR} '.encode() not in begins and not sure:
        raise UsageError(
            f"{place} is there already, and is no report", hint="--yes replaces it; or -o ANOTHER-FILE"
        )


def _tell(
    call: Invocation, told: ReportTold, place: Path, size_bytes: int, *, dry_run: bool, as_json: bool
) -> None:
    if as_json:
        fields = _fields(told, place, size_bytes)
        call.answer("report", {**fields, "dry_run": True} if dry_run else fields)
        return
    verb = "would write" if dry_run else "wrote"
    lines = sum(len(one.lines) for one in told.skills)
    versions = sum(len(one.versions) for one in told.skills)
    said = f"{count(len(told.skills), 'skill')}, {count(versions, 'version')}, {count(lines, 'line')}"
    say_folded(
        call, f"{verb:<10} ", f"{place}: {said}, {size_bytes / 1_000:,.0f} kB, as of event {told.head.position:,}"
    )
    summed = sum(one.summed.versions for one in told.skills if one.summed)
    if summed:
        call.note(f"note       {count(summed, 'older version')} only summed: --all tells each")
    if not dry_run:
        call.say(f"next       open it in a browser: {place.resolve().as_uri()}")


def _fields(told: ReportTold, place: Path, size_bytes: int) -> dict[str, Any]:
    return {
        "file": str(place),
        "size_bytes": size_bytes,
        "at": told.now,
        "head": {"position": told.head.position, "hash": told.head.hash},
        "skills": [
            {
                "skill": one.capsule.name,
                "version": one.capsule.version,
                "lines": len(one.lines),
                "versions": len(one.versions),
                "versions_summed": one.summed.versions if one.summed else 0,
                "events": len(one.events),
                "events_left_out": one.events_total - len(one.events),
                "candidates": len(one.candidates),
                "candidates_left_out": one.candidates_total - len(one.candidates),
                "evidence": sum(len(signal.evidence) for signal in one.signals),
                "evidence_left_out": sum(signal.more for signal in one.signals),
                "evidence_erased": sum(len(signal.erased) for signal in one.signals),
                "tasks": len(one.trends.tasks.rows),
                "tasks_left_out": one.trends.tasks.left_out,
            }
            for one in told.skills
        ],
    }


COMMANDS: Final = {"report": report}
