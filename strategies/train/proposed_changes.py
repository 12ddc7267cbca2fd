"""Changes that a proposer suggests, as candidates; and which candidates of a training may still be decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.candidate_events import CandidateProposed
from events.types.training_events import TRAINER
from strategies.gate.injection import suspicious
from strategies.gate.lint import Limits, lint
from strategies.gate.rollout_rule import LOOKS
from strategies.gate.staleness import STALE
from strategies.models.tasks.training_case import TrainingEdit
from strategies.propose.suggestion_checks import fit_together, fitting_edit
from strategies.rollouts.compare.settle import rollout_candidate_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.parts import Edit, Strategy
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.models.tasks.training_case import TrainingChange
    from strategies.policy.presets import Preset
    from strategies.rollouts.compare.comparison import Rig

_MOST_TRIES: Final = 2
"""Versions on which a change is tested that no version decided on (a guess: each costs all rounds)."""
_MOST_REASON_CHARS: Final = 300


def fingerprint_of(training: str) -> str:
    """Name what the candidates of a training answer: no signal that was raised, but the training itself."""
    return f"training:{training[:16]}"


def change_fitting(capsule: Capsule, change: TrainingChange, preset: Preset) -> tuple[Edit, ...]:
    """Give the edits of a change; none where it does not fit the skill, says what it says, or lint refuses it.

    Text that instructs past its skill is left out as well: it would be run before a person sees it.
    """
    edits = tuple(edit for part in change.edits if (edit := fitting_edit(capsule, part)))
    return edits if len(edits) == len(change.edits) and _may_run(capsule, edits, preset) else ()


def _may_run(capsule: Capsule, edits: tuple[Edit, ...], preset: Preset) -> bool:
    """Tell whether a skill with these edits may be run: they fit, say something new, and no rule refuses them."""
    if not fit_together(capsule, edits):
        return False
    standing = {line.text.strip() for gene in capsule.genes for line in gene.lines}
    brought = [text.strip() for edit in edits for text in edit.text if text.strip()]
    limits = Limits(edits=preset.edit_budget.start, trust_region=preset.trust_region)
    refused = any(finding.severity == "refuse" for finding in lint(capsule, edits, limits, by=TRAINER))
    return not refused and not suspicious(brought, ()) and not (brought and standing.issuperset(brought))


def proposed_by(
    rig: Rig, capsule: Capsule, training: str, edits: tuple[Edit, ...], reason: str
) -> CandidateProposed:
    """Write a change down as a candidate for the live version; it carries no claim: runs alone decide on it."""
    evaluator = rig.harness.evaluator
    proposed = CandidateProposed(
        candidate="",
        capsule=capsule.name,
        base_version=capsule.version,
        strategy=_strategy(rig.preset),
        preset=rig.preset.name,
        proposer=TRAINER,
        fingerprint=fingerprint_of(training),
        edits=edits,
        claims=(),
        triggers=(),
        reason=reason[:_MOST_REASON_CHARS],
        evaluator=evaluator,
    )
    return proposed.model_copy(update={"candidate": rollout_candidate_id(capsule, proposed, evaluator)})


def _strategy(preset: Preset) -> Strategy:
    """Say what kind of change a training makes: it mends what failed, unless the preset never does."""
    if preset.weights.of("repair"):
        return "repair"
    return "harden" if preset.weights.of("harden") else "innovate"


def rebased(rig: Rig, capsule: Capsule, training: str, known: Candidate) -> CandidateProposed:
    """Propose a change again for the version that is live by now."""
    return proposed_by(rig, capsule, training, moved(capsule, known.proposed.edits), known.proposed.reason)


def moved(capsule: Capsule, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Give edits as they fit the skill as it is by now: what is appended takes the form of what it follows."""
    return tuple((edit.op == "append" and _appended(capsule, edit)) or edit for edit in edits)


def _appended(capsule: Capsule, edit: Edit) -> Edit | None:
    text = "".join(line for line in edit.text if line.strip()).rstrip("\r\n")
    return fitting_edit(capsule, TrainingEdit(op="append", gene=edit.gene, text=text))


def idea_of(edits: Iterable[Edit]) -> tuple[object, ...]:
    """Give what edits are known by: what they say and where, not the blank lines or the marks around it."""
    return tuple(
        (edit.op, edit.gene, edit.target, tuple(line.strip() for line in edit.text if line.strip()))
        for edit in edits
    )


def newest_of_each(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Give each change as it was proposed last: the same idea on a later version is one change."""
    newest = {idea_of(candidate.proposed.edits): candidate for candidate in candidates}
    return list(newest.values())


def is_stale(candidate: Candidate) -> bool:
    """Tell whether a candidate passed, and is held because its base moved on meanwhile."""
    return candidate.verdict == "hold" and candidate.reasons[:1] == (STALE,)


def decidable(capsule: Capsule, candidates: Sequence[Candidate], preset: Preset) -> list[Candidate]:
    """Give the changes of a training that more runs could decide on, each as it was proposed last.

    Those whose base is not live any more have to be proposed again first.
    """
    return [
        known
        for known in newest_of_each(candidates)
        if _is_open(known, candidates, capsule.version)
        and _may_run(capsule, moved(capsule, known.proposed.edits), preset)
    ]


def _is_open(candidate: Candidate, candidates: Sequence[Candidate], live: int) -> bool:
    """Tell whether more runs could decide on a candidate; `candidates` are all of its training.

    So it is where it was never judged, where a cap came between, where its base moved on while it passed, and, on
    another version than it was tested on, where the last look left it open, once more.
    """
    if candidate.verdict is None:
        return True
    if candidate.verdict != "hold":
        return False
    runs = candidate.scored.rollouts if candidate.scored else None
    if runs is None or runs.stopped:
        return True
    if is_stale(candidate):
        return candidate.proposed.base_version != live
    idea = idea_of(candidate.proposed.edits)
    tries = sum(idea_of(other.proposed.edits) == idea for other in candidates)
    left_open = runs.rounds >= LOOKS[-1] and not runs.tampered
    return left_open and candidate.proposed.base_version != live and tries < _MOST_TRIES
