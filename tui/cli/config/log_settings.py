"""Settings about logs: how they are read, whose they are, and which hints in them count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from events.errors import UsageError
from registry.evidence.log_paths import kept_path
from strategies.episodes.episode import WORLD_SOURCES
from strategies.logs.formats.mapped.mappings_in_use import IN_USE
from tui.cli.config.layers import flat

if TYPE_CHECKING:
    from strategies.episodes.episode import WorldSource
    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from tui.cli.config.layers import LayeredSettings

LOGS: Final = "logs"
SKILLS: Final = "skills"
FROM: Final = "outcomes.from"


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """The globs of a skill's logs, absolute; which file says them, and whether that is the nearest one."""

    logs: tuple[str, ...]
    named_by: str
    near: bool


def mappings_of(layers: LayeredSettings, tables: dict[str, Any]) -> tuple[LogMapping, ...]:
    """Take the tables of `[logs]` out of the others, and let this process read by them."""
    IN_USE.clear()
    logs = tables.get(LOGS, {})
    named = (
        {name: table for name, table in logs.items() if isinstance(table, dict)} if isinstance(logs, dict) else {}
    )
    if not named:
        return ()  # readers are not loaded for it
    from strategies.logs.formats.mapped.log_mapping import LogMapping  # noqa: PLC0415 - few have any
    from strategies.logs.formats_table import reader_named, reader_names  # noqa: PLC0415 - the same

    tables[LOGS] = {name: value for name, value in logs.items() if name not in named}
    mappings = list[LogMapping]()
    for name, table in named.items():
        origin = layers.origins.get(f"{LOGS}.{name}.glob")
        mapping = LogMapping.from_mapping(name, table, origin.folder if origin else Path())
        if mapping.format:
            reader_named(mapping.format)
        if name in reader_names():
            raise UsageError(f"[{LOGS}.{name}] has the name of a format", hint="give it another name")
        mappings.append(mapping)
    IN_USE.update((mapping.name, mapping) for mapping in mappings)
    return tuple(mappings)


def sources_of(layers: LayeredSettings, stated: object) -> tuple[WorldSource, ...]:
    """Read which hints from the world stand for labels, in which order."""
    listed = stated if isinstance(stated, list) else []
    wrong = [source for source in listed if source not in WORLD_SOURCES]
    if wrong:
        where = layers.origins[FROM].name
        raise UsageError(
            f"{where} sets {FROM} to {wrong[0]!r}", hint=f"{FROM} is a list of: {', '.join(WORLD_SOURCES)}"
        )
    return tuple(dict.fromkeys(listed))


def skills_of(layers: LayeredSettings, table: dict[str, object]) -> dict[str, SkillSettings]:
    """Read the logs of each skill; relative globs begin at the folder of the file that sets them."""
    skills = {}
    for name, settings in table.items():
        for key, value in flat(table_of(layers, settings, f"{SKILLS}.{name}"), f"{SKILLS}.{name}.").items():
            origin = layers.origins[key]
            if key != f"{SKILLS}.{name}.logs":
                hint = f"write logs = […] under [{SKILLS}.{name}]"
                raise UsageError(f"{origin.name} sets {key}, which germline does not know", hint=hint)
            if not isinstance(value, list) or not all(isinstance(glob, str) and glob for glob in value):
                raise UsageError(
                    f"{origin.name} sets {key} to {value!r}", hint=f"{key} is a list of paths or globs"
                )
            globs = tuple(_absolute(origin.folder, glob) for glob in value)
            skills[name] = SkillSettings(globs, origin.name, near=origin.layer == "nearest file")
    return skills


def _absolute(folder: Path, glob: str) -> str:
    """Give a glob as logs are named: what comes before its first wildcard is a place, with links followed."""
    parts = (folder / Path(glob).expanduser()).parts
    plain = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return kept_path("/".join([str(Path(*parts[:plain]).resolve()).rstrip("/"), *parts[plain:]]))


def table_of(layers: LayeredSettings, value: object, name: str) -> dict[str, object]:
    """Give a table of the settings; raises UsageError for what is none."""
    if not isinstance(value, dict):
        where = layers.origins[name].name
        raise UsageError(f"{where} sets {name} to {value!r}", hint=f"write [{name}] and keys below it")
    return value
