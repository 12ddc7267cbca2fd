"""What an error is, apart from its place and its values: whether a result reads like one, and its masked essence.

An error is distinguished by the type that the log itself names, else by the stack frame inside the project, else
by the exception class, and below each of these by the template of its message. The essence puts the first
that is there before the message; the Drain tree (error_templates.py) then finds what varies in the message.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

import re2

from registry.evidence.redaction import without_secrets
from registry.skill_md.invisible_chars import HIDDEN, hidden_characters

WILDCARD: Final = "<*>"

TEXT_LIMIT_CHARS: Final = 4000
"""How much of an error text is looked at, half from each end: what failed comes first, or last in a traceback."""

TEMPLATE_LIMIT_CHARS: Final = 240
"""A template longer than this is cut: it goes into records and skill lines, and must stay one."""

_FILES: Final = (
    "md|txt|rst|pyi?|ipynb|[cm]?jsx?|tsx?|vue|json[lc]?|ya?ml|toml|ini|cfg|conf|lock|sh|bash|rb|go|rs|java|kt|swift"
    "|cc|cpp|hpp|cs|php|html?|s?css|sql|db|csv|tsv|parquet|xml|pdf|png|jpe?g|svg|zip|t?gz|tar"
)
"""Endings by which a bare word is a file's name. Not those that members of objects are called by (log, env, c)."""
_LEAD: Final = r"(?:^|[\s(\[{<=:,;#>|@$*!&?])"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_CLOCK: Final = r"\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: [A-Z]{3,4}\b)?"
_COUNTRIES: Final = (
    "uk|de|fr|jp|cn|nl|pl|ru|br|au|tw|kr|es|se|ch|ca|eu|hk|cz|hu|tr|mx|ar|fi|dk|gr|pt|ro|ua|nz|za|sg"
)
_END: Final = r"(?:[\w.~+-]*\w)?"
_VALUES: Final = (
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"  # UUIDs
    rf"|(?:{_DAY},? )?(?:{_MONTH} +\d{{1,2}}|\d{{1,2}} {_MONTH})(?:,? \d{{4}})?"
    rf"(?: {_CLOCK})?(?: [12]\d{{3}})?\b"  # dates with names
    r"|<\d+ ?(?:ms|s|secs?|seconds?|mins?|minutes?)\b"  # less than a duration
    r"|0x[0-9a-fA-F]+\b"
    r"|[0-9a-fA-F]{0,4}(?:::?[0-9a-fA-F]{1,4}){4,7}\b"  # addresses of IPv6 and of network cards
    r"|(?:~|\.{1,2}|[A-Za-z]:)?(?:/[\w.@+%!~-]|\\[A-Za-z_.$])[\w.@+%!~-]*"  # paths from a root
    r"(?:[/\\][\w.@+%$!~-]+)*[/\\]?"
    r"|[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.[A-Za-z]\w*"  # relative paths to a file
    rf"|[\w@+-][\w.@+-]*\.(?:{_FILES})\b"  # files without a path
    rf"|[A-Za-z_][\w.~+-]*\d[\w.~+-]*[A-Za-z_.~+-][\w.~+-]*\d{_END}"  # words with two numbers: hosts, ids
    rf"|\d[\w.~+-]*[a-z_.~+-][\w.~+-]*\d{_END}"
    r"|[-+]?\d+[kKMGT]?(?:[.,/-]\d+[kKMGT]?)*(?:[a-zA-Z%]{1,2})?\b"  # numbers and dates; a short unit may follow
    r"|(?:[0-9a-f]{7,}|[0-9A-F]{7,})\b"  # hashes, where they hold a digit
    rf"|(?:[\w-]+\.){{2,}}(?:{_COUNTRIES})\b|[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:com|net|org|edu|gov|lan)\b"  # hosts
    r"|[A-Za-z][\w-]*(?:\.[\w-]+)*\.[a-z]{2,}:\d{2,5}\b"  # hosts with a port
)
_AFTER_A_NAME: Final = (
    rf"({_LEAD}[a-z][a-z0-9+.-]*://)[^\s'\"\])>]+"  # URLs
    rf"|({_LEAD}(?:[A-Za-z]+_)+)-?[A-Z]?\d{_END}"  # job_12, blk_-3
    rf"|({_LEAD}[A-Z]{{2,}}-)[A-Z]*\d[\w.-]{{5,}}\w"  # long ids behind letters, no codes of errors
    rf"|({_LEAD}?[/@])\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b"  # host/10.0.0.1
    rf"|({_LEAD}v)\d+(?:\.\d+)+\b"
    r"|(= ?)(?i:true|false)\b"
    r"|([a-z]-[A-Z]?|[A-Za-z][./+]|\.\.)\d+(?:[.,]\d+)*\b"  # core.12, v1.2
)
_LIST: Final = 9
"""How many values in a row are a list."""
_QUOTES: Final = frozenset("'\"`")
_MASK: Final = re2.compile(
    (rf"{_AFTER_A_NAME}|({_LEAD})" + r"""(?:'[^']*'|"[^"]*"|`[^`]*`|""" + _VALUES + ")").encode()
)
_MASK_VALUES: Final = re2.compile(f"{_AFTER_A_NAME}|({_LEAD})(?:{_VALUES})".encode())
_EMAIL: Final = re2.compile(r"\b[\w.%+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b")
_LONGEST_TRUTH: Final = len("false")
_WITH_PORT: Final = re2.compile(rb"[\w.-]*[a-z]:\d+")
_REQUEST: Final = re2.compile(r"""(['"](?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)) [^'"]*(['"])""")
_OPENING_QUOTE: Final = re2.compile(_LEAD + r"""['"`]""")
_CLOSING_QUOTE: Final = re2.compile(r"""['"`]($|[\s)\]},.;:])""")
_NESTED_QUOTES: Final = re2.compile(f"({_LEAD})" + r"""(?:'(?s:.*)'|"(?s:.*)"|`(?s:.*)`)($|[\s)\]},.;:])""")
_UNCLOSED_QUOTE: Final = re2.compile(f"({_LEAD})" + r"""['"`](?s:.*)$""")

