"""Where calls and errors are in some episodes: a claim about one need not be held against the others."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from events.types.claims import HAND_IN, After, AfterCall, AfterError, AnytimeBefore, Before, Replace
from strategies.claims.applicability import matches
from strategies.claims.catalogue import in_short_form
from strategies.episodes.action_class import covered_by, of_class
from strategies.gate.replay.exposure import Inverse, moments_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord


class EpisodeIndex:
    """Episodes by what was called in them, and by what failed; places are those in the sequence of episodes."""

    def __init__(self, records: Sequence[EpisodeRecord]) -> None:
        self.records = records

    def reaching(self, claim: Claim | Inverse) -> Sequence[int]:
        """List where the moment of a claim can be, in order: nowhere else is one."""
        about = in_short_form(claim.claim if isinstance(claim, Inverse) else claim)
        match about:
            case AfterError() | Replace():
                return self.failing(about.template)
            case After():
                return self._calling(of_class(about.action), failing=about.failing, times=about.k)
            case AfterCall():
                return self._calling(of_class(about.action), failing=about.failing)
            case Before():
                return self._calling(of_class(about.action))
            case AnytimeBefore() if about.action != HAND_IN:
                return self._calling(covered_by(about.action))
            case _:
                return range(len(self.records))

    def moments(self, claim: Claim | Inverse) -> list[Moment | None]:
        """Find the moment of a claim in each episode."""
        moments: list[Moment | None] = [None] * len(self.records)
        places = self.reaching(claim)
        reached = moments_in(claim, [self.records[place] for place in places])
        for place, moment in zip(places, reached, strict=True):
            moments[place] = moment
        return moments

    def failing(self, template: str) -> list[int]:
        """List where a step failed with what fits a template, in order."""
        fitting = [places for text, places in self._failing.items() if matches(template, text)]
        return sorted(set().union(*fitting))

    def _calling(self, named: Mapping[str, bool], *, failing: bool = False, times: int = 1) -> list[int]:
        """List where actions of a class were called so often, or failed so often, in order."""
        fitting = [
            places for (action, failed), places in self._calls.items() if (failed or not failing) and named[action]
        ]
        if times == 1:
            return sorted(set().union(*fitting))
        often = Counter(chain.from_iterable(fitting))
        return sorted([place for place, count in often.items() if count >= times])

    @cached_property
    def _failing(self) -> dict[str, set[int]]:
        """Where each template is."""
        failing: dict[str, set[int]] = {}
        for place, record in enumerate(self.records):
            for step in record.steps:
                if step.error:
                    failing.setdefault(step.template, set()).add(place)
        return failing

    @cached_property
    def _calls(self) -> dict[tuple[str, bool], list[int]]:
        """Where each class was called, and failed: once for each call."""
        calls: dict[tuple[str, bool], list[int]] = {}
        for place, record in enumerate(self.records):
            for step in record.steps:
                if step.kind == "call":
                    calls.setdefault((step.action, step.error), []).append(place)
        return calls
