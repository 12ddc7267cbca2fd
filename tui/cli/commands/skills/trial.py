"""Trials: lines that a coin gives to some sessions and denies to others, which alone can prove them."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import GermlineError, RefusedError, UsageError
from events.types.trial_events import TrialOutcome
from registry.query.trials import running_trial, trials_of
from strategies.policy.active_preset import bound_by
from strategies.trials.run_trial import end_trial, start_trial, step_trials
from strategies.trials.trial_sessions import compliance
from strategies.trials.trial_terms import TrialTerms, plan_trial
from tui.cli.config.config import read_config
from tui.cli.output.dry_run import append_or_rehearse, print_rehearsed, since
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Reason, Skill, Yes, require_reason
from tui.cli.printers.trials import print_trial
from tui.documents.events import event_rows
from tui.documents.trials import (
    TrialPower,
    TrialRow,
    TrialStartDocument,
    TrialStatusDocument,
    TrialStepDocument,
    TrialStopDocument,
)
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.durations import seconds_of
from tui.text.names import named_candidate
from tui.text.numbers import count, share

if TYPE_CHECKING:
    from registry.query.library import Library
    from registry.state.trial import SkillTrial
    from tui.cli.output.invocation import Invocation

BY_SESSION: Final = "session"
_LEAST_BLOCK_S: Final = 60

Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate", metavar="ID", help="Try the lines of this candidate; repeat it for several at once."
    ),
]
Arms = Annotated[
    str,
    typer.Option(metavar="V[,W]", help="Try version V against the live one, or W against V, one of them live."),
]
Block = Annotated[
    str,
    typer.Option(metavar="4h", help="How long the folder stays as it is; `session`: each session draws its own."),
]
Budget = Annotated[int, typer.Option(min=20, max=100_000, metavar="N", help="End after this many sessions.")]
Gain = Annotated[float, typer.Option(min=0.01, max=0.9, metavar="G", help="The least gain worth finding.")]
Outcome = Annotated[TrialOutcome | None, typer.Option(help="What counts; else how sessions ended.")]

Seed = Annotated[
    str, typer.Option(metavar="TEXT", help="The seed of the coins, to toss the same again; else a new one.")
]

trial = typer.Typer(help="Prove lines: a coin gives them to some sessions.", rich_markup_mode=None)


@trial.command("start")
def start(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Skill,
    *,
    candidate: Candidates = None,
    arms: Arms = "",
    block: Block = "4h",
    budget: Budget = 400,
    gain: Gain = 0.1,
    outcome: Outcome = None,
    seed: Seed = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let a coin give lines of a skill to some sessions and deny them to others.

    What the trial could find comes first. The skill's folder is switched by blocks of time; with --block session
    `germline pick` gives each session a folder of its own. The trial ends for proof, for harm, when proof is out
    of reach, or at the budget; a proven candidate becomes a version, harm is taken back. One that would prove its
    gain in none of 10 trials begins only with --yes.
    """
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        asked = TrialTerms(budget=budget, gain=gain, outcome=outcome, seed=seed)
        terms = _terms(registry, asked, candidate, arms, block)
        plan = plan_trial(registry, skill, terms, read_config().skill_logs(registry))
        power, before = TrialPower.of(plan), registry.log.head().position
        if not (yes or dry_run or round(power.proven * 10)):
            raise RefusedError(
                f"{_power_words(power)}: the lines would wait for proof that does not come",
                hint="a larger --budget or --gain, or the same with --yes; --dry-run says what it could find",
            )
        with registry.rehearsal() if dry_run else nullcontext():
            start_trial(registry, plan, write=not dry_run)
            events = event_rows(since(registry, before))
    if as_json:
        call.answer(TrialStartDocument(skill=skill, power=power, dry_run=dry_run, events=events))
        return
    _print_power(call, power)
    if dry_run:
        print_rehearsed(call, events)
        return
    names = ", ".join(factor.name for factor in plan.started.factors)
    say_folded(call, "started    ", f"trial {plan.started.trial} of {skill}: {names}")
    switching = "germline watch, or germline trial step every few minutes, switches the folder"
    call.say(f"next       {switching if terms.block_s else f'germline pick {skill} --session ID'}")


