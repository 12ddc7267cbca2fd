"""Quotes of erased texts: found however they were written, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest

from registry.query.model_prompts import Quotes

TEXT = 'Traceback:\n  File "C:\\new\\users.py", line 3\n\tcannot open the vault of Zoë „Ada" Lovelace \x1b[0m'


def nested(text: str, times: int, *, ascii_only: bool) -> bytes:
    body = text
    for _ in range(times):
        body = json.dumps({"content": f"They saw: {body}!"}, ensure_ascii=ascii_only)
    return body.encode()


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_a_text_is_found_however_often_it_was_written_as_json(times: int, *, ascii_only: bool) -> None:
    assert Quotes([TEXT]).stand_in(nested(TEXT, times, ascii_only=ascii_only))


def test_a_long_text_that_lost_its_middle_or_its_end_is_found() -> None:
    lines = [f"line {number} of what Ada Lovelace wrote" for number in range(80)]
    text = "\n".join(lines)
    for kept in (lines[:10], lines[-10:], [*lines[:10], "[… left out …]", *lines[-10:]]):
        assert Quotes([text]).stand_in(json.dumps("\n".join(kept)).encode())
    assert not Quotes([text]).stand_in(json.dumps("\n".join(lines[30:40])).encode())


def test_a_short_text_is_no_quote_and_another_text_is_none_either() -> None:
    assert not Quotes(["no such table"])
    assert not Quotes(["no such table"]).stand_in(b"no such table")
    assert not Quotes([TEXT]).stand_in(json.dumps("cannot open the vault of Bob Stone").encode())
    assert not Quotes([]).stand_in(b"anything")
