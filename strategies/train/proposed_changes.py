"""Changes that a proposer suggests, as candidates; and which candidates of a training may still be decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.candidate_events import TRAINER, CandidateProposed
from events.types.parts import Edit
from strategies.gate.injection import suspicious
from strategies.gate.lint import limits_of, lint
from strategies.gate.staleness import STALE
from strategies.propose.suggestion_checks import fit_together, fitting_edit
from strategies.rollouts.compare.judge_group import fits
from strategies.rollouts.compare.rounds import ALONE, PUT_OFF, WAITS
from strategies.rollouts.compare.settle import rollout_candidate_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from events.types.parts import Strategy
    from registry.query.library import Library
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
    limits = limits_of(preset)
    refused = any(finding.severity == "refuse" for finding in lint(capsule, edits, limits, by=TRAINER))
    return not refused and not suspicious(brought, ()) and not (brought and standing.issuperset(brought))


def removals_of_learned_lines(library: Library, live: Capsule) -> Iterator[tuple[Edit, ...]]:
    """Give, for each change that trainings brought, the edits that take what is live of it away again.

    What was shown on the tasks that it is for is left out: hardly ever does such a line do nothing, and over all
    tasks it may be worth less than a removal may lose.
    """
    for known in library.candidates(live.name):
        runs = known.scored.rollouts if known.scored else None
        learned = known.verdict == "promote" and known.proposed.proposer == TRAINER and not known.taken_back
        if learned and runs is not None and runs.aim is None:
            edits = tuple(
                Edit(op="delete", gene=gene.id, target=(line.id,))
                for gene in live.genes
                for line in gene.lines
                if line.version == known.version and line.text in known.proposed.new_lines
            )
            if edits:
                yield edits


class ProposedEdits(NamedTuple):
    """A change as it would be made to the skill, the tags of the tasks that it is for, and why it is proposed."""

    edits: tuple[Edit, ...]
    tags: tuple[str, ...]
    reason: str


def proposed_by(rig: Rig, capsule: Capsule, training: str, change: ProposedEdits) -> CandidateProposed:
    """Write a change down as a candidate for the live version; it carries no claim: runs alone decide on it."""
    evaluator = rig.harness.evaluator
    proposed = CandidateProposed(
        candidate="",
        capsule=capsule.name,
        base_version=capsule.version,
        strategy=strategy_of(rig.preset),
        preset=rig.preset.name,
        proposer=TRAINER,
        fingerprint=fingerprint_of(training),
        edits=change.edits,
        claims=(),
        triggers=(),
        reason=change.reason[:_MOST_REASON_CHARS],
        evaluator=evaluator,
        tags=change.tags,
    )
    return proposed.model_copy(update={"candidate": rollout_candidate_id(capsule, proposed, evaluator)})


def strategy_of(preset: Preset) -> Strategy:
    """Say what kind of change a training makes: it mends what failed, unless the preset never does."""
    if preset.weights.of("repair"):
        return "repair"
    return "harden" if preset.weights.of("harden") else "innovate"


def idea_of(edits: Iterable[Edit]) -> tuple[object, ...]:
    """Give what edits are known by: what they say and where, not the blank lines around it."""
    return tuple(
        (edit.op, edit.gene, edit.target, tuple(line.strip() for line in edit.text if line.strip()))
        for edit in edits
    )


def decidable(library: Library, training: str, live: Capsule, preset: Preset) -> list[Candidate]:
    """Give the changes of a training that more runs could decide on, as they would be on the live version.

    Those whose first look was put off are among them once there are no others.
    """
    still = [known for known in library.answers(fingerprint_of(training)) if _is_open(known, live.version)]
    bases = {known.proposed.base_version for known in still}
    versions = {version: library.capsule(live.name, str(version)) for version in bases}

    def fitting(part: Iterable[Candidate]) -> list[Candidate]:
        return [
            known
            for known in part
            if fits(versions[known.proposed.base_version], live, known.proposed)
            and _may_run(live, known.proposed.edits, preset)
        ]

    first = fitting(known for known in still if not is_put_off(known))
    return first or fitting(known for known in still if is_put_off(known))


def is_passed_over(candidate: Candidate) -> bool:
    """Tell whether a candidate was shown to help, and is held because another one became the version meanwhile."""
    return candidate.verdict == "hold" and candidate.reasons[0].startswith((STALE, WAITS))


def is_waiting_for_company(candidate: Candidate) -> bool:
    """Tell whether its own tasks show a candidate, and it is held until others are confirmed by the same runs."""
    return candidate.verdict == "hold" and candidate.reasons[0].startswith(ALONE)


def is_put_off(candidate: Candidate) -> bool:
    """Tell whether a candidate is held because its own tasks did not show it soon."""
    return candidate.verdict == "hold" and candidate.reasons[0].startswith(PUT_OFF)


def _is_open(candidate: Candidate, live: int) -> bool:
    """Tell whether more runs could decide on a candidate.

    So it is where it was never judged, where a cap came between, where it waits for another one or was put off,
    and, on another version than it was tested on, where the last look left it open, once more.
    """
    if candidate.verdict is None:
        return True
    scored = candidate.scored
    runs = scored.rollouts if scored else None
    if candidate.verdict != "hold" or scored is None or (runs and runs.tampered):
        return False
    if runs is None or runs.stopped or is_passed_over(candidate) or is_waiting_for_company(candidate):
        return True
    if scored.base_version == live:
        return is_put_off(candidate)
    return candidate.times_scored < _MOST_TRIES
