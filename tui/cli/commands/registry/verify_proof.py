"""Proofs and attestations: printed for one event, and checked on a machine that has no registry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from events.clock import SystemClock
from events.errors import CheckFailedError, NotFoundError, UsageError
from events.integrity.checkpoint import check_signatures, take_checkpoint
from events.integrity.checkpoint_file import read_kept
from events.integrity.proofs import Proof, check_proof, prove_events, read_proof
from events.store.protocol import Problem
from tui.cli.output.facts import say_listed
from tui.documents.checkpoints import CheckpointDocument, ProblemRow, ProofDocument, VerifyDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.integrity.checkpoint import Checkpoint
    from events.integrity.signatures import PublicKey
    from events.store.envelope import Envelope
    from registry.query.library import Library
    from tui.cli.output.invocation import Invocation

_MOST_BYTES: Final = 64 * 1024 * 1024
"""A proof is a few kilobytes, an attestation a few hundred; what is larger is something else (guess)."""
_SHOWN: Final = 16


@dataclass(frozen=True, slots=True)
class Means:
    """What an attestation is checked with: checkpoints kept elsewhere, the signer's key, the skill's folder."""

    against: Path | None
    key: str
    files: Path | None


def prove(call: Invocation, event: str, against: Path | None, *, as_json: bool) -> None:
    """Print the proof that an event is in the log: of now, or of the first checkpoint of a file that has it."""
    with open_library(find_registry(call.registry)) as library:
        envelope = _named(library, event)
        checkpoint = _reaching(_kept(against), envelope.position) if against else None
        taken = checkpoint or take_checkpoint(library.log, at=SystemClock().now())
        path = prove_events(library.log, [envelope.position], taken)[envelope.position]
    proof = Proof(taken, envelope, path)
    _require_sound(check_proof(proof, []), against)
    if as_json:
        call.answer(ProofDocument.model_validate(proof.fields()))
        return
    fields = f"{envelope.type}, {envelope.at}, {envelope.actor}, {envelope.event_id}"
    call.say(f"event {envelope.position:<4,} {one_line(fields)}")
    call.say(f"{'hash':<10} {envelope.hash}")
    say_listed(call, "proof", path)
    call.say(f"{'root':<10} {taken.root}, over {count(taken.size, 'event')}")
    call.say(
        f"next       germline verify --event {event} --json > proof.json    germline verify --proof proof.json"
    )


def check(call: Invocation, file: Path, against: Path | None, key: str, *, as_json: bool) -> None:
    """Check a proof without a registry: by itself, against checkpoints kept elsewhere, by the signer's key."""
    proof = read_proof(_json_of(file))
    problems = check_proof(proof, _kept(against), _public(key))
    what = f"event {proof.event.position:,} is among" if proof.event else ""
    if proof.growth:
        what = f"the log of {count(proof.growth.size, 'event')} is the beginning of"
    elif proof.event is None:
        raise UsageError(f"{file} proves nothing", hint="germline verify --event ID --json > FILE")
    own = proof.checkpoint
    document = VerifyDocument(
        ok=not problems,
        proof=str(file),
        checkpoint=CheckpointDocument.model_validate(own.fields()),
        event=proof.event.event_id if proof.event else None,
        problems=tuple(map(ProblemRow.model_validate, problems)),
    )
    _answer(call, document, problems, f"{file} does not hold", as_json=as_json)
    if not as_json:
        call.say(f"{call.paint('✓', 'good')} {what} the {own.size:,} with root {own.root[:_SHOWN]}, {own.at}")
        _say_trust(call, signed=bool(key), kept=against is not None)


