"""The one base of every recorded shape: frozen, closed, and cheap to import."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that cannot change and refuses fields it does not know.

    Validators are built on first use (`defer_build`): reading commands touch few of the models. Annotations of
    models are no strings (no `from __future__ import annotations` in their modules): pydantic would compile each
    of them again, a fifth of the time that the classes take.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)
