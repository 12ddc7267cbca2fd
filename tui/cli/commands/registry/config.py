"""The settings in force: each with its value, and the layer that sets it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import os
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from events.errors import NotFoundError, UntrustedError
from tui.cli.config.config import config_of, value_of
from tui.cli.config.known_settings import KINDS
from tui.cli.config.layers import (
    NAME,
    SettingOrigin,
    flat,
    nearest_file,
    read_layers,
    strays,
    trust_here,
    user_file,
)
from tui.cli.output.color import width
from tui.cli.output.facts import folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.registry_files import ConfigDocument, SettingFiles, SettingRow
from tui.session.open_registry import find_registry
from tui.text.numbers import count
from tui.text.terminal_text import columns, one_line

if TYPE_CHECKING:
    from tui.cli.output.invocation import Invocation

_REGISTRY: Final = "registry"
_VARIABLE: Final = "GERMLINE_REGISTRY"
_KEY: Final = 28
"""Columns of the keys: "signals.failure_confidence_z"."""
_VALUE: Final = 22


class Setting(NamedTuple):
    """One setting: its dotted key, its value, and what set it; by default nothing did."""

    key: str
    value: object
    layer: str
    name: str = ""


def show_config(
    ctx: typer.Context,
    *,
    origins: Annotated[
        bool, typer.Option("--origins", help="Say which flag, variable or file each value comes from.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting, its value, and what sets it.

    A flag goes before the environment, that before the nearest germline.toml, that before the user's own one, and
    all of them before the default.
    """
    call = invocation(ctx)
    rows = [_registry(call), *settings_in_force()]
    nearest, own = nearest_file(), user_file()
    if as_json:
        settings = (
            SettingRow(key=row.key, value=_plain(row.value), origin=row.layer, where=row.name or None)
            for row in rows
        )
        files = SettingFiles(nearest=str(nearest) if nearest else None, user=str(own), user_exists=own.is_file())
        call.answer(ConfigDocument(settings=tuple(settings), files=files))
        return
    for row in rows:
        origin = f"{row.layer:<13} {row.name}".rstrip() if origins else ""
        _print_row(call, row.key, _words(row.value), origin, tone=_tone(row))
    _print_row(call, "files", str(nearest or f"no {NAME} here or above"))
    _print_row(call, "", f"{own}{'' if own.is_file() else ', which is not there'}")
    if not (trust := trust_here()).is_in_force:
        call.note(f"note       {one_line(trust.summary)}: germline trust")
    for name, near in strays([*KINDS, _REGISTRY]):
        call.note(f"warning    {name} says nothing to germline; did you mean {near}?")
    if not origins:
        call.say(f"{'next':<{_KEY}} germline config --origins")


def _print_row(call: Invocation, key: str, value: str, origin: str = "", *, tone: str = "") -> None:
    """Print a setting beside its key, and beside it what set it; below it what has no room there."""
    room = width() - _KEY - 1
    beside = f"{one_line(value):<{_VALUE}} {one_line(origin)}".rstrip()
    fits = columns(beside) <= room and columns(value) <= _VALUE
    lines = (
        [beside] if fits else [line for text in (value, origin) if text for line in folded(one_line(text), room)]
    )
    if columns(key) > _KEY:  # that of a skill with a long name
        for line in folded(one_line(key), width()):
            call.say(call.paint(line, tone))
        key = ""
    for at, line in enumerate(lines):
        call.say(call.paint(f"{key if at == 0 else '':<{_KEY}} {line}".rstrip(), tone))


def settings_in_force() -> list[Setting]:
    """List every setting but the registry; raises UsageError for settings that cannot be."""
    layers = read_layers(KINDS)
    config = config_of(layers)
    values = {key: value_of(config, key) for key in KINDS}
    values |= {
        key: value for key, value in flat(layers.tables).items() if key not in KINDS
    }  # those of single skills
    rows = []
    for key, value in values.items():
        origin: SettingOrigin | None = layers.origins.get(key)
        layer, name = (origin.layer, origin.name) if origin else ("default", "")
        rows.append(Setting(key, value, layer, name))
    return rows


def _registry(call: Invocation) -> Setting:
    """Say which registry commands work on, and why that one."""
    try:
        path = find_registry(call.registry)
    except (NotFoundError, UntrustedError):  # doctor tells of the latter
        return Setting(_REGISTRY, None, "default")
    if call.registry:
        return Setting(_REGISTRY, str(path), "flag", "--registry")
    if os.environ.get(_VARIABLE):
        return Setting(_REGISTRY, str(path), "environment", _VARIABLE)
    return Setting(_REGISTRY, str(path), "default", "the nearest .germline/ upwards")


def _tone(row: Setting) -> str:
    return "dim" if row.layer == "default" else ""


def _words(value: object) -> str:
    """Write a value as germline.toml would have it, short enough for a column."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        rules = [rule for rule in value if is_dataclass(rule)]
        return count(len(rules), "rule") if rules else ", ".join(map(str, value)) or "[]"
    return str(value) or '""'


def _plain(value: object) -> Any:  # noqa: ANN401 - settings of any type, on their way out as JSON
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value) if isinstance(value, Path) else value


COMMANDS: Final = {"config": show_config}
