"""The tutorial, typed: every block of docs/tutorial.md in order, and what appears compared with what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "tutorial.md"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_PROMPT = "$ "
_ANYTHING = "…"


def typed() -> Iterator[tuple[list[str], list[str]]]:
    """Give each command of the page, with the lines that are to appear."""
    for block in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for part in re.split(rf"^{re.escape(_PROMPT)}", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield shlex.split(command), lines


def appears(shown: Sequence[str], output: Sequence[str]) -> bool:
    """Tell whether lines appear in order: a lone … stands for any lines, one within a line for any text."""
    if not shown:
        return not output
    if shown[0] == _ANYTHING:
        return any(appears(shown[1:], output[at:]) for at in range(len(output) + 1))
    form = ".*".join(re.escape(piece) for piece in shown[0].split(_ANYTHING))
    return bool(output) and re.fullmatch(form, output[0]) is not None and appears(shown[1:], output[1:])


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    commands = list(typed())
    for words, shown in commands:
        if words[0] == "cd":
            germline.folder /= words[1]
            continue
        assert words[0] == "germline"
        output = germline.does(*words[1:]).out.splitlines()
        assert appears(shown, output), f"{shlex.join(words)}:\n" + "\n".join(output)
    assert len(commands) > 10


def test_a_page_that_shows_what_does_not_appear_would_be_found() -> None:
    assert appears(["a … c", "…"], ["a b c", "d", "e"])
    assert not appears(["a … c"], ["a b c", "d"])
    assert not appears(["…", "x"], ["a b c", "d"])
