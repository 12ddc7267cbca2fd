"""Endings: a command line ends in an exit code and, where something fails, in one message."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from events.errors import GermlineError
from tui.cli.entry import INTERRUPTED
from tui.cli.paging import paged
from tui.cli.paint import Paint
from tui.plain import speak_plainly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAGED: Final = {"diff", "log", "show"}
"""The commands whose answers may be long."""
_FAILED: Final = 1


def ended(words: Sequence[str], answer: Callable[[], object]) -> int:
    """Run what answers a command line; an error ends in one message and the exit code that terminal.md promises.

    Raises: KeyboardInterrupt, once whoever reads the answer through a pager has read it.
    """
    speak_plainly((sys.stdout, sys.stderr))
    at = command_at(words)
    debug = "--debug" in words[:at]
    code: object = 0  # also where the reader of a pager leaves early
    try:
        with paged() if _PAGED.intersection(words[at : at + 1]) else nullcontext():
            try:
                code = answer()
            except KeyboardInterrupt:
                code = INTERRUPTED
            sys.stdout.flush()
    except GermlineError as error:
        return _fail(error, debug=debug, what=error.message, hint=error.hint, code=error.exit_code)
    except BrokenPipeError:
        # Whoever read the answer has read enough; the interpreter must not complain while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = "check who owns it, and its folder" if isinstance(error, PermissionError) else ""
        return _fail(error, debug=debug, what=f"{where}{error.strerror or error}", hint=hint, code=_FAILED)
    except Exception as error:  # noqa: BLE001 - the last place where a fault of ours can be told in one line
        what = f"germline itself failed: {type(error).__name__}: {error}"
        return _fail(error, debug=debug, what=what, hint="germline --debug … shows where", code=_FAILED)
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # entry.py says it in words
    return code if isinstance(code, int) else 0


def _fail(error: Exception, *, debug: bool, what: str, hint: str, code: int) -> int:
    """Say what happened, then what to type; a traceback only where it was asked for."""
    if debug:
        import traceback  # noqa: PLC0415 - for the few who ask

        traceback.print_exception(error)
    sys.stdout.flush()
    paint = Paint.of(sys.stderr)
    sys.stderr.write(f"{paint('error', 'bad')}  {what}\n")
    if hint:
        sys.stderr.write(f"{paint('hint', 'accent')}   {hint}\n")
    return code


def command_at(words: Sequence[str]) -> int:
    """Find the command among the words: the first that is no global option nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--registry" else 1
    return at
