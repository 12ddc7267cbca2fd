"""Serving: the screens in a browser, for everybody who reaches the address; an extra (textual-serve)."""

from __future__ import annotations

import ipaddress
import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import UsageError
from tui.session.own_command import own_command
from tui.session.ownership import VOUCHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.typedefs import Handler, Middleware
    from aiohttp.web import Application, Request, StreamResponse

_BIND: Final = re.compile(r"(?P<host>[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
_MOST_PORTS: Final = 65_535
_PATIENCE_S: Final = 1.0
"""How long an open page may take to close after Ctrl-C (a guess)."""


class Address(NamedTuple):
    """Where the screens are served."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """What a person types into the browser."""
        return f"http://{self.host}:{self.port}"

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


def serve(address: Address, at: str | None, ready: Callable[[], None]) -> None:
    """Serve the screens until Ctrl-C, each page by a process of its own; calls `ready` once it listens.

    Raises: UsageError where textual-serve is not installed, or the address cannot be bound.
    """
    try:
        from aiohttp import web  # noqa: PLC0415 - an extra
        from textual_serve.server import Server  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(f"--serve needs textual-serve: {error}", hint="pip install 'germline[serve]'") from error

    class Screens(Server):
        """Serves the screens to pages of its own alone, and says nothing of itself."""

        async def _make_app(self) -> Application:
            app = await super()._make_app()
            app.middlewares.append(_own_pages_only(address))
            app.on_response_prepare.append(_keep_to_itself)
            return app

        async def on_startup(self, app: Application) -> None:
            """Say nothing: the command does."""

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
            print=lambda _text: ready(),
        )
    except OSError as error:
        raise UsageError(
            f"{address.host}:{address.port} cannot be served at: {error.strerror or error}",
            hint=f"germline ui --serve --bind {address.host}:{address.port % _MOST_PORTS + 1}",
        ) from error


def _own_pages_only(address: Address) -> Middleware:
    """Refuse what a page of another site asks: a browser lets any page open a WebSocket to this machine."""
    from aiohttp import web  # noqa: PLC0415 - an extra

    port = address.port
    own = {address.url, *((f"http://127.0.0.1:{port}", f"http://localhost:{port}") if address.is_loopback else ())}

    @web.middleware
    async def refuse_others(request: Request, handler: Handler) -> StreamResponse:
        if request.headers.get("Origin", address.url) not in own:
            raise web.HTTPForbidden
        return await handler(request)

    return refuse_others


async def _keep_to_itself(request: Request, response: StreamResponse) -> None:
    """Forbid the page to load anything from elsewhere (its template names a font), and to be framed."""
    del request
    response.headers["Content-Security-Policy"] = (
        "default-src 'self' 'unsafe-inline' data:; connect-src 'self' ws:; frame-ancestors 'none'"
    )
