"""The claim `after_error`: what the next action is after the first failure with a template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import AfterError
from strategies.claims.applicability import Moment, matches, next_action
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.claim_sentences import also_avoid_line, avoid_line, do_line
from strategies.episodes.action_class import is_class, overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def first_failure(record: EpisodeRecord, template: str) -> tuple[int, int] | None:
    """Find the first failing step with a template that an action follows, and that action (indices of steps).

    A failing step that nothing follows is the episode's last, so the first failure is the only one to look at.
    """
    for index, step in enumerate(record.steps):
        if step.error and matches(template, step.template):
            following = next_action(record, index)
            return None if following is None else (index, following)
    return None


def after_error(claim: AfterError, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `after_error`; a claim that names both `do` and `avoid` is judged by `do`."""
    failure = first_failure(record, claim.template)
    if failure is None:
        return None
    action = record.steps[failure[1]].action
    obeyed = is_class(action, claim.do) if claim.do is not None else not is_class(action, claim.avoid or "")
    return Moment(failure[0], obeyed)


def _contradicts(claim: AfterError, other: Claim) -> bool:
    """Two of them clash where one text fits both templates, and both cannot be obeyed."""
    if not isinstance(other, AfterError):
        return False
    if not (matches(claim.template, other.template) or matches(other.template, claim.template)):
        return False
    if claim.do is None:
        return False
    both_do = other.do is not None and not overlap(claim.do, other.do)
    return both_do or (other.avoid is not None and is_class(claim.do, other.avoid))


def _sentence(claim: AfterError) -> str:
    if claim.do is None:
        return avoid_line(claim.template, claim.avoid or "")
    line = do_line(claim.template, claim.do)
    return line if claim.avoid is None else f"{line} {also_avoid_line(claim.template, claim.avoid)}"


AFTER_ERROR: Final = ClaimKind(moment=after_error, contradicts=_contradicts, sentence=_sentence)
