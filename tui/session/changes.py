"""Writing from the screens: a change that a person is asked about, rehearsed before it is appended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from events.errors import CheckFailedError, ConflictError, NotFoundError
from registry.query.diffs import line_diff
from registry.query.event_summaries import summary
from registry.skill_md.render import projected_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from events.store.envelope import Envelope
    from registry.query.diffs import DiffLine
    from registry.registry import Registry
    from registry.state.candidate import Candidate

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
    `reason` is there to begin with. `done` says in a word or two what it was, once it is.
    """

    title: str
    done: str
    act: Callable[[Registry, str], object]
    skill: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangePreview:
    """What a change appends, or would: its events, how the skill's text differs, the files that were written."""

    envelopes: tuple[Envelope, ...]
    diff: tuple[DiffLine, ...] = ()
    written: tuple[str, ...] = ()


class ShownOtherwiseError(ConflictError):
    """What a change appends by now is not what a person agreed to; `outcome` is what it would append."""

    def __init__(self, outcome: ChangePreview) -> None:
        super().__init__("something else was changed meanwhile: nothing was appended")
        self.outcome = outcome


def rehearse(open_registry: OpenRegistry, change: Change, reason: str) -> ChangePreview:
    """Let a change happen and take it back: what it would append. Raises what it raises."""
    previews: list[ChangePreview] = []
    with open_registry(dry_run=True) as registry, registry.rehearsal():
        previews.append(_appended(registry, change, reason))
    return previews[0]


def carry_out(open_registry: OpenRegistry, change: Change, reason: str, shown: ChangePreview) -> ChangePreview:
    """Append a change as it was shown, and write the files of the skill that it changes.

    Raises: ShownOtherwiseError where it would append something else by now; what the change raises.
    """
    from registry.actions.publish import publish  # noqa: PLC0415 - screens that only read need none of it

    with open_registry(dry_run=False) as registry:
        with registry.log.transaction():
            outcome = _appended(registry, change, reason)
            if outcome.envelopes and _shown_parts(outcome) != _shown_parts(shown):
                raise ShownOtherwiseError(outcome)
        written = publish(registry, change.skill) if change.skill else ()
    return ChangePreview(outcome.envelopes, outcome.diff, written)


def _shown_parts(outcome: ChangePreview) -> tuple[object, ...]:
    """Give what a person is shown of an outcome."""
    events = [(envelope.type, envelope.stream, summary(envelope)) for envelope in outcome.envelopes]
    return events, outcome.diff


def _appended(registry: Registry, change: Change, reason: str) -> ChangePreview:
    before = registry.log.head().position
    old = _texts(registry, change.skill)
    change.act(registry, reason)
    diff = line_diff(old, _texts(registry, change.skill))
    changed = any(row.kind != " " for row in diff)
    return ChangePreview(tuple(registry.log.read(after=before)), tuple(diff) if changed else ())


def _texts(registry: Registry, skill: str) -> list[str]:
    """Give the lines of a skill; none of one that the change brings."""
    known = bool(skill) and skill in registry.names()
    return [line.text for line in projected_lines(registry.capsule(skill))] if known else []


# -- changes -------------------------------------------------------------------------------------------


def switching(name: str) -> Change:
    """Let another preset bind the strategies."""

    def act(registry: Registry, reason: str) -> None:
        from registry.decide.commands import SwitchPreset  # noqa: PLC0415 - as above
        from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - as above

        registry.execute(SwitchPreset(bound_by(registry, name).name, reason))

    return Change(f"use the preset {name} from here on", f"preset {name} is in force", act)


def reverting(skill: str, version: int) -> Change:
    """Go back to the text of an earlier version of a skill."""

    def act(registry: Registry, reason: str) -> None:
        from registry.actions.publish import require_unedited  # noqa: PLC0415 - as above
        from registry.decide.commands import RevertVersion  # noqa: PLC0415 - as above

        require_unedited(registry, skill)
        registry.execute(RevertVersion(skill, version, reason))

    return Change(f"go back to {skill}@{version}", f"{skill} says again what version {version} said", act, skill)


