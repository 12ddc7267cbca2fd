"""Documents on integrity: checkpoints, proofs, keys and what verifying finds."""

from typing import Literal

from tui.documents.document import ABSENT, Absent, Document, Part


class SignatureRow(Part):
    """A signature over what a checkpoint states."""

    algorithm: str
    key: str
    value: str


class CheckpointDocument(Document):
    """Say what the log holds now, to be kept elsewhere."""

    schema_: Literal["germline/checkpoint/1"] = "germline/checkpoint/1"
    registry: str
    size: int
    root: str
    head: str
    at: str
    signature: Absent[SignatureRow] = ABSENT


class CheckpointKeyDocument(Document):
    """A new pair of keys to sign with."""

    schema_: Literal["germline/checkpoint-key/1"] = "germline/checkpoint-key/1"
    file: str
    public_file: str
    public: str
    key: str


class HashedEvent(Part):
    """An event as it is hashed, its payload as text; `schema` is the number of that of its payload."""

    position: int
    event_id: str
    stream: str
    version: int
    type: str
    schema_: int
    at: str
    actor: str
    causation: str
    correlation: str
    previous_hash: str
    hash: str
    payload: str


class ProvenGrowth(Part):
    """The proof that the first `size` events of a log are those with the root `root`."""

    size: int
    root: str
    proof: tuple[str, ...]


class ProofDocument(Document):
    """A proof that an event is in the log."""

    schema_: Literal["germline/proof/1"] = "germline/proof/1"
    checkpoint: CheckpointDocument
    event: Absent[HashedEvent] = ABSENT
    proof: Absent[tuple[str, ...]] = ABSENT
    since: Absent[ProvenGrowth] = ABSENT


class ProblemRow(Part):
    """Something that does not hold; position 0 where no event is to blame."""

    position: int
    what: str
    kind: str


class ComparedFile(Part):
    """A file of checkpoints that the log was compared with; `key` is the id of the one that signed all."""

    file: str
    ok: bool
    checkpoints: int
    newest: int
    torn: bool
    key: str | None


class VerifyDocument(Document):
    """Check every event, link and stored content of the registry."""

    schema_: Literal["germline/verify/1"] = "germline/verify/1"
    ok: bool
    proof: Absent[str] = ABSENT
    attestation: Absent[str] = ABSENT
    skill: Absent[str] = ABSENT
    version: Absent[int] = ABSENT
    events: Absent[int] = ABSENT
    head: Absent[str] = ABSENT
    files: Absent[dict[str, str]] = ABSENT
    keys: Absent[tuple[str, ...]] = ABSENT
    checkpoint: Absent[CheckpointDocument] = ABSENT
    event: Absent[str | None] = ABSENT
    problems: tuple[ProblemRow, ...]
    sidecar: Absent[ComparedFile | None] = ABSENT
    against: Absent[ComparedFile | None] = ABSENT
