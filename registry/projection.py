"""Projection: events folded into documents, which are disposable and always rebuilt the same.

| view | key | seq | what |
|---|---|---|---|
| registry | "" | 0 | preset, split key, when it was created |
| evaluator | hash | 0 | a registered evaluator |
| signal | fingerprint | 0 | a raised signal |
| cycle | "" | position | a finished cycle |
| candidate | id | 0 | a candidate's state |
| capsule | name | 0 | how many events changed it, and its last version |
| mention | name | position | an event that names the capsule; empty |
| touch | name | position | an event that changes the capsule's state; empty |
| version | name | version | one version: when, why, scores |
| snapshot | name | position | a capsule's whole state, every 16 changes |
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from events.candidate_events import CandidateProposed
from events.capsule_events import CapsuleReverted, CapsuleVersioned
from events.log import Document
from events.registry_events import (
    CycleFinished,
    EvaluatorRegistered,
    PresetSwitched,
    RegistryCreated,
    SignalRaised,
)
from registry.apply import apply, changes_capsule
from registry.candidate import Candidate, apply_candidate, freeze_candidate, thaw_candidate
from registry.snapshots import EVERY, freeze
from registry.travel import latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.base import Frozen
    from events.envelope import Envelope
    from events.log import EventLog
    from registry.capsule import Capsule


class Projector:
    """Folds events, in order, into the documents that they change.

    Keeps the states it has met, so that a run of events costs one load each. A fresh one is made for every
    transaction; only `rebuild` keeps one over the whole log.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._capsules: dict[str, Capsule | None] = {}
        self._changes: dict[str, int] = {}
        self._candidates: dict[str, Candidate | None] = {}
        self._out: dict[tuple[str, str, int], Document] = {}

    def __call__(self, envelopes: Sequence[Envelope]) -> list[Document]:
        """Return the documents that these events change, the last state of each."""
        self._out = {}
        for envelope in envelopes:
            if envelope.is_known:
                self._fold(envelope, envelope.event)
        return list(self._out.values())

    def _put(self, view: str, key: str, seq: int, body: bytes) -> None:
        self._out[view, key, seq] = Document(view, key, seq, body)

    def _fold(self, envelope: Envelope, event: Frozen) -> None:
        capsule: str | None = getattr(event, "capsule", None)
        if capsule:
            self._put("mention", capsule, envelope.position, b"")
            if changes_capsule(event):
                self._put("touch", capsule, envelope.position, b"")
                self._fold_capsule(capsule, envelope, event)
        if envelope.stream.startswith("candidate:"):
            self._fold_candidate(envelope, event)
        elif envelope.stream == "registry":
            self._fold_registry(envelope, event)

    def _fold_capsule(self, name: str, envelope: Envelope, event: Frozen) -> None:
        if name not in self._capsules:
            self._load_capsule(name)
        capsule = apply(self._capsules[name], envelope)
        self._capsules[name] = capsule
        self._changes[name] += 1
        if capsule is None:
            return
        if self._changes[name] % EVERY == 0:
            self._put("snapshot", name, envelope.position, freeze(capsule))
        summary = {"changes": self._changes[name], "version": capsule.version, "position": capsule.position}
        self._put("capsule", name, 0, compact(summary))
        if isinstance(event, CapsuleVersioned):
            self._put("version", name, event.version, _version_row(envelope, event))
        if isinstance(event, CapsuleReverted):
            self._take_back(name, event.to_version)

    def _load_capsule(self, name: str) -> None:
        known = self._log.document("capsule", name)
        self._changes[name] = json.loads(known.body)["changes"] if known else 0
        self._capsules[name] = latest(self._log, name) if known else None

    def _take_back(self, name: str, to_version: int) -> None:
        """Mark the promotions beyond a version as reverted: under their evaluator they count as rejected."""
        for document in self._log.documents("candidate"):
            if document.key not in self._candidates:
                self._candidates[document.key] = thaw_candidate(document.body)
        for key, candidate in self._candidates.items():
            if candidate and candidate.proposed.capsule == name and (candidate.version or 0) > to_version:
                self._keep_candidate(key, replace(candidate, reverted=True))

    def _fold_candidate(self, envelope: Envelope, event: Frozen) -> None:
        key = envelope.stream.partition(":")[2]
        if key not in self._candidates and not isinstance(event, CandidateProposed):
            document = self._log.document("candidate", key)
            self._candidates[key] = thaw_candidate(document.body) if document else None
        self._keep_candidate(key, apply_candidate(self._candidates.get(key), envelope))

    def _keep_candidate(self, key: str, candidate: Candidate) -> None:
        self._candidates[key] = candidate
        self._put("candidate", key, 0, freeze_candidate(candidate))

    def _fold_registry(self, envelope: Envelope, event: Frozen) -> None:
        if isinstance(event, RegistryCreated):
            row = event.model_dump(mode="json", exclude={"type"})
            self._put("registry", "", 0, compact({**row, "at": envelope.at}))
        elif isinstance(event, PresetSwitched):
            document = self._out.get(("registry", "", 0)) or self._log.document("registry", "")
            state = json.loads(document.body) if document else {}
            self._put("registry", "", 0, compact({**state, "preset": event.preset}))
        elif isinstance(event, EvaluatorRegistered):
            self._put("evaluator", event.evaluator, 0, _event_row(envelope, event))
        elif isinstance(event, SignalRaised):
            self._put("signal", event.fingerprint, 0, _event_row(envelope, event))
        elif isinstance(event, CycleFinished):
            self._put("cycle", "", envelope.position, _event_row(envelope, event))


def compact(value: dict[str, Any]) -> bytes:
    """Write a row as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _event_row(envelope: Envelope, event: Frozen) -> bytes:
    return compact({"position": envelope.position, "at": envelope.at, "event": event.model_dump(mode="json")})


def _version_row(envelope: Envelope, event: CapsuleVersioned) -> bytes:
    row = event.model_dump(mode="json", exclude={"type", "capsule", "genes"})
    return compact({"position": envelope.position, "at": envelope.at, "actor": envelope.actor, **row})


def rebuild(log: EventLog, *, batch: int = 2_000) -> int:
    """Throw every document away and fold the log again; returns the number of events folded.

    The result is byte for byte what the appends had made. Runs in one transaction: readers see the old
    documents or the new ones.
    """
    with log.transaction():
        log.drop_documents()
        projector = Projector(log)
        pending: list[Envelope] = []
        folded = 0
        for envelope in log.read():
            pending.append(envelope)
            if len(pending) == batch:
                log.put_documents(projector(pending))
                folded += len(pending)
                pending = []
        log.put_documents(projector(pending))
        return folded + len(pending)
