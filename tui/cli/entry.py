"""Where `germline` begins: what needs no parsing is answered before anything is loaded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tui import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before typer is imported, which alone takes 35 ms (terminal.md, Budgets).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == ["--version"]:
            sys.stdout.write(f"germline {__version__}\n")
            return 0
        from tui.cli.app import run  # noqa: PLC0415 - see above

        return run(words)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what was acknowledged is safe; the same command goes on from there\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
