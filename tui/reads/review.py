"""What the Review screen shows: candidates that wait, and promotions drawn for a second look."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from events.errors import EditError, GermlineError, NotFoundError
from registry.decide.promote import whole, with_files
from registry.query.audits import moves_behind
from registry.query.library import base_of
from registry.query.provenance import KeptEvidence, erased_of, evidence_of
from registry.query.trials import trials_of, trials_with
from strategies.gate.explain import explain_stored
from strategies.gate.file_findings import file_changes, findings_in_changes
from strategies.monitor.spot_check import drawn, second_looks
from tui.reads.diff import changed_files
from tui.reads.evidence import still_there

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.audit_events import AuditMove
    from registry.query.diffs import DiffLine
    from registry.query.library import Library, Raised
    from registry.query.signals import ErasedEvidence
    from registry.query.trials import TrialFinding
    from registry.state.candidate import Candidate, CandidateOutline
    from strategies.gate.explain import Explanation
    from strategies.gate.file_findings import FileFinding
    from strategies.gate.rule import NeededTasks

Standing = Literal["waits", "drawn", "answered"]


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A candidate that waits for a decision, or a promotion that was drawn, `answered` once a person was."""

    candidate: Candidate
    standing: Standing


def read_review(library: Library, *, every: int, seed: int) -> tuple[ReviewLine, ...]:
    """Read what waits, the newest first, then what was drawn and nobody looked at, then what somebody did."""
    every_one = library.candidate_outlines()
    standing: dict[str, Standing] = {each.id: "waits" for each in reversed(every_one) if waits(each)}
    standing |= {look.id: "drawn" for look in second_looks(every_one, every=every, seed=seed)}
    looks = reversed(drawn(every_one, every=every, seed=seed))
    standing |= {look.id: "answered" for look in looks if look.looked_over}
    return tuple(
        ReviewLine(candidate, standing[name]) for name, candidate in library.candidates_of(standing).items()
    )


def count_waiting(library: Library, *, every: int, seed: int) -> int:
    """Count what a person is asked: candidates that nobody decided on, and second looks that nobody took."""
    candidates = library.candidate_outlines()
    return sum(map(waits, candidates)) + len(second_looks(candidates, every=every, seed=seed))


def waits(candidate: Candidate | CandidateOutline) -> bool:
    """Tell whether nobody decided on a candidate yet: neither the gate for good, nor a person."""
    return not candidate.is_decided


def tasks_away(library: Library, candidates: Iterable[Candidate]) -> dict[str, NeededTasks]:
    """Tell by id how many tasks candidates have of how many that would do, where a number would."""
    away = {}
    for candidate in candidates:
        with suppress(GermlineError):  # a version or a preset that is gone: `candidate show` says so
            if needed := explain_stored(library, candidate)[0].needed:
                away[candidate.id] = needed
    return away


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """Everything there is to say about one candidate; `misfit` says why its diff cannot be shown, if so."""

    candidate: Candidate
    live_version: int
    explanation: Explanation
    preset: str
    signal: Raised | None
    evidence: tuple[KeptEvidence, ...]
    erased: tuple[ErasedEvidence, ...]
    there: tuple[bool, ...]
    files: tuple[tuple[str, list[DiffLine]], ...]
    findings: tuple[FileFinding, ...] = ()
    misfit: str = ""
    trials: tuple[TrialFinding, ...] = ()
    moves: tuple[AuditMove, ...] = ()

    @property
    def open(self) -> bool:
        """Whether a person may still decide."""
        return waits(self.candidate)

    @property
    def stale(self) -> bool:
        """Whether the skill moved on since the candidate was measured."""
        scored = self.candidate.scored
        base = scored.base_version if scored else self.candidate.proposed.base_version
        return self.open and base != self.live_version


def read_page(library: Library, candidate: Candidate) -> CandidatePage:
    """Read a candidate with what led to it and what it would change."""
    proposed = candidate.proposed
    base = base_of(library, proposed, str(proposed.base_version))
    files, misfit = [], ""
    try:
        after = with_files(whole(base, proposed), proposed.files)
        files = list(changed_files(library, base, after))
    except (EditError, NotFoundError) as error:
        misfit = error.message
    explanation, preset = explain_stored(library, candidate)
    signal = library.signal(proposed.fingerprint)
    evidence = evidence_of(library, signal)
    return CandidatePage(
        candidate=candidate,
        live_version=_live_version(library, proposed.capsule),
        explanation=explanation,
        preset=preset.name,
        signal=signal,
        evidence=evidence,
        erased=erased_of(library, signal, evidence),
        there=still_there([kept.evidence for kept in evidence], library.log.maps),
        files=tuple(files),
        findings=findings_in_changes(file_changes(library.log, base, proposed.files)),
        misfit=misfit,
        trials=tuple(trials_with(trials_of(library, proposed.capsule), candidate.id)),
        moves=moves_behind(library, candidate),
    )


def _live_version(library: Library, name: str) -> int:
    """Give the version that a skill is at, 0 where it is not there."""
    return library.outline(name).version if name in library.names() else 0
