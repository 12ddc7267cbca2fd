"""Layers of settings: the environment, the nearest germline.toml, the user's own; the first to say a key wins."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from platformdirs import user_config_path

from events.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME: Final = "germline.toml"
_PREFIX: Final = "GERMLINE_"
_PLACE: Final = "GERMLINE_REGISTRY"
"""Says where the registry is, which is no setting."""
_ALIKE: Final = 0.8
"""How much a variable must look like one of ours to be a slip (a guess; GERMLINE_SEDE is .92 of GERMLINE_SEED)."""

Layer = Literal["flag", "environment", "nearest file", "user file", "default"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which layer said something: the variable or the file by `name`; relative paths begin at `folder`."""

    layer: Layer
    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Said:
    """What the layers say together: tables as TOML has them, and where each dotted key was said."""

    tables: dict[str, Any]
    origins: dict[str, Origin]


def said_by_layers(kinds: Mapping[str, tuple[type, ...]]) -> Said:
    """Read all layers, the weakest first, and let each stronger one overrule it key by key.

    Shapes: `kinds` names the keys that the environment may say, dotted, with the types that each may have; a list
    of tables is one key. Raises: UsageError for a file that is no TOML, or cannot be read.
    """
    said = Said({}, {})
    for layer, path in (("user file", user_file()), ("nearest file", nearest_file())):
        if path is not None and path.is_file():
            origin = Origin("user file" if layer == "user file" else "nearest file", str(path), path.parent)
            _overrule(said, _read(path), origin)
    for key, kind in kinds.items():
        if text := os.environ.get(variable(key), ""):
            origin = Origin("environment", variable(key), Path.cwd())
            _overrule(said, _nested(key, _parsed(text, kind)), origin)
    return said


def is_anything_said() -> bool:
    """Tell whether any layer may say something: most people leave all as it is."""
    stated = (name for name in os.environ if name.startswith(_PREFIX))
    return any(name != _PLACE for name in stated) or bool(said_by_layers({}).tables)


def user_file() -> Path:
    """Give the place of the user's own settings, whether or not there are any."""
    return user_config_path("germline") / NAME


def nearest_file() -> Path | None:
    """Find the nearest germline.toml upwards from here."""
    here = Path.cwd()
    return next((folder / NAME for folder in (here, *here.parents) if (folder / NAME).is_file()), None)


def variable(key: str) -> str:
    """Name the variable that says a key: `watch.promote` is GERMLINE_WATCH_PROMOTE."""
    return f"{_PREFIX}{key.upper().replace('.', '_')}"


def strays(keys: Iterable[str]) -> list[tuple[str, str]]:
    """List the variables that say no setting, but look like one that does, each with that one."""
    known = {variable(key) for key in keys}
    unknown = sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in known)
    near = ((name, get_close_matches(name, known, n=1, cutoff=_ALIKE)) for name in unknown)
    return [(name, found[0]) for name, found in near if found]


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested tables as one, with dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}", hint=f"mend it, or remove it: {path}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint=f"chmod u+r {path}") from error


def _parsed(text: str, kinds: tuple[type, ...]) -> object:
    """Read a variable as the value that TOML would have there; a list may also be written as PATH is."""
    if kinds == (str,):
        return text
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        table = {}
    value = table["value"] if table.keys() == {"value"} else text
    return text.split(os.pathsep) if list in kinds and not isinstance(value, list) else value


def _nested(key: str, value: object) -> dict[str, Any]:
    """Write one dotted key as nested tables."""
    first, _, rest = key.partition(".")
    return {first: _nested(rest, value) if rest else value}


def _overrule(said: Said, tables: Mapping[str, Any], origin: Origin) -> None:
    """Let a layer's keys stand in place of those of weaker layers; a table is never replaced as a whole."""
    _merge(said.tables, tables)
    said.origins.update(dict.fromkeys(flat(tables), origin))


def _merge(into: dict[str, Any], tables: Mapping[str, Any]) -> None:
    for key, value in tables.items():
        below = into.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            _merge(below, value)
        else:
            into[key] = value
