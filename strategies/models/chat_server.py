"""Models behind a server that speaks OpenAI's chat completions, as vLLM, Ollama and llama.cpp do.

A prompt is translated on its way out and its reply on its way back, so that prompts, replies and tapes are kept in
one form. Source of the shapes: the API reference of chat completions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from events.clock import pause
from events.errors import CredentialsError
from events.model_errors import DisconnectedError, ModelError, ServerFaultError, TimedOutError
from registry.evidence.scrub_text import compact
from strategies.models.certificates import certificates
from strategies.models.http_errors import AGAIN, asked_to_wait_s, failure, safe_line, within, without_key
from strategies.models.prompts import Arrived
from strategies.models.replies import plain_name
from strategies.models.served_model import OPENAI_URL, served_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import httpx2
    from pydantic import JsonValue

    from events.errors import UpstreamError
    from strategies.models.prompts import Prompt
    from strategies.models.served_model import ServedModel

    _Json = dict[str, JsonValue]

KEY: Final = "OPENAI_API_KEY"
"""The variable that holds the key; a server on this machine mostly asks for none."""
_CONNECT_S: Final = 10.0
_BACKOFF_S: Final = 0.5
"""The pause before a second try; it doubles with each (the SDK's of Anthropic)."""
_TRIED_AGAIN: Final = frozenset({408, 409, 429})
"""Refusals that may pass, beside all from 500 on."""
_REFUSED: Final = 300
_FAULT: Final = 500
_STOPS: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""How a reply ended, in the words of either API."""
_SET_UP: Final = f"openai:NAME@URL under [models] in germline.toml; {KEY}, HTTPS_PROXY in the environment"


class _Failure(NamedTuple):
    """A try that came to nothing, whether the next may do better, and how long the server asks to wait."""

    error: UpstreamError
    may_pass: bool
    wait_s: float | None = None


class ChatServer:
    """Sends prompts to the servers that the models' names tell, each try again as far as `max_retries` allows.

    `key` is "" where there is none. A reply has `timeout_s` to arrive, its last byte included; a server that asks
    to wait longer than `longest_wait_s` before another try is not waited for. Units: seconds.
    """

    def __init__(
        self,
        key: str,
        *,
        timeout_s: float,
        max_retries: int,
        longest_wait_s: float,
        wait: Callable[[float], None] = pause,
    ) -> None:
        self._key = key
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._longest_wait_s = longest_wait_s
        self._wait = wait

    def require_key(self, model: str) -> None:
        """Raise CredentialsError where OpenAI itself would be asked without a key; sends nothing."""
        served = served_model(model)
        if served is not None and served.url == OPENAI_URL and not self._key:
            raise CredentialsError(
                f"{KEY} is not set, and {model} is asked only with a key", hint=f"export {KEY}=…"
            )

    def send(self, prompt: Prompt) -> Arrived:
        """Send one prompt and wait for its reply; raises as `Endpoint.send`."""
        self.require_key(prompt.model)
        served = served_model(prompt.model)
        if served is None:
            raise ValueError(f"{prompt.model} names no server")
        lost: list[ModelError] = []
        for backoff_s in (*(_BACKOFF_S * 2**tries for tries in range(self._max_retries)), None):
            tried = self._try(served, prompt)
            if isinstance(tried, Arrived):
                return replace(tried, lost=_all_of(lost))
            if isinstance(tried.error, ModelError):
                lost += [tried.error] if tried.error.unsettled else []
                tried.error.unsettled = len(lost)
            if backoff_s is None or not tried.may_pass:
                raise tried.error
            self._wait(backoff_s if tried.wait_s is None else tried.wait_s)
        raise AssertionError("the last try returns or raises")

    @staticmethod
    def count(_prompt: Prompt) -> int | None:
        """Tell nothing: chat completions count no tokens beforehand."""
        return None

    def models_of(self, url: str) -> tuple[str, ...]:
        """Ask a server for the names of its models; raises UpstreamError where it does not tell."""
        response = self._answered(lambda client: client.get(f"{url}/models", headers=self._headers()), url)
        if response.status_code >= _REFUSED:
            raise self._refusal(response, url, None)
        try:
            listed = json.loads(response.content)["data"]
            return tuple(str(model["id"]) for model in listed)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ServerFaultError(f"{url}/models is no list of models", model=url, hint=_SET_UP) from None

    def _try(self, served: ServedModel, prompt: Prompt) -> Arrived | _Failure:
        url, body = f"{served.url}/chat/completions", compact(chat_body(prompt.sent, served.name)).encode()
        try:
            response = self._answered(
                lambda client: client.post(url, content=body, headers=self._headers()), prompt.model
            )
        except ModelError as broken:
            return _Failure(broken, may_pass=True)
        if response.status_code < _REFUSED:
            return Arrived(message_of(response.content), self._number(response))
        wait_s = asked_to_wait_s(response.headers)
        passes = response.status_code in _TRIED_AGAIN or response.status_code >= _FAULT
        may_pass = passes and (wait_s or 0.0) <= self._longest_wait_s
        return _Failure(self._refusal(response, prompt.model, wait_s), may_pass, wait_s)

    def _answered(self, ask: Callable[[httpx2.Client], httpx2.Response], model: str) -> httpx2.Response:
        """Ask once; what reached the server and was not answered counts as unsettled."""
        import httpx2  # noqa: PLC0415 - comes with anthropic; only where a model is asked

        connect_s = min(self._timeout_s, _CONNECT_S)
        timeout = httpx2.Timeout(self._timeout_s, connect=connect_s)

        def work() -> httpx2.Response:
            with httpx2.Client(verify=certificates(), timeout=timeout, follow_redirects=False) as client:
                return ask(client)

        unsent = (
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
            httpx2.InvalidURL,
            httpx2.LocalProtocolError,
            httpx2.UnsupportedProtocol,
        )
        try:
            return within(connect_s + self._timeout_s, work)
        except unsent as error:
            text = f"there is no connection to the server of {model}: {self._line(str(error))}"
            raise DisconnectedError(text, model=model, hint=_SET_UP) from None
        except (TimeoutError, httpx2.TimeoutException):
            text = f"{model} did not answer within {self._timeout_s:g} s (models.timeout_s)"
            raise TimedOutError(text, model=model, unsettled=1, hint=AGAIN) from None
        except (httpx2.HTTPError, ValueError, OSError) as error:
            text = f"the connection to the server of {model} broke: {self._line(str(error))}"
            raise DisconnectedError(text, model=model, unsettled=1, hint=AGAIN) from None

    def _headers(self) -> dict[str, str]:
        key = {"authorization": f"Bearer {self._key}"} if self._key else {}
        return {"content-type": "application/json", "accept": "application/json", **key}

    def _refusal(self, response: httpx2.Response, model: str, wait_s: float | None) -> UpstreamError:
        return failure(
            response.status_code,
            without_key(_reason(response.content), self._key),
            model=model,
            request_id=self._number(response),
            retry_after_s=wait_s,
            key=KEY,
        )

    def _number(self, response: httpx2.Response) -> str:
        return plain_name(without_key(response.headers.get("x-request-id", ""), self._key))

    def _line(self, text: str) -> str:
        return safe_line(without_key(text, self._key))


def _all_of(lost: Sequence[ModelError]) -> ModelError | None:
    """Give the last of the lost tries, which tells how many there were; None without any."""
    return lost[-1] if lost else None


def _reason(body: bytes) -> str:
    """Read what a server says is wrong: `error.message`, `error`, `detail`, or the text as it is."""
    try:
        reason = json.loads(body)
    except (ValueError, RecursionError):
        return body[:1_000].decode(errors="replace")
    for key in ("error", "message", "detail"):
        reason = reason.get(key, reason) if isinstance(reason, dict) else reason
    return reason if isinstance(reason, str) else json.dumps(reason)[:1_000]


def chat_body(sent: _Json, name: str) -> _Json:
    """Write a request of the Messages API as chat completions take it."""
    body: _Json = {"model": name, "max_tokens": sent["max_tokens"]}
    system = "\n\n".join(_text_of(block) for block in _blocks(sent.get("system")))
    first: list[JsonValue] = [{"role": "system", "content": system}] if system else []
    turns = [turn for message in _blocks(sent["messages"]) for turn in _turns(message)]
    body["messages"] = [*first, *turns]
    if tools := [_tool(tool) for tool in _blocks(sent.get("tools"))]:
        body["tools"] = cast("JsonValue", tools)
    wanted = sent.get("output_config")
    match wanted:
        case {"format": {"schema": schema}}:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": True},
            }
    match wanted:
        case {"effort": effort}:
            body["reasoning_effort"] = effort
    return body


def _blocks(given: JsonValue) -> list[_Json]:
    return [block for block in given if isinstance(block, dict)] if isinstance(given, list) else []


def _text_of(block: _Json) -> str:
    text = block.get("text", block.get("content", ""))
    return text if isinstance(text, str) else json.dumps(text)


def _turns(message: _Json) -> Iterator[_Json]:
    """Write one turn: results of tools are turns of their own, calls stand beside the text."""
    blocks = _blocks(message["content"])
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text_of(block)}
    text = "\n\n".join(_text_of(block) for block in blocks if block.get("type") == "text")
    calls: list[JsonValue] = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    if calls:
        yield {"role": "assistant", "content": text, "tool_calls": calls}
    elif text:
        yield {"role": message["role"], "content": text}


def _call(block: _Json) -> _Json:
    function: _Json = {"name": block["name"], "arguments": compact(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _tool(tool: _Json) -> _Json:
    function: _Json = {key: tool[key] for key in ("name", "description")}
    return {"type": "function", "function": {**function, "parameters": tool["input_schema"]}}


def message_of(body: bytes) -> bytes:
    """Write a chat completion as a message of the Messages API; what is none comes back as it is."""
    try:
        match json.loads(body):
            case {"choices": [{"message": dict(message), **choice}, *_], **rest}:
                pass
            case _:
                return body
    except (ValueError, RecursionError):
        return body
    text, calls = message.get("content"), message.get("tool_calls")
    content: list[JsonValue] = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
    content += [_used(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    refused = isinstance(message.get("refusal"), str) and not content
    stop = "refusal" if refused else _STOPS.get(str(choice.get("finish_reason")), "end_turn")
    return compact(
        {
            "type": "message",
            "role": "assistant",
            "model": str(rest.get("model", "")),
            "content": content,
            "stop_reason": stop,
            "usage": _usage(cast("JsonValue", rest.get("usage"))),
        }
    ).encode()


def _used(call: _Json) -> JsonValue:
    """Write one call of a tool; arguments that are no object are handed on as a text that no tool takes."""
    function = call.get("function")
    named: Mapping[str, JsonValue] = function if isinstance(function, dict) else {}
    try:
        arguments = json.loads(str(named.get("arguments") or "{}"))
    except (ValueError, RecursionError):
        arguments = {"unreadable": str(named.get("arguments"))}
    given: JsonValue = arguments if isinstance(arguments, dict) else {"unreadable": arguments}
    return {"type": "tool_use", "id": str(call.get("id", "")), "name": str(named.get("name", "")), "input": given}


def _usage(usage: JsonValue) -> JsonValue:
    """Write the tokens of a reply; None where the server does not tell them."""
    match usage:
        case {"prompt_tokens": int(prompt), "completion_tokens": int(output), **rest}:
            details = rest.get("prompt_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else 0
            held = min(cached, prompt) if isinstance(cached, int) else 0
            return {"input_tokens": prompt - held, "output_tokens": output, "cache_read_input_tokens": held}
    return None
