"""Bundles on runs: which edits of a candidate that passes as a whole carry its gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.errors import EditError
from events.types.runs import Attribution
from strategies.gate.ablation import attributed, carrying, is_lost
from strategies.gate.aimed_rule import FRESH
from strategies.gate.rollout_rule import LOOKS, PATIENT_ROUNDS
from strategies.rollouts.compare.comparison import base_of
from strategies.rollouts.compare.contest import tagged
from strategies.rollouts.compare.rounds import in_random_order
from strategies.rollouts.compare.run_pairs import Pairing
from strategies.rollouts.run.arms import challenger

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed
    from registry.state.capsule import Capsule
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.compare.rounds import LastLook
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class Unbundled:
    """What each edit of a bundle brought; `kept` are those that carry the gain, in order."""

    kept: tuple[int, ...]
    attributions: tuple[Attribution, ...]


def unbundled(rig: Rig, runs: Runs, capsule: Capsule, proposed: CandidateProposed, whole: LastLook) -> Unbundled:
    """Find the edits that carry a gain, and measure what is lost without each of them.

    Shapes: `whole` is the look that the verdict on all of them rests on; its runs are in the bank. Those with an
    aim are looked at on their own tasks, in the first eight rounds of fresh runs; others in three rounds at least.
    An edit stays only if its loss is shown: the others are passengers.
    Raises: CapReachedError where a cap is reached before it is known.
    """
    edits = frozenset(range(len(proposed.edits)))
    if whole.aim:
        tasks, span = tagged(whole.tasks, proposed.tags), FRESH[: LOOKS[-1]]
    else:
        tasks, span = whole.tasks, range(max(len(whole.span), PATIENT_ROUNDS))
    search = _Search(rig, runs, capsule, proposed, tasks, span)
    kept = carrying(len(edits), lambda part: not search.loses(edits, part))
    attributions = [
        attributed(edit, search.pairs(kept, kept - {edit}), len(span))
        if edit in kept
        else Attribution(edit=edit, delta=None, passenger=True)
        for edit in sorted(edits)
    ]
    return Unbundled(tuple(sorted(kept)), tuple(attributions))


@dataclass
class _Search:
    """Runs parts of a bundle, each on the same tasks and rounds as the whole."""

    rig: Rig
    runs: Runs
    capsule: Capsule
    proposed: CandidateProposed
    tasks: tuple[RolloutTask, ...]
    span: range

    def loses(self, whole: frozenset[int], part: frozenset[int]) -> bool:
        """Tell whether a part loses something of the whole; what cannot be put together loses all."""
        try:
            return is_lost(self.pairs(whole, part), len(self.span), self.rig.policy)
        except EditError:
            return True

    def pairs(self, whole: frozenset[int], part: frozenset[int]) -> list[list[float | None]]:
        """Pair the runs of two parts of the bundle: whole minus part."""
        larger, smaller = self._arm(whole), self._arm(part)
        self.runs.make(in_random_order((larger, smaller), self.tasks, self.span, self.rig.seed))
        return Pairing(larger, smaller).pairs(self.runs, self.tasks, self.span)

    def _arm(self, part: frozenset[int]) -> Arm:
        log = self.rig.registry.log
        if not part:
            return base_of(self.rig, self.capsule, (challenger(log, self.capsule, self.proposed),))
        edits = tuple(edit for at, edit in enumerate(self.proposed.edits) if at in part)
        return challenger(log, self.capsule, self.proposed.model_copy(update={"edits": edits}))