_BLANK: Final = frozenset(["Cc", "Cs", "Cn", "Co", "Zs", "Zl", "Zp"])
"""Categories of characters that count as a blank: a template is one line of what can be printed."""
_BOM: Final = "\ufeff"
"""Some shells begin what they print with it."""

_WRAPPER: Final = re2.compile(r"(?i:error)(?: [\w()#-]+){0,4}: +(\S(?s:.*))")
_COLOUR: Final = re2.compile("\x1b\\[[0-9;?]*[A-Za-z]")
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
    text = _ends(error_text)
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    place, message = _traced(text) or ("", _message(text))
    kind, essence = _one_line(without_secrets(error_type) or place), _without_lists(_one_line(mask(message)))
    return (f"{kind}: {essence}" if kind and essence else kind or essence)[:TEMPLATE_LIMIT_CHARS].rstrip()


def _ends(text: str) -> str:
    """Give the text that is looked at, without its secrets: a cut must not divide one before it is known."""
    if len(text) <= TEXT_LIMIT_CHARS:
        return without_secrets(text)
    around, half = 2 * TEXT_LIMIT_CHARS, TEXT_LIMIT_CHARS // 2
    if len(text) <= 2 * around:
        text = without_secrets(text)
        return f"{text[:half]}\n{text[-half:]}"
    return f"{without_secrets(text[:around])[:half]}\n{without_secrets(text[-around:])[-half:]}"


