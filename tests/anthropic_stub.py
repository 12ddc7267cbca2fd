"""A stub of the Messages API on loopback: real HTTP, the real wire format, and replies as a test scripts them.

It speaks chat completions as well: a test then names its models `openai:stub-ROLE@URL/v1`.

A test names its models `stub-ROLE`, and scripts what each role is answered, step by step; the last step answers
for ever. All that was received is kept, headers included, so that a test can look for what must not be there.
"""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

from strategies.models.anthropic_client import Claude
from strategies.models.model_settings import ModelSettings
from strategies.models.prompts import Arrived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from strategies.models.prompts import Prompt

KEY: Final = "sk-ant-" + "stub" * 8
"""The only key that the stub takes."""
USAGE: Final[Mapping[str, int]] = {
    "input_tokens": 1_000,
    "output_tokens": 200,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
PRICE: Final[Mapping[str, float]] = {"input": 10.0, "output": 50.0, "cache_write": 12.5, "cache_read": 1.0}
"""A price for tests, per million tokens: USAGE costs 0.02 USD."""
ROLES: Final = ("proposer", "writer", "judge", "notes", "classifier", "agent")
MODELS: Final = {role: f"stub-{role}" for role in ROLES}
"""A model for each role, as `[models]` names them."""
COUNTING: Final = "/v1/messages/count_tokens"
LATEST: Final = "stub-latest"
"""A name that means a model, and is on no list."""


@dataclass(frozen=True)
class Step:
    """What one request is answered with.

    `body` is JSON, or bytes as they stand. With `drops` the connection breaks: before any byte, or, where there is
    a body, in the middle of it. With `waits_s` nothing is said for so long; with `drips_s` so long before each
    byte of the body.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drops: bool = False
    waits_s: float = 0.0
    drips_s: float = 0.0


@dataclass(frozen=True)
class Received:
    """One request as it arrived; `role` is told from the model it names, "" where it names none of the stub's."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    role: str
    text: str


def message(
    text: str = "",
    *,
    stop: str = "end_turn",
    content: list[dict[str, Any]] | None = None,
    usage: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Write a message as the API does; `usage` changes single figures of USAGE."""
    return {
        "id": "msg_stub",
        "type": "message",
        "role": "assistant",
        "model": "",
        "content": [{"type": "text", "text": text}] if content is None else content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**USAGE, **(usage or {})},
    }


def says(text: str, **usage: int) -> Step:
    """Answer with a text."""
    return Step(message(text, usage=usage))


def gives(value: object, **usage: int) -> Step:
    """Answer with JSON."""
    return Step(message(json.dumps(value), usage=usage))


def declines() -> Step:
    """Refuse to answer, as the model does: with status 200 and a stop reason."""
    return Step(message(stop="refusal", content=[], usage={"output_tokens": 5}))


def cuts(text: str) -> Step:
    """Answer with a text that reached the limit of tokens."""
    return Step(message(text, stop="max_tokens"))


def fails(status: int, kind: str, error_text: str, **headers: str) -> Step:
    """Answer with an error; retries are asked for at once, so that no test sleeps."""
    response_headers = {
        "retry-after-ms": "1",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return Step(
        {"type": "error", "error": {"type": kind, "message": error_text}, "request_id": "req_stub"},
        status,
        response_headers,
    )


def rate_limited(**headers: str) -> Step:
    """Say that it is too much at once."""
    return fails(429, "rate_limit_error", "This request would exceed your rate limit.", **headers)


def overloaded() -> Step:
    """Say that everybody asks too much."""
    return fails(529, "overloaded_error", "Overloaded")


def broken() -> Step:
    """Say that something went wrong inside."""
    return fails(500, "api_error", "Internal server error")


def refused(error_text: str = "max_tokens: must be greater than 0") -> Step:
    """Say that the request is wrong."""
    return fails(400, "invalid_request_error", error_text)


def drops(*, halfway: bool = False) -> Step:
    """Break the connection, before the reply or in the middle of it."""
    return Step(message("half of this") if halfway else None, drops=True)


def hangs(seconds: float = 30.0) -> Step:
    """Say nothing for so long, or until the stub is closed."""
    return Step(message("too late"), waits_s=seconds)


def drips(seconds: float = 0.02) -> Step:
    """Answer byte by byte, so that no single wait is long."""
    return Step(message("never ends"), drips_s=seconds)


class AnthropicStub:
    """A server for the time of a `with`; `polls` is how often a batch is still in progress when asked.

    `counts` are the tokens that it says each prompt holds, 0 where it counts none. No variable of the environment
    keeps clients from it.
    """

    def __init__(self, *, key: str = KEY, polls: int = 1) -> None:
        self.key = key
        self.polls = polls
        self.counts = 0
        self.received: list[Received] = []
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.closing = threading.Event()
        self._asked: dict[str, int] = {}
        self._scripts: dict[str, list[Step | Callable[[dict[str, Any]], Step]]] = {}
        self._at: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()
        self._patches = pytest.MonkeyPatch()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._patches.setenv("NO_PROXY", "127.0.0.1")
        self._patches.delenv("ANTHROPIC_CUSTOM_HEADERS", raising=False)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patches.undo()
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def settings(self, **more: object) -> ModelSettings:
        """Give `[models]` as a test wants it: a model and a price for each role, no retries, and `more`."""
        return ModelSettings.from_mapping({**self._table(), **more})

    def toml(self, **more: object) -> str:
        """Write the same as it stands in germline.toml."""
        table = {**self._table(), **more}
        prices = table.pop("prices")
        rows = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
        for name, price in dict(prices).items():
            rows += [f'[models.prices."{name}"]', *(f"{key} = {value}" for key, value in price.items())]
        return "\n".join(["[models]", *rows, ""])

    def _table(self) -> dict[str, Any]:
        prices = {name: dict(PRICE) for name in MODELS.values()}
        return {**MODELS, "base_url": self.base_url, "max_retries": 0, "timeout_s": 5.0, "prices": prices}

    def afresh(self) -> Self:
        """Forget what was asked and scripted, for the next test on one server."""
        self.received.clear()
        self._scripts.clear()
        return self

    def script(self, role: str, *steps: Step | Callable[[dict[str, Any]], Step]) -> Self:
        """Say what a role is answered, step by step; a function is given the request's body."""
        self._scripts[role] = list(steps)
        self._at[role] = 0
        return self

    def asked(self, role: str = "") -> list[Received]:
        """List the prompts that a role sent, in batches too; of all roles where none is named."""
        sent = [request for request in self.received if request.path != COUNTING]
        return [request for request in sent if request.role and role in {"", request.role}]

    def texts(self, role: str = "") -> str:
        """Give all that a role ever sent, as text to search in."""
        return "\n".join(request.text for request in self.asked(role))

    def without_wire(self, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Answer in this process from now on, for tests whose claim is not HTTP, which takes most of the time."""
        stub = self

        def send(asking: Claude, prompt: Prompt) -> Arrived:
            asking.require_key(prompt.model)
            raw = json.dumps(prompt.sent).encode()
            step = stub.receive("POST", "/v1/messages", {"x-api-key": KEY}, raw)
            at_once = not (step.drops or step.waits_s or step.drips_s)
            assert (step.status, at_once) == (200, True), "this needs the wire"
            return Arrived(json.dumps(step.body).encode(), "req_stub")

        monkeypatch.setattr(Claude, "send", send)
        return self

    # -- what the handler asks -------------------------------------------------------------------------

    def receive(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Step:
        """Keep a request, and say what it is answered with."""
        body = json.loads(raw or b"{}")
        self.keep(method, path, headers, body)
        if headers.get("x-api-key", headers.get("authorization", "").removeprefix("Bearer ")) != self.key:
            return fails(401, "authentication_error", "invalid x-api-key")
        if path == "/v1/messages":
            return refused(wrong) if (wrong := _wrong(body)) else self.answer(body)
        if path == "/v1/chat/completions":
            return completion(self.answer(body))
        if path.startswith("/v1/messages/batches"):
            return self._batch(method, path.removeprefix("/v1/messages/batches").strip("/"), body)
        return self._tells(path.partition("?")[0])

    def _tells(self, path: str) -> Step:
        """Say which models there are, and how many tokens a prompt holds."""
        models = [{"id": name, "type": "model", "object": "model"} for name in MODELS.values()]
        if path == COUNTING and self.counts:
            return Step({"input_tokens": self.counts})
        if path in {"/v1/models", f"/v1/models/{LATEST}"}:
            return Step(models[0] if path.endswith(LATEST) else {"data": models, "has_more": False})
        return fails(404, "not_found_error", f"no such path: {path}")

    def keep(self, method: str, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> None:
        for params in [request["params"] for request in body.get("requests", [])] or [body]:
            text = json.dumps(params, ensure_ascii=False)
            self.received.append(Received(method, path, headers, params, _role(params), text))

    def answer(self, body: dict[str, Any]) -> Step:
        """Take the next step of the role that asks."""
        role = _role(body)
        with self._lock:
            steps = self._scripts.get(role)
            if not steps:
                return fails(404, "not_found_error", f"nothing is scripted for {body['model']}")
            step = steps[min(self._at[role], len(steps) - 1)]
            self._at[role] += 1
        step = step(body) if callable(step) else step
        if isinstance(step.body, dict) and step.body.get("type") == "message":
            return replace(step, body={**step.body, "model": body["model"]})
        return step

    def parts(self, step: Step, body: bytes) -> Iterator[bytes]:
        """Divide a body into what is written at once, with the waits between."""
        if not step.drips_s:
            yield body[: len(body) // 2] if step.drops else body
            return
        for at in range(len(body)):
            if self.closing.wait(step.drips_s):
                return
            yield body[at : at + 1]

    def _batch(self, method: str, rest: str, body: dict[str, Any]) -> Step:
        name, _, what = rest.partition("/")
        if method == "POST" and not name:
            name = f"msgbatch_{len(self.batches) + 1:04d}"
            self.batches[name] = body["requests"]
            self._asked[name] = 0
        elif name not in self.batches:
            return fails(404, "not_found_error", f"no batch {name}")
        elif what == "results":
            rows = [
                {"custom_id": request["custom_id"], "result": self._result(request)}
                for request in self.batches[name]
            ]
            random.Random(name).shuffle(rows)
            return Step("".join(json.dumps(row) + "\n" for row in rows).encode())
        else:
            self._asked[name] += 1
        return Step(self._told(name))

    def _told(self, name: str) -> dict[str, Any]:
        ended = self._asked[name] > self.polls
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-11-01T12:00:00Z",
            "expires_at": "2026-11-02T12:00:00Z",
            "ended_at": "2026-11-01T12:30:00Z" if ended else None,
            "results_url": f"{self.base_url}/v1/messages/batches/{name}/results" if ended else None,
        }

    def _result(self, request: dict[str, Any]) -> dict[str, Any]:
        wrong = _wrong(request["params"])
        step = refused(wrong) if wrong else self.answer(request["params"])
        if step.drops:
            return {"type": "expired"}
        if step.status != 200:
            return {"type": "errored", "error": step.body}
        return {"type": "succeeded", "message": step.body}


def completion(step: Step) -> Step:
    """Write a step as chat completions do; bytes and errors stay as they are."""
    body = step.body
    if not isinstance(body, dict) or body.get("type") != "message":
        return step
    usage, stops = body["usage"], {"max_tokens": "length", "tool_use": "tool_calls", "refusal": "content_filter"}
    cached = usage["cache_read_input_tokens"]
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in body["content"]
        if block["type"] == "tool_use"
    ]
    text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
    reply = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    return replace(
        step,
        body={
            "id": "chatcmpl-stub",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": reply, "finish_reason": stops.get(body["stop_reason"], "stop")}],
            "usage": {
                "prompt_tokens": usage["input_tokens"] + usage["cache_creation_input_tokens"] + cached,
                "completion_tokens": usage["output_tokens"],
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        },
    )


def _role(body: Mapping[str, Any]) -> str:
    role = str(body.get("model", "")).removeprefix("stub-")
    return role if role in ROLES else ""


def _wrong(body: Mapping[str, Any]) -> str:
    """Say what the API would refuse of a request, "" where it would take it."""
    unknown = set(body) - {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "output_config"}
    if unknown:
        return f"{min(unknown)}: Extra inputs are not permitted"
    if not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
        return "max_tokens, messages: Field required"
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema is not None and (open_object := _open_object(schema)):
        return (
            f"output_config.format.schema: For 'object' type, 'additionalProperties' must be false: {open_object}"
        )
    return ""


def _open_object(schema: Any) -> str:  # noqa: ANN401 - JSON of any shape
    """Find an object that a schema leaves open."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return json.dumps(schema)[:80]
        return next((open_object for subschema in schema.values() if (open_object := _open_object(subschema))), "")
    if isinstance(schema, list):
        return next((open_object for subschema in schema if (open_object := _open_object(subschema))), "")
    return ""


def _handler(stub: AnthropicStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each reply waits 40 ms for the client to acknowledge its headers

        def do_GET(self) -> None:
            self._answer(stub.receive("GET", self.path, self._headers(), b""))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._answer(stub.receive("POST", self.path, self._headers(), raw))

        def _headers(self) -> dict[str, str]:
            return {name.lower(): value for name, value in self.headers.items()}

        def _answer(self, step: Step) -> None:
            if step.waits_s:
                stub.closing.wait(step.waits_s)
            body = step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
            if step.drops:
                self.close_connection = True
                if step.body is None:
                    return
            with suppress(OSError):  # a client that no longer waits
                self.send_response(step.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.send_header("request-id", "req_stub")
                for name, value in step.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.writelines(stub.parts(step, body))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base names it
            """Say nothing on standard error."""

    return Handler
