"""The written rules of the replay gate and the rollout gate; presets may tighten them, never loosen them."""

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from events.types.frozen import Frozen
from strategies.policy.canonical_json import canonical_json

if TYPE_CHECKING:
    from events.types.score import Endpoint

METHOD: Final = "replay-5"
"""How claims are judged and episodes imputed; a change that moves figures takes the next number."""

LEAST_OBEDIENT: Final = 5
"""Obedient episodes that a stratum must hold before a disobedient one of it is imputed."""
PRIOR_WEIGHT: Final = 10
"""Episodes' worth of the overall obedient mean that shrinks each stratum's own."""
REFITS: Final = 200
"""Bootstrap refits behind an interval."""


class GatePolicy(Frozen):
    """What a claim must show before it is promoted; the defaults are the written rule.

    Units: alpha is shared by all claims that are ever sent; a risk difference is outcome per episode; an
    arm counts episodes, and tasks are counted, in strata that hold both arms. The bounds refuse looser numbers.
    """

    alpha: Annotated[float, Field(gt=0, le=0.01)] = 0.01
    least_difference: Annotated[float, Field(ge=0.02)] = 0.02
    least_arm: Annotated[int, Field(ge=20)] = 20
    least_tasks: Annotated[int, Field(ge=10)] = 10


WRITTEN_RULE: Final = GatePolicy()


class RolloutPolicy(Frozen):
    """What a candidate must show over its runs; the defaults are the written rule, which presets only tighten.

    Units: least_e is evidence against "no better", p from a sign-flip test over tasks, differences in outcome.
    least_e is what the last look asks for; after a share of its rounds 1/share ** early_exponent times as much is:
    who looks often must not be lucky early.
    """

    least_e: Annotated[float, Field(ge=10)] = 10
    early_exponent: Annotated[float, Field(ge=1.5)] = 1.5
    most_p: Annotated[float, Field(gt=0, le=0.10)] = 0.10
    least_difference: Annotated[float, Field(ge=0.02)] = 0.02
    futile_below: Annotated[float, Field(ge=0.05)] = 0.05
    least_tasks: Annotated[int, Field(ge=20)] = 20

    @property
    def looked_once(self) -> "RolloutPolicy":
        """The same rule for runs that nobody looked at before all were made: their one look is the last."""
        return self.model_copy(update={"early_exponent": 0.0})

    @property
    def aimed_e(self) -> float:
        """The least evidence of both stages together where a change says which tasks it is for: 100, or more."""
        return 10 * self.least_e

    @property
    def of_experiments(self) -> "RolloutPolicy":
        """The rule for experiments, of which a research makes many: what aimed changes need, at every look."""
        return self.model_copy(update={"least_e": self.aimed_e, "early_exponent": 0.0})


ROLLOUT_RULE: Final = RolloutPolicy()


def policy_text(endpoint: "Endpoint" = "outcome") -> str:
    """Write the rule down as canonical JSON, without any preset's numbers: part of an evaluator's identity."""
    rule = WRITTEN_RULE.model_dump() | {
        "endpoint": endpoint,
        "least_obedient": LEAST_OBEDIENT,
        "prior_weight": PRIOR_WEIGHT,
        "refits": REFITS,
        "strata": "run,difficulty,repeated task",
    }
    return canonical_json(rule)