def _one_line(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        text = _visible(text)
    return " ".join(text.split())


def _without_lists(line: str) -> str:
    """Keep one of the values of a long list: how many there are is a value too."""
    if line.count(WILDCARD) < _LIST:
        return line
    words = list[str]()
    for word, run in groupby(line.split(" ")):
        times = sum(1 for _ in run)
        words += [word] * (1 if times >= _LIST and WILDCARD in word else times)
    return " ".join(words)


def _visible(text: str) -> str:
    """Put a blank for every control character or separator, and one sign for a run of other hidden characters."""
    text = "".join(" " if char == _BOM or unicodedata.category(char) in _BLANK else char for char in text)
    hidden = {hidden_char.column - 1 for hidden_char in hidden_characters(text)}
    if not hidden:
        return text
    runs = groupby(range(len(text)), key=hidden.__contains__)
    return "".join(HIDDEN if unseen else text[(places := list(run))[0] : places[-1] + 1] for unseen, run in runs)


def mask(message: str) -> str:
    """Put `<*>` for UUIDs, hex, paths, quoted strings and numbers.

    Where quotes nest (a quoted query that quotes a value), all between the first and the last is one value.
    """
    if request := _REQUEST.search(message):
        before, after = message[: request.start()], message[request.end() :]
        return f"{mask(before)}{request[1]} <*>{request[2]}{mask(after)}"
    if "@" in message:
        message = _EMAIL.sub(WILDCARD, message)
    masked = _put_wildcards(_MASK, message)
    if not _QUOTES.intersection(masked) or not (_CLOSING_QUOTE.search(masked) or _OPENING_QUOTE.search(masked)):
        return masked
    outer = _NESTED_QUOTES.sub(r"\1<*>\2", message)
    return _put_wildcards(_MASK_VALUES, _UNCLOSED_QUOTE.sub(r"\1<*>", outer))


def _put_wildcards(values: re2._Regexp, message: str) -> str:
    """Put `<*>` for what a pattern finds after its first group: half the time of `sub`, which expands a text."""
    text, kept, end = message.encode(errors="surrogatepass"), list[bytes](), 0
    for match in values.finditer(text):
        value, past = match.end(match.lastindex), match.end()
        if past - value > _LONGEST_TRUTH and text[value:past].isalpha():
            continue  # a word of the letters of hex
        kept += (text[end:value], b"<*>")
        end = past
        if text.rfind(b":", value, end) >= 0 and _WITH_PORT.fullmatch(text, value, end):
            kept.append(b":<*>")
    kept.append(text[end:])
    return b"".join(kept).decode(errors="surrogatepass")


def _traced(text: str) -> tuple[str, str] | None:
    """Give the place in the project and the raised line of a stack trace, if the text holds one."""
    if _TRACEBACK in text:
        frames = [(path, name) for path, name in _PYTHON_FRAME.findall(text)]
        raised = next((line for line in reversed(text.splitlines()) if _RAISED.fullmatch(line)), "")
    else:
        matches = _NODE_FRAME.findall(text) if "\n" in text else []
        frames = [(path, name) for name, path in reversed(matches)]
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
    lines = [line for line in (_TAG.sub("", text) if "<" in text else text).splitlines() if line.strip()]
    if len(lines) > 1:
        telling = [line for line in lines if not _EXIT_LINE.fullmatch(line.strip())] or lines
        first = next((line for line in telling if _TELLING.search(line)), telling[0])
    elif lines:
        first = lines[0]
    else:
        return ""
    message = first
    for line in lines[lines.index(first) + 1 :]:
        if len(_OPENING_QUOTE.findall(message)) <= len(_CLOSING_QUOTE.findall(message)):
            break
        message += "\n" + line
    wrapped = _WRAPPER.match(message.strip()) if message.lstrip()[:5].lower() == "error" else None
    return str(wrapped[1]) if wrapped else message


_LOOKED_AT_CHARS: Final = 2000
"""A failing tool says so first, or (exit codes, tracebacks) last: the middle of a long result is content."""

_FAILED: Final = re2.compile(
    r"(?i:^\s*(?:<[a-z_]+>\s*)?(?:error|fatal|exception)\b[^\n]{0,40}:)"
    r"|(?m:^Traceback \(most recent call last\))"
    r"|(?i:(?:exit(?:ed)?(?: with)?(?: code| status)|returned non-zero exit status)[ :=]*[1-9])"
    r"|(?m:^(?:[\w./-]+: )*(?:line \d+: )?[\w./-]+: (?:command not found|No such file or directory)$)"
    r"|(?m:^[\w.]+(?:Error|Exception): )"
    r"|^Your proposed edit has introduced new syntax error"
)


def looks_failed(result: str) -> bool:
    """Tell whether a tool result reads like a failure: an error line, a traceback, a non-zero exit code."""
    if len(result) > 2 * _LOOKED_AT_CHARS:
        result = f"{result[:_LOOKED_AT_CHARS]}\n{result[-_LOOKED_AT_CHARS:]}"
    return _FAILED.search(result) is not None
