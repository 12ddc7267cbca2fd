"""Claude over the Messages API: the one place that imports anthropic, and only once something is sent."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import cached_property
from threading import local
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from events.errors import UpstreamError
from events.model_errors import (
    DisconnectedError,
    MalformedReplyError,
    ModelError,
    RequestRefusedError,
    ServerFaultError,
    TimedOutError,
)
from strategies.models.batch import batch_of, reason_of, result_of
from strategies.models.certificates import certificates
from strategies.models.http_errors import AGAIN, asked_to_wait_s, failure, no_key, safe_line, within, without_key
from strategies.models.prompts import Arrived
from strategies.models.replies import plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import anthropic

    from strategies.models.prompts import Prompt

T = TypeVar("T")

_CONNECT_S: Final = 10.0
"""The longest that a connection may take to come about (a guess: twice what the SDK allows)."""
_KEY: Final = re.compile(r"[!-~]+")
"""What a key is made of: characters that a header can carry."""
_COUNTED: Final = ("model", "system", "tools", "messages", "thinking", "output_config")
"""What of a request decides how many tokens it holds."""
_MOST_LISTED: Final = 1_000
"""Models on one page of the list (the most that the API takes)."""
_REFUSED: Final = 300
"""From this status on, a response is no reply: redirections were followed before."""
_SET_UP: Final = (
    "base_url under [models] in germline.toml; HTTPS_PROXY, SSL_CERT_FILE, ANTHROPIC_… in the environment"
)
"""What decides how a request is made."""


class _Tries(local):
    """What became of the tries of one question, in the thread that asks it."""

    def __init__(self) -> None:
        self.lost: list[Exception] = []
        """Those that reached the server, which may have billed them, and that no reply came to."""


class Claude:
    """Sends prompts to the Messages API, with the retries and the backoff of its SDK.

    `key` is "" where there is none: sending then raises CredentialsError, and everything else works. `base_url` is
    "" for the SDK's own choice, which ANTHROPIC_BASE_URL may change. A reply has `timeout_s` to arrive, its last
    byte included; a server that asks to wait longer than `longest_wait_s` before another try is not waited for.
    Units: seconds.
    """

    def __init__(
        self, key: str, *, base_url: str = "", timeout_s: float, max_retries: int, longest_wait_s: float
    ) -> None:
        self._key = key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._longest_wait_s = longest_wait_s
        self._tries = _Tries()

    def require_key(self, model: str) -> None:
        """Raise CredentialsError where there is no key, or what no header could carry; sends nothing."""
        if not _KEY.fullmatch(self._key):
            raise no_key(model, given=bool(self._key))

    def send(self, prompt: Prompt) -> Arrived:
        """Send one prompt and wait for its reply."""
        with self._failures(prompt.model) as client:
            raw = client.messages.with_raw_response.create(**cast("dict[str, Any]", prompt.sent))
            lost = self._tries.lost
            return Arrived(
                raw.read(),
                self._number(raw.request_id),
                lost=self._broken(prompt.model, lost[-1]) if lost else None,
            )

    def count(self, prompt: Prompt) -> int | None:
        """Ask how many tokens a prompt holds; None where the server does not tell."""
        asked = {name: prompt.sent[name] for name in _COUNTED if name in prompt.sent}
        try:
            with self._failures(prompt.model) as client:
                raw = client.messages.with_raw_response.count_tokens(**cast("dict[str, Any]", asked))
                tokens = _field(raw.read(), "input_tokens", int)
        except UpstreamError:
            return None
        return tokens if tokens > 0 else None

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
            response = client.messages.batches.with_raw_response.retrieve(batch)
            return batch_of(response.read()).processing_status == "ended"

    def results(self, batch: str) -> Iterator[tuple[str, Arrived | ModelError]]:
        """Yield what became of each prompt of a batch that has ended, by its id, in any order."""
        with self._failures(batch) as client:
            response = client.messages.batches.results(batch).http_response
            lines = self._in_time(response.read).splitlines()
        for line in lines:
            yield result_of(line, batch)

    def model_names(self) -> tuple[str, ...]:
        """Ask which models there are, a page of them; raises UpstreamError, and CredentialsError without a key."""
        with self._failures("Claude") as client:
            listed = _field(client.models.with_raw_response.list(limit=_MOST_LISTED).read(), "data", list)
        return tuple(str(model["id"]) for model in listed if isinstance(model, dict) and "id" in model)

    def has_model(self, name: str) -> bool:
        """Ask whether a name means a model; raises as above. Names of a newest snapshot are on no list."""
        try:
            with self._failures(name) as client:
                return bool(_field(client.models.with_raw_response.retrieve(name).read(), "id", str))
        except RequestRefusedError as error:
            if error.unknown_model:
                return False
            raise

    def close(self) -> None:
        """Let go of the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> anthropic.Anthropic:
        from anthropic import Anthropic, DefaultHttpxClient, Timeout  # noqa: PLC0415 - takes over a second

        timeout = Timeout(self._timeout_s, connect=self._connect_s)
        return Anthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            timeout=timeout,
            http_client=DefaultHttpxClient(verify=certificates(), timeout=timeout),
            max_retries=self._max_retries,
            middleware=[self._try],
            open_telemetry=False,  # nothing but the requests leaves the machine
        )

    @property
    def _connect_s(self) -> float:
        return min(self._timeout_s, _CONNECT_S)

    def _try(self, request: anthropic.APIRequest, call_next: anthropic.CallNext) -> anthropic.APIResponse[Any]:
        """Try once, and give up at once where the server asks to wait for longer than anybody would."""
        import anthropic  # noqa: PLC0415 - takes over a second

        try:
            response = self._in_time(lambda: call_next(request))
        except anthropic.APIConnectionError as error:
            if _reached(error):
                self._tries.lost.append(error)
            raise
        wait_s = asked_to_wait_s(response.headers)
        if response.status_code < _REFUSED or wait_s is None or wait_s <= self._longest_wait_s:
            return response
        raise self._failure(
            response.status_code,
            reason_of(response.read()),
            model=str((cast("dict[str, Any]", request.options.json_data) or {}).get("model", "the model")),
            request_id=response.request_id,
            retry_after_s=wait_s,
        )

    def _in_time(self, work: Callable[[], T]) -> T:
        """Wait for what a server sends no longer than it may take from the first byte to the last."""
        try:
            return within(self._connect_s + self._timeout_s, work)
        except TimeoutError as late:
            import anthropic  # noqa: PLC0415 - takes over a second
            import httpx2  # noqa: PLC0415 - comes with anthropic

            request = httpx2.Request("POST", str(self._client.base_url))
            raise anthropic.APITimeoutError(request) from httpx2.ReadTimeout(str(late), request=request)

    @contextmanager
    def _failures(self, model: str) -> Iterator[anthropic.Anthropic]:
        """Lend the client, and make every error of the SDK one of germline's own; `model` is what it tells of.

        The SDK's own are not chained to them: their words hold what a server says as it is, keys included.
        """
        self.require_key(model)
        import anthropic  # noqa: PLC0415 - takes over a second
        import httpx2  # noqa: PLC0415 - comes with anthropic

        self._tries.lost = []
        try:
            yield self._client
        except anthropic.APIStatusError as error:
            raise self._failure(
                error.status_code,
                error.api_message or error.message,
                model=model,
                request_id=error.request_id,
                retry_after_s=asked_to_wait_s(error.response.headers),
            ) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._broken(model, error) from None
        except anthropic.AnthropicError as error:
            raise ServerFaultError(
                f"asking {model} failed: {self._error_text(error)}", model=model, hint=AGAIN
            ) from None
        except (ValueError, OSError) as error:  # a proxy, a header or a certificate that is none
            text = f"no request to {model} can be made: {self._error_text(error)}"
            lost = len(self._tries.lost)
            raise DisconnectedError(text, model=model, unsettled=lost, hint=_SET_UP) from None

    def _failure(
        self, status: int, message: str, *, model: str, request_id: str | None, retry_after_s: float | None
    ) -> UpstreamError:
        """Make an error of a status; tries before it may have been billed all the same."""
        error = failure(
            status,
            without_key(message, self._key),
            model=model,
            request_id=self._number(request_id),
            retry_after_s=retry_after_s,
        )
        if isinstance(error, ModelError):
            error.unsettled = len(self._tries.lost)
        return error

    def _broken(self, model: str, error: Exception) -> ModelError:
        """Say that no reply came; what reached the server may have been worked on."""
        import httpx2  # noqa: PLC0415 - comes with anthropic

        lost, reached = len(self._tries.lost), _reached(error)
        if reached and isinstance(error.__cause__ or error, httpx2.TimeoutException):
            text = f"{model} did not answer within {self._timeout_s:g} s (models.timeout_s)"
            return TimedOutError(text, model=model, unsettled=lost, hint=AGAIN)
        where = f" at {self._base_url}" if self._base_url else ""
        what = "the connection broke" if reached else "there is no connection"
        text = f"{what} to the server of {model}{where}: {self._error_text(error.__cause__ or error)}"
        return DisconnectedError(safe_line(without_key(text, self._key)), model=model, unsettled=lost, hint=AGAIN)

    def _error_text(self, error: BaseException) -> str:
        return safe_line(without_key(str(error), self._key)) or type(error).__name__

    def _number(self, request_id: str | None) -> str:
        return plain_name(without_key(request_id or "", self._key))


def _field(body: bytes, name: str, kind: type[T]) -> T:
    """Read a field of an answer, as other servers than Anthropic's may write it; raises MalformedReplyError."""
    try:
        value = json.loads(body)[name]
    except (ValueError, TypeError, KeyError, RecursionError):
        value = None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise MalformedReplyError(f"what came back has no {name}", hint=AGAIN)
    return value


def _reached(error: Exception) -> bool:
    """Tell whether a try came as far as the server."""
    import httpx2  # noqa: PLC0415 - comes with anthropic

    unsent = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.InvalidURL,
        httpx2.LocalProtocolError,
        httpx2.UnsupportedProtocol,
        ValueError,
    )
    return not isinstance(error.__cause__ or error, unsent)
