"""Labels by the many: the queue of sessions that wait for one, and a file that holds some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, StorageError, UsageError
from events.types.registry_events import OutcomeRecorded
from registry.decide.commands import RecordFact
from strategies.pool.known_episodes import all_episodes
from tui.cli.commands.logs.label_file import labelled_sessions, labels_in
from tui.cli.output.color import width
from tui.cli.output.dry_run import append_or_rehearse
from tui.documents.events import event_rows
from tui.documents.logs import LabelQueueDocument, LabelWishRow, OutcomeDocument, OutcomeEpisode
from tui.reads.labels import read_label_queue, says, wish_words
from tui.reads.sessions import read_tasks, short_ids
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 20
"""Sessions that are listed for people; `--json` has them all."""
_LARGEST: Final = 20_000_000
"""A file of labels is no larger than this many bytes (a guess: a million sessions)."""


def print_queue(call: Invocation, *, as_json: bool) -> None:
    """List the sessions of which one label would decide most, each with what for."""
    with open_library(find_registry(call.registry)) as library:
        wishes = read_label_queue(library)
        if as_json:
            call.answer(LabelQueueDocument(waiting=len(wishes), sessions=tuple(map(LabelWishRow.of, wishes))))
            return
        known = all_episodes(library)
        shown = wishes[:_SHOWN]
        tasks, short = read_tasks(library, [wish.record for wish in shown]), short_ids(known)
    if not wishes:
        call.note("no label would decide anything: no candidate is held for logs, and no hints disagree")
        call.note(f"next       {NEXT_STEPS['no label decides']}")
        return
    call.say(f"{count(len(wishes), 'session')} without a label would decide something, the first ones most")
    for wish, task in zip(shown, tasks, strict=True):
        call.say(clip(f"{wish.record.id[:short]}  {wish_words(wish)}", width()))
        call.say(clip(f"{'':<{short}}  {one_line(' '.join(task.split())) or '(no request is known)'}", width()))
    if len(wishes) > len(shown):
        call.say(f"{len(wishes) - len(shown):,} more: --json")
    first = shown[0].record.id[:short]
    call.say(f"next       germline session {first}    germline outcome {first} --value V --source user")


def take_in_labels(call: Invocation, file: Path, source: str, *, dry_run: bool, as_json: bool) -> None:
    """Record all labels of a file, or none where one of them names no session or several."""
    labels = labels_in(_text(file), file.name, source)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        named = labelled_sessions(all_episodes(registry), labels, file.name)
        changed = [(record, label) for record, label in named if not says(record, label.value, label.source)]
        command = RecordFact(
            tuple(
                OutcomeRecorded.model_validate(
                    {"episode": record.id, "value": label.value, "source": label.source}
                )
                for record, label in changed
            )
        )
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), OutcomeDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    if as_json:
        call.answer(
            OutcomeDocument(
                episodes=tuple(OutcomeEpisode.of(record) for record, _ in named),
                recorded=len(changed),
                events=event_rows(receipt.envelopes),
            )
        )
        return
    good = sum(label.value >= 0.5 for _, label in changed)  # noqa: PLR2004 - half
    how = f"{good:,} good, {len(changed) - good:,} bad"
    call.say(f"outcome    {count(len(changed), 'session')} labelled from {file.name}: {how}")
    if len(named) > len(changed):
        call.say(f"{'':<10} {count(len(named) - len(changed), 'session')} said so already")
    call.say("next       germline evolve    germline candidates")


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > _LARGEST:
            raise UsageError(f"{file} is larger than {_LARGEST:,} bytes", hint="divide it into several")
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {file}", hint="germline outcome --csv FILE") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no UTF-8 text: byte {error.start}", hint="save it as CSV in UTF-8") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from error
