"""Exporting: what leaves the registry for other tools, after a person has looked at it."""
# ruff: noqa: TC003 - typer reads annotations when it builds a command

from __future__ import annotations

import json
import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.errors import UsageError
from tui.cli.commands.registry.export_dataset import export_dataset
from tui.cli.commands.registry.export_decision import MARKS, MOST_LISTED, DecidedOn, record_decision
from tui.cli.commands.registry.export_files import export_events, export_log, export_skill
from tui.cli.commands.registry.export_sessions import decide_on_sessions, show_sessions
from tui.cli.output.invocation import invocation
from tui.cli.output.options import UNDECIDED, AsJson, DryRun, Reason, Rehearse, SignWith, Yes, require_reason
from tui.documents.exports import ExportReviewDocument, ExportRolloutsDocument, FinishedRunRow
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.names import SHOWN_CHARS, by_beginnings
from tui.text.numbers import count, share
from tui.text.terminal_text import clip, harmless, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.rollouts.run.export import Decision, FinishedRun
    from tui.cli.output.invocation import Invocation

_LISTED_BY: Final = "germline export review"

export = typer.Typer(
    help="Export a skill, the log or runs; attest a version.",
    rich_markup_mode=None,
    invoke_without_command=True,
)

export.command("skill")(export_skill)
export.command("events")(export_events)
export.command("log")(export_log)
export.command("dataset")(export_dataset)

_Skill = Annotated[str, typer.Option("--skill", metavar="S", help="Only runs with this skill.")]


class _Format(StrEnum):
    """What a trainer reads."""

    SFT = "sft"
    GRPO = "grpo"


@export.callback()
def export_attestation(
    ctx: typer.Context,
    *,
    attest: Annotated[
        str, typer.Option("--attest", metavar="SKILL@V", help="Write where a version comes from, with proofs.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The attestation; else it is printed.")
    ] = None,
    sign: SignWith = None,
    as_json: AsJson = False,
) -> None:
    """Export a skill, the log or runs; attest a version."""
    if bool(attest) == bool(ctx.invoked_subcommand):
        what = "--attest stands alone" if attest else "what to export was not said"
        raise UsageError(what, hint="germline export --attest SKILL@V -o FILE    germline export --help")
    if attest:
        from tui.cli.commands.registry.export_attest import attest as write_attestation  # noqa: PLC0415 - runs need none of it

        write_attestation(invocation(ctx), attest, output, sign, as_json=as_json)
    elif output or sign or as_json:
        raise UsageError(
            "-o, --sign and --json before the command belong to --attest", hint="germline export --help"
        )


@export.command("review")
def review_runs(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN…]", help="Ids of runs or sessions, or their beginnings; else all."),
    ] = None,
    *,
    skill: _Skill = "",
    sessions: Annotated[
        bool, typer.Option("--sessions", help="Sessions that `export dataset` could write, not runs.")
    ] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Let them be exported.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Keep them here.")] = False,
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """List finished runs or sessions, print one, and say which may be exported; a decision needs --reason.

    Without RUN the word goes for all that nobody has decided on yet. With --sessions it is about sessions from
    logs, named by their ids, and printed as a data set would have them.
    """
    from strategies.rollouts.run.export import finished_runs, review  # noqa: PLC0415 - the list of commands pays for none

    call = invocation(ctx)
    if not approve and not reject and sessions:
        show_sessions(call, names or (), skill, as_json=as_json)
        return
    if not approve and not reject:
        with open_library(find_registry(call.registry)) as library:
            runs = finished_runs(library, skill)
        _show(call, _named(runs, names), single=bool(names), as_json=as_json)
        return
    if approve and reject:
        raise UsageError("--approve and --reject contradict each other", hint=_LISTED_BY)
    decision: Decision = "approve" if approve else "reject"
    require_reason(reason, UNDECIDED, f"--{decision} --reason TEXT")
    if sessions:
        decide_on_sessions(call, names or (), skill, (decision, reason), dry_run=dry_run, as_json=as_json)
        return
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        runs = finished_runs(registry, skill)
        chosen = _named(runs, names) if names else [run for run in runs if not run.decision]
        about = DecidedOn("run", len(chosen), _LISTED_BY, "germline export rollouts --format sft -o FILE")
        append = partial(review, registry, chosen, decision, reason)
        record_decision(call, registry, about, (decision, reason), append, dry_run=dry_run, as_json=as_json)


