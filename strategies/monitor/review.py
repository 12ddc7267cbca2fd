"""Reviewing: what a person decides about a candidate, within what no preset and no person may pass over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import RefusedError
from registry.actions.publish import require_free, require_unedited
from registry.decide.commands import Review
from registry.query.library import base_of
from strategies.gate.explain import gene_rules
from strategies.gate.file_findings import file_changes
from strategies.gate.lint import findings_on, limits_of
from strategies.policy.active_preset import bound_by

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from registry.registry import Registry
    from registry.state.candidate import Candidate


def approve(registry: Registry, candidate: Candidate, reason: str) -> Receipt:
    """Promote a candidate on a person's word; the caller publishes the skill.

    A person may overrule the gate's figures and what lint asks a person to look at, but not what refuses any
    candidate: hidden characters, secrets, repeated lines, too many edits, too much changed, or a new gene where
    the preset in force allows none. Nothing is written unless all of it is.
    Raises: RefusedError for these, where the files were edited by hand, and where the folder
    of a new skill is taken; ConflictError for a stale base or a
    candidate that is decided; EditError where an edit does not fit or touches protected lines.
    """
    name = candidate.proposed.capsule
    if candidate.proposed.skill is None:
        require_unedited(registry, name)
    elif name not in registry.names():
        require_free(registry, name, candidate.proposed.skill)
    preset = bound_by(registry).preset
    with registry.log.transaction():
        base = base_of(registry, candidate.proposed)
        receipt = registry.execute(Review(candidate.id, name, "approve", reason))
        limits = limits_of(preset, candidate.proposed.proposer)
        proposed = candidate.proposed
        files = file_changes(registry.log, base, proposed.files)
        findings = findings_on(base, proposed, limits, files=files)
        refused = [finding.what for finding in findings if finding.severity == "refuse"]
        refused += [rule.missing for rule in gene_rules(candidate.proposed, preset) if not rule.holds]
        if refused:
            raise RefusedError(
                f"candidate {candidate.id[:12]} cannot be approved: {'; '.join(refused)}",
                hint=f"germline candidate reject {candidate.id[:12]} --reason TEXT",
            )
    return receipt


def reject(registry: Registry, candidate: Candidate, reason: str) -> Receipt:
    """Refuse a candidate on a person's word: it stays known, and is not proposed again under its evaluator.

    Raises: ConflictError for a candidate that is decided.
    """
    return registry.execute(Review(candidate.id, candidate.proposed.capsule, "reject", reason))
