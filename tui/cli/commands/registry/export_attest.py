"""Attesting: a version of a skill, with the proof of where it comes from, for those who have no registry."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from events.clock import SystemClock
from events.integrity.checkpoint import take_checkpoint
from registry.actions.attest import statement_on
from registry.actions.attestation_file import seal_statement
from registry.skill_md.render import label
from tui.cli.output.facts import say_folded
from tui.cli.output.files import write_new
from tui.cli.output.invocation import json_text
from tui.documents.checkpoints import CheckpointDocument
from tui.documents.exports import ExportAttestDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.names import split_skill
from tui.text.numbers import count

if TYPE_CHECKING:
    from pathlib import Path

    from tui.cli.output.invocation import Invocation


def attest(call: Invocation, named: str, output: Path | None, sign: Path | None, *, as_json: bool) -> None:
    """Write a DSSE envelope with an in-toto statement on a version: to a file, or as one line of JSON."""
    key = None
    if sign is not None:
        from events.integrity.signatures import read_secret_key  # noqa: PLC0415 - for those who sign

        key = read_secret_key(sign.expanduser())
    name, ref = split_skill(named)
    with open_library(find_registry(call.registry)) as library:
        capsule, live = library.capsule(name, ref), library.outline(name).version
        statement = statement_on(library, capsule, take_checkpoint(library.log, at=SystemClock().now()))
    envelope = seal_statement(statement, key)
    if output is not None:
        write_new(output.expanduser(), f"{json_text(envelope, indent=2)}\n")
    checkpoint, events = statement.checkpoint, statement.predicate.events
    if as_json:
        document = ExportAttestDocument(
            skill=capsule.name,
            version=capsule.version,
            file=str(output) if output else None,
            files={subject.name: subject.digest.sha256 for subject in statement.subject},
            events=tuple(event.position for event in events),
            key=key.public.id if key else None,
            checkpoint=CheckpointDocument.model_validate(checkpoint.fields()),
            attestation=envelope,
        )
        call.answer(document)
    elif output is None:
        call.say(json_text(envelope))
    else:
        what = (
            f"{count(len(statement.subject), 'file')}, from {count(len(events), 'event')} of {checkpoint.size:,}"
        )
        signed = f"signed by key {key.public.id}" if key else "not signed"
        say_folded(call, "attested   ", f"{label(capsule)}: {what}, {signed}, in {output}")
        if statement.predicate.unproven:
            call.note("note       this version is unproven: a person put it there, and nobody measured it")
        files = f" --files {quote(capsule.source)}" if capsule.version == live else ""
        call.say(f"next       germline verify --attestation {quote(str(output))}{files}")
