"""Attestations: a version of a skill, and the events, scores and evidence that it came from, for those outside.

An in-toto statement in a DSSE envelope: it says which files, by SHA-256, came from which events, each proven to be
in the log of one checkpoint. It carries no text of a log: evidence is named by its id and its keyed hash.
Source: github.com/in-toto/attestation, spec/v1; github.com/secure-systems-lab/dsse, envelope.md.
"""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from events.errors import UsageError
from events.integrity.checkpoint import Checkpoint, read_checkpoint
from events.integrity.proofs import is_included
from events.integrity.signatures import Signature
from events.store.protocol import Problem
from events.types.frozen import Frozen
from events.types.score import Delta, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.integrity.signatures import PublicKey, SecretKey

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_SHOWN: Final = 16
_HINT: Final = "germline export --attest SKILL@VERSION -o FILE"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Position = Annotated[int, Field(ge=1)]


class Digests(Frozen):
    """The digests of a file, by algorithm."""

    sha256: Digest


class Subject(Frozen):
    """A file that the statement is about; its name begins with that of the skill."""

    name: str
    digest: Digests


class ProvenEvent(Frozen):
    """An event, with the proof that it is at its position in the checkpoint's log."""

    position: Position
    id: str
    type: str
    at: str
    actor: str
    hash: Digest
    proof: tuple[Digest, ...]


class NamedEvidence(Frozen):
    """A log record behind a signal: HMAC-SHA256 of its bytes; "" where it is kept no more, `erased` says why."""

    id: str
    hmac: str = ""
    erased: str = ""


class NamedSignal(Frozen):
    """A signal that candidates answered."""

    fingerprint: str
    kind: str
    episodes: int
    evidence: tuple[NamedEvidence, ...]


class NamedCandidate(Frozen):
    """A candidate that brought lines, and what was measured of it."""

    candidate: str
    strategy: str
    preset: str
    proposer: str
    fingerprint: str
    before: Measured | None
    after: Measured | None
    delta: Delta | None


class Predicate(Frozen):
    """Where a version of a skill comes from; `lines` counts lines of SKILL.md by the position that wrote them."""

    skill: str
    version: Position
    at: str
    actor: str
    cause: str
    summary: str
    unproven: bool
    score: Measured
    evaluators: tuple[str, ...]
    candidates: tuple[NamedCandidate, ...]
    signals: tuple[NamedSignal, ...]
    lines: dict[Position, int]
    events: tuple[ProvenEvent, ...]
    checkpoint: dict[str, Any]


class Statement(Frozen):
    """An in-toto statement, version 1, with a predicate of germline's own."""

    kind: Literal["https://in-toto.io/Statement/v1"] = Field("https://in-toto.io/Statement/v1", alias="_type")
    subject: Annotated[tuple[Subject, ...], Field(min_length=1)]
    predicate_type: Literal["tag:germline,2026:skill-provenance/1"] = Field(
        "tag:germline,2026:skill-provenance/1", alias="predicateType"
    )
    predicate: Predicate

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that the events are proven against; raises UsageError where it is damaged."""
        return read_checkpoint(self.predicate.checkpoint)


def seal_statement(statement: Statement, key: SecretKey | None) -> dict[str, Any]:
    """Put a statement into its DSSE envelope, signed where there is a key."""
    body = statement.model_dump_json(by_alias=True).encode()
    signatures = []
    if key is not None:
        signature = key.sign(PAYLOAD_TYPE, body)
        signatures.append({"keyid": signature.key, "sig": signature.value})
    payload = base64.b64encode(body).decode()
    return {"payloadType": PAYLOAD_TYPE, "payload": payload, "signatures": signatures}


class _Signed(Frozen):
    keyid: str = ""
    sig: str


class _Envelope(Frozen):
    payloadType: Literal["application/vnd.in-toto+json"]  # noqa: N815 - as DSSE names it
    payload: str
    signatures: tuple[_Signed, ...]


class Attestation:
    """A DSSE envelope as it was read, and the statement inside it."""

    def __init__(self, text: bytes) -> None:
        """Read an envelope; raises UsageError where it is none, or holds another statement."""
        try:
            envelope = _Envelope.model_validate_json(text)
            self._body = base64.b64decode(envelope.payload, validate=True)
            self.statement = Statement.model_validate_json(self._body)
        except ValueError as error:
            where = str(error).splitlines()[1:2] if isinstance(error, ValidationError) else [str(error)]
            raise UsageError(f"it is no attestation of germline's: {' '.join(where)}", hint=_HINT) from error
        self.signatures = tuple(Signature(signature.keyid, signature.sig) for signature in envelope.signatures)

    def check_signature(self, key: PublicKey) -> list[Problem]:
        """Tell what is wrong with its signature: one by this key must be among them, over these very bytes."""
        if any(key.made(signature, PAYLOAD_TYPE, self._body) for signature in self.signatures):
            return []
        names = ", ".join(signature.key[:_SHOWN] for signature in self.signatures)
        if key.id in {signature.key for signature in self.signatures}:
            what = f"the attestation is not what key {key.id} signed: it was altered"
        else:
            what = f"the attestation is signed by {f'key {names}' if names else 'no key'}, not by {key.id}"
        return [Problem(0, what, "signature")]

    def check_events(self) -> list[Problem]:
        """Tell which of its events are not shown to be in the log of its checkpoint."""
        predicate, checkpoint = self.statement.predicate, self.statement.checkpoint
        problems = [
            Problem(
                event.position, f"event {event.position:,} ({event.type}) is not shown to be in the log", "event"
            )
            for event in predicate.events
            if not is_included(event.position, event.hash, event.proof, checkpoint)
        ]
        proven = {event.position for event in predicate.events}
        problems += [
            Problem(position, f"event {position:,} wrote lines and is not among the events", "event")
            for position in sorted(predicate.lines.keys() - proven)
        ]
        return problems

    def check_files(self, contents: Mapping[str, bytes]) -> list[Problem]:
        """Compare files with the subjects, by path inside the skill's folder; other files are no matter."""
        problems = []
        for subject in self.statement.subject:
            path = subject.name.partition("/")[2]
            content = contents.get(path)
            if content is None:
                problems.append(Problem(0, f"{path} is not there", "file"))
            elif sha256(content).hexdigest() != subject.digest.sha256:
                problems.append(Problem(0, f"{path} is not the file that was attested", "file"))
        return problems

    def paths(self) -> tuple[str, ...]:
        """Name its files by path inside the skill's folder."""
        return tuple(subject.name.partition("/")[2] for subject in self.statement.subject)
