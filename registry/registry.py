"""The registry: load, decide, append. The single write path."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from events.errors import RefusedError
from events.integrity.checkpoint_file import keep_checkpoint
from events.store.envelope import EventDraft
from registry.decide.commands import (
    DefinePreset,
    DeployAlias,
    ImportSkill,
    MergeVersion,
    MoveSkill,
    RetireSkill,
    RetireVersion,
    RevertVersion,
    RunTrial,
)
from registry.decide.dispatch import Decided, DecisionState, decide
from registry.decide.version_hash import with_projected_hash
from registry.evidence.event_texts import cleaned
from registry.projection import time_travel
from registry.projection.projector import projecting
from registry.projection.stored_documents import definition_in
from registry.query.library import Library
from registry.query.trials import running_trial
from registry.skill_md.write_places import ANYWHERE, recorded_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from events.clock import Clock
    from events.store.protocol import Receipt
    from events.store.sql_log import EventLog
    from registry.decide.commands import Command
    from registry.skill_md.write_places import WritePlaces
    from registry.state.capsule import Capsule


class _TakenBack(Exception):  # noqa: N818 - not an error: it ends a rehearsal
    """Ends a rehearsal, so that its transaction is rolled back."""


class Registry(Library):
    """A library that can be written to, by commands only; `places` bounds where its skills are written."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        actor: str,
        *,
        sidecar: Path | None = None,
        places: WritePlaces = ANYWHERE,
    ) -> None:
        super().__init__(log)
        self.places = places
        self.clock = clock
        self.actor = actor
        self.sidecar = sidecar

    def execute(self, command: Command, *, actor: str = "", correlation: str = "", causation: str = "") -> Receipt:
        """Load what the command touches, decide, and append, under one write lock.

        With the lock held from load to append no other writer can come between, on any backend; the versions
        that the append expects are those that the decision was made on.

        Raises: what `decide` and `EventLog.append` raise.
        """
        with self.log.transaction():
            command = self._with_recorded_places(command)
            state = self._load(command)
            decided = with_projected_hash(decide(command, state), state.capsule)
            versions = self.log.stream_versions(sorted({item.stream for item in decided}))
            drafts = self._drafts(decided, actor or self.actor, correlation, causation)
            return self.log.append(drafts, expected=versions, project=projecting(self.log, capsule=state.capsule))

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Let everything inside happen for real, then take all of it back: what a dry run of many steps is.

        Other writers wait meanwhile; readers do not.
        """
        with suppress(_TakenBack), self.log.transaction():
            yield
            raise _TakenBack

    def witness(self) -> None:
        """Keep a checkpoint outside the database, where there is a place for it; not inside a transaction."""
        if self.sidecar is not None:
            keep_checkpoint(self.log, self.sidecar, at=self.clock.now())

    def _with_recorded_places(self, command: Command) -> Command:
        """Name the folders of a command as events keep them, so that a copy of the project works on its own."""
        if isinstance(command, MoveSkill):
            return command._replace(source=recorded_place(command.source, self.log.beside))
        if isinstance(command, DeployAlias):
            return command._replace(
                folder=command.folder and recorded_place(command.folder, self.log.beside),
                previous=command.previous and recorded_place(command.previous, self.log.beside),
            )
        if isinstance(command, ImportSkill | MergeVersion) and command.skill is not None:
            source = recorded_place(command.skill.source, self.log.beside)
            return command._replace(skill=replace(command.skill, source=source))
        return command

    def _drafts(self, decided: list[Decided], actor: str, correlation: str, causation: str) -> list[EventDraft]:
        now = self.clock.now()
        return [
            EventDraft(
                stream=item.stream,
                event=cleaned(item.event),
                event_id=item.event_id or self.clock.new_id(),
                at=now,
                actor=actor,
                causation=causation,
                correlation=correlation,
            )
            for item in decided
        ]

    def _load(self, command: Command) -> DecisionState:
        preset = self.about().preset if self.log.document("registry", "") else None
        capsule: str = getattr(command, "capsule", "")
        candidate: str = getattr(command, "candidate", "")
        defined = self.log.document("preset", command.preset) if isinstance(command, DefinePreset) else None
        return DecisionState(
            preset=preset,
            definition=definition_in(self.log, defined) if defined else None,
            capsule=self._latest.of(self.log, capsule) if capsule else None,
            past=self._whole_version(command) if isinstance(command, RevertVersion) else None,
            retired=self.outline(capsule).retired if isinstance(command, RetireVersion) else (),
            candidate=self.candidate(candidate) if candidate else None,
            trial=running_trial(self, capsule) if isinstance(command, RunTrial | RetireSkill) else None,
        )

    def _whole_version(self, command: RevertVersion) -> Capsule | None:
        """Load the version to go back to, with the score that its text has by now.

        Raises: RefusedError where a file of it was erased, or lost.
        """
        past = time_travel.at_version(self.log, command.capsule, command.to_version)
        if past is not None:
            past = replace(past, score=self.version(command.capsule, command.to_version).score)
        for file in past.files if past else ():
            if self.log.get_blob(file.entry.blob) is None:
                raise RefusedError(
                    f"version {command.to_version} of {command.capsule} cannot come back: the content of "
                    f"{file.entry.path} is not in the registry any more",
                    hint="germline log --type EvidenceErased    germline verify",
                )
        return past
