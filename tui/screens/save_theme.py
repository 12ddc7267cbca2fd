"""Remembering: one setting that was chosen on a screen, written into the person's own germline.toml."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from events.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_TABLE: Final = re.compile(r"^\[ui\][ \t]*(#.*)?$", re.MULTILINE)
_NEXT_TABLE: Final = re.compile(r"^\[", re.MULTILINE)
_THEME: Final = re.compile(r"^theme[ \t]*=.*$", re.MULTILINE)


def remember_theme(path: Path, theme: str) -> None:
    """Write `ui.theme` into a settings file; every other line of it stays as it is.

    Raises: UsageError where the file is no TOML, or says `ui` in a way that this cannot change; OSError where it
    cannot be written.
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    changed = _with_theme(text, theme)
    if _parsed(changed) != _wanted(_parsed(text), theme):
        raise UsageError(f"{path} says [ui] in another way", hint=f'write theme = "{theme}" there yourself')
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(changed, encoding="utf-8")
    os.replace(beside, path)  # noqa: PTH105 - a rename over the old file, in one step


def _with_theme(text: str, theme: str) -> str:
    line = f"theme = {json.dumps(theme)}"
    table = _TABLE.search(text)
    if table is None:
        before = f"{text.rstrip()}\n\n" if text.strip() else text
        return f"{before}[ui]\n{line}\n"
    following = _NEXT_TABLE.search(text, table.end())
    end = following.start() if following else len(text)
    if match := _THEME.search(text, table.end(), end):
        return text[: match.start()] + line + text[match.end() :]
    return f"{text[: table.end()]}\n{line}{text[table.end() :]}"


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _wanted(tables: dict[str, Any], theme: str) -> dict[str, Any]:
    ui = tables.get("ui", {})
    return {**tables, "ui": {**(ui if isinstance(ui, dict) else {}), "theme": theme}}
