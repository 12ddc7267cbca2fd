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
from typing import TYPE_CHECKING, Any, Final

from events.types.audit_events import (
    AuditEnded,
    AuditJudged,
    AuditStarted,
    AuditTaskInterpreted,
    EvaluatorReported,
)
from events.types.candidate_events import (
    CandidateHeld,
    CandidatePromoted,
    CandidateProposed,
    CandidateRejected,
    CandidateReviewed,
    CandidateScored,
    ComparisonFrozen,
    LineTierChanged,
    PromotionReviewed,
    SeenLineJudged,
)
from events.types.capsule_events import (
    AliasDeployed,
    AliasMoved,
    CapsuleBorn,
    CapsuleDescribed,
    CapsuleImported,
    CapsuleMoved,
    CapsuleRestored,
    CapsuleRetired,
    CapsuleReverted,
    CapsuleVersioned,
    DescriptionJudged,
    FileChanged,
    HandEditAdopted,
    RetirementProposed,
    SkillTested,
    VersionMerged,
    VersionRetired,
    VersionScored,
)
from events.types.gene_events import GeneBorn, GeneMoved, GeneMutated, GeneProtected, GeneReleased, GeneRetired
from events.types.judge_events import AdviceGiven, JudgeCalibrated, RolloutsReviewed, RunsScored
from events.types.model_events import ModelAsked, ModelBatchSent, NotesTaken
from events.types.registry_events import (
    CycleFinished,
    EvaluatorRegistered,
    EvidenceErased,
    OutcomeRecorded,
    PresetDefined,
    PresetSwitched,
    ReadingCorrected,
    RegistryCreated,
    SignalAssigned,
    SignalRaised,
)
from events.types.research_events import (
    ExperimentEnded,
    ExperimentProposed,
    ExperimentUndone,
    NoiseMeasured,
    ResearchStarted,
)
from events.types.training_events import TrainingEpochEnded, TrainingStarted
from events.types.trial_events import TrialAssigned, TrialEnded, TrialLooked, TrialStarted

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.frozen import Frozen

    Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
    """Takes the fields of a payload to the next schema: pure, and total for whatever that schema allowed."""

EVENT_TYPES: Final[tuple[type[Frozen], ...]] = (
    RegistryCreated,
    PresetSwitched,
    PresetDefined,
    EvaluatorRegistered,
    SignalRaised,
    SignalAssigned,
    ReadingCorrected,
    OutcomeRecorded,
    CycleFinished,
    EvidenceErased,
    JudgeCalibrated,
    RunsScored,
    RolloutsReviewed,
    AdviceGiven,
    ModelAsked,
    ModelBatchSent,
    NotesTaken,
    GeneBorn,
    GeneMutated,
    GeneMoved,
    GeneProtected,
    GeneReleased,
    GeneRetired,
    CapsuleImported,
    CapsuleBorn,
    CapsuleVersioned,
    CapsuleReverted,
    CapsuleDescribed,
    FileChanged,
    HandEditAdopted,
    VersionMerged,
    CapsuleMoved,
    AliasMoved,
    AliasDeployed,
    VersionRetired,
    VersionScored,
    SkillTested,
    DescriptionJudged,
    RetirementProposed,
    CapsuleRetired,
    CapsuleRestored,
    CandidateProposed,
    ComparisonFrozen,
    CandidateScored,
    CandidateReviewed,
    PromotionReviewed,
    CandidatePromoted,
    CandidateRejected,
    CandidateHeld,
    SeenLineJudged,
    LineTierChanged,
    TrialStarted,
    TrialAssigned,
    TrialLooked,
    TrialEnded,
    TrainingStarted,
    TrainingEpochEnded,
    ResearchStarted,
    NoiseMeasured,
    ExperimentProposed,
    ExperimentEnded,
    ExperimentUndone,
    AuditTaskInterpreted,
    AuditStarted,
    EvaluatorReported,
    AuditJudged,
    AuditEnded,
)
"""Every event class, in the order of a skill's life."""

BY_NAME: Final[dict[str, type[Frozen]]] = {kind.__name__: kind for kind in EVENT_TYPES}
"""Every event class, by the name of its type."""


def _unchanged(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave a payload as it is: what is new is optional."""
    return fields


UPCASTERS: Final[dict[str, tuple[Upcaster, ...]]] = {
    # 2: an effect says whether it holds without any single origin; 3: whether a common cause explains it;
    # 4: which hints from the world stand for labels; 5: of how many claims it was chosen; 6: what each run shows,
    # what explore shows of like decisions beside sealed, and what is beyond doing the same elsewhere; 7: runs on
    # the tasks that a change is for; 8: how alike both sides were before, how strong the unseen would have to be
    "CandidateScored": (_unchanged, _unchanged, _unchanged, _unchanged, _unchanged, _unchanged, _unchanged),
    "LineTierChanged": (_unchanged,),  # 2: how strong something unseen would have to be
    "EvaluatorRegistered": (_unchanged,),  # 2: one for a skill, within another; which hints stand for labels
    "CapsuleVersioned": (_unchanged,),  # 2: the hash of what the version projects
    "OutcomeRecorded": (_unchanged,),  # 2: what git tells of commits
    # 2: claims about what comes after a call, and at any time before another; 3: the tags of the tasks it is for
    "CandidateProposed": (_unchanged, _unchanged),
    # 2: whether there is knowledge, how sure the rule is, and on which rung of the ladder work was begun
    "AdviceGiven": (_unchanged,),
    "AuditJudged": (_unchanged,),  # 2: the pairs that infrastructure lost
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
