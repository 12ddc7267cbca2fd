"""The one base of every recorded shape: frozen, closed, and cheap to import."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that cannot change and refuses fields it does not know.

    Validators are built on first use (`defer_build`): reading commands touch few of the models.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)