def check_attested(call: Invocation, file: Path, means: Means, *, as_json: bool) -> None:
    """Check an attestation without a registry: its signature, its events, and the files it speaks of."""
    from registry.actions.attestation_file import Attestation  # noqa: PLC0415 - pydantic, for those who attest

    attestation = Attestation(_bytes_of(file))
    statement, public = attestation.statement, _public(means.key)
    checkpoint, kept = statement.checkpoint, _kept(means.against)
    problems = attestation.check_events()
    if public:
        problems += attestation.check_signature(public)
    if kept and (checkpoint.registry, checkpoint.size, checkpoint.root) not in {
        (checkpoint.registry, checkpoint.size, checkpoint.root) for checkpoint in kept
    }:
        problems.append(Problem(0, "its checkpoint is none of those kept", "checkpoint"))
    if kept and public:
        problems += check_signatures(kept, public)
    if means.files is not None:
        problems += attestation.check_files(_contents(means.files.expanduser(), attestation.paths()))
    predicate = statement.predicate
    name = f"{predicate.skill}@{predicate.version}"
    document = VerifyDocument(
        ok=not problems,
        attestation=str(file),
        skill=predicate.skill,
        version=predicate.version,
        events=len(predicate.events),
        files={subject.name: subject.digest.sha256 for subject in statement.subject},
        keys=tuple(signature.key for signature in attestation.signatures),
        checkpoint=CheckpointDocument.model_validate(checkpoint.fields()),
        problems=tuple(map(ProblemRow.model_validate, problems)),
    )
    _answer(call, document, problems, f"{file} does not hold", as_json=as_json)
    if not as_json:
        mark = call.paint("✓", "good")
        call.say(f"{mark} {one_line(name)}: {count(len(predicate.events), 'event')} shown to be in a log of")
        call.say(f"  {count(checkpoint.size, 'event')} with root {checkpoint.root[:_SHOWN]}, {checkpoint.at}")
        if means.files is not None:
            call.say(f"{mark} {count(len(statement.subject), 'file')} in {means.files} as attested")
        _say_trust(call, signed=bool(means.key), kept=bool(kept))


def _answer(
    call: Invocation, document: VerifyDocument, problems: Sequence[Problem], what: str, *, as_json: bool
) -> None:
    """Print what was found; ends with exit code 3 where anything does not hold."""
    if as_json:
        call.answer(document)
        if problems:
            raise typer.Exit(CheckFailedError.exit_code)
        return
    for problem in problems:
        call.say(f"{call.paint('✗', 'bad')} {problem.kind:<12} {one_line(problem.what)}")
    if problems:
        raise CheckFailedError(
            f"{what}: {count(len(problems), 'problem')}", hint="ask for it again, from its source"
        )


def _say_trust(call: Invocation, *, signed: bool, kept: bool) -> None:
    """Say what nobody vouched for: a proof against its own checkpoint only agrees with itself."""
    if not signed and not kept:
        call.note("note       it agrees with itself; who made it is not shown: --key PUBLIC, or --against FILE")


def _require_sound(problems: Sequence[Problem], against: Path | None) -> None:
    if problems:
        raise CheckFailedError(
            problems[0].what, hint=f"germline verify --against {against}" if against else "germline verify"
        )


def _named(library: Library, event: str) -> Envelope:
    """Find an event by its id, the beginning of it, or its position."""
    if event.isdecimal() and len(event) < _SHOWN:
        matching = library.log.at([int(event)])
    else:
        matching = [envelope for envelope in library.log.read() if envelope.event_id.startswith(event.lower())]
    if not matching:
        raise NotFoundError(f"no event {event} is in the log", hint="germline log --json names their positions")
    if len(matching) > 1:
        raise UsageError(f"{len(matching)} events begin with {event}", hint="write more of it, or its position")
    return matching[0]


def _reaching(kept: Sequence[Checkpoint], position: int) -> Checkpoint:
    """Pick the first checkpoint that reaches an event."""
    reaching = [checkpoint for checkpoint in kept if checkpoint.size >= position]
    if not reaching:
        raise NotFoundError(
            f"event {position:,} came after every checkpoint of the file", hint="germline checkpoint -o FILE"
        )
    return min(reaching, key=lambda checkpoint: checkpoint.size)


def _kept(against: Path | None) -> tuple[Checkpoint, ...]:
    return read_kept(against.expanduser()).checkpoints if against else ()


def _public(key: str) -> PublicKey | None:
    if not key:
        return None
    from events.integrity.signatures import read_public_key  # noqa: PLC0415 - for those who sign

    return read_public_key(key, Path(key).expanduser())


def _bytes_of(file: Path) -> bytes:
    try:
        with file.expanduser().open("rb") as stream:
            text = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise NotFoundError(f"{file} cannot be read: {error.strerror}", hint="germline verify --help") from error
    if len(text) > _MOST_BYTES:
        raise UsageError(f"{file} is too large to be a proof", hint="germline verify --help")
    return text


def _json_of(file: Path) -> object:
    try:
        value: object = json.loads(_bytes_of(file))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON", hint="germline verify --event ID --json > FILE") from error
    return value


def _contents(folder: Path, paths: Sequence[str]) -> dict[str, bytes]:
    """Read the files that are named, inside the folder and nowhere else."""
    contents = {}
    inside = folder.resolve()
    for path in paths:
        place = (inside / path).resolve()
        if place.is_relative_to(inside) and place.is_file():
            contents[path] = place.read_bytes()
    return contents
