"""Advice: what would help a skill, by rule from how its runs failed, and what a model makes of the same."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tui.bootstrap import find_registry, open_registry
from tui.cli.appended import event_rows, print_rehearsed, since
from tui.cli.facts import LABEL, say_fact, say_folded
from tui.cli.invocation import invocation
from tui.cli.models import ModelRecord, ModelReplay, model_of
from tui.cli.options import AsJson, DryRun, OneOrAll
from tui.cli.paint import clip, one_line
from tui.cli.shapes import model_json
from tui.cli.tracks import MEANINGS, commands_for
from tui.figures import count, share

if TYPE_CHECKING:
    from events.judgements import Reading
    from strategies.advice import Check
    from strategies.advising import Counsel
    from strategies.models.asking import Reply
    from strategies.models.classifier import FailureReading
    from tui.cli.config import Config
    from tui.cli.invocation import Invocation

_MOST_WORDS: Final = 1_200
_MOST_STEPS: Final = 5
_MOST_STEP: Final = 300
"""What is printed of a model's words, in characters."""


def advise_skill(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: OneOrAll = "",
    *,
    logs: Annotated[
        list[str] | None,
        typer.Option("--logs", metavar="PATH", help="Look at these logs alone, once scanned; repeatable."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--model", help="Ask the model of the settings for its own reading, too.")
    ] = False,
    replay: ModelReplay = None,
    record: ModelRecord = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say what to work on, from how runs failed.

    Words, tools, knowledge or training: by rule, offline, from the runs that a proposer may see. What the gate
    judges on is never looked at. With --model a model reads the same figures, and errors from the same runs,
    beside the rule. The advice is recorded where it is not the same as the last.
    """
    from strategies.advising import case_of, counsel, give  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.models.classifier import ask_for_reading, reading_of  # noqa: PLC0415 - the same
    from tui.cli.config import read_config  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    if ask:
        config.models.model_for("classifier")  # told before the logs are read
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        found = counsel(registry, skill, only=_named(call, logs, config))
        reply = None
        if ask and not dry_run:
            with model_of(registry, config, replay=replay, record=record) as model:
                reply = None if model is None else ask_for_reading(model, case_of(registry, found))
        reading = reading_of(reply) if reply else None
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            give(registry, found, reading)
            events = event_rows(since(registry, before))
    if as_json:
        dry = {"dry_run": True} if dry_run else {}
        call.answer("advise", {**_json(found, reply, reading), **dry, "events": events})
        return
    _print(call, found, reply)
    if dry_run:
        print_rehearsed(call, events)
        if ask:
            call.note("note       a dry run asks no model")


def _named(call: Invocation, logs: list[str] | None, config: Config) -> frozenset[str] | None:
    """Tell which episodes the named logs hold; None where none is named."""
    if not logs:
        return None
    from tui.cli.log_reading import read_logs  # noqa: PLC0415 - most runs read no log

    found = read_logs(call, [Path(path).expanduser() for path in logs], config)
    return frozenset(record.id for record in found.records)


def _json(found: Counsel, reply: Reply[FailureReading] | None, reading: Reading | None) -> dict[str, Any]:
    words = {"rationale": reply.answer.rationale, "next_steps": list(reply.answer.next_steps)} if reply else {}
    return {
        "skill": found.skill or None,
        "track": found.advice.track,
        "reasons": list(found.advice.reasons),
        "commands": list(commands_for(found.advice.track, found.skill)),
        "figures": model_json(found.figures),
        "checks": [check._asdict() for check in found.advice.checks],
        "model": {**(model_json(reading) or {}), **words} if reading else None,
    }


def _print(call: Invocation, found: Counsel, reply: Reply[FailureReading] | None) -> None:
    advice, figures = found.advice, found.figures
    say_folded(call, f"{advice.track}: ", MEANINGS[advice.track], tone="strong")
    for at, reason in enumerate(advice.reasons):
        say_fact(call, "because" if at == 0 else "", reason)
    runs = f"{count(figures.runs, 'run')} with an outcome that a proposer may see"
    failed = f"; {figures.failed:,} failed, {share(figures.mean)} on average" if figures.runs else ""
    say_fact(call, "runs", f"{runs}{failed}")
    for at, check in enumerate(advice.checks):
        label = f"{'' if at else 'signals':<{LABEL}}"
        call.say(f"  {call.paint(label, 'dim')}{_check_words(check)}")
    if reply is not None:
        _print_reading(call, reply)
    starts = commands_for(advice.track, found.skill)
    for at, command in enumerate(starts):
        call.say(f"{'next' if at == 0 else '':<10} {command}")


def _check_words(check: Check) -> str:
    """Write one signal: whether it fires, its value, and from where on it would."""
    mark = "▸" if check.fires else " "
    if check.threshold >= 1:
        return f"{mark} {check.name:<14} {check.value or 0:>6,.0f}   from {check.threshold:,.0f} on"
    value = "–" if check.value is None else share(check.value)
    return f"{mark} {check.name:<14} {value:>6}   above {share(check.threshold)}"


def _print_reading(call: Invocation, reply: Reply[FailureReading]) -> None:
    """Print what the model makes of it; its words are shown as what they are, the words of a stranger."""
    from strategies.gate.untrusted import instructing  # noqa: PLC0415 - only for what a model said

    answer = reply.answer
    cost = f", {reply.cost_usd:.4f} USD" if reply.cost_usd else ""
    told = f"{answer.track}, confidence {share(answer.confidence)}, effort {answer.effort}, risk {answer.risk}"
    say_fact(call, "model", f"{told} ({reply.model}{cost})")
    say_fact(call, "", clip(one_line(answer.rationale), _MOST_WORDS))
    for number, step in enumerate(answer.next_steps[:_MOST_STEPS], start=1):
        say_fact(call, "", f"{number}. {clip(one_line(step), _MOST_STEP)}")
    found = dict.fromkeys(what for text in (answer.rationale, *answer.next_steps) for what in instructing(text))
    if found:
        say_fact(call, "beware", f"its words hold {', '.join(found)}: they may come from a log")


COMMANDS: Final = {"advise": advise_skill}
