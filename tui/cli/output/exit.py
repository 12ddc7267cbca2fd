"""Endings: a command line ends in an exit code and, where something fails, in one message."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import GermlineError
from tui.cli.output.color import Paint
from tui.cli.output.pager import paged
from tui.text.ascii_fallback import speak_plainly
from tui.text.terminal_text import harmless, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAGED: Final = {"diff", "log", "show"}
"""The commands whose answers may be long."""
_FAILED: Final = 1
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""
BEGINS: Final = "germline init"
"""The hint where there is no registry: it begins one where the person is, unless they named another place."""


def ended(words: Sequence[str], answer: Callable[[], object]) -> int:
    """Run what answers a command line; an error ends in one message and its exit code.

    Raises: KeyboardInterrupt, once the person who reads the answer through a pager has read it.
    """
    speak_plainly((sys.stdout, sys.stderr), os.environ)
    at = command_at(words)
    style = _ErrorStyle(debug="--debug" in words[:at], as_json="--json" in words[at:])
    code: object = 0  # also where the reader of a pager leaves early
    try:
        with paged() if _PAGED.intersection(words[at : at + 1]) else nullcontext():
            try:
                code = answer()
            except KeyboardInterrupt:
                code = INTERRUPTED
            sys.stdout.flush()
    except GermlineError as error:
        hint = begins_there(_named(words[:at])) if error.hint == BEGINS else error.hint
        return _fail(error, style, what=error.message, hint=hint, code=error.exit_code)
    except BrokenPipeError:
        # Whoever read the answer has read enough; the interpreter must not complain while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = "check who owns it, and its folder" if isinstance(error, PermissionError) else ""
        return _fail(error, style, what=f"{where}{error.strerror or error}", hint=hint, code=_FAILED)
    except Exception as error:  # noqa: BLE001 - the last place where a fault of ours can be told in one line
        what = f"germline itself failed: {type(error).__name__}: {error}"
        return _fail(error, style, what=what, hint="germline --debug … shows where", code=_FAILED)
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # main.py says it in words
    return code if isinstance(code, int) else 0


class _ErrorStyle(NamedTuple):
    """Whether an error is printed with a traceback, and as JSON."""

    debug: bool
    as_json: bool


def _fail(error: Exception, style: _ErrorStyle, *, what: str, hint: str, code: int) -> int:
    """Say what happened, then what to type; a traceback only where it was asked for."""
    if style.debug:
        import traceback  # noqa: PLC0415 - for the few who ask

        sys.stderr.write(harmless("".join(traceback.format_exception(error))))
    sys.stdout.flush()
    if style.as_json:
        from tui.cli.output.invocation import json_text  # noqa: PLC0415 - for those who ask for JSON, and are refused
        from tui.documents.registry_files import ErrorDocument  # noqa: PLC0415 - the same

        document = json_text(ErrorDocument(error=what, hint=hint or None, exit_code=code))
        sys.stderr.write(f"{harmless(document)}\n")  # what steers a terminal becomes an escape of JSON
        return code
    paint = Paint.of(sys.stderr)
    sys.stderr.write(f"{paint('error', 'bad')}  {one_line(what)}\n")
    if hint:
        sys.stderr.write(f"{paint('hint', 'accent')}   {one_line(hint)}\n")
    return code


def begins_there(named: str) -> str:
    """Write the command that begins a registry where `--registry` named one; without a password of it."""
    if not named:
        return BEGINS
    from shlex import quote  # noqa: PLC0415 - for those who named a registry that is not there

    from tui.session.open_registry import place_of  # noqa: PLC0415 - the same

    return f"germline --registry {quote(str(place_of(named)) if '://' in named else named)} init"


def _named(before: Sequence[str]) -> str:
    """Find the registry that the options before the command name; "" where none does."""
    named = ""
    for at, word in enumerate(before):
        option, _, stated = word.partition("=")
        if option == "--registry":
            named = stated or "".join(before[at + 1 : at + 2])
    return named


def command_at(words: Sequence[str]) -> int:
    """Find the command among the words: the first that is no global option nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--registry" else 1
    return at
