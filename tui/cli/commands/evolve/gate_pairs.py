"""The gate for others: results of another tool, with and without a change, judged by the rule for runs."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, UsageError
from strategies.files.whole_file import read_up_to
from strategies.interchange.gepa_run import STATE, read_gepa_state
from strategies.interchange.paired_results import AFTER, BEFORE, MOST_BYTES, read_side_scores
from strategies.interchange.paired_verdict import GENERAL_SET, PairedVerdict, held_general, judge_pairs
from tui.cli.output.facts import say_fact
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.printers.gate_rules import print_steps
from tui.documents.candidates import GatePairsDocument
from tui.text.numbers import count, interval, signed
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.interchange.paired_results import SideScore, SideScores
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 5
"""Tasks that got worse which are named for people; `--json` has them all."""
_NAMED: Final = 12
"""Sides that an error lists."""
_HINT: Final = (
    "germline gate pairs BEFORE.jsonl AFTER.jsonl    germline gate pairs results.csv --before A --after B"
)


def gate_pairs(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE [FILE]", help="Results of both sides; or of the side before, then after."),
    ],
    *,
    before: Annotated[str, typer.Option(metavar="SIDE", help="What FILE calls the side without the change.")] = "",
    after: Annotated[str, typer.Option(metavar="SIDE", help="What FILE calls the side with it.")] = "",
    most: Annotated[float, typer.Option(metavar="N", min=0.000001, help="The score of a perfect run.")] = 1.0,
    chosen_from: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="From how many changes this one was chosen by these scores."),
    ] = None,
    general: Annotated[
        bool, typer.Option("--general", help="Only ask that it surely did not fall by more than 5 %.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge a change by results of another tool: runs with and without it, paired by task and seed.

    Reads the benchmark.json of skill-creator, results.json of promptfoo, results.jsonl and evalkit outcomes of
    SkillOpt, run folders of GEPA, and any CSV, TSV, JSON or JSON lines with a row for each run (task, side, score,
    seed) or for each task (task, before, after). Nothing is written, and no registry is needed; where the gate
    would not promote, the exit code is 3. With --general the two sides are two models on a general set.
    """
    call = invocation(ctx)
    read = [_read(Path(file).expanduser(), most) for file in files]
    results, sides = _sides(read, before, after, files)
    choices = results.choices if chosen_from is None else chosen_from
    verdict = judge_pairs(_by_task(results.runs, sides[0]), _by_task(results.runs, sides[1]), choices)
    if not verdict.pairs:
        raise _nothing_paired(results.runs, sides)
    verdict = held_general(verdict) if general else verdict
    if as_json:
        call.answer(GatePairsDocument.of(results.format, sides, choices, verdict))
    else:
        _print(call, results.format, sides, choices, verdict)
    if verdict.decision != "promote":
        raise typer.Exit(CheckFailedError.exit_code)


def _read(path: Path, most: float) -> SideScores:
    """Read one file, or the folder of a GEPA run."""
    file = path / STATE if path.is_dir() else path
    raw = read_up_to(file, MOST_BYTES, hint="a folder is read as a run of GEPA" if path.is_dir() else _HINT)
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{file} is larger than {MOST_BYTES:,} bytes", hint="leave out what the runs wrote")
    return read_gepa_state(raw, str(file)) if file.name == STATE else read_side_scores(raw, str(file), most)


def _sides(
    read: Sequence[SideScores], before: str, after: str, files: Sequence[str]
) -> tuple[SideScores, tuple[str, str]]:
    """Say which results are of which side; of two files the first is the side before."""
    if len(read) > 2:  # noqa: PLR2004 - a pair
        raise UsageError(f"{len(read)} files are named, and a pair has two sides", hint=_HINT)
    if len(read) == 2:  # noqa: PLR2004 - a pair
        for file, results in zip(files, read, strict=True):
            if len(results.sides) > 1:
                raise UsageError(f"{file} holds {_listed(results.sides)}", hint=f"germline gate pairs {file}")
        first, second = read[0].named("before"), read[1].named("after")
        return type(first)(first.format, (*first.runs, *second.runs)), ("before", "after")
    (results,) = read
    sides = (before or _known(results.sides, BEFORE), after or _known(results.sides, AFTER))
    for side, asked in zip(sides, ("--before", "--after"), strict=True):
        if side not in results.sides:
            what = f"no side {side!r}" if side else f"nothing that says which side is {asked.removeprefix('--')}"
            hint = f"{asked} SIDE names it" if len(results.sides) > 1 else _HINT
            raise UsageError(f"{files[0]} holds {what}; its sides are {_listed(results.sides)}", hint=hint)
    if sides[0] == sides[1]:
        raise UsageError(f"both sides are {sides[0]!r}", hint="--before SIDE --after SIDE")
    return results, sides


