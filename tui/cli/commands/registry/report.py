"""The report: the registry as one HTML page for people who have no germline."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from tui.cli.config.config import read_config
from tui.cli.output.facts import say_folded
from tui.cli.output.files import write_over
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, Rehearse, Yes
from tui.documents.folders import ReportDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import count

if TYPE_CHECKING:
    from tui.cli.output.invocation import Invocation
    from tui.report.reads import ReportContent

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
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page of all there is to say; no network.

    Trends, timeline, the blame of every line, verdicts and evidence, for browsers, phones and paper. Of each skill
    the last 50 versions are shown in full, what came before is summed. A report that is there is overwritten; any
    other FILE only with --yes.
    """
    from tui.report.page import page_of  # noqa: PLC0415 - the list of commands pays for none of it
    from tui.report.reads import LAST, read_report  # noqa: PLC0415 - the same

    call = invocation(ctx)
    hint = f"germline report {' '.join(skills or ())} -o report.html".replace("  ", " ")
    if output is None:
        raise UsageError("the report is written to a file, and none was named", hint=hint)
    if every and last:
        raise UsageError("--all and --last contradict each other", hint=hint)
    place = output.expanduser()
    _require_writable(place, sure=yes)
    with open_library(find_registry(call.registry)) as library:
        config = read_config()
        content = read_report(
            library,
            skills or (),
            last=None if every else last or LAST,
            now=SystemClock().now(),
            seed=config.seed,
            logs=config.skill_logs(library),
            sources=config.sources,
        )
    page = page_of(content)
    if not dry_run:
        write_over(place, page)
    _tell(call, content, place, len(page.encode()), dry_run=dry_run, as_json=as_json)


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
    call: Invocation, content: ReportContent, place: Path, size_bytes: int, *, dry_run: bool, as_json: bool
) -> None:
    if as_json:
        call.answer(ReportDocument.of(content, place, size_bytes, dry_run=dry_run))
        return
    verb = "would write" if dry_run else "wrote"
    lines = sum(len(skill.lines) for skill in content.skills)
    versions = sum(len(skill.versions) for skill in content.skills)
    counts = f"{count(len(content.skills), 'skill')}, {count(versions, 'version')}, {count(lines, 'line')}"
    say_folded(
        call,
        f"{verb:<10} ",
        f"{place}: {counts}, {size_bytes / 1_000:,.0f} kB, as of event {content.head.position:,}",
    )
    summed = sum(skill.summed.versions for skill in content.skills if skill.summed)
    if summed:
        call.note(f"note       {count(summed, 'older version')} only summed: --all tells each")
    if not dry_run:
        call.say(f"next       open it in a browser: {place.resolve().as_uri()}")


COMMANDS: Final = {"report": report}
