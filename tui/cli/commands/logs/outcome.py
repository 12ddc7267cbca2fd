"""Late truth: what CI, a merge or a person says of an episode after its log was read."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from events.errors import NotFoundError
from events.types.registry_events import OutcomeRecorded
from registry.decide.commands import RecordFact
from strategies.pool.intake import all_episodes
from strategies.pool.late_outcomes import named_episodes
from tui.cli.output.color import width
from tui.cli.output.dry_run import rehearsed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.documents.events import event_rows
from tui.documents.logs import OutcomeDocument, OutcomeEpisode
from tui.session.bootstrap import find_registry, open_registry
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord
    from tui.cli.output.invocation import Invocation

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
            matching = named_episodes(all_episodes(registry), episode)
        except NotFoundError as error:
            if not if_known:
                raise
            call.note(f"nothing    {error.message}")
            matching = []
        changed = [record for record in matching if not _says(record, value, source)]
        command = RecordFact(
            tuple(OutcomeRecorded(episode=record.id, value=value, source=source) for record in changed)
        )
        if dry_run:
            with registry.rehearsal():
                envelopes = registry.execute(command).envelopes if changed else ()
                rehearsed(call, OutcomeDocument, envelopes, as_json=as_json)
            return
        envelopes = registry.execute(command).envelopes if changed else ()
    if as_json:
        document = OutcomeDocument(
            value=value,
            source=source,
            episodes=tuple(map(OutcomeEpisode.of, matching)),
            recorded=len(changed),
            events=event_rows(envelopes),
        )
        call.answer(document)
    else:
        _print(call, matching, changed, f"{value:g}, says {source}")


def _says(record: EpisodeRecord, value: float, source: str) -> bool:
    known = record.outcome
    return known is not None and (known.value, known.source) == (value, source)


def _print(
    call: Invocation, matching: list[EpisodeRecord], changed: list[EpisodeRecord], outcome_words: str
) -> None:
    for at, record in enumerate(changed[:_SHOWN]):
        before = f"; before: {record.outcome.value:g}, said {record.outcome.source}" if record.outcome else ""
        name = one_line(record.name)
        call.say(
            clip(f"{'outcome' if at == 0 else '':<10} {record.id[:12]} {name}: {outcome_words}{before}", width())
        )
    if len(changed) > _SHOWN:
        call.say(f"{'':<10} {len(changed) - _SHOWN} more")
    if len(matching) > len(changed):
        call.say(f"{'':<10} {count(len(matching) - len(changed), 'episode')} said so already")
    if changed:
        call.say("next       germline evolve    germline signals --quality")


COMMANDS: Final = {"outcome": outcome}
