"""Presets: named numbers that bind the strategies. They may tighten the gate, never loosen it."""

import math
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, model_validator

from events.types.frozen import Frozen
from strategies.policy.written_rules import GatePolicy, RolloutPolicy

if TYPE_CHECKING:
    from events.types.parts import Strategy

Share = Annotated[int, Field(ge=0, le=100)]

MOST_EDITS: Final = 6
MOST_REGION: Final = 0.40
"""No preset lets a candidate change more than the loosest row of the table does."""
MOST_SEEN_SESSIONS: Final = 200
MOST_SEEN_DAYS: Final = 90
"""No preset keeps a line that is only seen longer than that without a look whether it still works (guesses)."""

MOST_RETIRE_BELOW: Final = 0.4
LEAST_RETIRE_AFTER: Final = 3
"""No preset proposes to retire a skill that does better, or was used less (the figures of the guide)."""


class Weights(Frozen):
    """How often each kind of change is picked, in percent; they sum to 100."""

    repair: Share
    harden: Share
    innovate: Share

    @model_validator(mode="after")
    def _sum_to_100(self) -> "Weights":
        total = self.repair + self.harden + self.innovate
        if total != 100:  # noqa: PLR2004 - percent
            raise ValueError(f"weights sum to {total}, not to 100")
        return self

    def of(self, strategy: "Strategy") -> int:
        """Give the weight of one kind."""
        return {"repair": self.repair, "harden": self.harden, "innovate": self.innovate}[strategy]


class EditBudget(Frozen):
    """How many edits a candidate may hold, from the first cycle down to the last."""

    start: Annotated[int, Field(ge=1, le=MOST_EDITS)]
    floor: Annotated[int, Field(ge=1, le=MOST_EDITS)]
    schedule: Literal["cosine", "linear", "constant"] = "cosine"

    @model_validator(mode="after")
    def _falls(self) -> "EditBudget":
        if self.floor > self.start:
            raise ValueError(f"the budget falls from start to floor, and {self.start} is below {self.floor}")
        return self

    def at(self, progress: float) -> int:
        """Give the budget at a point of the run; progress goes from 0 (first cycle) to 1 (last)."""
        t = min(max(progress, 0.0), 1.0)
        left = {"cosine": (1 + math.cos(math.pi * t)) / 2, "linear": 1 - t, "constant": 1.0}[self.schedule]
        return self.floor + round((self.start - self.floor) * left)


class Preset(Frozen):
    """The numbers of one preset.

    Units: trust_region is the share of changed characters of the base; alpha is the replay gate's error rate;
    least_e the evidence a rollout must reach. `projected` are the tiers whose lines become a version without a
    person; what is only seen never does, and is offered as a draft where `drafts_seen`. A seen line goes after
    `seen_sessions` further sessions or `seen_days`, unless it was seen to work again. With `trials` supported
    lines go on trial by themselves. With `hold_edits` what anybody wrote into skill files is kept aside until a
    person adopts it; else it is only reported. A skill is proposed for retirement where of `retire_after` sessions
    or more surely less than the share `retire_below` succeeded. The bounds keep every preset as strict as the
    written rule.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    weights: Weights
    edit_budget: EditBudget
    trust_region: Annotated[float, Field(gt=0, le=MOST_REGION)]
    new_genes: bool
    alpha: Annotated[float, Field(gt=0, le=0.01)]
    least_e: Annotated[float, Field(ge=10)]
    auto_revert: bool = True
    projected: tuple[Literal["supported", "proven"], ...] = ("supported", "proven")
    drafts_seen: bool = True
    seen_sessions: Annotated[int, Field(ge=1, le=MOST_SEEN_SESSIONS)] = MOST_SEEN_SESSIONS
    seen_days: Annotated[int, Field(ge=1, le=MOST_SEEN_DAYS)] = MOST_SEEN_DAYS
    trials: bool = False
    explore: bool = False
    hold_edits: bool = False
    retire_below: Annotated[float, Field(ge=0, le=MOST_RETIRE_BELOW)] = MOST_RETIRE_BELOW
    retire_after: Annotated[int, Field(ge=LEAST_RETIRE_AFTER)] = LEAST_RETIRE_AFTER

    @property
    def bears_genes(self) -> bool:
        """Whether a candidate may bring a new gene: that is innovation, whatever its signal calls for."""
        return self.new_genes and self.weights.innovate > 0

    def policy(self) -> GatePolicy:
        """Give the written rule, tightened by this preset."""
        return GatePolicy(alpha=self.alpha)

    def rollout_policy(self) -> RolloutPolicy:
        """Give the written rule of the rollout gate, tightened by this preset."""
        return RolloutPolicy(least_e=self.least_e)


def _preset(
    name: str,
    weights: tuple[int, int, int],
    edits: tuple[int, int],
    trust_region: float,
    alpha: float,
    least_e: float,
) -> Preset:
    """Read one row of the table; new genes, drafts and edits of others follow from the name."""
    repair, harden, innovate = weights
    return Preset(
        name=name,
        weights=Weights(repair=repair, harden=harden, innovate=innovate),
        edit_budget=EditBudget(start=edits[0], floor=edits[1]),
        trust_region=trust_region,
        new_genes=name not in {"repair-only", "steady-state"},
        alpha=alpha,
        least_e=least_e,
        drafts_seen=name != "steady-state",
        explore=name == "innovate",
        hold_edits=name in {"harden", "steady-state"},
    )


PRESETS: Final[dict[str, Preset]] = {
    preset.name: preset
    for preset in (
        #                          repair harden innovate  edits  region  alpha   E
        _preset("balanced", (50, 30, 20), (4, 2), 0.30, 0.01, 10),
        _preset("innovate", (15, 15, 70), (6, 3), 0.40, 0.01, 10),
        _preset("harden", (25, 60, 15), (3, 2), 0.20, 0.005, 20),
        _preset("repair-only", (100, 0, 0), (2, 1), 0.15, 0.01, 10),
        _preset("early-stabilize", (60, 35, 5), (4, 2), 0.30, 0.01, 10),
        _preset("steady-state", (60, 30, 10), (1, 1), 0.10, 0.002, 50),
    )
}
DEFAULT_PRESET: Final = "balanced"
