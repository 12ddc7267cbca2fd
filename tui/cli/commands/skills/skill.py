"""The life of skills: what became of each, whether runs show that it helps, and its retirement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from events.clock import SystemClock
from registry.actions.publish import publish, standing
from registry.actions.retire_skill import restore, retire, take_away
from registry.skill_md.render import label
from registry.state.capsule import is_skill_name
from tui.cli.commands.skills.skill_test import run_skill_test
from tui.cli.commands.skills.skill_triggers import describe_skill, show_triggers
from tui.cli.output.color import column, width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll, Reason, Skill, require_reason
from tui.documents.events import event_rows
from tui.documents.usage import (
    SkillLedgerDocument,
    SkillLedgerRow,
    SkillRestoreDocument,
    SkillRetireDocument,
)
from tui.facts.skill_life import effect_words, proposal_words, success_words, tokens_words
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.durations import age
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.terminal_text import clip, clip_middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.capsule_events import RetirementProposed
    from strategies.usage.skill_ledger import SkillLedger
    from tui.cli.output.invocation import Invocation

skill = typer.Typer(help="The life of skills: ledger, tests by runs, retirement.", rich_markup_mode=None)
_BESIDE: Final = 62
"""Columns of the figures beside the name of a skill."""


@skill.command("ledger")
def show_ledger(ctx: typer.Context, name: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """Say how often each skill was loaded, how that ended, and what it costs.

    A use is a session with an outcome that loaded what the live version says. What sessions with a skill did
    better than others of the same run is observed: what made an agent load it may have made the difference. With
    a name, the sessions that loaded it are read again for the files of the skill that they opened.
    """
    from registry.query.retirements import open_proposal  # noqa: PLC0415 - retiring needs none of it
    from strategies.pool.known_episodes import all_episodes  # noqa: PLC0415 - the same
    from strategies.scope.scope import scope_of  # noqa: PLC0415 - the same
    from strategies.usage.skill_ledger import ledger_of  # noqa: PLC0415 - the same
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        records = all_episodes(library)
        scope = scope_of(library, records, read_config().skill_logs(library))
        names = [library.capsule(name).name] if name else filter(is_skill_name, library.live_names())
        rows = [
            (ledger_of(library, each, scope, with_files=bool(name)), open_proposal(library, each))
            for each in names
        ]
        retired = tuple(sorted(library.retired_names()))
    telling = sum(bool(record.skills) for record in records)
    if as_json:
        skills = tuple(SkillLedgerRow.of(*row) for row in rows)
        call.answer(SkillLedgerDocument(sessions=len(records), telling=telling, skills=skills, retired=retired))
    elif name:
        _print_one(call, *rows[0])
    else:
        loaded = f"{sum(row.loads > 0 for row, _ in rows)} of {count(len(rows), 'skill')}"
        summary = f"{count(len(records), 'session')} loaded {loaded}; the logs of {telling:,} name a skill."
        call.say(summary if records else "No session was read yet, so nothing is known of what they loaded.")
        _print_all(call, rows)
        if retired:
            say_folded(call, "retired    ", ", ".join(retired))
        proposed = next((row.capsule.name for row, proposal in rows if proposal), "")
        nexts = f"germline skill retire {proposed} --reason TEXT" if proposed else "germline skill ledger SKILL"
        missing = NEXT_STEPS["no sessions" if rows else "no skill"]
        call.say(f"next       {nexts if rows and records else missing}")


def _print_all(call: Invocation, rows: Sequence[tuple[SkillLedger, RetirementProposed | None]]) -> None:
    now = SystemClock().now()
    names = column([label(row.capsule) for row, _ in rows], 14, _BESIDE)
    for row, proposal in sorted(rows, key=lambda pair: (-pair[0].loads, pair[0].capsule.name)):
        called = clip_middle(label(row.capsule), names)
        last = age(row.last_used, now) if row.last_used else "never"
        figures = success_words(row) if row.uses else "no outcome"
        text = f"  {called:<{names}} {row.loads:>6,} loads {last:>5} {row.tokens:>7,} tokens  {figures}"
        call.say(clip(text.rstrip(), width()))
        if proposal:
            say_folded(call, f"{'':<4}! ", proposal_words(proposal), tone="warn")


def _print_one(call: Invocation, row: SkillLedger, proposal: RetirementProposed | None) -> None:
    name, loaded = (
        row.capsule.name,
        f"{row.loads:,} of {count(row.sessions, 'session')} that count for it loaded it",
    )
    call.say(f"{label(row.capsule)}: {loaded}.")
    say_fact(call, "success", success_words(row) if row.uses else "no session that loaded it has an outcome")
    say_fact(call, "effect", effect_words(row.effect))
    say_fact(call, "tokens", tokens_words(row))
    for file in row.files:
        last = f", last {age(file.last_used, SystemClock().now())} ago" if file.last_used else ""
        opened = f"opened in {count(file.sessions, 'session')}{last}" if file.sessions else "never opened"
        say_fact(call, "file", f"{file.path}: {opened}")
    if proposal:
        say_fact(call, "retire", proposal_words(proposal))
    call.say(f"next       germline skill test {name}    germline skill retire {name} --reason TEXT")


@skill.command("retire")
def retire_skill(
    ctx: typer.Context, name: Skill, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Take a skill off the disk; its history stays, and `skill restore` brings it back. Needs --reason.

    It is offered, found, scored and evolved no longer. Files that a person edited are never removed: they are
    adopted or discarded first. What else lies in the folder stays.
    """
    call = invocation(ctx)
    require_reason(reason, "retiring needs a reason", f"germline skill retire {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: retire(registry, name, reason),
            SkillRetireDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
        removed = take_away(registry, name)
        registry.witness()
        source = registry.capsule(name).source
    if as_json:
        call.answer(SkillRetireDocument(skill=name, removed=removed, events=event_rows(receipt.envelopes)))
        return
    call.say(f"retired    {name}: {reason}")
    say_folded(call, "removed    ", f"{', '.join(removed) or 'nothing: no file of it was there'}, in {source}")
    call.say(f"next       germline skill restore {name} --reason TEXT    germline log {name}")


@skill.command("restore")
def restore_skill(
    ctx: typer.Context, name: Skill, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Project a retired skill again, as it was. Needs --reason.

    Where a person put other files in its place meanwhile, those stay, to be adopted or discarded.
    """
    call = invocation(ctx)
    require_reason(reason, "restoring needs a reason", f"germline skill restore {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: restore(registry, name, reason),
            SkillRestoreDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
        edited = standing(registry, name) == "edited"
        written = () if edited else publish(registry, name)
        capsule = registry.capsule(name)
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(SkillRestoreDocument(skill=name, written=written, edited=edited, events=events))
        return
    call.say(f"restored   {label(capsule)}: {reason}")
    if edited:
        say_folded(call, "not written ", f"other files lie in {capsule.source}, and stay as they are", tone="warn")
        call.say(f"next       germline adopt {name}    germline project {name} --discard")
        return
    say_folded(
        call, "written    ", f"{', '.join(written) or 'nothing: the files were there'}, in {capsule.source}"
    )
    call.say(f"next       germline skill ledger {name}")


skill.command("test")(run_skill_test)
skill.command("triggers")(show_triggers)
skill.command("describe")(describe_skill)

COMMANDS: Final = {"skill": skill}
