"""The library: everything that can be read from a registry without changing it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from events.errors import NotFoundError, UsageError
from events.registry_events import CycleFinished, EvaluatorRegistered, SignalRaised
from events.score import Delta, Measured, Score
from registry import travel
from registry.candidate import Candidate, thaw_candidate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.envelope import Envelope
    from events.log import EventLog
    from registry.capsule import Capsule

_MEASURED: TypeAdapter[Measured] = TypeAdapter(Measured)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a capsule, as lists show it."""

    capsule: str
    version: int
    position: int
    at: str
    actor: str
    cause: str
    summary: str
    before: Measured
    after: Measured
    delta: Delta | None
    candidate: str


@dataclass(frozen=True, slots=True)
class Raised:
    """A signal that was raised, with where and when."""

    position: int
    at: str
    event: SignalRaised


@dataclass(frozen=True, slots=True)
class About:
    """What a registry says of itself."""

    preset: str
    split_key: str
    created_at: str


class Library:
    """Reads a registry: skills at any version, candidates, signals, history."""

    def __init__(self, log: EventLog) -> None:
        self.log = log

    def about(self) -> About:
        """Return what the registry says of itself; raises NotFoundError where it was never created."""
        document = self.log.document("registry", "")
        if document is None:
            raise NotFoundError(f"{self.log.location} holds no registry yet", hint="germline init")
        row = json.loads(document.body)
        return About(row["preset"], row["split_key"], row["at"])

    # -- skills ----------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """List the skills by name."""
        return [document.key for document in self.log.documents("capsule")]

    def capsule(self, name: str, ref: str = "") -> Capsule:
        """Return a skill now, or at a version: `12`, `production`, `best`, `2026-11-01`.

        Raises: NotFoundError with the nearest names, or with the versions that there are.
        """
        if not ref:
            capsule = travel.latest(self.log, name)
            if capsule is None:
                raise self._unknown_skill(name)
            return capsule
        version = self.version_of(name, ref)
        capsule = travel.at_version(self.log, name, version)
        if capsule is None:
            raise self._unknown_version(name, ref)
        return capsule

    def version_of(self, name: str, ref: str) -> int:
        """Resolve a version as people write it: a number, an alias, `best`, or a date (the last one up to it)."""
        now = self.capsule(name)
        aliases = dict(now.aliases)
        if ref.isdecimal():
            if 1 <= int(ref) <= now.version:
                return int(ref)
        elif ref in aliases:
            return aliases[ref]
        elif ref == "best":
            return self._best(name)
        elif ref[:4].isdecimal() and ref[4:5] == "-":
            until = ref if "T" in ref else f"{ref}T23:59:59.999999Z"
            dated = [row.version for row in self.versions(name) if row.at <= until]
            if dated:
                return dated[-1]
        raise self._unknown_version(name, ref)

    def _best(self, name: str) -> int:
        """Pick the highest score among the versions measured by the evaluator that measured last."""
        measured = [row for row in self.versions(name) if isinstance(row.after, Score)]
        if not measured:
            raise NotFoundError(f"no version of {name} was measured yet", hint=f"germline evolve {name}")
        evaluator = _score(measured[-1]).evaluator
        same = [row for row in measured if _score(row).evaluator == evaluator]
        return max(same, key=lambda row: (_score(row).value, row.version)).version

    def versions(self, name: str) -> list[VersionRow]:
        """List the versions of a skill, oldest first."""
        rows = self.log.documents("version", name)
        if not rows:
            raise self._unknown_skill(name)
        return [_version_row(name, row.seq, json.loads(row.body)) for row in rows]

    def version(self, name: str, version: int) -> VersionRow:
        """Return one version of a skill; raises NotFoundError where there is none."""
        row = self.log.document("version", name, at=version)
        if row is None or row.seq != version:
            raise self._unknown_version(name, str(version))
        return _version_row(name, version, json.loads(row.body))

    def _unknown_skill(self, name: str) -> NotFoundError:
        names = self.names()
        near = tuple(get_close_matches(name, names, n=3, cutoff=0.5))
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = "germline status lists the skills" if names else "germline import PATH"
        return NotFoundError(f"no skill named {name} is in the registry", hint=hint, nearest=near)

    def _unknown_version(self, name: str, ref: str) -> NotFoundError:
        now = self.capsule(name)
        names = [*(alias for alias, _ in now.aliases), "best"]
        near = tuple(get_close_matches(ref, names, n=1, cutoff=0.6))
        also = f" and the names {', '.join(alias for alias, _ in now.aliases)}" if now.aliases else ""
        return NotFoundError(
            f"{name} has no version {ref}; it has 1 to {now.version}{also}",
            hint=f"did you mean {name}@{near[0]}?" if near else f"germline log {name}",
            nearest=near,
        )

    # -- what was found and tried ----------------------------------------------------------------------

    def candidates(self, capsule: str = "") -> list[Candidate]:
        """List the candidates, of one capsule or of all, in the order they were proposed."""
        every = [thaw_candidate(document.body) for document in self.log.documents("candidate")]
        mine = [candidate for candidate in every if not capsule or candidate.proposed.capsule == capsule]
        return sorted(mine, key=lambda candidate: candidate.position)

    def candidate(self, candidate_id: str) -> Candidate | None:
        """Return a candidate by its whole id, None where there is none."""
        document = self.log.document("candidate", candidate_id)
        return thaw_candidate(document.body) if document else None

    def signals(self) -> list[Raised]:
        """List the signals that were raised, oldest first."""
        rows = [json.loads(document.body) for document in self.log.documents("signal")]
        signals = [Raised(row["position"], row["at"], SignalRaised.model_validate(row["event"])) for row in rows]
        return sorted(signals, key=lambda signal: signal.position)

    def signal(self, fingerprint: str) -> Raised | None:
        """Return the signal of a fingerprint, None where none was raised."""
        document = self.log.document("signal", fingerprint)
        if document is None:
            return None
        row = json.loads(document.body)
        return Raised(row["position"], row["at"], SignalRaised.model_validate(row["event"]))

    def cycles(self) -> list[CycleFinished]:
        """List the finished cycles, oldest first."""
        rows = [json.loads(document.body) for document in self.log.documents("cycle", "")]
        return [CycleFinished.model_validate(row["event"]) for row in rows]

    def evaluators(self) -> list[EvaluatorRegistered]:
        """List the registered evaluators, oldest first."""
        rows = [json.loads(document.body) for document in self.log.documents("evaluator")]
        rows.sort(key=lambda row: row["position"])
        return [EvaluatorRegistered.model_validate(row["event"]) for row in rows]

    # -- history ---------------------------------------------------------------------------------------

    def history(
        self,
        capsule: str = "",
        *,
        types: Sequence[str] = (),
        since: str = "",
        limit: int = -1,
    ) -> Iterator[Envelope]:
        """Yield events newest first: of one skill or of all, of some types, since a time (RFC 3339)."""
        if since and not since[:4].isdecimal():
            raise UsageError(f"{since!r} is no time", hint="write it as 2026-11-01 or 2026-11-01T12:00:00Z")
        left = limit
        for envelope in self._newest(capsule, types):
            if left == 0 or (since and envelope.at < since):
                return
            if types and envelope.type not in types:
                continue
            yield envelope
            left -= 1

    def _newest(self, capsule: str, types: Sequence[str]) -> Iterator[Envelope]:
        if not capsule:
            yield from self.log.read(types=types, newest_first=True)
            return
        self.capsule(capsule)
        upto: int | None = None
        while True:
            page = self.log.documents("mention", capsule, upto=upto, limit=256, newest_first=True)
            if not page:
                return
            yield from reversed(self.log.at([document.seq for document in page]))
            upto = page[-1].seq - 1


def _version_row(name: str, version: int, row: dict[str, Any]) -> VersionRow:
    return VersionRow(
        capsule=name,
        version=version,
        position=row["position"],
        at=row["at"],
        actor=row["actor"],
        cause=row["cause"],
        summary=row["summary"],
        before=_MEASURED.validate_python(row["before"]),
        after=_MEASURED.validate_python(row["after"]),
        delta=Delta.model_validate(row["delta"]) if row["delta"] else None,
        candidate=row["candidate"],
    )


def _score(row: VersionRow) -> Score:
    if not isinstance(row.after, Score):
        raise NotFoundError(f"version {row.version} of {row.capsule} was not measured")
    return row.after
