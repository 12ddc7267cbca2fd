"""Writing from the screens: a change that a person is asked about, rehearsed before it is appended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from events.errors import ConflictError, NotFoundError
from registry.diffs import line_diff
from registry.rendering import projected_lines
from registry.summaries import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from events.envelope import Envelope
    from registry.candidate import Candidate
    from registry.diffs import DiffLine
    from registry.registry import Registry

Answer = Literal["yes", "no"]


class OpenRegistry(Protocol):
    """Opens the registry for writing; a dry run leaves the folders of skills alone."""

    def __call__(self, *, dry_run: bool) -> AbstractContextManager[Registry]:
        """Open it, as the person who runs this."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """A change that waits for a reason and a yes.

    `act` appends it with a reason; `skill` is the one whose files are written after it, "" where none is.
    `reason` stands there to begin with. `done` says in a word or two what it was, once it is.
    """

    title: str
    done: str
    act: Callable[[Registry, str], object]
    skill: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change appends, or would: its events, how the skill's text differs, the files that were written."""

    envelopes: tuple[Envelope, ...]
    diff: tuple[DiffLine, ...] = ()
    written: tuple[str, ...] = ()


class ShownOtherwiseError(ConflictError):
    """What a change appends by now is not what a person said yes to; `outcome` is what it would append."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("something else was changed meanwhile: nothing was appended")
        self.outcome = outcome


def rehearse(open_registry: OpenRegistry, change: Change, reason: str) -> Outcome:
    """Let a change happen and take it back: what it would append. Raises what it raises."""
    found: list[Outcome] = []
    with open_registry(dry_run=True) as registry, registry.rehearsal():
        found.append(_appended(registry, change, reason))
    return found[0]


def carry_out(open_registry: OpenRegistry, change: Change, reason: str, shown: Outcome) -> Outcome:
    """Append a change as it was shown, and write the files of the skill that it changes.

    Raises: ShownOtherwiseError where it would append something else by now; what the change raises.
    """
    from registry.publish import publish  # noqa: PLC0415 - screens that only read need none of it

    with open_registry(dry_run=False) as registry:
        with registry.log.transaction():
            outcome = _appended(registry, change, reason)
            if outcome.envelopes and _said(outcome) != _said(shown):
                raise ShownOtherwiseError(outcome)
        written = publish(registry, change.skill) if change.skill else ()
    return Outcome(outcome.envelopes, outcome.diff, written)


def _said(outcome: Outcome) -> tuple[object, ...]:
    """Give what a person is shown of an outcome."""
    told = [(envelope.type, envelope.stream, summary(envelope)) for envelope in outcome.envelopes]
    return told, outcome.diff


def _appended(registry: Registry, change: Change, reason: str) -> Outcome:
    before = registry.log.head().position
    old = _texts(registry, change.skill)
    change.act(registry, reason)
    diff = line_diff(old, _texts(registry, change.skill))
    changed = any(row.kind != " " for row in diff)
    return Outcome(tuple(registry.log.read(after=before)), tuple(diff) if changed else ())


def _texts(registry: Registry, skill: str) -> list[str]:
    return [line.text for line in projected_lines(registry.capsule(skill))] if skill else []


# -- changes -------------------------------------------------------------------------------------------


def switching(name: str) -> Change:
    """Let another preset bind the strategies."""

    def act(registry: Registry, reason: str) -> None:
        from registry.commands import SwitchPreset  # noqa: PLC0415 - as above
        from strategies.binding import bound_by  # noqa: PLC0415 - as above

        registry.execute(SwitchPreset(bound_by(registry, name).name, reason))

    return Change(f"use the preset {name} from here on", f"preset {name} is in force", act)


def reverting(skill: str, version: int) -> Change:
    """Go back to what an earlier version of a skill said."""

    def act(registry: Registry, reason: str) -> None:
        from registry.commands import Revert  # noqa: PLC0415 - as above
        from registry.publish import require_unedited  # noqa: PLC0415 - as above

        require_unedited(registry, skill)
        registry.execute(Revert(skill, version, reason))

    return Change(f"go back to {skill}@{version}", f"{skill} says again what version {version} said", act, skill)


def deciding(candidate: Candidate, answer: Answer) -> Change:
    """Approve or reject a candidate that waits."""
    word, done = ("approve", "approved") if answer == "yes" else ("reject", "rejected")
    name = candidate.proposed.capsule

    def act(registry: Registry, reason: str) -> None:
        from strategies import reviewing  # noqa: PLC0415 - as above

        found = registry.candidate(candidate.id)
        if found is None:
            raise NotFoundError(f"no candidate {candidate.id[:12]} was proposed", hint="germline candidates")
        (reviewing.approve if answer == "yes" else reviewing.reject)(registry, found, reason)

    title = f"{word} candidate {candidate.id[:12]} for {name}"
    return Change(title, f"candidate {candidate.id[:12]} is {done}", act, name if answer == "yes" else "")


def looking_over(candidate: Candidate, answer: Answer) -> Change:
    """Say whether one agrees with a promotion that was drawn."""
    decision: Literal["agree", "disagree"] = "agree" if answer == "yes" else "disagree"
    name = candidate.proposed.capsule

    def act(registry: Registry, reason: str) -> None:
        from registry.commands import LookOver  # noqa: PLC0415 - as above

        registry.execute(LookOver(candidate.id, name, decision, reason))

    return Change(f"{decision} with {name}@{candidate.version}", f"noted: you {decision}", act)


def taking_back(envelope: Envelope, skill: str, step: Literal["undo", "redo"]) -> Change:
    """Take a change back, or an undoing; `skill` is where it was looked for, "" for the whole registry."""
    said = f"event {envelope.position}, {summary(envelope)}"
    back = step if step == "undo" else "redo: take back"
    changed = _skill_changed(envelope)
    act = partial(_take_back, envelope=envelope, skill=skill, step=step)
    return Change(f"{back} {said}", f"event {envelope.position} is taken back", act, changed, reason=step)


def _take_back(
    registry: Registry, reason: str, *, envelope: Envelope, skill: str, step: Literal["undo", "redo"]
) -> None:
    from registry.publish import require_unedited  # noqa: PLC0415 - as above
    from registry.undoing import changes_of, compensation  # noqa: PLC0415 - as above

    with registry.log.transaction():
        changes = changes_of(registry, skill)
        now = changes.undo if step == "undo" else changes.redo
        if now is None or now.event_id != envelope.event_id:
            raise ConflictError("something else was changed meanwhile", hint="look again, then undo that first")
        if changed := _skill_changed(envelope):
            require_unedited(registry, changed)
        registry.execute(compensation(envelope, reason), causation=envelope.event_id)


def _skill_changed(envelope: Envelope) -> str:
    """Name the skill whose text an event changed; that an alias moved changes none."""
    capsule: str = getattr(envelope.event, "capsule", "")
    return capsule if envelope.type == "CapsuleVersioned" else ""
