"""The endpoint: what sends prompts to a server and brings replies back, and knows nothing of money or records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from events.model_errors import ModelError
    from strategies.models.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Arrived:
    """A reply as it arrived: JSON of the Messages API, not looked at yet.

    `lost` tells of tries before it that nothing came back to and that may have been billed, None without any.
    """

    body: bytes
    request_id: str = ""
    batch: str = ""
    replayed: bool = False
    lost: ModelError | None = None


class Endpoint(Protocol):
    """Sends prompts; may be used from several threads."""

    def require_key(self, model: str) -> None:
        """Raise CredentialsError where there is no key to ask a model with; sends nothing."""
        ...

    def send(self, prompt: Prompt) -> Arrived:
        """Send one prompt and wait for its reply.

        Raises: ModelError by what went wrong, `unsettled` where it may have been billed; CredentialsError.
        """
        ...

    def send_batch(self, prompts: Mapping[str, Prompt]) -> str:
        """Send prompts as a batch, each under an id, and return the batch's name; raises as `send`."""
        ...

    def has_ended(self, batch: str) -> bool:
        """Tell whether every prompt of a batch has a result; raises as `send`."""
        ...

    def results(self, batch: str) -> Iterator[tuple[str, Arrived | ModelError]]:
        """Yield what became of each prompt of a batch that has ended, by its id, in any order; raises as send."""
        ...
