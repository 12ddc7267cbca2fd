"""What a proposer hands over: lines with their claims, or the reason there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from strategies.gate.policy import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.claims import Claim
    from events.parts import Edit, NewGene
    from events.registry_events import SignalRaised
    from events.score import Endpoint
    from registry.capsule import Capsule
    from strategies.gate.contrast import Contrast
    from strategies.gate.decide import Verdict
    from strategies.proposers.explore import Explore


@dataclass(frozen=True)
class LearnedLine:
    """A line for a skill, without its ending, and the claim that logs can refute."""

    text: str
    claim: Claim


@dataclass(frozen=True)
class Removed:
    """Lines of a gene that go, by their ids, with the live claim that they carry.

    Without a claim nothing can be measured: a person decides. An `inert` claim seemed to do nothing, where else it
    seemed to hurt.
    """

    gene: str
    lines: tuple[int, ...]
    claim: Claim | None
    inert: bool = False


@dataclass(frozen=True)
class Copied:
    """The gene of another capsule that a line comes from, and the title that a gene of its own would bear here.

    With a `keeper` the line stands in a gene of its own in any case, which that proposer alone may edit; `gene` is
    "" where it comes from no other capsule.
    """

    gene: str
    title: str
    keeper: str = ""


@dataclass(frozen=True)
class Proposal:
    """What answers one signal: lines to write, of which the first's claim is judged, or lines to take away.

    `endpoint` is what explore had to go by, and what the gate judges by. A `general` rule stands before the
    learned lines of its gene: of two claims with one moment replay goes by the first. A `copied` line becomes a
    gene of its own where none answers the signal and the preset allows it.

    With `edits` the lines have their places already, one line each; `born` is a gene that would be new. What
    explore `refused` is recorded with that verdict and not measured; what is set `apart` must be seen by a person
    for what it says, and is known by its words as well, so that it stands in nobody's way. `actor` is who
    proposes, "" for the proposer itself.
    """

    proposer: str
    lines: tuple[LearnedLine, ...]
    reason: str
    endpoint: Endpoint = "outcome"
    removed: Removed | None = None
    general: bool = False
    copied: Copied | None = None
    edits: tuple[Edit, ...] = ()
    born: NewGene | None = None
    refused: Verdict | None = None
    apart: bool = False
    actor: str = ""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of its lines, the judged one first."""
        return tuple(line.claim for line in self.lines)

    def keeping(self, claims: Sequence[Claim]) -> Proposal:
        """Give the proposal with only the lines whose claims stay (`Evidence.kept`)."""
        return replace(self, lines=tuple(line for line in self.lines if line.claim in claims))


@dataclass(frozen=True)
class Mined:
    """What mining one signal came to: how many claims were tried, and the strongest of them, if any applied.

    The strongest is counted even where its arms are too small to be tried. `refused` counts what would have been
    proposed, had the gate not rejected it before. `why` says why there is no proposal, "" where claims say it.
    """

    proposal: Proposal | None
    tried: int
    strongest: Contrast | None
    refused: int = 0
    why: str = ""

    @property
    def needed_tasks(self) -> int | None:
        """The tasks that would be needed to settle the strongest claim; None where no claim applies."""
        return None if self.strongest is None else needed_tasks(self.strongest)


@dataclass(frozen=True)
class Tried:
    """What was proposed before for the same skill, in a proposer's own terms, and the gate's one word for it.

    Nothing measured on sealed logs is part of it. `removes` are the live claims that it would have taken away.
    """

    claims: tuple[Claim, ...]
    verdict: Literal["reject", "hold"]
    removes: tuple[Claim, ...] = ()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Ask:
    """What a proposer may look at: one signal, the explore split, and the skills as they stand.

    `others` are the capsules beside the one that is to change. `tried` is what the same evaluator did not promote
    in that one; `tried_before` counts the claims that proposers before this one tried in the same cycle, all
    without success: it must be as strict as if it had tried them too.
    """

    signal: SignalRaised
    explore: Explore
    capsule: Capsule | None = None
    others: tuple[Capsule, ...] = ()
    tried: tuple[Tried, ...] = ()
    tried_before: int = 0

    @property
    def refused(self) -> frozenset[Claim]:
        """The claims that the gate rejected, both of a pair: what to do and what to avoid were one question."""
        return frozenset(claim for one in self.tried if one.verdict == "reject" for claim in one.claims)

    @property
    def refused_removals(self) -> frozenset[Claim]:
        """The live claims that the gate would not let go."""
        return frozenset(claim for one in self.tried if one.verdict == "reject" for claim in one.removes)

    @property
    def refused_edits(self) -> frozenset[Edit]:
        """The edits that were rejected, word for word: what no claim covers is known by its edit alone."""
        return frozenset(edit for one in self.tried if one.verdict == "reject" for edit in one.edits)


class Proposer(Protocol):
    """Turns a signal and the explore split into a proposal; never sees another split."""

    def __call__(self, ask: Ask) -> Mined:
        """Fit claims on explore and keep what survives."""
        ...


def answer(ask: Ask, proposers: Iterable[Proposer]) -> Mined:
    """Let proposers try one after the other until one has something to propose."""
    tried, refused = ask.tried_before, 0
    strongest: list[Contrast] = []
    for proposer in proposers:
        mined = proposer(replace(ask, tried_before=tried))
        tried += mined.tried
        refused += mined.refused
        strongest += [mined.strongest] if mined.strongest else []
        if mined.proposal is not None:
            return replace(mined, tried=tried)
    return Mined(None, tried, max(strongest, key=lambda figures: abs(figures.z), default=None), refused)


def needed_tasks(strongest: Contrast) -> int | None:
    """Tell how many tasks the strongest claim would need, from explore's informative strata.

    Enough for both arms, for the least number of tasks, and for a z of 2.33 (one-sided 1 %), all growing in
    proportion. None where an arm is empty or the claim shows nothing. Source: replay_and_gate.md.
    """
    z = abs(strongest.z)
    if not (strongest.obeyed and strongest.disobeyed and z):
        return None
    rule, tasks = WRITTEN_RULE, strongest.tasks
    growth = max(
        rule.least_arm / strongest.obeyed,
        rule.least_arm / strongest.disobeyed,
        rule.least_tasks / tasks,
        (2.33 / z) ** 2,
    )
    return math.ceil(tasks * growth)
