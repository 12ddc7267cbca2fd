"""Checkpoints: how many events there were, the root over them, and when. Kept elsewhere, they witness the log.

The chain alone shows neither a cut tail nor a history that was rewritten as a whole: both verify. A checkpoint
that lies outside the database contradicts them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from events.errors import CorruptLogError, StorageError, UsageError
from events.integrity.merkle import Frontier
from events.integrity.signatures import ALGORITHM, Signature
from events.store.protocol import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.integrity.signatures import PublicKey, SecretKey
    from events.store.sql_log import EventLog

SCHEMA: Final = "germline/checkpoint/1"
SIGNED_AS: Final = "application/vnd.germline.checkpoint+json"
"""The kind of document that a signature under a checkpoint is bound to."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_KEY_ID: Final = re.compile(r"[0-9a-f]{16}")
_SHOWN: Final = 16


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log held at a moment.

    `registry` is the hash of its first event, which names it; `size` counts its events; `root` is the root of the
    Merkle tree over their hashes, `head` the hash of the last. Digests are 64 hex digits.
    """

    registry: str
    size: int
    root: str
    head: str
    at: str
    signature: Signature | None = None

    def fields(self) -> dict[str, Any]:
        """Give it as the JSON object that people keep."""
        signed = self.signature
        fields: dict[str, Any] = {"schema": SCHEMA, **self._stated()}
        if signed:
            fields["signature"] = {"algorithm": ALGORITHM, "key": signed.key, "value": signed.value}
        return fields

    def signed_with(self, key: SecretKey) -> Checkpoint:
        """Sign it; a signature that it had is replaced."""
        return replace(self, signature=key.sign(SIGNED_AS, self._signed_bytes()))

    def is_signed_by(self, key: PublicKey) -> bool:
        """Tell whether it carries a signature of this key over just these statements."""
        return self.signature is not None and key.made(self.signature, SIGNED_AS, self._signed_bytes())

    def _stated(self) -> dict[str, Any]:
        return {
            "registry": self.registry,
            "size": self.size,
            "root": self.root,
            "head": self.head,
            "at": self.at,
        }

    def _signed_bytes(self) -> bytes:
        """Write what is signed: compact JSON, in this order, whatever the file looks like."""
        stated = {"schema": SCHEMA, **self._stated()}
        return json.dumps(stated, ensure_ascii=False, separators=(",", ":")).encode()


def read_checkpoint(fields: object) -> Checkpoint:
    """Read a checkpoint from its JSON object; raises UsageError where it is none."""
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise UsageError("it is no checkpoint", hint="germline checkpoint -o FILE")
    digests = [fields.get(name) for name in ("registry", "root", "head")]
    size, at, signed = fields.get("size"), fields.get("at"), fields.get("signature")
    sound = all(isinstance(digest, str) and _DIGEST.fullmatch(digest) for digest in digests)
    if not sound or type(size) is not int or size < 1 or not _MOMENT.fullmatch(str(at)):
        raise UsageError("it is a checkpoint whose fields were damaged", hint="germline checkpoint -o FILE")
    return Checkpoint(str(digests[0]), size, str(digests[1]), str(digests[2]), str(at), _read_signature(signed))


def _read_signature(fields: object) -> Signature | None:
    if fields is None:
        return None
    named = [fields.get(name) for name in ("algorithm", "key", "value")] if isinstance(fields, dict) else []
    if named[:1] != [ALGORITHM] or not _KEY_ID.fullmatch(str(named[1])) or not isinstance(named[2], str):
        raise UsageError(
            f"it is a checkpoint with a signature of another kind than {ALGORITHM}",
            hint="germline checkpoint --sign KEY -o FILE",
        )
    return Signature(str(named[1]), str(named[2]))


def take_checkpoint(log: EventLog, *, at: str, frontier: Frontier | None = None) -> Checkpoint:
    """Say what a log holds; a frontier of its first events, which is then extended, saves reading those.

    Raises: UsageError for a log without events; CorruptLogError for one with a gap.
    """
    head, tree = log.head(), frontier or Frontier()
    if not head.position:
        raise UsageError(f"{log.location} holds no event yet", hint="germline init")
    tree.extend(log.hashes(after=tree.size, upto=head.position))
    return Checkpoint(_hash_at(log, 1), head.position, tree.root().hex(), head.hash, at)


def check_against(log: EventLog, checkpoints: Sequence[Checkpoint], *, roots: bool = True) -> tuple[Problem, ...]:
    """Tell where a log contradicts what was once seen of it; never raises for what it finds.

    Each problem has a `kind`: `registry` (another one), `cut` (events are missing at the end), `rewritten` (other
    events than those), `forked` (the same up to an earlier checkpoint, then others), `root` (the checkpoint
    contradicts itself), "" (the log cannot be read). The head of a checkpoint binds, by the chain, all events
    before it: so after `log.verify()` this is all there is to compare, and `roots` proves the checkpoints
    themselves, at the cost of reading and hashing every hash once more (3 µs an event, measured 2026-11).
    """
    try:
        return tuple(
            _contradictions(log, sorted(checkpoints, key=lambda checkpoint: checkpoint.size), roots=roots)
        )
    except CorruptLogError as error:
        return (Problem(error.position, error.message),)
    except StorageError as error:
        return (Problem(0, error.message),)


def check_signatures(checkpoints: Sequence[Checkpoint], key: PublicKey) -> tuple[Problem, ...]:
    """Name every checkpoint that this key did not sign in its present form; raises UsageError without PyNaCl."""
    problems = []
    for checkpoint in checkpoints:
        which = f"the checkpoint of {checkpoint.size:,} events"
        if checkpoint.signature is None:
            problems.append(Problem(0, f"{which} is not signed", "signature"))
        elif checkpoint.signature.key != key.id:
            what = f"{which} is signed by key {checkpoint.signature.key[:_SHOWN]}, not by {key.id}"
            problems.append(Problem(0, what, "signature"))
        elif not checkpoint.is_signed_by(key):
            what = f"{which} is not what key {key.id} signed: it was altered"
            problems.append(Problem(0, what, "signature"))
    return tuple(problems)


def _contradictions(log: EventLog, checkpoints: Sequence[Checkpoint], *, roots: bool) -> Iterator[Problem]:
    last = log.head().position
    first = _hash_at(log, 1) if last else ""
    own = [checkpoint for checkpoint in checkpoints if not last or checkpoint.registry == first]
    if strange := [checkpoint for checkpoint in checkpoints if last and checkpoint.registry != first]:
        yield _other_registry(strange[-1], first)
    if beyond := [checkpoint for checkpoint in own if checkpoint.size > last]:
        yield _cut(beyond[-1], last)
    within = [(checkpoint, _hash_at(log, checkpoint.size)) for checkpoint in own if checkpoint.size <= last]
    agreed = [checkpoint for checkpoint, digest in within if checkpoint.head == digest]
    for checkpoint, digest in within:
        if checkpoint.head != digest:
            yield _other_history(checkpoint, digest, agreed)
            break
    if roots:
        yield from _wrong_roots(log, agreed)


def _other_registry(checkpoint: Checkpoint, first: str) -> Problem:
    return Problem(
        1,
        f"event 1 is {first[:_SHOWN]}, and was {checkpoint.registry[:_SHOWN]}"
        f" in the checkpoint of {checkpoint.at}: another registry, or this one rewritten from its first event",
        "registry",
    )


def _cut(checkpoint: Checkpoint, last: int) -> Problem:
    what = f"the log ends at event {last:,}, and had {checkpoint.size:,} on {checkpoint.at}: its end was cut off"
    return Problem(last + 1, what, "cut")


def _other_history(checkpoint: Checkpoint, digest: str, agreed: Sequence[Checkpoint]) -> Problem:
    """Say that a checkpoint saw another event where it ended, and up to where the two are known to be the same."""
    changed = (
        f"event {checkpoint.size:,} is {digest[:_SHOWN]}, and was {checkpoint.head[:_SHOWN]} on {checkpoint.at}"
    )
    shared = max((other.size for other in agreed if other.size < checkpoint.size), default=0)
    if not shared:
        return Problem(checkpoint.size, f"{changed}: history was rewritten", "rewritten")
    return Problem(checkpoint.size, f"{changed}: history forked after event {shared:,}", "forked")


def _wrong_roots(log: EventLog, agreed: Sequence[Checkpoint]) -> Iterator[Problem]:
    tree = Frontier()
    for checkpoint in agreed:
        tree.extend(log.hashes(after=tree.size, upto=checkpoint.size))
        if (root := tree.root().hex()) != checkpoint.root:
            what = f"the root over {checkpoint.size:,} events is {root[:_SHOWN]}, not {checkpoint.root[:_SHOWN]}"
            yield Problem(checkpoint.size, f"{what}: the checkpoint of {checkpoint.at} was altered", "root")


def _hash_at(log: EventLog, position: int) -> str:
    """Return the hash of an event; raises CorruptLogError where there is none."""
    for digest in log.hashes(after=position - 1, upto=position):
        return digest.hex()
    raise CorruptLogError(f"event {position} is missing", position=position, hint="germline verify")
