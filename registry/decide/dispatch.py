"""Decide: a state and a command in, events out, or a refusal. No clock, no randomness, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Final

from events.errors import ConflictError, NotFoundError, RefusedError
from events.types.candidate_events import CandidateHeld, CandidatePromoted, CandidateRejected
from events.types.capsule_events import MERGED, CapsuleMoved, CapsuleVersioned
from events.types.gene_events import GeneProtected, GeneReleased
from events.types.parts import Mutation
from events.types.registry_events import PresetDefined, PresetSwitched, RegistryCreated
from registry.decide import commands
from registry.decide.adopt import adopt, merge, reindex
from registry.decide.aliases import deploy_alias, move_alias, require_version, retire_version
from registry.decide.describe import judged_description
from registry.decide.import_skill import imported
from registry.decide.promote import PromotionGrounds, named_gene, promotion, without_live_claims
from registry.decide.retirement import require_live, restore_skill, retire_skill
from registry.decide.revert import revert
from registry.decide.review import look_over, promote_proven, require_candidate, review, tier_change
from registry.decide.trial_rules import after_trial_event
from registry.skill_md.render import label
from registry.state.capsule import unborn
from registry.state.tiers import claims_tested
from registry.state.trial import TRIAL_STREAM

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed
    from events.types.frozen import Frozen
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from registry.state.trial import SkillTrial

REGISTRY_STREAM: Final = "registry"


@dataclass(frozen=True, slots=True)
class DecisionState:
    """What a command is decided on: only the streams that it touches.

    `preset` is None where the registry was never created, `definition` what the preset to define was before, if
    it did. `past` is the capsule at the version to go back to, `retired` its versions that are offered no longer,
    `trial` the one that runs.
    """

    preset: str | None = None
    definition: str | None = None
    capsule: Capsule | None = None
    past: Capsule | None = None
    retired: tuple[int, ...] = ()
    candidate: Candidate | None = None
    trial: SkillTrial | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """An event that a command leads to, and its stream; `event_id` is set where others refer to it."""

    stream: str
    event: Frozen
    event_id: str = ""


@singledispatch
def decide(command: commands.Command, state: DecisionState) -> list[Decided]:
    """Turn a command into events.

    Raises: RefusedError, NotFoundError, EditError or SkillFormatError where the state does not allow it;
    ConflictError where somebody else was faster.
    """
    raise NotImplementedError(type(command).__name__)  # a command without a rule is a fault of ours


@decide.register
def _create_registry(command: commands.CreateRegistry, state: DecisionState) -> list[Decided]:
    if state.preset is not None:
        raise RefusedError("the registry exists already", hint="germline status")
    event = RegistryCreated(split_key=command.split_key, preset=command.preset)
    return [Decided(REGISTRY_STREAM, event)]


@decide.register
def _switch_preset(command: commands.SwitchPreset, state: DecisionState) -> list[Decided]:
    previous = state.preset or ""
    if previous == command.preset:
        return []
    event = PresetSwitched(preset=command.preset, previous=previous, reason=command.reason)
    return [Decided(REGISTRY_STREAM, event)]


@decide.register
def _define_preset(command: commands.DefinePreset, state: DecisionState) -> list[Decided]:
    if state.definition == command.definition:
        return []
    event = PresetDefined(preset=command.preset, definition=command.definition)
    return [Decided(REGISTRY_STREAM, event)]


@decide.register
def _record_fact(command: commands.RecordFact, state: DecisionState) -> list[Decided]:
    del state  # a fact needs no permission
    return [Decided(REGISTRY_STREAM, fact) for fact in command.facts]


@decide.register
def _import_skill(command: commands.ImportSkill, state: DecisionState) -> list[Decided]:
    skill = command.skill
    if state.capsule is not None:
        raise RefusedError(
            f"a skill named {skill.name} is imported already, from {state.capsule.source}",
            hint=f"germline adopt {skill.name}",
        )
    return [_placed(event) for event in imported(skill, command.triggers)]


@decide.register
def _move_skill(command: commands.MoveSkill, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    if capsule.source == command.source:
        return []
    event = CapsuleMoved(capsule=capsule.name, source=command.source, previous=capsule.source)
    return [_placed(event)]


@decide.register
def _propose(command: commands.Propose, state: DecisionState) -> list[Decided]:
    if state.candidate is not None:
        raise ConflictError(
            f"candidate {command.candidate[:12]} was proposed before",
            stream=f"candidate:{command.candidate}",
            expected=0,
            actual=state.candidate.times_scored + 1,
            hint=f"germline candidate show {command.candidate[:12]}",
        )
    if state.capsule is not None and command.proposal.skill is not None:
        raise RefusedError(
            f"a skill named {command.capsule} is in the registry already", hint=f"germline show {command.capsule}"
        )
    require_live(_base(state, command.proposal))
    return [Decided(f"candidate:{command.candidate}", command.proposal)]


@decide.register
def _freeze(command: commands.Freeze, state: DecisionState) -> list[Decided]:
    candidate = _undecided(state.candidate, command.candidate)
    if command.frozen.comparison in candidate.comparisons:
        return []
    return [Decided(f"candidate:{candidate.id}", command.frozen)]


@decide.register
def _judge(command: commands.Judge, state: DecisionState) -> list[Decided]:
    candidate = _undecided(state.candidate, command.candidate)
    capsule = _base(state, candidate.proposed)
    stream = f"candidate:{candidate.id}"
    known = command.scored_id == candidate.scored_id
    scored = [] if known else [Decided(stream, command.scored, command.scored_id)]
    names = {
        "candidate": candidate.id,
        "capsule": capsule.name,
        "reasons": command.reasons,
        "preset": command.preset,
    }
    if command.verdict == "reject":
        return [*scored, Decided(stream, CandidateRejected.model_validate(names))]
    if command.verdict == "hold":
        return [*scored, Decided(stream, CandidateHeld.model_validate(names))]
    require_live(capsule)
    if capsule.version != command.scored.base_version:
        raise ConflictError(
            f"{capsule.name} is at version {capsule.version}; the base is {command.scored.base_version}",
            stream=f"capsule:{capsule.name}",
            expected=command.scored.base_version,
            actual=capsule.version,
        )
    promoted = CandidatePromoted.model_validate({**names, "version": capsule.version + 1})
    measured = command.scored
    tested = claims_tested(measured, counted=candidate.counted)
    grounds = PromotionGrounds(
        measured.before, measured.after, measured.delta, command.scored_id, tested, measured.attributions
    )
    return [
        *scored,
        Decided(stream, promoted),
        *[_placed(event) for event in promotion(capsule, candidate.proposed, grounds)],
    ]


@decide.register
def _revert_version(command: commands.RevertVersion, state: DecisionState) -> list[Decided]:
    capsule, past = require_live(_require(state.capsule, command.capsule)), state.past
    if past is None or not 1 <= command.to_version < capsule.version:
        raise RefusedError(
            f"{label(capsule)} is the live version; it can go back to an earlier one only, "
            f"not to {command.to_version}",
            hint=f"germline log {capsule.name}",
        )
    return [_placed(event) for event in revert(capsule, past, command.reason)]


@decide.register
def _move_alias(command: commands.MoveAlias, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    return [_placed(event) for event in move_alias(capsule, command)]


@decide.register
def _deploy_alias(command: commands.DeployAlias, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    return [_placed(event) for event in deploy_alias(capsule, command)]


@decide.register
def _retire_version(command: commands.RetireVersion, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    return [_placed(event) for event in retire_version(capsule, command, state.retired)]


@decide.register
def _retire_skill(command: commands.RetireSkill, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    return [_placed(retire_skill(capsule, state.trial, command.reason))]


@decide.register
def _restore_skill(command: commands.RestoreSkill, state: DecisionState) -> list[Decided]:
    return [_placed(restore_skill(_require(state.capsule, command.capsule), command.reason))]


@decide.register
def _record_skill_fact(command: commands.RecordSkillFact, state: DecisionState) -> list[Decided]:
    require_version(_require(state.capsule, command.capsule), command.fact.version)
    return [_placed(command.fact)]


@decide.register
def _judge_description(command: commands.JudgeDescription, state: DecisionState) -> list[Decided]:
    capsule = require_live(_require(state.capsule, command.capsule))
    return [_placed(event) for event in judged_description(capsule, command.judged)]


@decide.register
def _protect(command: commands.Protect, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    gene = named_gene(capsule, command.gene)
    missing = set(command.lines) - {line.id for line in gene.lines}
    if missing:
        raise NotFoundError(f"{gene.id} has no line {min(missing)}", hint=f"germline show {capsule.name} --blame")
    event = GeneProtected(gene=gene.id, capsule=capsule.name, lines=command.lines, reason=command.reason)
    return [_placed(event)]


@decide.register
def _release(command: commands.Release, state: DecisionState) -> list[Decided]:
    capsule = _require(state.capsule, command.capsule)
    gene = named_gene(capsule, command.gene)
    event = GeneReleased(gene=gene.id, capsule=capsule.name, reason=command.reason)
    return [_placed(event)]


@decide.register
def _adopt(command: commands.Adopt, state: DecisionState) -> list[Decided]:
    capsule = require_live(_require(state.capsule, command.capsule))
    events = adopt(capsule, command.skill, keep_claims=command.keep_claims, sessions=command.sessions)
    return [_placed(event) for event in events]


@decide.register
def _reindex(command: commands.Reindex, state: DecisionState) -> list[Decided]:
    capsule = require_live(_require(state.capsule, command.capsule))
    return [_placed(event) for event in reindex(capsule, command.skill)]


@decide.register
def _merge_version(command: commands.MergeVersion, state: DecisionState) -> list[Decided]:
    merged, capsule = command.merged, state.capsule
    events: list[Frozen] = []
    if command.skill is not None:
        version = capsule.version + 1 if capsule else 1
        of = f"{merged.capsule}@{merged.origin_version} of registry {merged.origin.registry[:8]}"
        summary = f"merged: {of}, {merged.origin_cause} there"
        if capsule is None:
            events = [_merged_first(event, summary) for event in imported(command.skill)]
        else:
            events = merge(capsule, command.skill, summary)
    else:
        version = _require(capsule, merged.capsule).version
    return [_placed(event) for event in (*events, merged.model_copy(update={"version": version}))]


def _merged_first(event: Mutation, summary: str) -> Mutation:
    """Say of an event that imports a skill where the skill comes from."""
    of_version = {"summary": summary} if isinstance(event, CapsuleVersioned) else {}
    return event.model_copy(update={"after": MERGED, **of_version})


@decide.register
def _drop_claims(command: commands.DropClaims, state: DecisionState) -> list[Decided]:
    capsule = require_live(_require(state.capsule, command.capsule))
    return [_placed(event) for event in without_live_claims(capsule, command.claims, command.reason)]


@decide.register
def _review(command: commands.Review, state: DecisionState) -> list[Decided]:
    candidate = _undecided(state.candidate, command.candidate)
    capsule = _base(state, candidate.proposed)
    if command.decision == "approve":
        require_live(capsule)
    return [
        _placed(event) if isinstance(event, Mutation) else Decided(f"candidate:{candidate.id}", event)
        for event in review(capsule, candidate, command)
    ]


@decide.register
def _look_over(command: commands.LookOver, state: DecisionState) -> list[Decided]:
    return [Decided(f"candidate:{command.candidate}", look_over(state.candidate, command))]


@decide.register
def _judge_seen_line(command: commands.JudgeSeenLine, state: DecisionState) -> list[Decided]:
    candidate = require_candidate(state.candidate, command.candidate)
    return [Decided(f"candidate:{candidate.id}", command.judged)]


@decide.register
def _change_tier(command: commands.ChangeTier, state: DecisionState) -> list[Decided]:
    return [Decided(f"candidate:{command.candidate}", event) for event in tier_change(state.candidate, command)]


@decide.register
def _run_trial(command: commands.RunTrial, state: DecisionState) -> list[Decided]:
    capsule, event = _require(state.capsule, command.capsule), command.event
    return (
        [Decided(f"{TRIAL_STREAM}{event.trial}", event)] if after_trial_event(capsule, state.trial, event) else []
    )


@decide.register
def _promote_proven(command: commands.PromoteProven, state: DecisionState) -> list[Decided]:
    candidate = _undecided(state.candidate, command.candidate)
    capsule = require_live(_base(state, candidate.proposed))
    return [
        _placed(event) if isinstance(event, Mutation) else Decided(f"candidate:{candidate.id}", event)
        for event in promote_proven(capsule, candidate, command.reason)
    ]


@decide.register
def _score_version(command: commands.ScoreVersion, state: DecisionState) -> list[Decided]:
    require_version(_require(state.capsule, command.capsule), command.scored.version)
    return [_placed(command.scored)]


def _placed(event: Frozen) -> Decided:
    """Put an event of a skill on its stream: that of the gene it names, else that of the capsule."""
    gene = getattr(event, "gene", None)
    return Decided(f"gene:{gene}" if gene else f"capsule:{getattr(event, 'capsule')}", event)  # noqa: B009 - events of two kinds


def _undecided(candidate: Candidate | None, name: str) -> Candidate:
    candidate = require_candidate(candidate, name)
    if candidate.is_decided:
        raise ConflictError(
            f"candidate {candidate.id[:12]} has its verdict already: {candidate.verdict}",
            hint="germline candidates",
        )
    return candidate


def _base(state: DecisionState, proposed: CandidateProposed) -> Capsule:
    """Return what a candidate would change: its capsule, or one that is not there yet where it brings a skill."""
    if state.capsule is None and proposed.skill is not None:
        return unborn(proposed.capsule, proposed.skill)
    return _require(state.capsule, proposed.capsule)


def _require(capsule: Capsule | None, name: str) -> Capsule:
    if capsule is None:
        raise NotFoundError(f"no skill named {name} is in the registry", hint="germline import PATH")
    return capsule
