"""The table `[engine]` of germline.toml: on which engine work is shared."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, ValidationError

from events.errors import unfit_setting
from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE: Final = "engine"


class EngineSettings(Frozen):
    """The table `[engine]` of germline.toml.

    `scheduler` is the address of a Dask scheduler, "" for a cluster of `workers` processes on this machine (0: one
    for each core) that lasts as long as the command. Units: seconds to wait for the scheduler, and for a worker.
    """

    name: Literal["local", "dask"] = "local"
    scheduler: str = ""
    workers: Annotated[int, Field(ge=0)] = 0
    connect_s: Annotated[float, Field(gt=0)] = 5.0

    @classmethod
    def from_mapping(cls, given: "Mapping[str, object]") -> "EngineSettings":
        """Read the table; raises UsageError for a key or a value that cannot be."""
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            raise unfit_setting(error, TABLE, cls.model_fields) from None
