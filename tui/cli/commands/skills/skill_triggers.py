"""`skill triggers` and `skill describe`: whether skills are loaded where they are needed; better descriptions."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from events.errors import RefusedError
from registry.actions.publish import publish, require_unedited
from registry.decide.commands import JudgeDescription
from registry.skill_md.render import label
from registry.state.capsule import is_skill_name
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Skill
from tui.documents.events import event_rows
from tui.documents.usage import SkillDescribeDocument, SkillTriggersDocument, TriggerRow
from tui.facts.skill_life import description_words, trigger_words
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from registry.query.library import Library
    from strategies.scope.scope import Scope

_SAYS_NO = 3


def scope_here(library: Library) -> Scope:
    """Say which logs belong to which skill, by the settings as well."""
    from strategies.pool.known_episodes import all_episodes  # noqa: PLC0415 - the list of commands pays for none of it
    from strategies.scope.scope import scope_of  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same

    return scope_of(library, all_episodes(library), read_config().skill_logs(library))


def show_triggers(ctx: typer.Context, name: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """Say whether skills are loaded in the sessions that need them, and in others.

    A session needs a skill where one of its claims applied. Precision is the share of its loads that were needed,
    recall that of the sessions which needed it that loaded it. A skill that keeps what it is for from happening
    looks wider than it is.
    """
    from strategies.usage.trigger_audit import trigger_audit  # noqa: PLC0415 - the list of commands pays for none of it

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        names = [library.capsule(name).name] if name else filter(is_skill_name, library.live_names())
        scope = scope_here(library)
        audits = [trigger_audit(library, each, scope) for each in names]
    if as_json:
        call.answer(SkillTriggersDocument(skills=tuple(map(TriggerRow.of, audits))))
        return
    named = [audit for audit in audits if audit.findings]
    call.say(f"{len(named)} of {count(len(audits), 'description')} surely miss what they are for.")
    for audit in audits:
        mark, tone = ("!", "warn") if audit.findings else (" ", "")
        say_folded(call, f"{mark} {label(audit.capsule)}  ", trigger_words(audit), tone=tone)
    first = (named or audits)[0].capsule.name if audits else ""
    call.say(f"next       {f'germline skill describe {first} --dry-run' if first else NEXT_STEPS['no skill']}")


def describe_skill(
    ctx: typer.Context,
    name: Skill,
    *,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="A description of your own; else one is written.")
    ] = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Hold another description of a skill to sessions that it was not made from; one that passes becomes live.

    Without --text it is written from explore sessions: parts go that find what does not need the skill, words come
    of what does. It passes where on sealed sessions it finds surely more of those that need the skill, or spares
    surely more of the others, and loses little; and where words stand for what agents do at all. Exit code 3 where
    it does not pass.
    """
    from strategies.usage.describe_skill import (  # noqa: PLC0415 - the list of commands pays for none of it
        divided,
        judge_description,
        judged_before,
        rewritten,
    )
    from strategies.usage.trigger_audit import trigger_audit  # noqa: PLC0415 - the same

    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        require_unedited(registry, name)
        audit = trigger_audit(registry, name, scope_here(registry))
        if not audit.claims:
            raise RefusedError(
                f"no claim of {name} tells which sessions need it",
                hint=f"germline usage {name}   says which lines could claim something",
            )
        description = one_line(text) or rewritten(audit.description, divided(registry, audit).explore)
        if description == audit.description:
            raise RefusedError(
                f"no words of explore sessions make a better description of {name}",
                hint=f"germline skill describe {name} --text TEXT   tries one of yours",
            )
        judged = judge_description(registry, audit, description)
        if before := judged_before(registry, judged):
            raise RefusedError(
                f"that description was judged before: {before.verdict}, {before.reasons[0]}",
                hint=f"germline skill describe {name} --text TEXT   tries another",
            )
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: registry.execute(JudgeDescription(judged), actor="germline"),
            SkillDescribeDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
        written = publish(registry, name) if judged.verdict == "promote" else ()
        live = label(registry.capsule(name))
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(SkillDescribeDocument(skill=name, judged=judged, written=written, events=events))
    else:
        mark, tone = {"promote": ("✓", "good"), "hold": ("·", "warn"), "reject": ("✗", "bad")}[judged.verdict]
        call.say(f"{call.paint(mark, tone)} {judged.verdict}  {live}")
        say_fact(call, "before", judged.previous)
        say_fact(call, "after", judged.description)
        say_fact(call, "because", description_words(judged))
        call.say(f"next       germline skill triggers {name}    germline log {name}")
    if judged.verdict != "promote":
        raise typer.Exit(_SAYS_NO)
