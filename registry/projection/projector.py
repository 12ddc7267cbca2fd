"""Projection: events folded into documents, which are disposable and always rebuilt the same.

| view | key | seq | what |
|---|---|---|---|
| registry | "" | 0 | preset, split key, when it was created, the format of all documents |
| preset | name | position | a preset as a person defined it there, in TOML; the last one counts |
| evaluator | hash | 0 | the position of its registration |
| signal | fingerprint | 0 | the position where it was raised |
| outcome | episode | position | the truth that arrived late: its value, and who says so |
| hint | episode | position | what git lists of its commits: a value, and which hint it is |
| erased | evidence | 0 | when it was erased, and why |
| asked | prompt | position | a prompt, by its hash, that went out to a model; empty |
| capsule | name | 0 | its outline |
| live | name | 0 | its whole state as it is now |
| trial | name | position | an event of a trial of the skill; empty |
| proposed | fingerprint | position | the id of a candidate that answers the signal |
| mention | name | position | an event that names the capsule; empty |
| touch | name | position | an event that changes the capsule's state; empty |
| version | name | version | the position of a version, and its time |
| scored | name | version | the position where a version was measured last, since it came |
| placed | name | position | what stood on its path from then on: a version that was made, or an alias that moved |
| snapshot | name | position | its whole state as it was then, every few changes, of a large one more seldom |
| taken | "projection" | 0 | the last position that was folded |
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from events.errors import CorruptLogError
from events.store.protocol import StoredDocument
from events.store.subscriptions import catch_up, taken_in, with_appends
from events.types.capsule_events import (
    AliasMoved,
    CapsuleReverted,
    CapsuleVersioned,
    VersionRetired,
    VersionScored,
)
from events.types.registry_events import LOOKED_UP
from registry.projection import time_travel
from registry.projection.fold import apply, changes_capsule
from registry.projection.live_versions import placed_body
from registry.projection.snapshots import Written, freeze, is_due
from registry.projection.stored_documents import FORMAT, PROJECTION, compact, format_in, read_back
from registry.state.trial import TRIAL_STREAM
from registry.state.version_outline import Outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog
    from events.types.frozen import Frozen
    from registry.state.capsule import Capsule


@dataclass(frozen=True, slots=True)
class _Folded:
    """A capsule as far as it is folded."""

    capsule: Capsule
    outline: Outline
    written: Written = field(default_factory=dict)


class Projector:
    """Folds events, in order, into the documents that they change.

    Keeps the capsules it has met, so that a run of events costs one load each. A fresh one is made for every
    transaction, with the capsule that its command was decided on; only `rebuild` keeps one over the whole log.
    """

    def __init__(self, log: EventLog, *, capsule: Capsule | None = None) -> None:
        self._log = log
        self._loaded = capsule
        self._folded: dict[str, _Folded] = {}
        self._out: dict[tuple[str, str, int], bytes] = {}

    def __call__(self, envelopes: Iterable[Envelope]) -> list[StoredDocument]:
        """Return the documents that these events change, the last state of each."""
        self._out = {}
        touched = set()
        for envelope in envelopes:
            if not envelope.is_known:
                continue
            if changes_capsule(envelope.type):
                event = envelope.event
                capsule: str = getattr(event, "capsule")  # noqa: B009 - events of several kinds
                self._put("mention", capsule, envelope.position)
                self._fold_capsule(capsule, envelope, event)
                touched.add(capsule)
            else:
                self._fold_others(envelope, envelope.fields)
        for name in touched:
            folded = self._folded[name]
            self._put("capsule", name, 0, folded.outline.to_bytes())
            self._put("live", name, 0, freeze(folded.capsule, folded.written))
        return [StoredDocument(*place, body) for place, body in self._out.items()]

    def _put(self, view: str, key: str, seq: int, body: bytes = b"") -> None:
        self._out[view, key, seq] = body

    def _fold_capsule(self, name: str, envelope: Envelope, event: Frozen) -> None:
        before = self._folded.get(name) or self._load(name)
        capsule = apply(before.capsule if before else None, event, envelope)
        outline = before.outline if before else Outline()
        changes, reverts, retired = outline.changes + 1, outline.reverts, outline.retired
        if isinstance(event, CapsuleReverted):
            reverts = (*reverts, (capsule.version + 1, event.to_version))
        elif isinstance(event, VersionRetired):
            retired = (*retired, event.version)
        elif isinstance(event, AliasMoved):  # who names a version again offers it again
            retired = tuple(version for version in retired if version != event.version)
        written = before.written if before else {}
        outline = Outline(changes, capsule.version, capsule.aliases, reverts, retired)
        self._folded[name] = _Folded(capsule, outline, written)
        self._put("touch", name, envelope.position)
        if is_due(changes, capsule):
            self._put("snapshot", name, envelope.position, freeze(capsule, written))
        if isinstance(event, CapsuleVersioned | AliasMoved):
            made = isinstance(event, CapsuleVersioned)
            self._put("placed", name, envelope.position, placed_body(capsule, envelope.at, made=made))
        if isinstance(event, CapsuleVersioned):
            self._put("version", name, event.version, time_travel.version_body(envelope))
        elif isinstance(event, VersionScored):
            self._put("scored", name, event.version, str(envelope.position).encode())

    def _load(self, name: str) -> _Folded | None:
        outline = self._log.document("capsule", name)
        known = self._loaded
        capsule = known if known and known.name == name else time_travel.live(self._log, name)
        return _Folded(capsule, read_back(self._log, outline, Outline.from_bytes)) if outline and capsule else None

    def _fold_others(self, envelope: Envelope, fields: dict[str, Any]) -> None:
        """Take in an event that changes no capsule: of its fields, few matter."""
        try:
            if capsule := fields.get("capsule"):
                self._put("mention", capsule, envelope.position)
                if envelope.stream.startswith(TRIAL_STREAM):
                    self._put("trial", capsule, envelope.position)
                elif envelope.type == "CandidateProposed":
                    self._put("proposed", fields["fingerprint"], envelope.position, fields["candidate"].encode())
            elif envelope.stream == "registry":
                self._fold_registry(envelope, fields)
        except (AttributeError, LookupError, TypeError) as error:
            raise CorruptLogError(
                f"event {envelope.position} does not read as {envelope.type}",
                position=envelope.position,
                hint="germline verify",
            ) from error

    def _fold_registry(self, envelope: Envelope, fields: dict[str, Any]) -> None:
        kind, at = envelope.type, str(envelope.position).encode()
        if kind == "RegistryCreated":
            stated = {name: fields[name] for name in ("preset", "split_key")}
            self._put("registry", "", 0, compact({"format": FORMAT, **stated, "at": envelope.at}).encode())
        elif kind == "PresetSwitched":
            document = self._log.document("registry", "")
            body = self._out.get(("registry", "", 0)) or (document.body if document else b"{}")
            state = json.loads(body)
            self._put("registry", "", 0, compact({**state, "preset": fields["preset"]}).encode())
        elif kind == "PresetDefined":
            self._put("preset", fields["preset"], envelope.position, fields["definition"].encode())
        elif kind == "EvaluatorRegistered":
            self._put("evaluator", fields["evaluator"], 0, at)
        elif kind == "SignalRaised":
            self._put("signal", fields["fingerprint"], 0, at)
        elif kind == "OutcomeRecorded":
            outcome = {name: fields[name] for name in ("value", "source")}
            view = "hint" if fields["source"] in LOOKED_UP else "outcome"
            self._put(view, fields["episode"], envelope.position, compact(outcome).encode())
        elif kind == "ModelAsked":
            self._put("asked", fields["prompt_hash"], envelope.position)
        elif kind == "EvidenceErased":
            erased = {"at": envelope.at, "reason": fields["reason"]}
            erased |= {"record": fields["record"]} if fields.get("record") else {}
            self._put("erased", fields["evidence"], 0, compact(erased).encode())


def projecting(
    log: EventLog, *, capsule: Capsule | None = None
) -> Callable[[Sequence[Envelope]], Sequence[StoredDocument]]:
    """Give what folds events while they are appended; `capsule` is the one that their command was decided on."""
    return with_appends(log, PROJECTION, Projector(log, capsule=capsule))


def bring_up_to_date(log: EventLog) -> int:
    """Fold what was appended without a projection, or everything where there is none of this format."""
    with log.transaction():
        taken = taken_in(log, PROJECTION)
        if format_in(log.document("registry", "")) == FORMAT and 0 < taken <= log.head().position:
            return catch_up(log, PROJECTION, Projector(log))
        return rebuild(log)


def rebuild(log: EventLog, *, batch: int = 32_000) -> int:
    """Throw every document away and fold the log again; returns the number of events folded.

    The result is byte for byte what the appends had made. Runs in one transaction: readers see the old
    documents or the new ones.
    """
    with log.transaction():
        log.drop_documents()
        return catch_up(log, PROJECTION, Projector(log), page=batch)
