"""The claim `after`: what the next action is not, after the k-th call of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import ANY, AfterError
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, next_action
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.claim_sentences import ordinal
from strategies.episodes.action_class import is_class, of_class

if TYPE_CHECKING:
    from events.types.claims import After, Claim
    from strategies.episodes.episode import EpisodeRecord


def after(claim: After, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `after`: the k-th call of the class, the k-th failing or the k-th identical one."""
    at = _kth(claim, record)
    following = None if at is None else next_action(record, at)
    if at is None or following is None:
        return None
    step = record.steps[following]
    if claim.identical:
        return Moment(at, step.kind != "call" or step.same_call != record.steps[at].same_call)
    return Moment(at, not is_class(step.action, claim.avoid))


def _kth(claim: After, record: EpisodeRecord) -> int | None:
    """Find the k-th call that counts; identical ones are counted apart from one another."""
    seen: dict[int, int] = {}
    called, failing, identical = of_class(claim.action), claim.failing, claim.identical
    for index, step in enumerate(record.steps):
        if (failing and not step.error) or not called[step.action] or step.kind != "call":
            continue
        same = step.same_call if identical else 0
        seen[same] = seen.get(same, 0) + 1
        if seen[same] == claim.k:
            return index
    return None


def _contradicts(claim: After, other: Claim) -> bool:
    """It clashes with a line that asks, after an error, for what it forbids; those that only avoid never clash."""
    if not isinstance(other, AfterError) or other.do is None or claim.identical or not claim.failing:
        return False
    return is_class(other.do, claim.avoid)


def _sentence(claim: After) -> str:
    act, avoided = command(claim.action), command(claim.avoid)
    again = f"do not {avoided}{' again' if claim.avoid == claim.action else ''} right away"
    time = "" if claim.k == 1 else f" for the {ordinal(claim.k)} time"
    if claim.identical and claim.action == ANY:
        when = f"When a call fails{time}, do not send it again unchanged."
        return when if claim.failing else "Do not send the same call twice in a row."
    if claim.identical and claim.failing:
        return f"When you {act} and it fails{time}, do not repeat it unchanged."
    if claim.identical and claim.k == 1:
        return f"Do not {act} twice in a row with the same input."
    if claim.identical:
        return f"When you {act}{time} with the same input, do not repeat it unchanged."
    if claim.failing:
        return f"When you {act} and it fails{time}, {again}."
    return f"After you {act}{time or ' for the first time'}, {again}."


AFTER: Final = ClaimKind(moment=after, contradicts=_contradicts, sentence=_sentence)
