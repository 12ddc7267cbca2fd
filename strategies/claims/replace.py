"""The claim `replace`: what is called in the place of a command that failed with an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import AfterError, Replace
from strategies.claims.action_phrases import command, plain
from strategies.claims.applicability import Moment, matches, next_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import command_name

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord, StepRecord


def replace(claim: Replace, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `replace`: the first failure of the command with the error, and the action after it.

    A failure that no action follows is no moment, as with `after_error`.
    """
    for index, step in enumerate(record.steps):
        if step.error and is_call_of(claim.action, step) and matches(claim.template, step.template):
            following = next_action(record, index)
            return None if following is None else Moment(index, obeys(claim, record.steps[following]))
    return None


def is_call_of(name: str, step: StepRecord) -> bool:
    """Tell whether a step calls a command: by its class, or where no subcommand is named by the command alone."""
    return step.kind == "call" and name in {step.action, command_name(step.action)}


def obeys(claim: Replace, step: StepRecord) -> bool:
    """Tell whether a step calls what the claim asks for, with the flag where it names one."""
    return is_call_of(claim.do, step) and (not claim.flag or claim.flag in step.flags)


def _contradicts(claim: Replace, other: Claim) -> bool:
    """At one failure only one command can come next, and none that another claim forbids."""
    if isinstance(other, Replace):
        same = claim.action == other.action and _overlap(claim.template, other.template)
        asks_for_more = claim.do == other.do and not (claim.flag and other.flag)
        turned_round = not claim.flag and claim.do == other.action and other.do == claim.action
        return turned_round or (same and (claim.do, claim.flag) != (other.do, other.flag) and not asks_for_more)
    if isinstance(other, AfterError) and _overlap(claim.template, other.template):
        return other.avoid == claim.do or (other.do is not None and other.do != claim.do)
    return False


def _overlap(template: str, other: str) -> bool:
    return matches(template, other) or matches(other, template)


def _sentence(claim: Replace) -> str:
    if claim.flag:
        return f"{_opened(command(claim.do))} with `{plain(claim.flag)}`."
    tool, _, head = claim.do.partition(":")
    own, _, own_head = claim.action.partition(":")
    if head and own_head and tool == own:
        return f"Use {plain(head)}, not {plain(own_head)}."
    return f"{_opened(command(claim.do))}: do not {command(claim.action)}."


def _opened(words: str) -> str:
    return words[:1].upper() + words[1:]


REPLACE: Final = ClaimKind(moment=replace, contradicts=_contradicts, sentence=_sentence)
