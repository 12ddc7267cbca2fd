"""The kinds of events: all that can have happened, by name, with the schema that each is written with.

Nothing here computes: what an event does to the state is decided in `registry/`. Line ids are counted per gene,
from 1; a line's text keeps its line ending, so that joined lines are the file.

The log is never rewritten: an event keeps the schema number and the bytes that it was written with, and its hash.
A type begins at schema 1. Where its fields change, an upcaster is added to `UPCASTERS`: the next schema number is
then the one that is written, and a golden file of the old schema stays in `tests/golden/` for ever. A new optional
field takes a number too, though its upcaster changes nothing: an older germline then says that a newer one wrote
the event, where it would else call it damaged.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.frozen import Frozen

    Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
    """Takes the fields of a payload to the next schema: pure, and total for whatever that schema allowed."""

NAMES_IN: Final[dict[str, tuple[str, ...]]] = {
    "registry_events": (
        "RegistryCreated",
        "PresetSwitched",
        "PresetDefined",
        "EvaluatorRegistered",
        "SignalRaised",
        "SignalAssigned",
        "ReadingCorrected",
        "OutcomeRecorded",
        "CycleFinished",
        "EvidenceErased",
    ),
    "judge_events": (
        "JudgeCalibrated",
        "RunsScored",
        "RolloutsReviewed",
        "SessionsReviewed",
        "AdviceGiven",
    ),
    "model_events": (
        "ModelAsked",
        "ModelBatchSent",
        "NotesTaken",
    ),
    "gene_events": (
        "GeneBorn",
        "GeneMutated",
        "GeneMoved",
        "GeneProtected",
        "GeneReleased",
        "GeneRetired",
    ),
    "capsule_events": (
        "CapsuleImported",
        "CapsuleBorn",
        "CapsuleVersioned",
        "CapsuleReverted",
        "CapsuleDescribed",
        "FileChanged",
        "HandEditAdopted",
        "VersionMerged",
        "CapsuleMoved",
        "AliasMoved",
        "AliasDeployed",
        "VersionRetired",
        "VersionScored",
        "SkillTested",
        "SkillModelsCompared",
        "DescriptionJudged",
        "RetirementProposed",
        "CapsuleRetired",
        "CapsuleRestored",
    ),
    "candidate_events": (
        "CandidateProposed",
        "ComparisonFrozen",
        "CandidateScored",
        "CandidateReviewed",
        "PromotionReviewed",
        "CandidatePromoted",
        "CandidateRejected",
        "CandidateHeld",
        "SeenLineJudged",
        "LineTierChanged",
    ),
    "trial_events": (
        "TrialStarted",
        "TrialAssigned",
        "TrialLooked",
        "TrialEnded",
    ),
    "training_events": (
        "TrainingStarted",
        "TrainingEpochEnded",
    ),
    "research_events": (
        "ResearchStarted",
        "NoiseMeasured",
        "ExperimentProposed",
        "ExperimentEnded",
        "ExperimentUndone",
    ),
    "audit_events": (
        "AuditTaskInterpreted",
        "AuditStarted",
        "EvaluatorReported",
        "AuditJudged",
        "AuditEnded",
    ),
}
"""The event types of each module, in the order of a skill's life."""

_MODULE_OF: Final = {name: module for module, names in NAMES_IN.items() for name in names}

EVENT_NAMES: Final = _MODULE_OF.keys()
"""Every event type, in the order of a skill's life."""


@cache
def event_type(name: str) -> type[Frozen]:
    """Return the class of an event type; its module is imported with the first event of it.

    Raises: KeyError for a type that this germline does not know.
    """
    kind: type[Frozen] = getattr(import_module(f"events.types.{_MODULE_OF[name]}"), name)
    return kind


def event_types() -> tuple[type[Frozen], ...]:
    """Return every event class, in the order of a skill's life."""
    return tuple(map(event_type, EVENT_NAMES))


def _unchanged(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave a payload as it is: what is new is optional."""
    return fields


UPCASTERS: Final[dict[str, tuple[Upcaster, ...]]] = {
    # 2: an effect says whether it holds without any single origin; 3: whether a common cause explains it;
    # 4: which hints from the world stand for labels; 5: of how many claims it was chosen; 6: what each run shows,
    # what explore shows of like decisions beside sealed, and what is beyond doing the same elsewhere; 7: runs on
    # the tasks that a change is for; 8: how alike both sides were before, how strong the unseen would have to be;
    # 9: what a decision goes with in other attempts of its task
    "CandidateScored": (*[_unchanged] * 8,),
    "LineTierChanged": (_unchanged,),  # 2: how strong something unseen would have to be
    "EvaluatorRegistered": (_unchanged,),  # 2: one for a skill, within another; which hints stand for labels
    "CapsuleVersioned": (_unchanged,),  # 2: the hash of what the version projects
    "OutcomeRecorded": (_unchanged,),  # 2: what git tells of commits
    # 2: claims about what comes after a call, and at any time before another; 3: the tags of the tasks it is for
    "CandidateProposed": (_unchanged, _unchanged),
    # 2: whether there is knowledge, how sure the rule is, and on which rung of the ladder work was begun
    "AdviceGiven": (_unchanged,),
    # 2: the pairs that infrastructure lost; 3: which draft of its iteration it is
    "AuditJudged": (_unchanged, _unchanged),
    "SkillTested": (_unchanged,),  # 2: the one line that was tested
    "GeneBorn": (_unchanged,),
    "GeneMutated": (_unchanged,),
    "CapsuleReverted": (_unchanged,),
    "CapsuleDescribed": (_unchanged,),  # 2: what sessions say of a description that was judged by them
}
"""By event type: the n-th takes a payload from schema n to schema n + 1."""


def schema_of(kind: str) -> int:
    """Return the schema number that events of a type are written with."""
    return 1 + len(UPCASTERS.get(kind, ()))


def upcast(kind: str, schema: int, payload: bytes) -> bytes:
    """Bring a payload of an older schema to the current one of its type.

    Raises: ValueError, KeyError or TypeError where it is not what its schema says, or there is no such schema.
    """
    if schema < 1:
        raise ValueError(f"there is no schema {schema}")
    fields: dict[str, Any] = json.loads(payload)
    for step in UPCASTERS.get(kind, ())[schema - 1 :]:
        fields = step(fields)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
