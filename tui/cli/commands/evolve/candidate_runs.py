"""Candidates of a person's own, and candidates that an agent is run with."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from events.errors import UsageError
from events.types.parts import Strategy
from registry.actions.publish import publish, require_free, require_unedited
from registry.skill_md.write_places import recorded_place
from tui.cli.config.model_options import ModelRecord, ModelReplay, opened_tape
from tui.cli.output.dry_run import append_or_rehearse, print_rehearsed, since
from tui.cli.output.invocation import invocation
from tui.cli.output.options import (
    AgentCommand,
    AsJson,
    Bar,
    DryRun,
    EngineName,
    Reason,
    RunsAtOnce,
    Scheduler,
    Skill,
    SkillModeName,
    TaskFile,
    require_reason,
)
from tui.cli.output.progress import RunLine, note_stopped
from tui.documents.candidates import CandidateProposeDocument, CandidateTestDocument, TriedCandidate
from tui.documents.events import EventRow, event_rows
from tui.facts.candidates import tag_words
from tui.session.open_registry import find_registry, open_registry
from tui.text.names import SHOWN_CHARS, named_candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.compare.contest import Contest
    from strategies.rollouts.compare.harness import Harness
    from tui.cli.output.invocation import Invocation

_SAYS_NO = 3

Ids = Annotated[
    list[str], typer.Argument(metavar="ID…", help="Ids of candidates of one skill, or their beginnings.")
]


def propose_candidate(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Skill,
    *,
    rewritten: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="A rewritten SKILL.md or folder, or what a tool proposed."),
    ] = None,
    reason: Reason = "",
    kind: Annotated[Strategy, typer.Option("--as", help="The kind of change that it is.")] = "repair",
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="The tag of the tasks that it is for: runs look there first."),
    ] = None,
    preset: Annotated[str, typer.Option(metavar="P", help="Whose limits it must keep; else those in force.")] = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Propose a change of your own, or a new skill: not live until runs or a person let it through.

    It carries no claim that logs can refute, so `candidate test` runs an agent with it, or you approve it. A name
    that the registry does not hold is a draft of a new skill. What other tools propose is read as well: a patch
    of the SKILL.md, the staging folder of SkillOpt, the best of a GEPA run. Needs --reason.
    """
    from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.rollouts.compare.handwritten import propose_draft, propose_rewrite  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same
    from tui.cli.printers.proposer import skills_folder  # noqa: PLC0415 - the same

    call = invocation(ctx)
    hint = f"germline candidate propose {skill} --from FILE --reason TEXT"
    if rewritten is None:
        raise UsageError("what is proposed stands in a file", hint=hint)
    require_reason(reason, "a proposal needs a reason: it is kept with the event", hint)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        if skill in registry.names():
            named = partial(propose_rewrite, registry, skill, rewritten, tags=tuple(dict.fromkeys(tag or ())))
        else:
            folder = recorded_place(str(skills_folder(registry, read_config())), registry.log.beside)
            named = partial(propose_draft, registry, skill, rewritten, folder)
        propose = partial(named, reason=reason, strategy=kind, preset=bound_by(registry, preset).preset)
        receipt = append_or_rehearse(
            call, registry, propose, CandidateProposeDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    name = receipt.envelopes[0].stream.removeprefix("candidate:")
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(CandidateProposeDocument(candidate=name, skill=skill, events=events))
        return
    short = name[:SHOWN_CHARS]
    call.say(f"proposed   {short}, event {receipt.envelopes[0].position}: {reason}")
    if tag:
        call.say(f"tags       {tag_words(tag)}")
    call.say(f"next       germline candidate test {short}    germline candidate show {short}")


def run_candidates(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    names: Ids,
    *,
    tasks: TaskFile = "",
    agent: AgentCommand = "",
    skill_mode: SkillModeName = "",
    preset: Bar = "",
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed of the order of tasks.")] = None,
    workers: RunsAtOnce = None,
    engine: EngineName = None,
    scheduler: Scheduler = "",
    replay: ModelReplay = None,
    record: ModelRecord = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run and frozen, and run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an agent with candidates and with the live version on sealed tasks, and judge by the runs.

    A drafted skill is run beside no skill. Several candidates of one skill compete in one group. Finished runs are
    kept: what was interrupted goes on from there. Exit code 3 where nothing is promoted and something is rejected.
    """
    from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.rollouts.compare.comparison import Rig  # noqa: PLC0415 - the same
    from strategies.rollouts.compare.judge_group import frozen_only, try_out  # noqa: PLC0415 - the same
    from tui.cli.config.config import on_engine, read_config  # noqa: PLC0415 - the same
    from tui.cli.config.harness import HarnessOptions, harness_of  # noqa: PLC0415 - the same

    call, config = invocation(ctx), on_engine(read_config(), *(("local", "") if dry_run else (engine, scheduler)))
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        ids = [named_candidate(registry, name) for name in names]
        skill = ids[0].proposed.capsule
        asked = HarnessOptions(
            tasks,
            agent,
            workers,
            tape=opened_tape(replay, record=record),
            skill_mode=skill_mode,
            tell=call.note,
        )
        harness = harness_of(registry, skill, config, asked)
        call.note(*harness.notes)
        _warn_of_tags(call, harness, ids)
        line = RunLine(call)
        bound, drawn = bound_by(registry, preset).preset, config.seed if seed is None else seed
        rig = Rig(registry, harness, bound, drawn, line.advance)
        if dry_run:
            before = registry.log.head().position
            with registry.rehearsal():
                contest = frozen_only(rig, [candidate.id for candidate in ids])
                _tell_plan(call, rig, contest, event_rows(since(registry, before)), as_json=as_json)
            return
        _require_place(registry, ids)
        try:
            with line:
                tried = try_out(rig, [candidate.id for candidate in ids])
        except KeyboardInterrupt:
            note_stopped(call, rig.meter.runs)
            raise
        if any(candidate.verdict == "promote" for candidate in tried):
            publish(registry, skill)
        _tell(call, registry, harness.evaluator, tried, as_json=as_json)
    if {candidate.verdict for candidate in tried} in ({"reject"}, {"reject", "hold"}):
        raise typer.Exit(_SAYS_NO)


def _require_place(registry: Registry, candidates: Sequence[Candidate]) -> None:
    """Ask before any run that what passes can be written."""
    for candidate in candidates:
        if candidate.proposed.skill is None:
            require_unedited(registry, candidate.proposed.capsule)
        else:
            require_free(registry, candidate.proposed.capsule, candidate.proposed.skill)


def _warn_of_tags(call: Invocation, harness: Harness, candidates: Iterable[Candidate]) -> None:
    """Say which tags of candidates no sealed task has: these aim at nothing."""
    known = {tag for task in harness.divided.sealed for tag in task.tags}
    for candidate in candidates:
        if unknown := [tag for tag in candidate.proposed.tags if tag not in known]:
            short = candidate.id[:SHOWN_CHARS]
            call.note(f"warning    no sealed task is tagged {', '.join(unknown)}, which {short} says it is for")


def _tell_plan(
    call: Invocation, rig: Rig, contest: Contest, events: tuple[EventRow, ...], *, as_json: bool
) -> None:
    """Say what would be run."""
    from strategies.gate.rollout_rule import LOOKS  # noqa: PLC0415 - the list of commands pays for none of it

    arms = 1 + len(contest.candidates)
    plan = CandidateTestDocument(
        dry_run=True,
        evaluator=rig.harness.evaluator,
        agent=rig.harness.agent.name,
        sealed_tasks=len(contest.sealed),
        audit_tasks=len(contest.audit),
        least_runs=arms * len(contest.sealed),
        most_runs=(arms + 1) * len(contest.sealed) * LOOKS[-1] + arms * len(contest.audit) * LOOKS[-1],
        events=events,
    )
    if as_json:
        call.answer(plan)
        return
    call.say(
        f"plan       {plan.sealed_tasks} sealed tasks, {plan.audit_tasks} in the audit, "
        f"agent {plan.agent}: {plan.least_runs:,} to {plan.most_runs:,} runs, less what the bank has"
    )
    if len(contest.sealed) < contest.policy.least_tasks:
        few, least = len(contest.sealed), contest.policy.least_tasks
        call.note(f"warning    the gate needs {least} sealed tasks: on {few} it only holds, and a person decides")
    print_rehearsed(call, events)


def _tell(
    call: Invocation, registry: Registry, evaluator: str, tried: Sequence[Candidate], *, as_json: bool
) -> None:
    from tui.cli.printers.candidate import print_tried  # noqa: PLC0415 - the list of commands pays for none of it

    if as_json:
        call.answer(CandidateTestDocument(evaluator=evaluator, candidates=tuple(map(TriedCandidate.of, tried))))
        return
    for candidate in tried:
        print_tried(call, candidate)
    short = tried[0].id[:SHOWN_CHARS]
    if any(candidate.verdict == "promote" for candidate in tried):
        live = registry.capsule(tried[0].proposed.capsule)
        call.say(f"next       germline show {live.name}@{live.version} --blame    germline gate explain {short}")
    else:
        call.say(f"next       germline gate explain {short}    germline candidate show {short}")
