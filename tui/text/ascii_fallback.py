"""Plain speech: every sign of ours as one of ASCII, for terminals and pipes that cannot take Unicode."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TextIO

MARKS: Final = {
    "›": ">", "…": "~", "·": ".", "–": "-", "−": "-", "±": "+", "×": "x", "≠": "!", "Δ": "d",
    "✓": "+", "✗": "x", "○": "o", "●": "*", "◆": "#", "▸": ">", "→": ">", "←": "<", "↑": "^", "↓": "v", "↶": "<",
    "│": "|", "╰": "`", "━": "=", "┄": "-", "┿": "+", "┊": ":", "⋯": "~", "█": "#", "▓": "=", "░": "-", "⏎": "<",
    "␍": "^", "␊": "$", "»": ">", "⍽": "_",
    "▁": "_", "▂": "_", "▃": ".", "▄": ".", "▅": "-", "▆": "-", "▇": "^", "“": '"', "”": '"', "’": "'",
    "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip
"""One sign for one, so that what is aligned stays aligned."""

_HANDLER: Final = "germline.plain"


def takes_unicode(stream: TextIO) -> bool:
    """Tell whether a stream can write every text; one without an encoding keeps text as it is."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith(("utf", "cp65001"))


def speak_plainly(streams: Iterable[TextIO], environ: Mapping[str, str]) -> None:
    """Let streams that cannot take Unicode write our signs in ASCII, and what is no sign of ours as "?".

    A terminal takes what its locale says, a file or a pipe what Python chose for it.
    """
    for stream in streams:
        if not isinstance(stream, io.TextIOWrapper):
            continue
        is_plain = stream.isatty() and is_plain_locale(environ)
        if is_plain or not takes_unicode(stream):
            codecs.register_error(_HANDLER, _plain)
            stream.reconfigure(encoding="ascii" if is_plain else None, errors=_HANDLER)


def is_plain_locale(environ: Mapping[str, str]) -> bool:
    """Tell whether the locale names a character set that is not UTF-8; a locale that names none does not.

    Python writes UTF-8 under the locale C and puts `LC_CTYPE=C.UTF-8` into its environment (PEP 538, 540), so the
    streams do not tell. Who sets PYTHONUTF8 or PYTHONIOENCODING has chosen.
    """
    if environ.get("PYTHONUTF8") or environ.get("PYTHONIOENCODING"):
        return False
    kind, language = environ.get("LC_CTYPE", ""), environ.get("LANG", "")
    name = environ.get("LC_ALL") or (language if kind == "C.UTF-8" and language else kind or language)
    charset = name.partition(".")[2].partition("@")[0].lower().replace("-", "")
    return name in {"C", "POSIX"} or bool(charset and charset != "utf8")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(MARKS.get(char, "?") for char in error.object[error.start : error.end]), error.end
