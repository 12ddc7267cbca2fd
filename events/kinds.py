"""The kinds of events: all that can have happened, by name, and the module in which each one is a class.

A class is imported once an event of its type is read: with pydantic all of them take a quarter of a second, and a
look at the log needs few or none.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from events.base import Frozen

_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "registry_events": (
        "RegistryCreated",
        "PresetSwitched",
        "PresetDefined",
        "EvaluatorRegistered",
        "SignalRaised",
        "OutcomeRecorded",
        "CycleFinished",
        "EvidenceErased",
    ),
    "judge_events": (
        "JudgeCalibrated",
        "RunsScored",
        "RolloutsReviewed",
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
        "CapsuleMoved",
        "AliasMoved",
        "VersionRetired",
        "VersionScored",
        "CapsuleRetired",
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
    ),
}
"""By module, in the order of domain.md."""

MODULES: Final[dict[str, str]] = {name: module for module, names in _TYPES.items() for name in names}
"""The module of every type."""


@cache
def class_of(name: str) -> type[Frozen]:
    """Return the class of a type; raises KeyError for one that is not known."""
    found: type[Frozen] = getattr(import_module(f"events.{MODULES[name]}"), name)
    return found
