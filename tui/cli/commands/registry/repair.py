"""Repair: what a damaged registry still proves goes into a new one; the damaged files are kept aside."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError, GermlineError, RefusedError
from events.integrity.checkpoint import check_against
from events.sqlite.backup import copying, put_in_place, witnessed
from events.sqlite.log import SqliteLog
from events.sqlite.salvage import salvage
from events.sqlite.verify import verify_file
from registry.actions.erase_evidence import record_lost_evidence
from tui.cli.commands.registry.backup import positions, stamp
from tui.cli.output.facts import say_listed
from tui.documents.registry_files import DamageRow, DoctorRepairDocument, LostRows, RecoveredRows
from tui.session.open_registry import file_of, find_registry, open_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from pathlib import Path

    from events.sqlite.salvage import Salvage
    from events.store.protocol import Head, Problem
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 5
_REASON: Final = "lost when the registry was damaged"
_OTHER_HISTORY: Final = frozenset({"registry", "rewritten", "forked", "root"})
"""What a checkpoint says that no repair can mend: the events hold, and are not those that once were there."""
_ROWS: Final = {"blobs": "stored text", "episodes": "episode", "checkpoints": "reading mark"}


@dataclass(frozen=True, slots=True)
class Repair:
    """A registry that does not hold, and what a repair makes of it.

    `last` is the last position that the registry is known to have had; `acknowledged` that of its sidecar, 0
    without one. `evidence` names what signals refer to and is gone.
    """

    path: Path
    problems: tuple[Problem, ...]
    salvaged: Salvage
    acknowledged: int
    evidence: tuple[str, ...]
    aside: Path

    @property
    def last(self) -> int:
        """The last position that is known to have been there."""
        beyond = (position for position, _ in self.salvaged.beyond)
        return max((self.salvaged.head.position, self.acknowledged, *beyond))


def repair(call: Invocation, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Put what the registry still proves in its place, and the damaged files aside.

    Raises: RefusedError without `yes`; CorruptLogError where nothing can be recovered; BusyError while another
    process has the registry open.
    """
    path = file_of(find_registry(call.registry), "doctor --repair")
    problems, head = _problems(path)
    if not problems:
        _nothing(call, path, as_json=as_json)
        return
    if all(problem.kind in _OTHER_HISTORY for problem in problems):
        raise CorruptLogError(
            f"{path} holds other events than were seen in it: {problems[0].what}",
            position=problems[0].position,
            hint="germline restore FILE",
        )
    with copying(path) as partial:
        done = _recovered(path, problems, partial)
        if not (yes or dry_run):
            _print(call, done, "would be")
            raise RefusedError(f"{path} was left as it is", hint="germline doctor --repair --yes")
        if not dry_run:
            put_in_place(partial, path, aside=done.aside, over=head)
    if as_json:
        call.answer(_document(done, dry_run=dry_run))
    else:
        _print(call, done, "would be" if dry_run else "recovered")


def _problems(path: Path) -> tuple[tuple[Problem, ...], Head | None]:
    """Verify a registry, also against its sidecar; returns its head too, None where it cannot be read."""
    problems = verify_file(str(path)).problems
    try:
        log = SqliteLog.open(path, read_only=True)
    except GermlineError:
        return problems, None
    try:
        against = check_against(log, witnessed(path), roots=False)
        return (*problems, *against), log.head()
    except GermlineError:
        return problems, None
    finally:
        log.close()


def _recovered(path: Path, problems: tuple[Problem, ...], partial: Path) -> Repair:
    """Build the new registry: the events that hold, their projection, and word of evidence that is gone."""
    salvaged = salvage(path, partial)
    acknowledged = max((checkpoint.size for checkpoint in witnessed(path)), default=0)
    if not salvaged.head.position:
        raise CorruptLogError(
            f"no event of {path} can be recovered: {problems[0].what}",
            position=1,
            hint="germline restore FILE   or, for what SQLite finds: sqlite3 FILE .recover",
        )
    with open_registry(partial, dry_run=True, is_own=True) as registry:  # folds the projection
        evidence = record_lost_evidence(registry, _REASON)
    left = verify_file(str(partial)).problems
    if left:
        raise CorruptLogError(
            f"what was recovered of {path} does not hold: {left[0].what}",
            position=left[0].position,
            hint="germline restore FILE",
        )
    return Repair(path, problems, salvaged, acknowledged, evidence, path.parent / f"damaged-{stamp()}")


def _nothing(call: Invocation, path: Path, *, as_json: bool) -> None:
    if as_json:
        call.answer(DoctorRepairDocument(dry_run=False, registry=str(path), problems=()))
    else:
        call.say(f"{path} holds: there is nothing to repair")


def _document(done: Repair, *, dry_run: bool) -> DoctorRepairDocument:
    salvaged = done.salvaged
    return DoctorRepairDocument(
        dry_run=dry_run,
        registry=str(done.path),
        problems=tuple(map(DamageRow.model_validate, done.problems)),
        recovered=RecoveredRows(events=salvaged.head.position, head=salvaged.head.hash, **salvaged.kept),
        lost=LostRows(
            events=done.last - salvaged.head.position,
            acknowledged=done.acknowledged,
            types=dict(Counter(kind for _, kind in salvaged.beyond)),
            rows=dict(salvaged.dropped),
            evidence=done.evidence,
        ),
        trouble=salvaged.trouble,
        aside=str(done.aside),
    )


def _print(call: Invocation, done: Repair, verb: str) -> None:
    salvaged, more = done.salvaged, len(done.problems) - _SHOWN
    for at, problem in enumerate(done.problems[:_SHOWN]):
        call.say(f"{'damaged' if at == 0 else '':<10} {problem.what}")
    if more > 0:
        call.say(f"{'':<10} and {more:,} more: germline verify")
    rows = ", ".join(count(salvaged.kept[name], noun) for name, noun in _ROWS.items())
    past = "; SQLite alone shows fewer of them" if salvaged.mended else ""
    call.say(f"{verb:<10} {count(salvaged.head.position, 'event')}, unbroken{past}; {rows}")
    say_listed(call, "lost", _lost(done))
    call.say(f"{'aside':<10} {done.aside}: the damaged files, byte for byte")
    follow = "germline doctor --repair --yes" if verb == "would be" else "germline verify    germline status"
    call.say(f"{'next':<10} {follow}")


def _lost(done: Repair) -> list[str]:
    """Say what is not in the new registry, and what is not known."""
    salvaged, first = done.salvaged, done.salvaged.head.position + 1
    losses = []
    if done.last >= first:
        types = Counter(kind for _, kind in salvaged.beyond)
        readable = ", ".join(f"{number:,} {kind}" for kind, number in types.most_common())
        unread = done.last - first + 1 - len(salvaged.beyond)
        parts = [f"read but unproven: {readable}"] if readable else []
        parts += [f"{unread:,} not readable"] if unread > 0 else []
        losses.append(f"{positions(first, done.last)}: {'; '.join(parts)}")
    else:
        losses.append("no event that is known of")
    if not done.acknowledged:
        losses.append(
            "whether later events are missing cannot be told: there is no checkpoint beside the registry"
        )
    losses += [count(number, _ROWS[name]) for name, number in salvaged.dropped.items()]
    if done.evidence:
        losses.append(f"evidence without its text now, as an event says: {len(done.evidence):,}")
    losses += [f"not all could be read: {trouble}" for trouble in salvaged.trouble]
    return losses
