"""Where `germline` begins: what needs no parsing is answered before anything is loaded."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from types import ModuleType

from tui import __version__

TYPE_CHECKING = False  # as type checkers know it: `typing` alone takes 8 ms, a third of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""

YOUNG = 100_000
"""Objects made between two looks for garbage. A reading command makes 60,000 and hardly any garbage; with
Python's 700 they are looked through again and again: 2 % of the instructions of `why` (measured 2026-11-22)."""

_LOADER = "pydantic.plugin._loader"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` and plain forms of the reading commands are answered before typer is imported, which alone takes
    35 ms (terminal.md, Budgets).
    """
    try:
        return run_one(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what was acknowledged is safe; the same command goes on from there\n")
        return INTERRUPTED


def run_one(words: Sequence[str]) -> int:
    """Run one command line; raises KeyboardInterrupt where it is interrupted, for whoever called to tell."""
    if words[:1] == ["--version"]:
        sys.stdout.write(f"germline {__version__}\n")
        return 0
    if words[:1] == ["__complete"]:
        from tui.cli.completing import answer  # noqa: PLC0415 - asked by a shell, at every tab

        sys.stdout.write(answer(words[1:]))
        return 0
    gc.set_threshold(YOUNG)
    # At the end all that is still there would be looked through once more: 30 of 261 ms of `why`.
    atexit.unregister(gc.freeze)  # a process may run several commands
    atexit.register(gc.freeze)
    _without_plugins()
    from tui.cli.quick import answered  # noqa: PLC0415 - see above

    code = answered(words)
    if code is not None:
        return code
    from tui.cli.app import run  # noqa: PLC0415 - see above

    return run(words)


def _without_plugins() -> None:
    """Keep pydantic from looking for plugins, unless the environment says otherwise: none says what an event is.

    Told not to, pydantic 2.14 still loads `importlib.metadata` first, and with it what reads mail and archives: a
    tenth of `why`. So the module that would look is stood in for.
    """
    if os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__") == "__all__":
        sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))


class _NoPlugins(ModuleType):
    """The module of pydantic that looks for plugins, with none; asked for anything else, the real one answers."""

    get_plugins = staticmethod(tuple)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        from importlib import import_module  # noqa: PLC0415 - for a pydantic to come

        if sys.modules.get(_LOADER) is self:
            del sys.modules[_LOADER]
        found: object = getattr(import_module(_LOADER), name)
        return found


if __name__ == "__main__":
    sys.exit(main())
