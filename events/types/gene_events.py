"""What happens to a gene: it is born, mutates, moves, is protected, retires."""

from typing import Literal

from events.types.claims import Claim, Trigger
from events.types.frozen import Frozen
from events.types.parts import Edit, Mutation, Reason, Strategy


class GeneBorn(Mutation):
    """A gene comes to be, with its first lines (ids 1…n); with a `keeper` it is open to that proposer alone.

    `claimed` names the line of each claim, in their order; empty where counting tells.
    """

    type: Literal["GeneBorn"] = "GeneBorn"
    gene: str
    capsule: str
    title: str
    lines: tuple[str, ...]
    after_gene: str | None = None
    strategy: Strategy | None = None
    claims: tuple[Claim, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    derived_from: str | None = None
    keeper: str = ""
    claimed: tuple[int, ...] = ()


class GeneMutated(Mutation):
    """Edits turn one version of a gene into the next; `title` is set where its heading changed."""

    type: Literal["GeneMutated"] = "GeneMutated"
    gene: str
    capsule: str
    version: int
    edits: tuple[Edit, ...]
    title: str | None = None
    strategy: Strategy | None = None
    claims_added: tuple[Claim, ...] = ()
    claims_dropped: tuple[Claim, ...] = ()
    triggers_added: tuple[Trigger, ...] = ()


class GeneMoved(Mutation):
    """A gene takes another place in its capsule: after `after_gene`, or first."""

    type: Literal["GeneMoved"] = "GeneMoved"
    gene: str
    capsule: str
    after_gene: str | None


class GeneProtected(Frozen):
    """Lines of a gene may no longer be edited; the whole gene where `lines` is empty."""

    type: Literal["GeneProtected"] = "GeneProtected"
    gene: str
    capsule: str
    lines: tuple[int, ...] = ()
    reason: Reason


class GeneReleased(Frozen):
    """The protection of a gene ends."""

    type: Literal["GeneReleased"] = "GeneReleased"
    gene: str
    capsule: str
    reason: Reason


class GeneRetired(Mutation):
    """A gene leaves its capsule."""

    type: Literal["GeneRetired"] = "GeneRetired"
    gene: str
    capsule: str
    reason: Reason
