"""ASCII for terminals whose locale is not UTF-8."""

from __future__ import annotations

import io

import pytest

from tui.text.ascii_fallback import is_plain_locale, speak_plainly


@pytest.mark.parametrize(
    ("environ", "is_plain"),
    [
        ({}, False),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({"LANG": "de_DE"}, False),
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        ({"LANG": "ja_JP.eucJP"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),  # as Python leaves it under LANG=C
        ({"LC_CTYPE": "C.UTF-8"}, False),  # as Python leaves it where nothing is set
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, False),
    ],
)
def test_a_locale_is_plain_where_it_names_another_charset(environ: dict[str, str], *, is_plain: bool) -> None:
    assert is_plain_locale(environ) == is_plain


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_terminal_of_a_plain_locale_gets_ascii_and_a_pipe_the_text_as_it_is() -> None:
    terminal, piped = _Terminal(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    speak_plainly((terminal, piped), {"LC_ALL": "C"})
    for stream in (terminal, piped):
        stream.write("✓ held · ü")
        stream.flush()
    assert terminal.buffer.getvalue() == b"+ held . ?"  # type: ignore[attr-defined]
    assert piped.buffer.getvalue() == "✓ held · ü".encode()
