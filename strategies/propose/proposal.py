"""What a proposer is asked and what it proposes: one of five kinds of change, or the reason there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self

from events.types.parts import Edit
from strategies.gate.rule import NeededTasks
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.scope.other_work import NO_OTHER_WORK, OtherWork
from strategies.signals.regression import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from events.types.parts import NewGene
    from events.types.registry_events import SignalRaised
    from events.types.score import Endpoint
    from registry.query.library import Library
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.gate.replay.contrast import Contrast
    from strategies.gate.replay.explore_split import Explore
    from strategies.gate.verdict import Verdict


NO_CLAIM: Final = "no claim covers the line"
"""Why lines are not measured that no log can refute."""
FOR_A_PERSON: Final = "a person decides on what it says"
"""Why text is not measured that a person must see first."""


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

    With a `keeper` the line is in a gene of its own in any case, which that proposer alone may edit; `gene` is
    "" where it comes from no other capsule.
    """

    gene: str
    title: str
    keeper: str = ""


@dataclass(frozen=True, kw_only=True)
class _Reasoned:
    """What every kind of proposal has: the proposer, and why it proposes this."""

    proposer: str
    reason: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that it would make, the judged one first."""
        return ()

    @property
    def removes(self) -> tuple[Claim, ...]:
        """The live claims that it would take away."""
        return ()

    @property
    def inert(self) -> bool:
        """Whether it takes away what seemed to do nothing."""
        return False

    @property
    def answers_signal(self) -> bool:
        """Whether what it writes answers the signal from then on."""
        return bool(self.claims)

    def words(self, capsule: Capsule) -> str:
        """Give the text that it is known by where its claims do not say what it is about, else ""."""
        del capsule
        return ""


@dataclass(frozen=True, kw_only=True)
class _Claimed(_Reasoned):
    """A proposal that brings lines with their claims; `endpoint` is what explore, and so the gate, judges by.

    `chosen_of` is the number of claims that explore chose from, 0 where that cannot be counted: a model or a
    person may have thought of any number.
    """

    lines: tuple[LearnedLine, ...]
    endpoint: Endpoint = "outcome"
    chosen_of: int = 0

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of its lines, the judged one first."""
        return tuple(line.claim for line in self.lines)


@dataclass(frozen=True, kw_only=True)
class NewLines(_Claimed):
    """Lines for the gene that answers the signal, which get their places when they are measured.

    A `general` rule comes before the learned lines of its gene: of two claims with one moment replay goes by the
    first.
    """

    general: bool = False

    def keeping(self, claims: Sequence[Claim]) -> Self:
        """Give the proposal with only the lines whose claims stay (`ReplayEvidence.kept`)."""
        return replace(self, lines=tuple(line for line in self.lines if line.claim in claims))


@dataclass(frozen=True, kw_only=True)
class OwnSection(NewLines):
    """Lines that become a gene of their own where none answers the signal and the preset allows it."""

    copied: Copied


@dataclass(frozen=True, kw_only=True)
class Removal(_Reasoned):
    """Lines that go; what explore `refused` is recorded with that verdict and not measured."""

    removed: Removed
    refused: Verdict | None = None

    @property
    def removes(self) -> tuple[Claim, ...]:
        """The live claim that the lines carry, if one does."""
        return (self.removed.claim,) if self.removed.claim else ()

    @property
    def inert(self) -> bool:
        """Whether the claim seemed to do nothing."""
        return self.removed.inert

    @property
    def edit(self) -> Edit:
        """The edit that takes the lines away."""
        return Edit(op="delete", gene=self.removed.gene, target=self.removed.lines)

    @property
    def unmeasured(self) -> str:
        """Why it is not measured, "" where it is."""
        if self.refused is not None:
            return self.refused.reasons[0]
        return "" if self.removed.claim else NO_CLAIM

    def words(self, capsule: Capsule) -> str:
        """Give the text of the lines where no claim covers them."""
        gene = None if self.removes else capsule.gene(self.removed.gene)
        return "".join(line.text for line in gene.lines if line.id in self.removed.lines) if gene else ""


@dataclass(frozen=True, kw_only=True)
class PlacedEdits(_Claimed):
    """Edits that have their places already, one line with its claim each, from a model (`actor`)."""

    edits: tuple[Edit, ...]
    actor: str = ""


@dataclass(frozen=True, kw_only=True)
class UnmeasuredEdits(PlacedEdits):
    """Edits that nothing measures, because explore `refused` them, or because a person must decide; `why` says so.

    They are known by their words as well as by their claims, so that they keep nothing else from being proposed.
    `born` is a gene that would be new.
    """

    why: str
    refused: Verdict | None = None
    born: NewGene | None = None

    @property
    def answers_signal(self) -> bool:
        """Whether it brings claims, or a gene."""
        return bool(self.claims or self.born)

    def words(self, capsule: Capsule) -> str:
        """Give all text that it would write."""
        del capsule
        born = self.born.lines if self.born else ()
        return "".join((*born, *(line for edit in self.edits for line in edit.text)))


