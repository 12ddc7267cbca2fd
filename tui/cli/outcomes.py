"""Late truth: what CI, a merge or a person says of an episode after its log was read."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from events.errors import NotFoundError
from events.registry_events import OutcomeRecorded
from registry.commands import Record
from strategies.intake import all_episodes
from strategies.late_outcomes import named_episodes
from tui.bootstrap import find_registry, open_registry
from tui.cli.appended import event_rows, rehearsed
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, DryRun
from tui.cli.paint import clip, one_line, width
from tui.figures import count

if TYPE_CHECKING:
    from strategies.logs.episode import EpisodeRecord
    from tui.cli.invocation import Invocation

Source = Literal["ci", "merge", "user", "deploy", "tests", "reward"]
_SHOWN: Final = 5


def outcome(
    ctx: typer.Context,
    episode: Annotated[
        str, typer.Argument(metavar="EPISODE", help="An id or the beginning of one, a name, or LABEL=VALUE.")
    ],
    *,
    value: Annotated[float, typer.Option(min=0, max=1, metavar="V", help="From 0, failed, to 1, succeeded.")],
    source: Annotated[Source, typer.Option(help="Who says so.")],
    if_known: Annotated[
        bool, typer.Option("--if-known", help="End well where no such episode is known: for CI jobs.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Record how an episode ended, as CI, a merge or a person says.

    It counts in place of what the log says. An evaluator keeps the outcomes it was frozen with: what comes later
    waits in the pool until a new one is registered. Saying the same again adds nothing.
    """
    call = invocation(ctx)
    # In one transaction: a watcher must not put a longer reading in the place of an episode that was just found.
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        try:
            found = named_episodes(all_episodes(registry), episode)
        except NotFoundError as error:
            if not if_known:
                raise
            call.note(f"nothing    {error.message}")
            found = []
        changed = [one for one in found if not _says(one, value, source)]
        command = Record(tuple(OutcomeRecorded(episode=one.id, value=value, source=source) for one in changed))
        if dry_run:
            with registry.rehearsal():
                envelopes = registry.execute(command).envelopes if changed else ()
                rehearsed(call, "outcome", envelopes, as_json=as_json)
            return
        envelopes = registry.execute(command).envelopes if changed else ()
    if as_json:
        fields = {
            "value": value,
            "source": source,
            "episodes": [_episode_json(one) for one in found],
            "recorded": len(changed),
            "events": event_rows(envelopes),
        }
        call.answer("outcome", fields)
    else:
        _print(call, found, changed, f"{value:g}, says {source}")


def _says(record: EpisodeRecord, value: float, source: str) -> bool:
    known = record.outcome
    return known is not None and (known.value, known.source) == (value, source)


def _episode_json(record: EpisodeRecord) -> dict[str, object]:
    before = record.outcome
    return {
        "episode": record.id,
        "name": record.name,
        "run": record.run,
        "before": {"value": before.value, "source": before.source} if before else None,
    }


def _print(call: Invocation, found: list[EpisodeRecord], changed: list[EpisodeRecord], said: str) -> None:
    for at, one in enumerate(changed[:_SHOWN]):
        before = f"; before: {one.outcome.value:g}, said {one.outcome.source}" if one.outcome else ""
        name = one_line(one.name)
        call.say(clip(f"{'outcome' if at == 0 else '':<10} {one.id[:12]} {name}: {said}{before}", width()))
    if len(changed) > _SHOWN:
        call.say(f"{'':<10} {len(changed) - _SHOWN} more")
    if len(found) > len(changed):
        call.say(f"{'':<10} {count(len(found) - len(changed), 'episode')} said so already")
    if changed:
        call.say("next       germline evolve SKILL    germline signals --quality")


COMMANDS: Final = {"outcome": outcome}
