"""Proofs that need no database: that an event is in a log, and that a log grew out of an earlier one.

Both are JSON documents that hold up, or do not, against a checkpoint kept elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from events.errors import NotFoundError, UsageError
from events.integrity.checkpoint import Checkpoint, check_signatures, read_checkpoint
from events.integrity.merkle import consistency_path, extends, includes, inclusion_path, subtree_roots
from events.store.envelope import Envelope, holds
from events.store.protocol import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.integrity.signatures import PublicKey
    from events.store.sql_log import EventLog

SCHEMA: Final = "germline/proof/1"

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_LARGEST: Final = 2**63 - 1
_HINT: Final = "germline verify --event ID --json > FILE"


@dataclass(frozen=True, slots=True)
class Growth:
    """A proof that the first `size` events of a checkpoint's log are those with the root `root`."""

    size: int
    root: str
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """A document to be checked without a database: a checkpoint, with an event that is in it, or its growth."""

    checkpoint: Checkpoint
    event: Envelope | None = None
    path: tuple[str, ...] = ()
    growth: Growth | None = None

    def fields(self) -> dict[str, Any]:
        """Give it as JSON."""
        fields: dict[str, Any] = {"schema": SCHEMA, "checkpoint": self.checkpoint.fields()}
        if self.event is not None:
            event = {**self.event._asdict(), "payload": self.event.payload.decode()}
            fields |= {"event": event, "proof": list(self.path)}
        if self.growth is not None:
            fields["since"] = asdict(self.growth)
        return fields


def prove_events(log: EventLog, positions: Iterable[int], checkpoint: Checkpoint) -> Mapping[int, tuple[str, ...]]:
    """Give, for events by position, the proofs that they are in the log of a checkpoint, in one pass over it.

    Raises: NotFoundError for a position that the checkpoint does not reach; CorruptLogError for a log with a gap.
    """
    size = checkpoint.size
    wanted = sorted(set(positions))
    for position in wanted:
        if not 1 <= position <= size:
            raise NotFoundError(f"event {position:,} came after the checkpoint of {size:,} events", hint=_HINT)
    paths = {position: inclusion_path(position - 1, size) for position in wanted}
    roots = subtree_roots(log.hashes(upto=size), size, [span for path in paths.values() for span in path])
    return {position: tuple(roots[span].hex() for span in path) for position, path in paths.items()}


def prove_growth(log: EventLog, earlier: Checkpoint, later: Checkpoint) -> Growth:
    """Prove that the log of a checkpoint is the one of an earlier checkpoint, and what came after it."""
    path = consistency_path(earlier.size, later.size)
    roots = subtree_roots(log.hashes(upto=later.size), later.size, path)
    return Growth(earlier.size, earlier.root, tuple(roots[span].hex() for span in path))


def is_included(position: int, digest: str, path: Sequence[str], checkpoint: Checkpoint) -> bool:
    """Tell whether an event with this hash is proven to stand at this position of a checkpoint's log."""
    proof = [bytes.fromhex(step) for step in path]
    root = bytes.fromhex(checkpoint.root)
    return includes(root, checkpoint.size, bytes.fromhex(digest), position - 1, proof)


def read_proof(fields: object) -> Proof:
    """Read a proof from its JSON object; raises UsageError where it is none."""
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise UsageError("it is no proof", hint=_HINT)
    checkpoint = read_checkpoint(fields.get("checkpoint"))
    event, since = fields.get("event"), fields.get("since")
    path = _digests(fields.get("proof", []))
    growth = None
    if isinstance(since, dict):
        (root,) = _digests([since.get("root")])
        growth = Growth(_count(since.get("size")), root, _digests(since.get("proof")))
    return Proof(checkpoint, _event(event) if event is not None else None, path, growth)


def check_proof(proof: Proof, checkpoints: Sequence[Checkpoint], key: PublicKey | None = None) -> list[Problem]:
    """Tell what a proof does not show, against checkpoints that were kept elsewhere (none: against its own).

    Raises: UsageError for a key without PyNaCl.
    """
    own = proof.checkpoint
    problems: list[Problem] = []
    if key is not None:
        problems += check_signatures([own], key)
    if proof.event is not None:
        problems += _check_event(proof.event, proof.path, own)
    earlier = {(checkpoint.registry, checkpoint.size, checkpoint.root) for checkpoint in checkpoints}
    if growth := proof.growth:
        if not _grew(growth, own):
            what = f"the log of {own.size:,} events is not shown to have grown out of that of {growth.size:,}"
            problems.append(Problem(0, what, "forked"))
        if checkpoints and (own.registry, growth.size, growth.root) not in earlier:
            what = f"the growth is that of another log than yours of {growth.size:,} events"
            problems.append(Problem(0, what, "registry"))
    elif checkpoints and (own.registry, own.size, own.root) not in earlier:
        what = f"its checkpoint of {own.size:,} events with root {own.root[:16]} is none of those kept"
        problems.append(Problem(0, what, "checkpoint"))
    return problems


def _check_event(event: Envelope, path: Sequence[str], checkpoint: Checkpoint) -> list[Problem]:
    if not holds(event):
        return [Problem(event.position, f"event {event.position:,} is not what was hashed", "event")]
    if not is_included(event.position, event.hash, path, checkpoint):
        what = f"event {event.position:,} is not shown to be among the {checkpoint.size:,} of the checkpoint"
        return [Problem(event.position, what, "event")]
    return []


def _grew(growth: Growth, checkpoint: Checkpoint) -> bool:
    roots = bytes.fromhex(growth.root), bytes.fromhex(checkpoint.root)
    steps = [bytes.fromhex(step) for step in growth.proof]
    return extends(roots[0], growth.size, roots[1], checkpoint.size, steps)


def _event(fields: object) -> Envelope:
    names = Envelope._fields
    if not isinstance(fields, dict) or set(fields) != set(names):
        raise UsageError("it is a proof of something else than an event", hint=_HINT)
    numbers = {name: _count(fields[name]) for name in ("position", "version", "schema")}
    texts = {name: fields[name] for name in names if name not in numbers}
    if not all(isinstance(text, str) for text in texts.values()):
        raise UsageError("it is a proof of something else than an event", hint=_HINT)
    _digests([texts["hash"], texts["previous_hash"]])
    return Envelope(**{**numbers, **texts, "payload": texts["payload"].encode("utf-8", "replace")})


def _count(value: object) -> int:
    if type(value) is not int or not 0 < value <= _LARGEST:
        raise UsageError(f"it is a proof with {str(value)[:40]!r} where a number belongs", hint=_HINT)
    return value


def _digests(values: object) -> tuple[str, ...]:
    digests = tuple(str(value) for value in values) if isinstance(values, list) else ("",)
    if not all(map(_DIGEST.fullmatch, digests)):
        raise UsageError("it is a proof whose hashes were damaged", hint=_HINT)
    return digests
