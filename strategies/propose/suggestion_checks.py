"""Ideas: what a model suggests, as edits that fit the skill and claims that name what logs hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, NotFoundError
from events.types.claims import After, AfterError, Before, FinishWith, OutputClaim, StartWith
from events.types.parts import Edit
from registry.decide.promote import edited
from registry.state.line_claims import claims_of
from strategies.claims.catalogue import contradicts
from strategies.episodes.episode import MESSAGE
from strategies.gate.injection import suspicious
from strategies.propose.mine_claims import action_classes
from strategies.propose.placement import appended, line_ending
from strategies.propose.proposal import PlacedEdits, Removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.claims import Claim
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.models.tasks.suggestions import SuggestedEdit, Suggestion
    from strategies.models.tasks.training_case import TrainingEdit
    from strategies.propose.proposal import Proposal, ProposalRequest

CLAUDE: Final = "claude"
"""The name of the proposer."""
FORMS: Final = frozenset({"number", "json", "code", "list", "table", "link"})
"""What the claim `output` may name (logs/answer_forms.py)."""
_OPENING: Final = ("```", "~~~", "<!--")
"""What a single line cannot close again: all that follows would be code, or a comment."""


class Vocabulary(NamedTuple):
    """What claims may be made of: the error templates and the action classes of explore."""

    templates: frozenset[str]
    actions: frozenset[str]

    def holds(self, claim: Claim) -> bool:
        """Tell whether a claim is whole, and names only what explore holds."""
        match claim:
            case AfterError():
                single = (claim.do is None) != (claim.avoid is None)
                return single and claim.template in self.templates and (claim.do or claim.avoid) in self.actions
            case After():
                kinds = claim.failing + claim.identical
                return kinds <= 1 and {claim.action, claim.avoid} <= self.actions
            case Before():
                return {claim.action, claim.do} <= self.actions
            case StartWith() | FinishWith():
                return claim.do in self.actions
            case OutputClaim():
                return claim.pattern in FORMS
        return False


@dataclass(frozen=True)
class Idea:
    """Edits that are proposed together, with a claim for each, or for none; `support` counts the reflections.

    One that takes lines away has `removed`. What is `apart` says something that a person must see first.
    """

    edits: tuple[Edit, ...]
    claims: tuple[Claim, ...]
    texts: tuple[str, ...]
    actor: str
    removed: Removed | None = None
    apart: bool = False
    support: int = 1

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two of them one: the claims, and the words where no claim says what it is about."""
        words = self.texts if self.apart or not self.claims else ()
        return frozenset(self.claims), words, self.removed


def vocabulary_of(explore: Sequence[EpisodeRecord]) -> Vocabulary:
    """Collect what claims may be made of."""
    templates = {step.template for record in explore for step in record.steps if step.error and step.template}
    return Vocabulary(frozenset(templates), frozenset((*action_classes(explore), MESSAGE)))


def ideas_in(capsule: Capsule, vocabulary: Vocabulary, suggestion: Suggestion, actor: str) -> Iterator[Idea]:
    """Divide a suggestion: claimed edits stay together, each other edit is an idea of its own; misfits go."""
    claimed: list[tuple[Edit, Claim, str]] = []
    for suggested in suggestion.edits:
        edit = fitting_edit(capsule, suggested)
        if edit is None:
            continue
        claim = suggested.claim if suggested.claim and vocabulary.holds(suggested.claim) else None
        if suggested.op == "delete":
            yield Idea((edit,), (), (), actor, removed=_removed(capsule, edit))
        elif claim is None:
            yield Idea((edit,), (), (suggested.text,), actor, apart=bool(suspicious([suggested.text], ())))
        elif claim not in {known for _, known, _ in claimed}:
            claimed.append((edit, claim, suggested.text))
    edits = tuple(edit for edit, _, _ in claimed)
    if edits and fit_together(capsule, edits):
        claims, texts = tuple(claim for _, claim, _ in claimed), tuple(text for _, _, text in claimed)
        yield Idea(edits, claims, texts, actor, apart=bool(suspicious(texts, claims)))


def fitting_edit(capsule: Capsule, suggested: SuggestedEdit | TrainingEdit) -> Edit | None:
    """Make an edit of a suggestion; None where it does not fit the skill as it is."""
    gene = capsule.gene(suggested.gene)
    text = suggested.text.strip("\r\n")
    wrong = (not text.strip() or "\n" in text or "\r" in text) != (suggested.op == "delete")
    if (
        gene is None
        or wrong
        or text.lstrip().startswith(_OPENING)
        or (suggested.op == "insert_after" and len(suggested.target) != 1)
    ):
        return None
    if suggested.op == "append":
        edit = appended(capsule, gene, [text])
    else:
        lines = () if suggested.op == "delete" else (f"{text}{line_ending(gene)}",)
        edit = Edit(op=suggested.op, gene=suggested.gene, target=suggested.target, text=lines)
    return edit if fit_together(capsule, (edit,)) else None


def fit_together(capsule: Capsule, edits: tuple[Edit, ...]) -> bool:
    """Tell whether edits can be made to a skill as it is, all of them."""
    try:
        edited(capsule, edits, by=CLAUDE)
    except (EditError, NotFoundError):
        return False
    return True


def still_fits(capsule: Capsule, proposal: Proposal) -> bool:
    """Tell whether edits that have their places already still fit, after what was promoted meanwhile."""
    return not isinstance(proposal, PlacedEdits) or not proposal.edits or fit_together(capsule, proposal.edits)


def _removed(capsule: Capsule, edit: Edit) -> Removed:
    """Say which live claim goes with lines: one that they carry alone, and that replay can judge the loss of."""
    gene = capsule.gene(edit.gene)
    if gene is None:
        return Removed(edit.gene, edit.target, None)
    carried = {claim for line in gene.lines if line.id in edit.target for claim in claims_of(gene, line)}
    elsewhere = {claim for line in gene.lines if line.id not in edit.target for claim in claims_of(gene, line)}
    alone = carried - elsewhere
    claim = next(iter(alone)) if len(carried) == len(alone) == 1 else None
    return Removed(edit.gene, edit.target, None if isinstance(claim, Before) else claim)


def merged(ideas: Iterable[Idea]) -> list[Idea]:
    """Make one of those that say the same; the first gives the words, all of them support it."""
    by_key: dict[tuple[object, ...], Idea] = {}
    for idea in ideas:
        known = by_key.get(idea.key)
        by_key[idea.key] = idea if known is None else replace(known, support=known.support + 1)
    return list(by_key.values())


def was_refused(ask: ProposalRequest, idea: Idea) -> bool:
    """Tell whether the gate rejected an idea before, by its claims, or word for word where it has none."""
    if idea.removed is not None and idea.removed.claim is not None:
        return idea.removed.claim in ask.refused_removals
    if idea.claims and not idea.apart:
        return not ask.refused.isdisjoint(idea.claims)
    return not ask.refused_edits.isdisjoint(idea.edits)


def agreeing(ranked: Iterable[Idea]) -> list[Idea]:
    """Drop what contradicts an idea of higher rank."""
    kept: list[Idea] = []
    for idea in ranked:
        others = [claim for kept_idea in kept for claim in kept_idea.claims]
        if not any(contradicts(claim, other) for claim in idea.claims for other in others):
            kept.append(idea)
    return kept


def clipped(ideas: Iterable[Idea], edit_budget: int) -> list[Idea]:
    """Keep the first ones that fit the budget of edits."""
    left, kept = edit_budget, []
    for idea in ideas:
        if len(idea.edits) <= left:
            left -= len(idea.edits)
            kept.append(idea)
    return kept
