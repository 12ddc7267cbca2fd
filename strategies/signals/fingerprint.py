"""What an error is, apart from where and with what values it struck: its essence, with values masked.

An error is told apart by the type that the log itself names, else by the stack frame inside the project, else
by the exception class, and below each of these by the template of its message. The essence puts the first
that is there before the message; the Drain tree (drain.py) then finds what varies in the message.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import re2

WILDCARD: Final = "<*>"

TEXT_LIMIT_CHARS: Final = 4000
"""How much of an error text is looked at, half from each end: what failed stands first, or last in a traceback."""

TEMPLATE_LIMIT_CHARS: Final = 240
"""A template longer than this is cut: it goes into records and skill lines, and must stay one."""

_LEAD: Final = r"(^|[\s(\[{<=:,;#>|])"
_VALUES: Final = (
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"  # UUIDs
    r"|0x[0-9a-fA-F]+\b"
    r"|[0-9a-f]*[0-9][0-9a-f]{6,}\b"  # hashes: at least seven characters, at least one of them a digit
    r"|[a-z][a-z0-9+.-]*://[^\s'\"]+"  # URLs
    r"|(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+%-]+(?:[/\\][\w.@+%-]+)*[/\\]?"  # paths from a root
    r"|[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.\w+"  # relative paths to a file
    r"|[-+]?\d+(?:[.,:/-]\d+)*(?:[a-zA-Z%]{1,2})?\b"  # numbers, dates, addresses; a short unit may follow
)
_MASK: Final = re2.compile(_LEAD + r"""(?:'[^']*'|"[^"]*"|`[^`]*`|""" + _VALUES + ")")
_MASK_VALUES: Final = re2.compile(_LEAD + f"(?:{_VALUES})")
_OPENING_QUOTE: Final = re2.compile(_LEAD + r"""['"`]""")
_CLOSING_QUOTE: Final = re2.compile(r"""['"`]($|[\s)\]},.;:])""")
_NESTED_QUOTES: Final = re2.compile(_LEAD + r"""(?:'(?s:.*)'|"(?s:.*)"|`(?s:.*)`)($|[\s)\]},.;:])""")
_UNCLOSED_QUOTE: Final = re2.compile(_LEAD + r"""['"`](?s:.*)$""")

_WRAPPER: Final = re2.compile(r"(?i:error)(?: [\w()#-]+){0,4}: +(\S(?s:.*))")
_TAG: Final = re2.compile(r"</?[a-z_]+>")
_EXIT_LINE: Final = re2.compile(r"(?i)(?:process exited with |command failed with )?(?:exit )?code:? \d+\.?")
_TELLING: Final = re2.compile(
    r"(?i)\b(?:\w*error|\w*exception|fatal|fail(?:ed|ure)|denied|not found|no such|cannot|can't|unable|invalid"
    r"|unknown)\b"
)
_TRACEBACK: Final = "Traceback (most recent call last)"
_PYTHON_FRAME: Final = re2.compile(r'(?m)^\s*File "([^"\n]+)", line \d+, in ([\w<>.]+)')
_NODE_FRAME: Final = re2.compile(r"(?m)^\s+at (?:async )?([\w.$<>]+) \((?:file://)?([^()\s]+):\d+:\d+\)")
_RAISED: Final = re2.compile(r"[A-Za-z_][\w.]*(?:: (?s:.*))?")
_FOREIGN: Final = re2.compile(r"site-packages|dist-packages|/lib/python|node_modules|^node:|^<")


@lru_cache(maxsize=8192)
def normalised(error_text: str, error_type: str = "") -> str:
    """Give the essence of an error with its values masked: one line, the same for the same kind of error."""
    text = error_text
    if len(text) > TEXT_LIMIT_CHARS:
        text = text[: TEXT_LIMIT_CHARS // 2] + "\n" + text[-TEXT_LIMIT_CHARS // 2 :]
    place, message = _traced(text) or ("", _message(text))
    kind, said = _one_line(error_type or place), _one_line(mask(message))
    return (f"{kind}: {said}" if kind and said else kind or said)[:TEMPLATE_LIMIT_CHARS].rstrip()


def _one_line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def mask(message: str) -> str:
    """Put `<*>` for UUIDs, hex, paths, quoted strings and numbers.

    Where quotes nest (a quoted query that quotes a value), all between the first and the last is one value.
    """
    masked: str = _MASK.sub(r"\1<*>", message)
    if not _CLOSING_QUOTE.search(masked) and not _OPENING_QUOTE.search(masked):
        return masked
    outer = _NESTED_QUOTES.sub(r"\1<*>\2", message)
    return str(_MASK_VALUES.sub(r"\1<*>", _UNCLOSED_QUOTE.sub(r"\1<*>", outer)))


def _traced(text: str) -> tuple[str, str] | None:
    """Give the place in the project and the raised line of a stack trace, if the text holds one."""
    if _TRACEBACK in text:
        frames = [(path, name) for path, name in _PYTHON_FRAME.findall(text)]
        raised = next((line for line in reversed(text.splitlines()) if _RAISED.fullmatch(line)), "")
    else:
        frames = [(path, name) for name, path in reversed(_NODE_FRAME.findall(text))]
        raised = _message(text) if frames else ""
    if not raised:
        return None
    own = [(path, name) for path, name in frames if name != "<module>" and not _FOREIGN.search(path)]
    if not own:
        return "", raised
    path, name = own[-1]
    kind, _, message = raised.partition(": ")
    return f"{kind} at {path.replace(chr(92), '/').rsplit('/', 1)[-1]}:{name}", message


def _message(text: str) -> str:
    """Give the line that says what went wrong, with the lines that a quotation in it runs over."""
    lines = [line for line in _TAG.sub("", text).splitlines() if line.strip()]
    telling = [line for line in lines if not _EXIT_LINE.fullmatch(line.strip())] or lines
    if not telling:
        return ""
    first = next((line for line in telling if _TELLING.search(line)), telling[0])
    message = first
    for line in lines[lines.index(first) + 1 :]:
        if len(_OPENING_QUOTE.findall(message)) <= len(_CLOSING_QUOTE.findall(message)):
            break
        message += "\n" + line
    wrapped = _WRAPPER.match(message.strip())
    return str(wrapped[1]) if wrapped else message
