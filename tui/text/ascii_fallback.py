"""Plain speech: every sign of ours as one of ASCII, for terminals and pipes that cannot take Unicode."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
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


def speak_plainly(streams: Iterable[TextIO]) -> None:
    """Let streams that cannot take Unicode write our signs in ASCII, and what is no sign of ours as "?"."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and not takes_unicode(stream):
            codecs.register_error(_HANDLER, _plain)
            stream.reconfigure(errors=_HANDLER)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(MARKS.get(char, "?") for char in error.object[error.start : error.end]), error.end
