"""`skill test`: a live skill, or a draft, run beside no skill; several offered together, each against the rest."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from events.errors import UsageError
from tui.cli.commands.evolve.candidate_runs import run_candidates
from tui.cli.output.facts import say_fact
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AgentCommand, AsJson, Bar, RunsAtOnce, TaskFile
from tui.cli.output.progress import RunLine, note_stopped
from tui.documents.usage import SkillTestDocument
from tui.facts.skill_life import proposal_words, tested_words
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.numbers import count, interval, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.capsule_events import RetirementProposed, SkillTested, TestedLine
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.rollouts.compare.comparison import Rig
    from strategies.scope.log_globs import LogGlobs
    from tui.cli.output.invocation import Invocation

_SAYS_NO = 3


def run_skill_test(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="SKILL…", help="A live or a drafted skill, or several live.")
    ],
    *,
    lines: Annotated[
        str | None,
        typer.Option(metavar="N,M", help="Test these lines of one live skill, as `show` counts them, or all."),
    ] = None,
    tasks: TaskFile = "",
    agent: AgentCommand = "",
    preset: Bar = "",
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed of the order of tasks.")] = None,
    workers: RunsAtOnce = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an agent with a skill and without any on sealed tasks; of several, with all and without each.

    A drafted skill becomes live where the runs show that it helps. A live one is recorded as helping, harming or
    unclear by the gate's rule, held both ways; where one harms, its retirement is proposed. Several skills are
    offered together, as agents have them: what doing without each changes is measured. With --lines one skill is
    run whole and without each of these lines, and evidence is charged for their number. Finished runs are kept.
    Exit code 3 where a skill or a line harms, or a draft is rejected.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        draft = _draft(library, names)
        chosen = _chosen_lines(library, names, lines) if lines is not None else []
    if draft:
        run_candidates(
            ctx,
            [draft],
            tasks=tasks,
            agent=agent,
            preset=preset,
            seed=seed,
            workers=workers,
            dry_run=dry_run,
            as_json=as_json,
        )
        return
    from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.rollouts.compare.comparison import Rig  # noqa: PLC0415 - the same
    from strategies.rollouts.compare.skill_tests import tested_lines, tested_skills  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same
    from tui.cli.config.harness import HarnessOptions, harness_of  # noqa: PLC0415 - the same

    config = read_config()
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        first = registry.capsule(names[0]).name
        harness = harness_of(registry, first, config, HarnessOptions(tasks, agent, workers, tell=call.note))
        call.note(*harness.notes)
        line = RunLine(call)
        bound = bound_by(registry, preset).preset
        rig = Rig(registry, harness, bound, config.seed if seed is None else seed, line.advance)
        if dry_run:
            _tell_plan(call, rig, 1 + len(chosen or dict.fromkeys(names)), as_json=as_json)
            return
        try:
            with line:
                tested = tested_lines(rig, first, chosen) if chosen else tested_skills(rig, names)
        except KeyboardInterrupt:
            note_stopped(call, rig.meter.runs)
            raise
        proposed = _proposals(registry, rig, tested, config.skill_logs(registry))
        _tell(call, rig, tested, proposed, as_json=as_json)
    if any(event.verdict == "harms" for event in tested):
        raise typer.Exit(_SAYS_NO)


def _chosen_lines(library: Library, names: Sequence[str], lines: str) -> list[TestedLine]:
    """Find the lines that are named by number, or all that say something.

    Raises: UsageError for what is no number, or the number of no such line, and for several skills or a draft.
    """
    from events.types.capsule_events import TestedLine  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.usage.line_usage import stating_lines  # noqa: PLC0415 - the same

    if len(names) > 1 or _draft(library, names):
        raise UsageError("lines of one live skill are tested", hint=f"germline skill test {names[0]} --lines all")
    stating = stating_lines(library.capsule(names[0]))
    asked = [str(number) for number in stating] if lines.strip() == "all" else lines.replace(",", " ").split()
    known = {str(number): line for number, line in stating.items()}
    if not asked or (wrong := [number for number in asked if number not in known]):
        what = f"{names[0]} has no line {wrong[0] if asked else lines.strip()!r} that says something"
        raise UsageError(what, hint=f"the lines: {', '.join(known)}")
    named = [known[number] for number in dict.fromkeys(asked)]
    return [TestedLine(gene=line.gene, line=line.id, text=line.text.strip()) for line in named]


def _draft(library: Library, names: Sequence[str]) -> str:
    """Give the newest candidate that would bring the one skill that is named, "" where none would."""
    known = library.names()
    missing = [name for name in dict.fromkeys(names) if name not in known]
    drafts = [
        candidate.id
        for candidate in library.candidates()
        if candidate.proposed.skill and candidate.proposed.capsule in missing and candidate.verdict != "promote"
    ]
    if drafts and len(names) > 1:
        raise UsageError(
            f"{missing[0]} is a draft, which is run by itself", hint=f"germline skill test {missing[0]}"
        )
    return drafts[-1] if drafts else ""


def _proposals(
    registry: Registry, rig: Rig, tested: Sequence[SkillTested], globs: LogGlobs
) -> tuple[RetirementProposed, ...]:
    """Propose to retire a skill that harms by itself; beside others its description may be what is wrong."""
    from strategies.pool.known_episodes import all_episodes  # noqa: PLC0415 - few tests need it
    from strategies.scope.scope import scope_of  # noqa: PLC0415 - the same
    from strategies.usage.skill_ledger import ledger_of, propose_after_harm  # noqa: PLC0415 - the same

    harmful = [event for event in tested if event.verdict == "harms" and not event.beside and not event.line]
    scope = scope_of(registry, all_episodes(registry), globs) if harmful else None
    return tuple(
        propose_after_harm(registry, event, ledger_of(registry, event.capsule, scope), rig.preset)
        for event in harmful
        if scope is not None
    )


def _tell_plan(call: Invocation, rig: Rig, arms: int, *, as_json: bool) -> None:
    from strategies.gate.rollout_rule import LOOKS  # noqa: PLC0415 - the list of commands pays for none of it

    tasks = len(rig.harness.divided.sealed)
    plan = SkillTestDocument(
        dry_run=True,
        evaluator=rig.harness.evaluator,
        agent=rig.harness.agent.name,
        sealed_tasks=tasks,
        least_runs=arms * tasks,
        most_runs=arms * tasks * LOOKS[-1],
    )
    if as_json:
        call.answer(plan)
        return
    call.say(
        f"plan       {tasks} sealed tasks, agent {plan.agent}: {plan.least_runs:,} to {plan.most_runs:,} runs, "
        "less what the bank has; nothing was run"
    )


def _tell(
    call: Invocation,
    rig: Rig,
    tested: Sequence[SkillTested],
    proposed: Sequence[RetirementProposed],
    *,
    as_json: bool,
) -> None:
    if as_json:
        document = SkillTestDocument(
            evaluator=rig.harness.evaluator,
            agent=rig.harness.agent.name,
            sealed_tasks=len(rig.harness.divided.sealed),
            skills=tuple(tested),
            proposed=tuple(proposed),
        )
        call.answer(document)
        return
    from strategies.gate.rollout_rule import limit_words  # noqa: PLC0415 - the list of commands pays for none of it

    for event in tested:
        figures, scores = event.rollouts, (event.before, event.after)
        call.say(f"{tested_words(event)}.")
        before, after = (share(getattr(score, "value", 0.0)) for score in scores)
        span = interval(figures.low, figures.high)
        say_fact(call, "runs", f"{before} → {after}   Δ {figures.difference:+.3f} {span}")
        say_fact(
            call,
            "figures",
            f"{count(figures.tasks, 'task')} in {count(figures.rounds, 'round')}, {figures.runs:,} runs made and "
            f"{figures.reused:,} from the bank; {limit_words(figures.detectable)}",
        )
        if figures.stopped:
            say_fact(call, "stopped", figures.stopped)
    for proposal in proposed:
        say_fact(call, "proposed", proposal_words(proposal))
    call.say(f"next       {_next(tested)}")


def _next(tested: Sequence[SkillTested]) -> str:
    harming = next((event for event in tested if event.verdict == "harms"), None)
    if harming is None:
        return f"germline skill ledger {tested[0].capsule}"
    if harming.line is not None:
        return f"germline candidate propose {harming.capsule} --from FILE --reason TEXT"
    if harming.beside:
        return f"germline find --overlaps    germline show {harming.capsule}"
    return f"germline skill retire {harming.capsule} --reason TEXT"
