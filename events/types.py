"""The events as one discriminated union: everything that can have happened, as frozen data.

Nothing here computes: what an event does to the state is decided in `registry/`. Line ids are counted per
gene, from 1; a line's text keeps its line ending, so that joined lines are the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from events.candidate_events import (
    CandidateHeld,
    CandidatePromoted,
    CandidateProposed,
    CandidateRejected,
    CandidateReviewed,
    CandidateScored,
    ComparisonFrozen,
    PromotionReviewed,
)
from events.capsule_events import (
    AliasMoved,
    CapsuleBorn,
    CapsuleDescribed,
    CapsuleImported,
    CapsuleRetired,
    CapsuleReverted,
    CapsuleVersioned,
    FileChanged,
    HandEditAdopted,
    VersionRetired,
    VersionScored,
)
from events.gene_events import GeneBorn, GeneMoved, GeneMutated, GeneProtected, GeneReleased, GeneRetired
from events.model_events import ModelAsked, ModelBatchSent, NotesTaken
from events.registry_events import (
    AdviceGiven,
    CycleFinished,
    EvaluatorRegistered,
    EvidenceErased,
    JudgeCalibrated,
    OutcomeRecorded,
    PresetDefined,
    PresetSwitched,
    RegistryCreated,
    RolloutsReviewed,
    RunsScored,
    SignalRaised,
)

if TYPE_CHECKING:
    from events.base import Frozen

Event = Annotated[
    RegistryCreated
    | PresetSwitched
    | PresetDefined
    | EvaluatorRegistered
    | JudgeCalibrated
    | RunsScored
    | RolloutsReviewed
    | SignalRaised
    | OutcomeRecorded
    | CycleFinished
    | AdviceGiven
    | ModelAsked
    | ModelBatchSent
    | NotesTaken
    | EvidenceErased
    | GeneBorn
    | GeneMutated
    | GeneMoved
    | GeneProtected
    | GeneReleased
    | GeneRetired
    | CapsuleImported
    | CapsuleBorn
    | CapsuleVersioned
    | CapsuleReverted
    | CapsuleDescribed
    | FileChanged
    | HandEditAdopted
    | AliasMoved
    | VersionRetired
    | VersionScored
    | CapsuleRetired
    | CandidateProposed
    | ComparisonFrozen
    | CandidateScored
    | CandidateReviewed
    | PromotionReviewed
    | CandidatePromoted
    | CandidateRejected
    | CandidateHeld,
    Field(discriminator="type"),
]

EVENT_TYPES: tuple[type[Frozen], ...] = Event.__origin__.__args__  # type: ignore[attr-defined] # typing has no public way
"""Every event class, in the order of domain.md."""
