"""The claim `after_error`: what the next action is after the first failure with a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.gate.moment import Moment, matches, next_action

if TYPE_CHECKING:
    from events.claims import AfterError
    from strategies.logs.episode import EpisodeRecord


def first_failure(record: EpisodeRecord, template: str) -> tuple[int, int] | None:
    """Find the first failing step with a template, and the action that follows it (indices of the steps)."""
    for index, step in enumerate(record.steps):
        if step.error and matches(template, step.template):
            following = next_action(record, index)
            return None if following is None else (index, following)
    return None


def after_error(claim: AfterError, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `after_error`; a claim that names both `do` and `avoid` is judged by `do`."""
    found = first_failure(record, claim.template)
    if found is None:
        return None
    action = record.steps[found[1]].action
    obeyed = action == claim.do if claim.do is not None else action != claim.avoid
    return Moment(found[0], obeyed)
