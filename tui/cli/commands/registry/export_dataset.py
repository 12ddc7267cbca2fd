"""Exporting sessions from logs as training data, with a manifest of what it is and what it leaves out."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import RefusedError, UsageError
from strategies.interchange.dataset_rows import DatasetFormat
from tui.cli.output.facts import say_fact
from tui.cli.output.files import write_over
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, Rehearse, Yes
from tui.documents.exports import ExportDatasetDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.query.library import Library
    from strategies.interchange.training_traces import TrainingTraces
    from tui.cli.output.invocation import Invocation

_UNITS: Final[dict[DatasetFormat, str]] = {"sft": "example", "dpo": "pair", "grpo": "group", "kto": "label"}


def export_dataset(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    *,
    shape: Annotated[
        DatasetFormat, typer.Option("--format", metavar="F", help="sft, dpo, grpo or kto: what the trainer reads.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file, as JSON lines.")],
    licence: Annotated[
        str, typer.Option("--license", metavar="TEXT", help="Under which licence it may be used.")
    ] = "",
    consent: Annotated[
        str, typer.Option("--consent", metavar="TEXT", help="Who agreed to training on these sessions, and how.")
    ] = "",
    skill: Annotated[str, typer.Option("--skill", metavar="S", help="Only sessions on tasks of this skill.")] = "",
    distill: Annotated[
        bool, typer.Option("--distill", help="Keep the best session of each task by the strongest model.")
    ] = False,
    approved: Annotated[
        bool, typer.Option("--approved", help="Only sessions that `export review --sessions` approved.")
    ] = False,
    yes: Yes = False,
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write sessions with an outcome for trainers: good ones, pairs, groups with advantages, or labels.

    They are read again from their logs, without secrets and personal data. Sessions on sealed and audit tasks are
    never among them, so the gate can still measure what is trained. A manifest beside FILE names its hash, licence
    and consent, and counts what was left out. What a person rejected is never in it; with --approved only what
    one approved. --yes replaces a FILE that is there.
    """
    from strategies.interchange.dataset_rows import dataset_rows  # noqa: PLC0415 - the list of commands pays for none
    from strategies.interchange.training_traces import distilled  # noqa: PLC0415 - the same

    call, place = invocation(ctx), output.expanduser()
    _require_terms(licence, consent, f"germline export dataset --format {shape} -o {output}")
    if place.exists() and not yes and not dry_run:
        raise UsageError(f"{place} is there already", hint="--yes replaces it")
    with open_library(find_registry(call.registry)) as library:
        traces, left_out = _let_go(library, skill, approved=approved)
    strongest, kept = distilled(traces) if distill else ("", list(traces))
    rows = dataset_rows(shape, kept)
    if not rows:
        raise _no_rows(shape, len(kept), left_out)
    body = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    manifest = ExportDatasetDocument(
        format=shape,
        file=str(place),
        rows=len(rows),
        sha256=sha256(body.encode()).hexdigest(),
        license=licence,
        consent=consent,
        made_at=SystemClock().now(),
        skill=skill,
        approved=approved,
        sessions=tuple(trace.record.id for trace in kept),
        tasks=len({trace.record.task for trace in kept}),
        distilled_from=strongest,
        left_out=left_out,
        dry_run=dry_run,
    )
    if not dry_run:
        write_over(place, body)
        write_over(place.with_name(f"{place.name}.manifest.json"), f"{manifest.model_dump_json(indent=1)}\n")
    if as_json:
        call.answer(manifest)
    else:
        _print(call, manifest)


def _require_terms(licence: str, consent: str, command: str) -> None:
    if not licence.strip() or not consent.strip():
        what = "training data needs a licence and a consent: both are kept with it"
        raise UsageError(what, hint=f"{command} --license TEXT --consent TEXT")


def _let_go(library: Library, skill: str, *, approved: bool) -> TrainingTraces:
    """Read the sessions that may be written: none that a person rejected."""
    from strategies.interchange.session_reviews import session_decisions  # noqa: PLC0415 - as above
    from strategies.interchange.training_traces import let_go, training_traces  # noqa: PLC0415 - as above
    from tui.cli.config.config import read_config  # noqa: PLC0415 - as above

    every = training_traces(library, skill, read_config().skill_logs(library))
    return let_go(every, session_decisions(library), approved=approved)


def _no_rows(shape: DatasetFormat, sessions: int, left_out: Mapping[str, int]) -> RefusedError:
    why = ", ".join(f"{number:,} {reason}" for reason, number in left_out.items()) or "none was read"
    return RefusedError(
        f"none of {count(sessions, 'session')} makes a row of {shape}; left out: {why}",
        hint="germline outcome --help    germline advise",
    )


def _print(call: Invocation, manifest: ExportDatasetDocument) -> None:
    verb = "dry run: would write" if manifest.dry_run else "wrote     "
    rows, sessions = count(manifest.rows, _UNITS[manifest.format]), count(len(manifest.sessions), "session")
    call.say(f"{verb} {rows} to {manifest.file}, of {sessions}")
    if manifest.distilled_from:
        strongest = f"{manifest.distilled_from}, the strongest on the tasks that models share; best of each task"
        say_fact(call, "model", strongest)
    for at, (reason, number) in enumerate(manifest.left_out.items()):
        say_fact(call, "" if at else "left out", f"{count(number, 'session')} {reason}")
    say_fact(call, "never", "sessions on sealed or audit tasks; secrets; personal data")
    call.say(f"next       germline gate pairs FILE --general    less {manifest.file}.manifest.json")