@export.command("rollouts")
def export_rollouts(
    ctx: typer.Context,
    *,
    shape: Annotated[_Format, typer.Option("--format", help="Supervised examples, or groups with advantages.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file, as JSON lines.")],
    skill: _Skill = "",
    yes: Yes = False,
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write approved runs of a model for trainers: good ones as examples, or all as groups with advantages.

    What is trained on sealed tasks cannot be measured by them any more; runs of the audit stay here for that.
    --yes replaces a FILE that is there.
    """
    from strategies.rollouts.run.export import examples, exportable, finished_runs, groups  # noqa: PLC0415 - as above

    call = invocation(ctx)
    place = output.expanduser()
    if place.exists() and not yes and not dry_run:
        raise UsageError(f"{place} is there already", hint="--yes replaces it")
    with open_library(find_registry(call.registry)) as library:
        runs = finished_runs(library, skill)
    ready = exportable(runs)
    if not ready:
        raise UsageError(
            f"none of {count(len(runs), 'run')} with a transcript may be exported: none was approved",
            hint="germline export review    germline export review --approve --reason TEXT",
        )
    rows = list(examples(ready) if shape is _Format.SFT else groups(ready))
    if not dry_run:
        _write(place, rows)
    _tell(call, shape, place, rows, approved=len(ready), of=len(runs), dry_run=dry_run, as_json=as_json)


def _tell(  # noqa: PLR0913 - one figure each
    call: Invocation,
    shape: _Format,
    place: Path,
    rows: Sequence[dict[str, Any]],
    *,
    approved: int,
    of: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    from strategies.rollouts.run.export import LEAST_EXAMPLES, LEAST_SCORE  # noqa: PLC0415 - as above

    few = shape is _Format.SFT and len(rows) < LEAST_EXAMPLES
    warning = f"{count(len(rows), 'example')}: under {LEAST_EXAMPLES} fine-tuning rarely pays" if few else ""
    if as_json:
        document = ExportRolloutsDocument(
            format=shape.value,
            file=str(place),
            lines=len(rows),
            approved=approved,
            runs=of,
            warning=warning or None,
            dry_run=dry_run,
        )
        call.answer(document)
        return
    what = f"score at least {LEAST_SCORE:g}" if shape is _Format.SFT else "groups whose runs differ"
    noun = "example" if shape is _Format.SFT else "group"
    verb = "dry run: would write" if dry_run else "wrote     "
    call.say(f"{verb} {count(len(rows), noun)} to {place}: {what}, of {count(approved, 'approved run')}")
    if warning:
        call.note(f"warning    {warning}")
    call.note("note       a model trained on these knows the sealed tasks: measure it on others")


def _write(place: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write lines as a whole or not at all; for the owner's eyes, as the registry is."""
    half = place.with_name(f".{place.name}.germline-writing")
    try:
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())
        half.replace(place)
    finally:
        half.unlink(missing_ok=True)


def _named(runs: Sequence[FinishedRun], names: Sequence[str] | None) -> list[FinishedRun]:
    kind = ("run", "with a transcript")
    return by_beginnings(runs, names or (), lambda run: run.name, kind, _LISTED_BY)


def _show(call: Invocation, runs: Sequence[FinishedRun], *, single: bool, as_json: bool) -> None:
    if as_json:
        listed = tuple(FinishedRunRow.of(run, whole=single) for run in runs)
        call.answer(ExportReviewDocument(runs=listed))
    elif single:
        for run in runs:
            _print_run(call, run)
    else:
        _print_list(call, runs)


def _print_list(call: Invocation, runs: Sequence[FinishedRun]) -> None:
    open_ = sum(not run.decision for run in runs)
    call.say(f"{count(len(runs), 'finished run')} of a model, {open_:,} not decided on")
    for run in sorted(runs, key=lambda finished: bool(finished.decision))[:MOST_LISTED]:
        mark, tone = MARKS[run.decision]
        version = clip(run.kept.arm if "@" in run.kept.arm else run.kept.arm[:SHOWN_CHARS], 20)
        transcript = run.transcript
        line = f"{run.name[:SHOWN_CHARS]}  {share(run.score):>5}  {version:<20}  {clip(transcript.task, 20):<20}"
        call.say(f"{call.paint(mark, tone)} {line}  {clip(transcript.model, 13)}".rstrip())
    if len(runs) > MOST_LISTED:
        call.say(f"  {len(runs) - MOST_LISTED:,} more: --json")
    if runs:
        call.say("next       germline export review RUN    … review --approve --reason TEXT")
    else:
        call.say("next       germline candidate test CANDIDATE    (with the agent `messages`)")


def _print_run(call: Invocation, run: FinishedRun) -> None:
    transcript, trial = run.transcript, run.kept.trial
    call.say(
        f"{run.name[:SHOWN_CHARS]}  {transcript.task}, {run.kept.arm}, {transcript.model}, "
        f"skill {transcript.skill_mode}"
    )
    call.say(
        f"  {'score':<10} {share(run.score)}, {trial.status}{f': {one_line(trial.note)}' if trial.note else ''}"
    )
    for message in transcript.messages:
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                message_text = (
                    block.get("text") or block.get("content") or json.dumps(block.get("input"), ensure_ascii=False)
                )
                who = str(block.get("name") or message["role"] if block["type"] != "tool_result" else "result")
                call.say(f"\n{call.paint(who, 'strong')}\n{harmless(str(message_text))}")
    call.say(f"\nanswer\n{harmless(transcript.answer)}")
    call.say(f"\nnext       germline export review {run.name[:SHOWN_CHARS]} --approve --reason TEXT")


COMMANDS: Final = {"export": export}
