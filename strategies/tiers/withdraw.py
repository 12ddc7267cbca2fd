"""Taking lines out of a skill that fell from their tier: by a candidate like any other, which no score changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.candidate_events import CandidateProposed, CandidateScored
from events.types.parts import Edit
from events.types.score import Unmeasured
from registry.decide.commands import Judge, Propose
from registry.decide.review import require_candidate
from registry.query.provenance import lines_of
from strategies.gate.replay.measure import candidate_id

if TYPE_CHECKING:
    from registry.registry import Registry

PROPOSER: Final = "tiers"


def withdraw(registry: Registry, name: str, reason: str) -> int:
    """Take the lines that a candidate brought out of its skill; answers with the version without them.

    The candidate that does it is decided by the evidence that the lines fell by: nothing is measured again.
    Raises: EditError where a line is protected; SkillFormatError where what is left is no skill.
    """
    fallen = require_candidate(registry.candidate(name), name)
    proposed = fallen.proposed
    capsule = registry.capsule(proposed.capsule)
    lines = lines_of(registry, capsule, name)
    removal = CandidateProposed(
        candidate=candidate_id(capsule.name, (), f"{name}@{fallen.tiered_at}", removes=proposed.claims, text=name),
        capsule=capsule.name,
        base_version=capsule.version,
        strategy="harden",
        preset=proposed.preset,
        proposer=PROPOSER,
        fingerprint=proposed.fingerprint,
        edits=tuple(Edit(op="delete", gene=line.gene, target=(line.id,)) for line in lines),
        claims=(),
        triggers=(),
        reason=reason,
        evaluator=proposed.evaluator,
        removes=proposed.claims,
    )
    unmeasured = Unmeasured(reason="decided by what the lines fell by")
    scored = CandidateScored(
        candidate=removal.candidate,
        capsule=capsule.name,
        base_version=capsule.version,
        before=capsule.score,
        after=capsule.score,
        delta=None,
        effect=None,
        audit_before=unmeasured,
        audit_after=unmeasured,
        sent=0,
    )
    registry.execute(Propose(removal), actor="germline")
    registry.execute(Judge(scored, registry.clock.new_id(), "promote", (reason,)), actor="germline")
    return registry.outline(capsule.name).version
