"""What asking a model came to in a run of evolution: suggestions, what became of them, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from events.model_events import ModelAsked
from strategies.gate.explain import WRITER
from strategies.gate.untrusted import QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.library import Library
    from strategies.proposers.claude import Tally
    from strategies.reflecting import Reflecting
    from strategies.shown import CycleResult


class ModelReport(NamedTuple):
    """What a model was asked in a run, and what its reasons were worth.

    `refuted_on_explore` and `refuted_on_sealed` count the candidates whose claim logs speak against, in the logs
    that a proposer may see and in those it never sees; `written` counts new sections and skills. `cost_usd` is
    None where a price is not known; what was replayed cost nothing now.
    """

    models: tuple[str, ...]
    prompts: int
    replayed: int
    tokens: int
    cost_usd: float | None
    tally: Tally
    refuted_on_explore: int
    refuted_on_sealed: int
    quarantined: int
    written: int
    failures: tuple[str, ...]


def model_report(
    library: Library, reflecting: Reflecting, results: Sequence[CycleResult], *, since: int
) -> ModelReport:
    """Sum up what was asked behind an event's position, and what became of it."""
    found = library.log.read(after=since, types=("ModelAsked",))
    asked = [event for one in found if isinstance(event := one.event, ModelAsked)]
    paid = [one for one in asked if not one.replayed]
    costs = [one.cost_usd for one in paid]
    rejected = [one for one in results if one.verdict == "reject" and one.candidate and not one.remembered]
    return ModelReport(
        models=tuple(dict.fromkeys(one.model for one in asked)),
        prompts=len(asked),
        replayed=len(asked) - len(paid),
        tokens=sum(one.usage.total if one.usage else one.most_tokens for one in asked),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        tally=reflecting.tally,
        refuted_on_explore=sum(not one.sent for one in rejected),
        refuted_on_sealed=sum(one.sent > 0 for one in rejected),
        quarantined=sum(any(reason.startswith(QUARANTINE) for reason in one.reasons) for one in results),
        written=sum(one.proposer == WRITER and not one.remembered for one in results),
        failures=tuple(reflecting.failures),
    )