@trial.command("status")
def status(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """Show what trials show, those that run first."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        names = [library.capsule(skill).name] if skill else library.names()
        trials = [trial for name in names for trial in reversed(trials_of(library, name))]
        rows = tuple(
            _row(library, skill_trial) for skill_trial in sorted(trials, key=lambda trial: trial.ended is not None)
        )
    if as_json:
        call.answer(TrialStatusDocument(trials=rows))
        return
    for row in rows:
        print_trial(call, row)
    if not rows:
        call.note(
            "no trial was ever started", f"next       germline trial start {skill or 'SKILL'} --candidate ID"
        )


@trial.command("step")
def step(ctx: typer.Context, skill: OneOrAll = "", *, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Switch folders that are due, count sessions that are over, end trials that are decided.

    `watch`, `scan` and `pick` do so as well; call it from cron where none of them runs often.
    """
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        names = [registry.capsule(skill).name] if skill else registry.names()
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else nullcontext():
            trials = step_trials(registry, names, read_config().skill_logs(registry), write=not dry_run)
            events = event_rows(since(registry, before))
    rows = tuple(TrialRow.of(skill_trial) for skill_trial in trials)
    if as_json:
        call.answer(TrialStepDocument(trials=rows, dry_run=dry_run, events=events))
        return
    for row in rows:
        print_trial(call, row)
    if not rows:
        call.say("trials     none runs")
    if dry_run:
        print_rehearsed(call, events)


@trial.command("stop")
def stop(
    ctx: typer.Context, skill: Skill, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """End a trial before it is decided; its figures stay. Needs --reason."""
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        running, before = running_trial(registry, registry.capsule(skill).name), registry.log.head().position
        require_reason(reason, "a trial is stopped for a reason", f"germline trial stop {skill} --reason TEXT")
        if running is None:
            raise RefusedError(f"no trial of {skill} runs", hint=f"germline trial status {skill}")
        end = partial(end_trial, registry, running, f"stopped: {reason}", actor=registry.actor, write=not dry_run)
        ended = append_or_rehearse(call, registry, end, TrialStopDocument, dry_run=dry_run, as_json=as_json)
        appended = since(registry, before)
    if ended is None:
        return
    if as_json:
        call.answer(TrialStopDocument(trial=TrialRow.of(ended), events=event_rows(appended)))
    else:
        print_trial(call, TrialRow.of(ended))


def _terms(library: Library, terms: TrialTerms, candidates: list[str] | None, arms: str, block: str) -> TrialTerms:
    """Read what names candidates, versions and the length of blocks, and take the shares from the preset."""
    versions = [part.strip() for part in arms.split(",") if part.strip()]
    if not all(part.isdecimal() for part in versions) or len(versions) > 2:  # noqa: PLR2004 - one against another
        raise UsageError(f"--arms is {arms!r}", hint="name one version or two: --arms 3 or --arms 3,4")
    block_s = 0 if block == BY_SESSION else int(seconds_of(block, "--block"))
    if block_s and block_s < _LEAST_BLOCK_S:
        raise UsageError(f"--block is {block}, shorter than any session", hint="--block 4h")
    return replace(
        terms,
        candidates=tuple(named_candidate(library, name).id for name in candidates or ()),
        arms=tuple(map(int, versions)),
        block_s=block_s,
        adaptive=bound_by(library).preset.explore,
    )


def _row(library: Library, skill_trial: SkillTrial) -> TrialRow:
    complied = None
    with suppress(GermlineError):  # lines that do not fit the skill any more: nothing tells what was loaded
        complied = compliance(library, skill_trial, read_config().skill_logs(library))
    return TrialRow.of(skill_trial, complied)


def _power_words(power: TrialPower) -> str:
    gain = f"a gain of {power.gain * 100:.0f} points"
    return f"with {count(power.budget, 'session')} {gain} would be proven in {power.proven * 10:.0f} of 10 trials"


def _print_power(call: Invocation, power: TrialPower) -> None:
    """Say in one sentence what a trial could find, then what that rests on."""
    say_folded(call, "power      ", f"{_power_words(power)}, in about {power.weeks:,.1f} weeks")
    say_folded(
        call,
        "rests on   ",
        f"{count(power.sessions_before, 'session')} so far, {power.sessions_a_week:,.0f} a week; their mean by "
        f"`{power.outcome}` is {share(power.base_rate)}",
    )
    if power.crossing:
        words = f"{share(power.crossing)} of sessions would cross the border of a block, and count for neither"
        say_folded(call, "", words)


COMMANDS: Final = {"trial": trial}
