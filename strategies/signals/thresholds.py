"""From when an observation is a signal: every number of the detectors, with its default and its bounds."""

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, ValidationError

from events.errors import UsageError, did_you_mean
from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

Count = Annotated[int, Field(ge=1)]
Several = Annotated[int, Field(ge=2)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, lt=1)]


class Thresholds(Frozen):
    """The thresholds of all signals. Defaults as beside them."""

    error_count: Count = 3
    error_episodes: Count = 2
    failure_calls: Count = 10
    failure_confidence_z: Positive = 1.96
    loop_same_result: Several = 4
    loop_same_error: Several = 3
    loop_alternating: Annotated[int, Field(ge=4)] = 6
    repeats: Several = 2
    cusum_slack_sigma: Positive = 0.5
    cusum_alarm_sigma: Positive = 5.0
    regression_alpha: Share = 0.005  # measured: at most 3 % false alarms in 300 episodes; at .01 up to 4.2 %
    regression_previous: Several = 20  # the gate's least arm: below it a mean is no reference
    error_budget: Share = 0.025  # 2-3 % of tool calls fail in an ordinary session log
    burn_fast: Positive = 14.4
    burn_slow: Positive = 6.0
    burn_calls: Count = 10  # in the short window; the same as failure_calls, below which a rate says little
    correction_turns: Count = 3
    spike_mads: Positive = 5.0
    spike_calls: Several = 30
    spike_least_ratio: Annotated[float, Field(ge=1)] = 2.0  # a guess: less than twice as slow hurts nobody
    abandoned_quantile: Share = 0.9
    abandoned_peers: Several = 20  # a guess: below it the 90th percentile is the longest or the second
    missing_episodes: Count = 3
    streak: Several = 20
    stagnation_cycles: Count = 10  # what one `evolve` runs at most
    uncovered_episodes: Several = 3  # as error_count: failed once or twice may be chance

    @classmethod
    def from_mapping(cls, given: "Mapping[str, object]") -> "Thresholds":
        """Read thresholds by their names; raises UsageError for a name or a number that is none."""
        try:
            return cls.model_validate(dict(given), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            if name not in cls.model_fields:
                hint = did_you_mean(name, cls.model_fields, otherwise="known:")
                raise UsageError(f"no signal threshold is called {name!r}", hint=hint) from None
            wrong = f"signal threshold {name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
            raise UsageError(wrong, hint=f"its default is {cls.model_fields[name].default}") from None


DEFAULTS: Final = Thresholds()