Proposal = NewLines | OwnSection | Removal | PlacedEdits | UnmeasuredEdits
"""What answers one signal."""


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
    def needed(self) -> NeededTasks | None:
        """The tasks that would be needed to settle the strongest claim; None where no claim applies."""
        needed = None if self.strongest is None else needed_tasks(self.strongest)
        return NeededTasks(self.strongest.tasks, needed) if self.strongest and needed else None


@dataclass(frozen=True)
class PastProposal:
    """What was proposed before for the same skill, in a proposer's own terms, and the gate's one word for it.

    Nothing measured on sealed logs is part of it. `removes` are the live claims that it would have taken away.
    """

    claims: tuple[Claim, ...]
    verdict: Literal["reject", "hold"]
    removes: tuple[Claim, ...] = ()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class ProposalRequest:
    """What a proposer may look at: one signal, the explore split, and the skills as they stand.

    `others` are the capsules beside the one that is to change. `tried` is what the same evaluator did not promote
    in that one; `tried_before` counts the claims that proposers before this one tried in the same cycle, all
    without success: it must be as strict as if it had tried them too. Of `other_work` no claim
    is tried.
    """

    signal: SignalRaised
    explore: Explore
    capsule: Capsule | None = None
    others: tuple[Capsule, ...] = ()
    tried: tuple[PastProposal, ...] = ()
    tried_before: int = 0
    other_work: OtherWork = NO_OTHER_WORK

    @property
    def refused(self) -> frozenset[Claim]:
        """The claims that the gate rejected, both of a pair: what to do and what to avoid were one question."""
        return frozenset(claim for past in self.tried if past.verdict == "reject" for claim in past.claims)

    @property
    def refused_removals(self) -> frozenset[Claim]:
        """The live claims that the gate would not let go."""
        return frozenset(claim for past in self.tried if past.verdict == "reject" for claim in past.removes)

    @property
    def refused_edits(self) -> frozenset[Edit]:
        """The edits that were rejected, word for word: what no claim covers is known by its edit alone."""
        return frozenset(edit for past in self.tried if past.verdict == "reject" for edit in past.edits)


class Proposer(Protocol):
    """Turns a signal and the explore split into a proposal; never sees another split."""

    def __call__(self, ask: ProposalRequest) -> Mined:
        """Fit claims on explore and keep what survives."""
        ...


def answer(ask: ProposalRequest, proposers: Iterable[Proposer]) -> Mined:
    """Let proposers try one after the other until one has something to propose."""
    tried, refused, why = ask.tried_before, 0, ""
    strongest: list[Contrast] = []
    for proposer in proposers:
        mined = proposer(replace(ask, tried_before=tried))
        tried += mined.tried
        refused += mined.refused
        why = why or mined.why
        strongest += [mined.strongest] if mined.strongest else []
        if mined.proposal is not None:
            return replace(mined, tried=tried)
    return Mined(None, tried, max(strongest, key=lambda figures: abs(figures.z), default=None), refused, why)


def needed_tasks(strongest: Contrast) -> int | None:
    """Tell how many tasks the strongest claim would need, from explore's informative strata.

    Enough for both arms, for the least number of tasks, and for a z of 2.33 (one-sided 1 %), all growing in
    proportion. None where an arm is empty or the claim shows nothing.
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


def remembered(library: Library, capsule: str, evaluator: str) -> tuple[PastProposal, ...]:
    """List what one evaluator rejected or held for a capsule, in the order it was proposed.

    A promotion that was taken back counts as rejected. Where nothing could be measured a person decided, and that
    holds under every evaluator.
    """
    return tuple(
        PastProposal(
            claims=candidate.proposed.claims,
            verdict="reject" if candidate.taken_back or candidate.verdict == "reject" else "hold",
            removes=candidate.proposed.removes,
            edits=candidate.proposed.edits,
        )
        for candidate in library.candidates(capsule)
        if (candidate.verdict in {"reject", "hold"} or candidate.taken_back)
        and (candidate.proposed.evaluator == evaluator or not _is_measurable(candidate))
    )


def relapse(library: Library, proposed: CandidateProposed) -> str:
    """Name the version by which the same claims came before and made things worse, "" where there is none.

    What agents did under it says more than any replay, under whatever evaluator.
    """
    if not (proposed.claims or proposed.removes):
        return ""
    for candidate in library.candidates(proposed.capsule):
        same = (
            set(candidate.proposed.claims) == set(proposed.claims)
            and candidate.proposed.removes == proposed.removes
        )
        if (
            same
            and candidate.reverted
            and library.signal(fingerprint_of(proposed.capsule, str(candidate.version)))
        ):
            return f"{proposed.capsule}@{candidate.version}"
    return ""


def _is_measurable(candidate: Candidate) -> bool:
    return bool(candidate.proposed.claims or candidate.proposed.removes)
