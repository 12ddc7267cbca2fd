"""The table `[models]` of germline.toml: who is asked for what, and what it may cost."""

from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from events.errors import UsageError, unfit_setting
from events.types.frozen import Frozen
from events.types.parts import ModelRole
from strategies.models.prices import NO_PRICE, Price, PriceList, published_prices
from strategies.models.served_model import served_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.models.budget import ModelCaps

TABLE: Final = "models"
Effort = Literal["low", "medium", "high"]
"""How much a model thinks before it answers."""
ROLES: Final[tuple[ModelRole, ...]] = get_args(ModelRole)
FallbackRole = Literal["proposer", "writer", "notes"]
"""Roles that another model may take over: a judge is calibrated, runs of an agent are of one model."""
_Dollars = Annotated[float, Field(ge=0)]
_Seconds = Annotated[float, Field(gt=0)]


def is_on_this_machine(address: str) -> bool:
    """Tell whether what is sent to an address stays here."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class ModelSettings(Frozen):
    """What `[models]` says; a role whose model is "" is not asked.

    `batch` sends the rounds of a cycle as Message Batches, at half the price, `batch_wait_s` is how long one is
    waited for before the command ends and leaves it for the next. `longest_wait_s` is the longest that a server
    may ask to wait before another try. Caps of 0 are none. A role with an `effort` thinks before it answers;
    where its model declines, that of `fallback` is asked once.
    """

    proposer: str = ""
    writer: str = ""
    judge: str = ""
    notes: str = ""
    classifier: str = ""
    agent: str = ""
    base_url: Annotated[str, Field(pattern=r"^(https?://[^\s/]+\S*)?$")] = ""
    batch: bool = False
    batch_wait_s: _Seconds = 3600.0  # most batches end within the hour (Message Batches API)
    cap_usd_per_cycle: _Dollars = 2.0  # a guess: some 20 reflections by a large model
    cap_usd_per_day: _Dollars = 20.0  # ten such cycles, which is what one `evolve` takes at most
    cap_tokens_per_cycle: Annotated[int, Field(ge=0)] = 0
    timeout_s: _Seconds = 600.0  # the SDK's own
    max_retries: Annotated[int, Field(ge=0, le=10)] = 2  # the SDK's own
    longest_wait_s: _Seconds = 60.0  # a guess: the limits of the API are per minute
    effort: dict[ModelRole, Effort] = Field(default_factory=dict)
    fallback: dict[FallbackRole, str] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)

    @property
    def caps(self) -> "ModelCaps":
        """What may be spent."""
        from strategies.models.budget import ModelCaps  # noqa: PLC0415 - settings are read by every command

        return ModelCaps(self.cap_usd_per_cycle, self.cap_usd_per_day, self.cap_tokens_per_cycle)

    @property
    def price_list(self) -> PriceList:
        """The published prices, 0 for models on this machine, and before both what a person gives."""
        here = {
            name: NO_PRICE
            for name in (*self.named.values(), *self.fallback.values())
            if (served := served_model(name)) and is_on_this_machine(served.url)
        }
        return published_prices().with_prices(here | self.prices)

    @property
    def named(self) -> dict[ModelRole, str]:
        """The models that are asked, by role."""
        return {role: name for role in ROLES if (name := getattr(self, role))}

    def model_for(self, role: ModelRole) -> str:
        """Name the model of a role; raises UsageError where there is none."""
        name = self.named.get(role, "")
        if not name:
            raise UsageError(
                f"no model is named for the {role}", hint=f'{role} = "MODEL" under [{TABLE}] in germline.toml'
            )
        return name

    def fallback_for(self, role: ModelRole) -> str:
        """Name the model that is asked where that of a role declines, "" for none."""
        return next((model for known, model in self.fallback.items() if known == role), "")

    @classmethod
    def from_mapping(cls, given: "Mapping[str, object]") -> "ModelSettings":
        """Read the table; raises UsageError for a key or a value that cannot be."""
        try:
            return cls.model_validate(dict(given), strict=True)
        except ValidationError as error:
            raise unfit_setting(error, TABLE, cls.model_fields) from None