def _known(sides: Sequence[str], names: Sequence[str]) -> str:
    """Find the side with one of these names; "" where none has."""
    known = {side.casefold(): side for side in reversed(sides)}
    return next((known[name] for name in names if name in known), "")


def _listed(sides: Sequence[str]) -> str:
    shown = ", ".join(repr(clip(one_line(side), 60)) for side in sides[:_NAMED])
    return f"{shown} and {len(sides) - _NAMED:,} more" if len(sides) > _NAMED else shown


def _by_task(runs: Sequence[SideScore], side: str) -> dict[str, dict[str, float | None]]:
    scores: dict[str, dict[str, float | None]] = {}
    for run in runs:
        if run.side == side:
            scores.setdefault(run.task, {})[run.seed] = run.score
    return scores


def _nothing_paired(runs: Sequence[SideScore], sides: tuple[str, str]) -> UsageError:
    """Say why no run of one side has a partner on the other."""
    tasks = [sorted({run.task for run in runs if run.side == side}) for side in sides]
    if not set(tasks[0]) & set(tasks[1]):
        return UsageError(
            f"no task is on both sides: {sides[0]} has {_listed(tasks[0])}, {sides[1]} has {_listed(tasks[1])}",
            hint="run both sides on the same tasks, and name them alike",
        )
    seeds = [sorted({run.seed for run in runs if run.side == side}) for side in sides]
    if not set(seeds[0]) & set(seeds[1]):
        return UsageError(
            f"{sides[0]} ran under seeds {_listed(seeds[0])} and {sides[1]} under {_listed(seeds[1])}: "
            "what changed may be the seed",
            hint="run both sides under the same seeds, or leave the column out where they mean nothing",
        )
    return UsageError("no task and seed was finished on both sides", hint="run what is missing, then again")


def _print(
    call: Invocation, format_name: str, sides: tuple[str, str], choices: int, verdict: PairedVerdict
) -> None:
    figures = verdict.figures
    call.say(_sentence(sides, verdict))
    call.say()
    shown = f"{signed(figures.difference)} {interval(figures.low, figures.high)}"
    say_fact(call, "gain", f"{shown}, from {verdict.before:.3f} to {verdict.after:.3f}")
    ground = f"{count(figures.tasks, 'task')}, {count(verdict.pairs, 'pair')}, read as {format_name}"
    lost = [
        words
        for number, words in (
            (verdict.void, f"{count(verdict.void, 'pair')} lost on one side"),
            (verdict.unpaired, f"{count(verdict.unpaired, 'run')} without a partner"),
        )
        if number
    ]
    say_fact(call, "on", ", ".join((ground, *lost)))
    if choices > 1:
        say_fact(call, "chosen", f"from {choices:,} by these same scores: evidence and chance are charged for it")
    if figures.detectable and verdict.rules[0].name != GENERAL_SET:
        say_fact(call, "limit", f"these tasks show gains of about {signed(figures.detectable)} or more")
    say_fact(call, "tasks", f"{verdict.better:,} better, {len(verdict.worse):,} worse, {verdict.even:,} as before")
    for change in verdict.worse[:_SHOWN]:
        sure = ", surely" if change.sure else ""
        fall = f"{change.before:.2f} to {change.after:.2f} in {count(change.pairs, 'pair')}{sure}"
        say_fact(call, "worse" if change is verdict.worse[0] else "", f"{clip(one_line(change.task), 60)}  {fall}")
    if len(verdict.worse) > _SHOWN:
        say_fact(call, "", f"{len(verdict.worse) - _SHOWN:,} more: --json")
    call.say()
    print_steps(call, verdict.rules)
    call.say("\nnext       germline candidate propose SKILL --from FILE --reason TEXT")


def _sentence(sides: tuple[str, str], verdict: PairedVerdict) -> str:
    """Say the verdict in one sentence."""
    figures = verdict.figures
    if verdict.rules[0].name == GENERAL_SET:
        kept = f"Yes: {sides[1]} keeps what {sides[0]} could do."
        return kept if verdict.decision == "promote" else f"No: of {sides[1]}, {verdict.missing[0]}."
    if verdict.decision == "promote":
        by = f"by {figures.difference:+.3f} ({figures.low:+.3f} to {figures.high:+.3f})"
        return f"Yes: {sides[1]} is better than {sides[0]}, {by}."
    if verdict.decision == "reject":
        return f"No: {sides[1]} is not better than {sides[0]}: {verdict.missing[0]}."
    return f"Not shown: that {sides[1]} is better than {sides[0]}: {verdict.missing[0]}."
