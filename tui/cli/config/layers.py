"""Layers of settings: the environment, the nearest germline.toml, the user's own; the first to say a key wins."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from platformdirs import user_config_path

from events.errors import UntrustedError, UsageError
from tui.cli.config.guarded_settings import without
from tui.cli.config.project_trust import ProjectTrust, trust_of

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
class SettingOrigin:
    """Which layer sets something: the variable or the file by `name`; relative paths begin at `folder`."""

    layer: Layer
    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class LayeredSettings:
    """What the layers set together: tables as TOML has them, and where each dotted key was set.

    `withheld` are keys of the nearest file that are left out: untrusted, and set by no stronger layer.
    """

    tables: dict[str, Any]
    origins: dict[str, SettingOrigin]
    withheld: tuple[str, ...] = ()


def read_layers(kinds: Mapping[str, tuple[type, ...]]) -> LayeredSettings:
    """Read all layers, the weakest first, and let each stronger one overrule it key by key.

    Shapes: `kinds` names the keys that the environment may say, dotted, with the types that each may have; a list
    of tables is one key. Raises: UsageError for a file that is no TOML, or cannot be read; UntrustedError for one
    of another user.
    """
    merged, withheld = LayeredSettings({}, {}), frozenset[str]()
    if (own := user_file()).is_file():
        _overrule(merged, _read(own), SettingOrigin("user file", str(own), own.parent))
    if near := nearest_file():
        tables = _read(near)
        if (project := _project(near, tables, merged.tables)) and not project.is_in_force:
            if project.owner:
                raise UntrustedError(project.summary, hint="germline trust    germline --trust-project …")
            tables = without(tables, project.settings)
            withheld = frozenset(setting.key for setting in project.settings)
        _overrule(merged, tables, SettingOrigin("nearest file", str(near), near.parent))
    for key, kind in kinds.items():
        if text := os.environ.get(variable(key), ""):
            origin = SettingOrigin("environment", variable(key), Path.cwd())
            _overrule(merged, _nested(key, _parsed(text, kind)), origin)
            withheld -= {key}
    return replace(merged, withheld=tuple(sorted(withheld)))


def trust_here() -> ProjectTrust:
    """Look at the nearest germline.toml as the project's word; raises UsageError for what is no TOML."""
    near, own = nearest_file(), user_file()
    trust = _project(near, _read(near), _read(own) if own.is_file() else {}) if near else None
    return trust or ProjectTrust(near or Path.cwd() / NAME)


def _project(file: Path, tables: Mapping[str, Any], own: Mapping[str, Any]) -> ProjectTrust | None:
    user = user_file()
    return None if user.is_file() and user.samefile(file) else trust_of(file, tables, own)


def is_anything_set() -> bool:
    """Tell whether any layer may say something: most people leave all as it is."""
    stated = (name for name in os.environ if name.startswith(_PREFIX))
    return any(name != _PLACE for name in stated) or bool(read_layers({}).tables)


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
    return [(name, matches[0]) for name, matches in near if matches]


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested tables as one, with dotted keys."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values


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


def _overrule(merged: LayeredSettings, tables: Mapping[str, Any], origin: SettingOrigin) -> None:
    """Let a layer's keys stand in place of those of weaker layers; a table is never replaced as a whole."""
    _merge(merged.tables, tables)
    merged.origins.update(dict.fromkeys(flat(tables), origin))


def _merge(into: dict[str, Any], tables: Mapping[str, Any]) -> None:
    for key, value in tables.items():
        below = into.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            _merge(below, value)
        else:
            into[key] = value
