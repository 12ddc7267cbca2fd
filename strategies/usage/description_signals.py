"""Signals about descriptions: skills that are surely loaded where nothing needs them, or too seldom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strategies.signals.open_signals import NARROW_DESCRIPTION, WIDE_DESCRIPTION, described_in
from strategies.signals.signal import EVIDENCE_LIMIT, Occurrence, Signal, fingerprint

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord
    from strategies.usage.trigger_audit import TriggerAudit


@dataclass(frozen=True)
class DescriptionMisfit:
    """Finds descriptions by which a skill is surely loaded at the wrong sessions; calls for repair.

    `finding` is what an audit says of such a description; `needed` tells whether the sessions that it was wrong on
    needed the skill.
    """

    kind: str
    finding: str
    needed: bool

    def detect(self, audit: TriggerAudit, scanned: int) -> list[Signal]:
        """Make a signal of what an audit found; the evidence are the requests that it was wrong on."""
        if self.finding not in audit.findings:
            return []
        wrong = [
            session.record
            for session in audit.sessions
            if session.needed is self.needed and session.loaded is not self.needed and session.record.steps
        ]
        about = f"{audit.capsule.name}@{described_in(audit.capsule)}"
        return [
            Signal(
                kind=self.kind,
                fingerprint=fingerprint(self.kind, "", about),
                template="",
                action=about,
                count=len(wrong),
                episodes=len(wrong),
                runs=tuple(sorted({record.run for record in wrong})),
                severity=len(wrong) / max(scanned, 1),
                calls_for="repair",
                occurrences=tuple(Occurrence(record.id, _request(record)) for record in wrong[:EVIDENCE_LIMIT]),
                seen_in=frozenset(record.id for record in wrong),
            )
        ]


@dataclass(frozen=True)
class WideDescription(DescriptionMisfit):
    """Finds descriptions by which a skill is surely loaded where nothing needs it; calls for repair.

    `evolve` looks for it where sessions tell which skills they loaded, and holds a narrower description to sealed
    sessions. `action` names skill@version, the one that the description is of.
    """

    kind: str = WIDE_DESCRIPTION
    finding: str = "too wide"
    needed: bool = False


@dataclass(frozen=True)
class NarrowDescription(DescriptionMisfit):
    """Finds descriptions by which a skill is surely not loaded where sessions need it; calls for repair.

    `evolve` looks for it where sessions tell which skills they loaded, and holds a wider description to sealed
    sessions. `action` names skill@version, the one that the description is of.
    """

    kind: str = NARROW_DESCRIPTION
    finding: str = "too narrow"
    needed: bool = True


def _request(record: EpisodeRecord) -> int:
    """Find the step in which a person asks, the first one where none does."""
    asked = (at for at, step in enumerate(record.steps) if step.kind == "message" and step.actor == "user")
    return next(asked, 0)


MISFITS: Final = (WideDescription(), NarrowDescription())
