"""Genes: the unit that evolves; titled lines with identity, with claims and triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from events.types.claims import Claim, Trigger
    from registry.state.line import SkillLine


class LiveClaim(NamedTuple):
    """A claim that a gene makes now, and the position of the event that brought it.

    `line` is the id of the line that carries it where the event names it, 0 where it is known by counting
    (`claims_of`).
    """

    claim: Claim
    origin: int
    line: int = 0


@dataclass(frozen=True)
class Gene:
    """A gene at one version. `next_line` is the id that its next new line will take.

    `title` is the heading's text without marks, "" for the preamble. `protected` holds line ids;
    `protected_whole` covers lines yet to come as well. Where it has a `keeper`, it is open to that proposer alone.
    """

    id: str
    capsule: str
    version: int
    title: str
    lines: tuple[SkillLine, ...]
    next_line: int
    claims: tuple[LiveClaim, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    protected: frozenset[int] = frozenset()
    protected_whole: bool = False
    keeper: str = ""

    @property
    def is_protected(self) -> bool:
        """Whether any of its lines may not change, or only by one keeper."""
        return bool(self.protected or self.protected_whole or self.keeper)

    def is_open(self, *lines: int, by: str = "") -> bool:
        """Tell whether a proposer may change or remove these lines; of no lines, whether it may add some."""
        is_kept = self.protected_whole or self.keeper not in {"", by}
        return not is_kept and self.protected.isdisjoint(lines)
