"""Serving: the screens in a browser, for those who have the secret address; an extra (textual-serve)."""

from __future__ import annotations

import ipaddress
import re
import shlex
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, NamedTuple

from events.clock import new_key_seed
from events.errors import UsageError
from events.extras import install_hint
from tui.session.own_command import own_command
from tui.session.ownership import VOUCHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.typedefs import Handler, Middleware
    from aiohttp.web import Application, Request, StreamResponse

_BIND: Final = re.compile(r"(?P<host>[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
_MOST_PORTS: Final = 65_535
_HTTP: Final = 80
"""The port that browsers leave out."""
_PATIENCE_S: Final = 1.0
"""How long an open page may take to close after Ctrl-C (a guess)."""


class Address(NamedTuple):
    """Where the screens are served."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Where the secret addresses begin."""
        return f"http://{self.host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a browser that was sent here writes into `Host`, and behind `http://` into `Origin`."""
        names = {self.host.lower(), *(("127.0.0.1", "localhost", "[::1]") if self.is_loopback else ())}
        return frozenset({f"{name}:{self.port}" for name in names} | (names if self.port == _HTTP else set()))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


def address_of(bind: str) -> Address:
    """Read HOST:PORT; raises UsageError where it is none, and for one that no browser could be sent to."""
    match = _BIND.fullmatch(bind)
    if match is None or not 0 < int(match["port"]) <= _MOST_PORTS:
        raise UsageError(f"{bind!r} is no address to serve at", hint="germline ui --serve --bind 127.0.0.1:8000")
    if match["host"] in {"0.0.0.0", "[::]"}:  # noqa: S104 - refused, not bound
        raise UsageError(
            f"{bind} is every address of this machine: name the one that browsers will use",
            hint="germline ui --serve --bind HOST:PORT",
        )
    return Address(match["host"], int(match["port"]))


def serve(address: Address, at: str | None, ready: Callable[[str], None]) -> None:
    """Serve the screens until Ctrl-C, each page by a process of its own, below a path that nobody guesses.

    Calls `ready` with the address to open once it listens. The secret is in the path, not in a cookie, which every
    server on this machine would be sent, whatever its port (RFC 6265, 8.5).

    Raises: UsageError where textual-serve is not installed, or the address cannot be bound.
    """
    try:
        from aiohttp import web  # noqa: PLC0415 - an extra
        from textual_serve.server import Server  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(f"--serve needs textual-serve: {error}", hint=install_hint("serve")) from error

    class Screens(Server):
        """Serves the screens to pages of its own alone, and says nothing of itself."""

        async def _make_app(self) -> Application:
            outer = web.Application(middlewares=[_holders_only(address, token)])
            outer.add_subapp(f"/{token}", await super()._make_app())
            outer.on_response_prepare.append(_keep_to_itself)
            return outer

        async def on_startup(self, app: Application) -> None:
            """Say nothing: the command does."""

    token = new_key_seed().hex()
    answered_for = ("--trust-project",) if VOUCHED.get() else ()
    command = [*own_command(), *answered_for, "ui", *(("--at", at) if at else ())]
    server = Screens(shlex.join(command), address.host, address.port, title="germline", public_url=address.url)
    host = address.host.strip("[]")
    try:
        web.run_app(
            server._make_app(),  # noqa: SLF001 - its `serve` waits a minute for open pages, and configures logging
            host=host,
            port=address.port,
            shutdown_timeout=_PATIENCE_S,
            print=lambda _text: ready(f"{address.url}/{token}/"),
        )
    except OSError as error:
        raise UsageError(
            f"{address.host}:{address.port} cannot be served at: {error.strerror or error}",
            hint=f"germline ui --serve --bind {address.host}:{address.port % _MOST_PORTS + 1}",
        ) from error


def _holders_only(address: Address, token: str) -> Middleware:
    """Refuse who does not have the secret; and pages of other sites, also under a name that leads to this machine.

    A browser lets any page open a WebSocket to this machine, and believes a site's name wherever it leads.
    """
    from aiohttp import web  # noqa: PLC0415 - an extra

    own = {f"http://{host}" for host in address.hosts}

    @web.middleware
    async def refuse_others(request: Request, handler: Handler) -> StreamResponse:
        stated = request.path.split("/")[1]
        origin = request.headers.get("Origin")  # which only browsers send
        if (
            request.host.lower() not in address.hosts
            or (origin is not None and origin.lower() not in own)
            or not compare_digest(stated.encode(), token.encode())
        ):
            raise web.HTTPForbidden(text="open the address that germline ui --serve printed")
        return await handler(request)

    return refuse_others


async def _keep_to_itself(request: Request, response: StreamResponse) -> None:
    """Forbid the page to load from elsewhere (its template names a font), to be framed, to pass its address on."""
    del request
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Content-Security-Policy"] = (
        "default-src 'self' 'unsafe-inline' data:; connect-src 'self' ws:; frame-ancestors 'none'"
    )
