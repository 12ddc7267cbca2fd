"""Advice: what would help a skill, by rule from how its runs failed, and what a model makes of the same."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, UsageError
from tui.cli.config.model_options import ModelRecord, ModelReplay, model_of
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import LABEL, say_fact, say_folded, say_listed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll
from tui.cli.printers.advice import MEANINGS, commands_for, words_that_start
from tui.documents.events import EventRow, event_rows
from tui.documents.measurements import AdviceCheckRow, AdviseDocument, LadderPart, ModelReading
from tui.session.open_registry import find_registry, open_registry
from tui.session.ownership import VOUCHED
from tui.text.numbers import count, share
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from events.types.judgements import Reading
    from strategies.advice.advice_rules import AdviceCheck
    from strategies.advice.advise import Counsel
    from strategies.advice.ladder import LadderState
    from strategies.models.protocol import Reply
    from strategies.models.tasks.classifier import FailureReading
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation
    from tui.text.next_steps import Situation

_MOST_WORDS: Final = 1_200
_MOST_STEPS: Final = 5
_MOST_STEP: Final = 300
"""What is printed of a model's words, in characters."""


def advise_skill(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: OneOrAll = "",
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- WORDS]", help="With --start: what the command that it starts still needs."),
    ] = None,
    *,
    start: Annotated[
        bool, typer.Option("--start", help="Start a round on the rung of the ladder that it names.")
    ] = False,
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
    beside the rule. The advice is recorded where it is not the same as the last. --start runs the command of
    the track, and the rounds on each rung of the ladder are counted: where three brought too little, the next
    rung comes.
    """
    from strategies.advice.advise import case_of, counsel, give  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.advice.ladder import ladder_state, rounds_begun  # noqa: PLC0415 - the same
    from strategies.models.tasks.classifier import ask_for_reading, reading_of  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    _require_startable(skill, words, start=start, dry_run=dry_run or as_json)
    if ask:
        config.require("models")
        config.models.model_for("classifier")  # told before the logs are read
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        counsel_given = counsel(registry, skill, only=_named(call, logs, config), logs=config.skill_logs(registry))
        reply = None
        if ask and not dry_run:
            with model_of(registry, config, replay=replay, record=record) as model:
                reply = None if model is None else ask_for_reading(model, case_of(registry, counsel_given))
        reading = reading_of(reply) if reply else None
        ladder = ladder_state(
            counsel_given.advice.track, counsel_given.figures, rounds_begun(registry, counsel_given.skill)
        )
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            give(registry, counsel_given, reading)
            events = event_rows(since(registry, before))
    if as_json:
        answer = reply.answer if reply else None
        call.answer(_document(counsel_given, ladder, answer, reading, events, dry_run=dry_run))
        return
    _print(call, counsel_given, ladder, reply)
    if start:
        _start(call, counsel_given, ladder, words or [])
    if dry_run:
        print_rehearsed(call, events)
        if ask:
            call.note("note       a dry run asks no model")


def _named(call: Invocation, logs: list[str] | None, config: Config) -> frozenset[str] | None:
    """Tell which episodes the named logs hold; None where none is named."""
    if not logs:
        return None
    from tui.cli.config.read_logs import read_logs  # noqa: PLC0415 - most runs read no log

    scan = read_logs(call, [Path(path).expanduser() for path in logs], config)
    return frozenset(record.id for record in scan.records)


def _require_startable(skill: str, words: list[str] | None, *, start: bool, dry_run: bool) -> None:
    """Refuse to start what no skill is named for, and words for nothing that is started."""
    if words and not start:
        raise UsageError(f"{' '.join(words)} is for what --start starts", hint=f"germline advise {skill}")
    if start and (not skill or dry_run):
        what = "--dry-run and --json start nothing" if skill else "what is started is started for a skill"
        raise UsageError(what, hint="germline advise SKILL --start")


def _start(call: Invocation, counsel_given: Counsel, ladder: LadderState, words: list[str]) -> None:
    """Run the command of the rung, and record the round where it ran; its exit code is that of this command."""
    from strategies.advice.advise import give  # noqa: PLC0415 - few runs start anything
    from tui.cli.typer_app import run  # noqa: PLC0415 - the same

    if ladder.rung is None:
        raise CheckFailedError(f"nothing is started: {ladder.why}", hint=f"germline advise {counsel_given.skill}")
    started = (*words_that_start(ladder.rung, counsel_given.skill), *words)
    call.say(f"start      germline {' '.join(map(quote, started))}")
    call.flush()
    place = ("--registry", call.registry) if call.registry else ()
    trusted = ("--trust-project",) if VOUCHED.get() else ()
    code = run([*trusted, *place, *started])
    if code in {0, CheckFailedError.exit_code}:
        with open_registry(find_registry(call.registry)) as registry:
            give(registry, counsel_given, started=ladder.rung)
    if code:
        raise typer.Exit(code)


def _document(
    counsel_given: Counsel,
    ladder: LadderState,
    answer: FailureReading | None,
    reading: Reading | None,
    events: tuple[EventRow, ...],
    *,
    dry_run: bool,
) -> AdviseDocument:
    model = None
    if reading and answer:
        model = ModelReading(**dict(reading), rationale=answer.rationale, next_steps=answer.next_steps)
    return AdviseDocument(
        skill=counsel_given.skill or None,
        track=counsel_given.advice.track,
        reasons=counsel_given.advice.reasons,
        commands=_commands(counsel_given),
        figures=counsel_given.figures,
        checks=tuple(map(AdviceCheckRow.model_validate, counsel_given.advice.checks)),
        assessment=counsel_given.advice.assessment,
        ladder=LadderPart.model_validate(ladder),
        model=model,
        dry_run=dry_run,
        events=events,
    )


def _print(
    call: Invocation, counsel_given: Counsel, ladder: LadderState, reply: Reply[FailureReading] | None
) -> None:
    advice, figures = counsel_given.advice, counsel_given.figures
    say_folded(call, f"{advice.track}: ", MEANINGS[advice.track], tone="strong")
    for at, reason in enumerate(advice.reasons):
        say_fact(call, "because" if at == 0 else "", reason)
    runs = f"{count(figures.runs, 'run')} with an outcome that a proposer may see"
    failed = f"; {figures.failed:,} failed, {share(figures.mean)} on average" if figures.runs else ""
    say_fact(call, "runs", f"{runs}{failed}")
    for at, check in enumerate(advice.checks):
        label = f"{'' if at else 'signals':<{LABEL}}"
        call.say(f"  {call.paint(label, 'dim')}{_check_words(check)}")
    assessment = advice.assessment
    sure = f"confidence {share(assessment.confidence)}, effort {assessment.effort}, risk {assessment.risk}"
    say_fact(call, "rule", sure)
    if counsel_given.skill:
        begun = f"{ladder.rung}, {count(ladder.rounds, 'round')} begun" if ladder.rung else "stops"
        say_fact(call, "ladder", f"{begun}: {ladder.why}")
    if reply is not None:
        _print_reading(call, reply)
    say_listed(call, "next", _commands(counsel_given))


def _commands(counsel_given: Counsel) -> tuple[str, ...]:
    return commands_for(
        counsel_given.advice.track,
        counsel_given.skill,
        _situation(counsel_given),
        corpus=counsel_given.figures.corpus,
    )


def _situation(counsel_given: Counsel) -> Situation | None:
    """Say why nothing can be advised: sessions were read, and none has an outcome."""
    return "no labels" if counsel_given.records and not counsel_given.figures.runs else None


def _check_words(check: AdviceCheck) -> str:
    """Write one signal: whether it fires, its value, and from where on it would."""
    mark = "▸" if check.fires else " "
    if check.threshold >= 1:
        return f"{mark} {check.name:<14} {check.value or 0:>6,.0f}   from {check.threshold:,.0f} on"
    value = "–" if check.value is None else share(check.value)
    return f"{mark} {check.name:<14} {value:>6}   above {share(check.threshold)}"


def _print_reading(call: Invocation, reply: Reply[FailureReading]) -> None:
    """Print what the model makes of it; its words are shown as what they are, the words of a stranger."""
    from strategies.gate.injection import unlike_report  # noqa: PLC0415 - only for what a model said

    answer = reply.answer
    cost = f", {reply.cost_usd:.4f} USD" if reply.cost_usd else ""
    verdict = f"{answer.track}, confidence {share(answer.confidence)}, effort {answer.effort}, risk {answer.risk}"
    say_fact(call, "model", f"{verdict} ({reply.model}{cost})")
    say_fact(call, "", clip(one_line(answer.rationale), _MOST_WORDS))
    for number, step in enumerate(answer.next_steps[:_MOST_STEPS], start=1):
        say_fact(call, "", f"{number}. {clip(one_line(step), _MOST_STEP)}")
    instructions = dict.fromkeys(
        what for text in (answer.rationale, *answer.next_steps) for what in unlike_report(text)
    )
    if instructions:
        say_fact(call, "beware", f"its words hold {', '.join(instructions)}: they may come from a log")


COMMANDS: Final = {"advise": advise_skill}
