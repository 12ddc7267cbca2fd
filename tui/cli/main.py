"""Where `germline` begins: what needs no parsing is answered before anything is loaded."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from tui import __version__

TYPE_CHECKING = False  # as type checkers know it: `typing` alone takes 8 ms, a third of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before typer is imported, which alone takes 40 ms.
    """
    try:
        return run_one(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        from tui.cli.output.exit import INTERRUPTED  # noqa: PLC0415 - loaded with the command, not with `--version`

        sys.stderr.write("interrupted: what was acknowledged is safe; the same command goes on from there\n")
        return INTERRUPTED


def run_one(words: Sequence[str]) -> int:
    """Run one command line; raises KeyboardInterrupt where it is interrupted."""
    if words[:1] == ["--version"]:
        sys.stdout.write(f"germline {__version__}\n")
        return 0
    gc.set_threshold(500_000, 20, 20)  # what is imported stays: to look through it again takes 60 ms of `status`
    atexit.register(gc.freeze)  # nor is it looked through at the end, which takes as long once more
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # none of them decides what an event is
    if words[:1] == ["__complete"]:
        from tui.cli.complete import answer  # noqa: PLC0415 - asked by a shell, at every tab

        sys.stdout.write(answer(words[1:]))
        return 0
    os.environ["PYTHONSAFEPATH"] = "1"  # no child of ours imports from the folder it stands in (F20)
    if words[:1] == ["__hook"]:
        from tui.cli.agent_hook import answer_hook  # noqa: PLC0415 - run by an agent, which waits for it

        return answer_hook(words[1:])
    from tui.cli.typer_app import run  # noqa: PLC0415 - see above

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
