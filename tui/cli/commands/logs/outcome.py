"""Late truth: what CI, a merge or a person says of an episode after its log was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from events.types.registry_events import OutcomeRecorded
from registry.decide.commands import RecordFact
from strategies.episodes.episode import WorldSource, began, moment_s
from strategies.episodes.world_outcomes import commits_of
from strategies.pool.known_episodes import all_episodes
from strategies.pool.late_outcomes import hints_looked_up, named_episodes
from tui.cli.commands.logs.outcome_labels import print_queue, take_in_labels
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_folded, say_listed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, moment_since
from tui.documents.events import event_rows
from tui.documents.logs import OutcomeDocument, OutcomeEpisode
from tui.reads.labels import says
from tui.session.open_registry import find_registry, open_registry, project_folder
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    since: Annotated[
        str, typer.Option("--since", metavar="WHEN", help="All sessions since 2026-11-01, or 2h ago.")
    ] = "",
    csv: Annotated[
        str, typer.Option("--csv", metavar="FILE", help="Take in a file of labels: episode,value,source.")
    ] = "",
    queue: Annotated[
        bool, typer.Option("--queue", help="List the sessions of which one label would decide most.")
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
    named = (episode, value) != (None, None) or bool(since)
    if bool(csv) + queue + commits + named > 1 or ((queue or commits) and source):
        raise UsageError(
            "--csv, --queue and --commits each go without an episode, --since and a value",
            hint="germline outcome --queue    germline outcome --csv FILE --source user",
        )
    if commits:
        _look_up_commits(call, dry_run=dry_run, as_json=as_json)
    elif queue:
        print_queue(call, as_json=as_json)
    elif csv:
        take_in_labels(call, Path(csv).expanduser(), source or "", dry_run=dry_run, as_json=as_json)
    elif value is None or source is None or not named:
        raise UsageError(
            "an episode or --since, --value and --source are needed, or --csv, --queue or --commits",
            hint="germline outcome EPISODE --value V --source ci    germline outcome --queue",
        )
    else:
        chosen = _ChosenSessions(episode, moment_since(since), if_known=if_known)
        _record(call, chosen, value, source, dry_run=dry_run, as_json=as_json)


class _ChosenSessions(NamedTuple):
    """Which sessions are labelled: those of a name, those that began since a time, or those of both."""

    episode: str | None
    since: str
    if_known: bool

    def of(self, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
        """Choose them; raises NotFoundError where there are none."""
        named = list(records) if self.episode is None else named_episodes(records, self.episode)
        if not self.since:
            return named
        first = moment_s(self.since) or 0.0
        since = [record for record in named if (began(record) or 0.0) >= first]
        if not since:
            raise NotFoundError(f"no session began since {self.since[:16]}", hint="germline sessions")
        return since


def _record(
    call: Invocation, chosen: _ChosenSessions, value: float, source: Source, *, dry_run: bool, as_json: bool
) -> None:
    # In one transaction: a watcher must not put a longer reading in the place of an episode that was just found.
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        try:
            matching = chosen.of(all_episodes(registry))
        except NotFoundError as error:
            if not chosen.if_known:
                raise
            call.note(f"nothing    {error.message}")
            matching = []
        changed = [record for record in matching if not says(record, value, source)]
        command = RecordFact(
            tuple(OutcomeRecorded(episode=record.id, value=value, source=source) for record in changed)
        )
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), OutcomeDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    if as_json:
        document = OutcomeDocument(
            value=value,
            source=source,
            episodes=tuple(map(OutcomeEpisode.of, matching)),
            recorded=len(changed),
            events=event_rows(receipt.envelopes),
        )
        call.answer(document)
    else:
        _print(call, matching, changed, f"{value:g}, says {source}")


def _look_up_commits(call: Invocation, *, dry_run: bool, as_json: bool) -> None:
    """Ask git in the project's folder what became of the commits of one's own sessions, and keep what is new."""
    from strategies.pool.commit_history import read_history  # noqa: PLC0415 - confinement is for those who ask

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
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: registry.execute(RecordFact(new)),
            OutcomeDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
    if as_json:
        call.answer(
            OutcomeDocument(
                episodes=tuple(map(OutcomeEpisode.of, committed)),
                recorded=len(new),
                events=event_rows(receipt.envelopes),
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


def _print(
    call: Invocation, matching: list[EpisodeRecord], changed: list[EpisodeRecord], outcome_words: str
) -> None:
    lines = []
    for record in changed:
        before = f"; before: {record.outcome.value:g}, said {record.outcome.source}" if record.outcome else ""
        lines.append(f"{record.id[:12]} {one_line(record.name)}: {outcome_words}{before}")
    say_listed(call, "outcome", lines, cut=True, most=_SHOWN)
    if len(matching) > len(changed):
        call.say(f"{'':<10} {count(len(matching) - len(changed), 'episode')} said so already")
    if changed:
        call.say("next       germline evolve    germline signals --quality")


COMMANDS: Final = {"outcome": outcome}