def adopting(skill: str) -> Change:
    """Take in what somebody edited in the files of a skill, unless it instructs an agent against its user."""

    def act(registry: Registry, reason: str) -> None:
        from registry.actions.publish import edited_folder, keep_files  # noqa: PLC0415 - as above
        from registry.decide.commands import Adopt  # noqa: PLC0415 - as above
        from strategies.gate.file_findings import findings_in_rewrite  # noqa: PLC0415 - as above
        from strategies.monitor.disk_edits import sessions_of, writers_of  # noqa: PLC0415 - as above

        del reason  # the edit speaks for itself
        edited = edited_folder(registry, skill)
        findings = findings_in_rewrite(registry.log, registry.capsule(skill), edited)
        for finding in findings:
            if finding.level == "quarantine":
                raise CheckFailedError(
                    f"{finding.what} in {finding.path}:{finding.line}: nothing is adopted",
                    hint=f"germline adopt {skill} --dry-run",
                )
        keep_files(registry.log, edited)
        writers = writers_of(registry, [registry.capsule(skill)])[skill]
        registry.execute(Adopt(edited, sessions=sessions_of(writers)))

    return Change(
        f"adopt what was edited in the files of {skill}", f"{skill} is as edited", act, skill, "as edited"
    )


def deciding(candidate: Candidate, answer: Answer) -> Change:
    """Approve or reject a candidate that waits."""
    word, done = ("approve", "approved") if answer == "yes" else ("reject", "rejected")
    name = candidate.proposed.capsule

    def act(registry: Registry, reason: str) -> None:
        from strategies.monitor import review  # noqa: PLC0415 - as above

        proposal = registry.candidate(candidate.id)
        if proposal is None:
            raise NotFoundError(f"no candidate {candidate.id[:12]} was proposed", hint="germline candidates")
        (review.approve if answer == "yes" else review.reject)(registry, proposal, reason)

    title = f"{word} candidate {candidate.id[:12]} for {name}"
    return Change(title, f"candidate {candidate.id[:12]} is {done}", act, name if answer == "yes" else "")


def looking_over(candidate: Candidate, answer: Answer) -> Change:
    """Say whether one agrees with a promotion that was drawn."""
    decision: Literal["agree", "disagree"] = "agree" if answer == "yes" else "disagree"
    name = candidate.proposed.capsule

    def act(registry: Registry, reason: str) -> None:
        from registry.decide.commands import LookOver  # noqa: PLC0415 - as above

        registry.execute(LookOver(candidate.id, name, decision, reason))

    return Change(f"{decision} with {name}@{candidate.version}", f"noted: you {decision}", act)


def labelling(episode: str, *, good: bool) -> Change:
    """Say how a session ended; the last word counts, so the other word takes it back."""
    word = "good" if good else "bad"

    def act(registry: Registry, reason: str) -> None:
        from events.types.registry_events import OutcomeRecorded  # noqa: PLC0415 - as above
        from registry.decide.commands import RecordFact  # noqa: PLC0415 - as above

        del reason  # who says it is known, and that is all there is to it
        registry.execute(RecordFact((OutcomeRecorded(episode=episode, value=float(good), source="user"),)))

    return Change(f"session {episode[:12]} is {word}", f"session {episode[:12]} is {word}, says you", act)


def taking_back(envelope: Envelope, skill: str, step: Literal["undo", "redo"]) -> Change:
    """Take a change back, or an undoing; `skill` is where it was looked for, "" for the whole registry."""
    event = f"event {envelope.position}, {summary(envelope)}"
    back = step if step == "undo" else "redo: take back"
    changed = _skill_changed(envelope)
    act = partial(_take_back, envelope=envelope, skill=skill, step=step)
    return Change(f"{back} {event}", f"event {envelope.position} is taken back", act, changed, reason=step)


def _take_back(
    registry: Registry, reason: str, *, envelope: Envelope, skill: str, step: Literal["undo", "redo"]
) -> None:
    from registry.actions.publish import require_unedited  # noqa: PLC0415 - as above
    from registry.actions.undo import changes_of, compensation  # noqa: PLC0415 - as above

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
