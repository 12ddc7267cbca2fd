"""The server that agents ask: find, why, lessons, usage, and propose where it may."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from events.errors import UsageError
from events.extras import install_hint
from tui.cli.output.invocation import invocation


def serve_mcp(
    ctx: typer.Context,
    *,
    propose: Annotated[
        bool, typer.Option("--propose", help="Let agents propose candidates; else nothing is written.")
    ] = False,
) -> None:
    """Answer agents over stdio, by the Model Context Protocol.

    They may ask which skill fits a task, why a line is there, what goes wrong and what worked next, and which
    lines sessions obey. With --propose they may propose: a candidate that nobody measured. No tool promotes.
    """
    call = invocation(ctx)
    try:
        from tui.cli.commands.agents.mcp_server import server_on  # noqa: PLC0415 - an extra, and it takes a second to load
    except ImportError as error:
        raise UsageError(f"the server needs the SDK of MCP: {error}", hint=install_hint("mcp")) from error
    server_on(call.registry, proposing=propose).run()


COMMANDS: Final = {"mcp": serve_mcp}
