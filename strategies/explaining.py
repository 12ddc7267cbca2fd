"""What `gate explain` tells: a candidate's verdict, rule by rule, from what the registry stored of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.births import base_of
from strategies.binding import bound_by
from strategies.drafts import live_claims
from strategies.gate.explain import explain

if TYPE_CHECKING:
    from registry.candidate import Candidate
    from registry.library import Library
    from strategies.gate.explain import Explanation
    from strategies.presets import Preset


def explained(library: Library, candidate: Candidate) -> tuple[Explanation, Preset]:
    """Apply the rules again to a candidate's stored figures, under the preset that judged it; answers with both.

    What a person decided, or nobody yet, goes by the preset that it was proposed under.
    Raises: NotFoundError for a preset that is known no more.
    """
    proposed = candidate.proposed
    base = base_of(library, proposed, str(proposed.base_version))
    preset = bound_by(library, candidate.preset or proposed.preset).preset
    return explain(proposed, candidate.scored, base, live_claims(base), preset), preset
