"""Late truth: what CI, a merge or a person says of an episode after its log was read."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from events.types.registry_events import OutcomeRecorded
from registry.decide.commands import RecordFact
from strategies.episodes.episode import WorldSource, moment_s
from strategies.episodes.world_outcomes import commits_of
from strategies.pool.intake import all_episodes
from strategies.pool.late_outcomes import hints_looked_up, named_episodes
from tui.cli.output.color import width
from tui.cli.output.dry_run import rehearsed
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.documents.events import event_rows
from tui.documents.logs import OutcomeDocument, OutcomeEpisode
from tui.session.bootstrap import find_registry, open_registry, project_folder
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord
    from tui.cli.output.invocation import Invocation

_HINTS: Final[tuple[tuple[WorldSource, float, str], ...]] = (
    ("commit", 0.0, "reverted later"),
    ("commit", 1.0, "not reverted in 14 days"),
    ("merged", 1.0, "came into the default branch by a merge"),
)
Source = Literal["ci", "merge", "user", "deploy", "tests", "reward"]
_SHOWN: Final = 5


def outcome(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    episode: Annotated[
        str | None,
        typer.Argument(metavar="[EPISODE]", help="An id or the beginning of one, a name, or LABEL=VALUE."),
    ] = None,
    *,
    value: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="V", help="From 0, failed, to 1, succeeded.")
    ] = None,
    source: Annotated[Source | None, typer.Option(help="Who says so.")] = None,
    if_known: Annotated[
        bool, typer.Option("--if-known", help="End well where no such episode is known: for CI jobs.")
    ] = False,
    commits: Annotated[
        bool, typer.Option("--commits", help="Look up in git what became of the commits of all sessions: a hint.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Record how an episode ended, as CI, a merge or a person says.

    It counts in place of what the log says. An evaluator keeps the outcomes it was frozen with: what comes later
    waits in the pool until a new one is registered. Saying the same again adds nothing. With --commits, what git
    tells is kept beside it, as a hint that is no label.
    """
    call = invocation(ctx)
    if commits:
        _look_up_commits(
            call, named=(episode, value, source) != (None, None, None), dry_run=dry_run, as_json=as_json
        )
        return
    if episode is None or value is None or source is None:
        raise UsageError(
            "an episode, --value and --source are needed, or --commits alone",
            hint="germline outcome EPISODE --value V --source ci    germline outcome --commits",
        )
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


def _look_up_commits(call: Invocation, *, named: bool, dry_run: bool, as_json: bool) -> None:
    """Ask git in the project's folder what became of the commits of one's own sessions, and keep what is new."""
    from strategies.pool.commit_history import read_history  # noqa: PLC0415 - confinement is for those who ask

    if named:
        raise UsageError("--commits is about all sessions", hint="germline outcome --commits")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        committed = [record for record in all_episodes(registry) if record.trust == "mine" and commits_of(record)]
        history = read_history(project_folder(call.registry)) if committed else None
        now = moment_s(SystemClock().now()) or 0.0
        known = hints_looked_up(registry)
        hinted = {record.id: history.hints(record, now) for record in committed} if history else {}
        new = tuple(
            OutcomeRecorded(episode=episode, value=value, source=source)
            for episode, hints in hinted.items()
            for source, value in hints.items()
            if (source == "commit" or source == "merged")  # noqa: PLR1714 - so that mypy sees it
            and known.get(episode, {}).get(source) != value
        )
        if dry_run:
            with registry.rehearsal():
                envelopes = registry.execute(RecordFact(new)).envelopes if new else ()
                rehearsed(call, OutcomeDocument, envelopes, as_json=as_json)
            return
        envelopes = registry.execute(RecordFact(new)).envelopes if new else ()
    if as_json:
        call.answer(
            OutcomeDocument(
                episodes=tuple(map(OutcomeEpisode.of, committed)), recorded=len(new), events=event_rows(envelopes)
            )
        )
        return
    spoken = sum(map(bool, hinted.values()))
    about = f"{count(len(committed), 'session')} with commits; git tells of {spoken:,}"
    call.say(f"commits    {about}, {count(len(new), 'hint')} new")
    for source, value, words in _HINTS:
        if number := sum(hints.get(source) == value for hints in hinted.values()):
            call.say(f"{source:<10} {number:,} {words}")
    if spoken < len(committed):
        open_ = count(len(committed) - spoken, "session")
        say_folded(call, "open       ", f"{open_}: too young, squashed, rebased, or of another repository")
    call.say("next       germline signals --quality")


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
