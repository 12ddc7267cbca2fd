"""Claude over the Messages API: the one place that imports anthropic, and only once something is sent."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, Final, cast

from events.model_errors import DisconnectedError, ServerFaultError, TimedOutError
from strategies.models.batch_replies import batch_of, reason_of, result_of
from strategies.models.endpoint import Arrived
from strategies.models.failures import AGAIN, failure, no_key, told
from strategies.models.replies import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import anthropic
    import httpx2

    from events.model_errors import ModelError
    from strategies.models.prompts import Prompt

_CONNECT_S: Final = 10.0
"""The longest that a connection may take to come about (a guess: twice what the SDK allows)."""
_KEY: Final = re.compile(r"[!-~]+")
"""What a key is made of: characters that a header can carry."""
_FOR_EVER_S: Final = 1e9
_REFUSED: Final = 400
"""From this status on, a response is an error."""


class Claude:
    """Sends prompts to the Messages API, with the retries and the backoff of its SDK.

    `key` is "" where there is none: sending then raises CredentialsError, and everything else works. `base_url` is
    "" for the SDK's own choice, which ANTHROPIC_BASE_URL may change. A server that asks to wait longer than
    `longest_wait_s` before another try is not waited for. Units: seconds.
    """

    def __init__(
        self, key: str, *, base_url: str = "", timeout_s: float, max_retries: int, longest_wait_s: float
    ) -> None:
        self._key = key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._longest_wait_s = longest_wait_s

    def require_key(self, model: str) -> None:
        """Raise CredentialsError where there is no key, or what no header could carry; sends nothing."""
        if not _KEY.fullmatch(self._key):
            raise no_key(model, said=bool(self._key))

    def send(self, prompt: Prompt) -> Arrived:
        """Send one prompt and wait for its reply."""
        with self._failures(prompt.model) as client:
            raw = client.messages.with_raw_response.create(**cast("dict[str, Any]", prompt.sent))
            return Arrived(raw.read(), plain_name(raw.request_id or ""))

    def send_batch(self, prompts: Mapping[str, Prompt]) -> str:
        """Send prompts as a batch, each under an id, and return the batch's name."""
        requests = [{"custom_id": name, "params": prompt.sent} for name, prompt in prompts.items()]
        model = next(iter(prompts.values())).model
        with self._failures(model) as client:
            made = client.messages.batches.with_raw_response.create(requests=cast("Any", requests))
            return batch_of(made.read()).id

    def has_ended(self, batch: str) -> bool:
        """Tell whether every prompt of a batch has a result."""
        with self._failures(batch) as client:
            found = client.messages.batches.with_raw_response.retrieve(batch)
            return batch_of(found.read()).processing_status == "ended"

    def results(self, batch: str) -> Iterator[tuple[str, Arrived | ModelError]]:
        """Yield what became of each prompt of a batch that has ended, by its id, in any order."""
        with self._failures(batch) as client:
            lines = client.messages.batches.results(batch).http_response.read().splitlines()
        for line in lines:
            yield result_of(line, batch)

    def close(self) -> None:
        """Let go of the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> anthropic.Anthropic:
        from anthropic import Anthropic, Timeout  # noqa: PLC0415 - takes over a second

        return Anthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            timeout=Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_S)),
            max_retries=self._max_retries,
            middleware=[self._impatient],
            open_telemetry=False,  # nothing but the requests leaves the machine
        )

    def _impatient(
        self, request: anthropic.APIRequest, call_next: anthropic.CallNext
    ) -> anthropic.APIResponse[Any]:
        """Give up at once where the server asks to wait for longer than anybody would."""
        response = call_next(request)
        wait_s = _asked_to_wait(response.headers)
        if response.status_code < _REFUSED or wait_s is None or wait_s <= self._longest_wait_s:
            return response
        raise failure(
            response.status_code,
            reason_of(response.read()),
            model=str((cast("dict[str, Any]", request.options.json_data) or {}).get("model", "the model")),
            request_id=plain_name(response.request_id or ""),
            retry_after_s=wait_s,
        )

    @contextmanager
    def _failures(self, model: str) -> Iterator[anthropic.Anthropic]:
        """Lend the client, and make every error of the SDK one of germline's own; `model` is what it tells of."""
        self.require_key(model)
        import anthropic  # noqa: PLC0415 - takes over a second
        import httpx2  # noqa: PLC0415 - comes with anthropic

        try:
            yield self._client
        except anthropic.APIStatusError as error:
            raise failure(
                error.status_code,
                error.api_message or error.message,
                model=model,
                request_id=plain_name(error.request_id or ""),
                retry_after_s=_asked_to_wait(error.response.headers),
            ) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._broken(model, error) from error
        except anthropic.AnthropicError as error:
            raise ServerFaultError(
                f"asking {model} failed: {told(str(error))}", model=model, hint=AGAIN
            ) from error

    def _broken(self, model: str, error: Exception) -> ModelError:
        """Say that no reply came; unless no connection ever was, the request may have been worked on."""
        import httpx2  # noqa: PLC0415 - comes with anthropic

        cause, attempts = error.__cause__ or error, self._max_retries + 1
        unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL)
        reached = not isinstance(cause, unsent)
        if reached and isinstance(cause, httpx2.TimeoutException):
            said = f"{model} did not answer within {self._timeout_s:g} s (models.timeout_s)"
            return TimedOutError(said, model=model, unsettled=attempts, hint=AGAIN)
        where = f" at {self._base_url}" if self._base_url else ""
        what = "the connection broke" if reached else "there is no connection"
        said = told(str(cause)) or type(cause).__name__
        return DisconnectedError(
            f"{what} to the server of {model}{where}: {said}",
            model=model,
            unsettled=attempts if reached else 0,
            hint=AGAIN,
        )


def _asked_to_wait(headers: httpx2.Headers) -> float | None:
    """Read how long a server asks to wait, in seconds; None where it does not, or gives a date."""
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) / per_s
        except ValueError:
            continue
        return None if isnan(wait_s) else min(wait_s, _FOR_EVER_S)
    return None
