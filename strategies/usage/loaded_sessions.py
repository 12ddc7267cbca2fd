"""Loaded: which sessions had a line before them, as far as logs tell, and as far as it is only presumed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.state.capsule import is_skill_name
from registry.state.instruction_formats import instruction_format, path_of_name
from strategies.episodes.episode_records import with_skills
from strategies.episodes.skill_version import under_versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord

TOOLS: Final = {
    "claude-code": "Claude Code",
    "claude-stream": "Claude Code",
    "codex": "Codex",
    "copilot-cli": "GitHub Copilot",
    "copilot-store": "GitHub Copilot",
    "cursor": "Cursor",
    "cursor-store": "Cursor",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "pi": "Pi",
    "vscode-chat": "GitHub Copilot",
}
"""The formats that one tool alone writes."""
_NOT_AGENTS_MD: Final = frozenset(["Claude Code", "Gemini CLI"])
"""Tools that read a file of their own in the place of AGENTS.md."""

LineId = tuple[str, int]
"""A section, and the id of a line in it."""


class Loads(NamedTuple):
    """The sessions that loaded a file, each with the lines that it had then.

    `presumed` counts those of which no log says so, or in which version: a project's instructions are read by
    every session of their tool, and the lines of the first version may have been there before it was imported.
    """

    sessions: tuple[tuple[EpisodeRecord, frozenset[LineId]], ...]
    presumed: int


def loads_of(library: Library, capsule: Capsule, records: Sequence[EpisodeRecord]) -> Loads:
    """Find the sessions that loaded a skill, or a file of instructions, and in which version."""
    logged = [record for record in records if _names(record, capsule)]
    silent = [record for record in records if not _names(record, capsule) and _is_read_in(capsule, record)]
    at_first = frozenset(place for place, version in _lines(capsule) if version == 1)

    @cache
    def lines_at(version: str) -> frozenset[LineId] | None:
        if not version.isdecimal() or not 0 < int(version) <= capsule.version:
            return None
        return frozenset(place for place, _ in _lines(library.capsule(capsule.name, version)))

    def lines_in(record: EpisodeRecord) -> frozenset[LineId] | None:
        return lines_at(dict(record.skills).get(capsule.name, ""))

    stamped = [(record, lines_in(record)) for record in under_versions(library, logged)]
    named = [with_skills(record, (*record.skills, (capsule.name, ""))) for record in silent]
    placed = [(record, lines_in(record)) for record in under_versions(library, named)]
    unsure = sum(lines is None for _, lines in stamped) + len(placed)
    return Loads(
        tuple((record, at_first if lines is None else lines) for record, lines in stamped + placed), unsure
    )


def _lines(capsule: Capsule) -> list[tuple[LineId, int]]:
    return [((gene.id, line.id), line.version) for gene in capsule.genes for line in gene.lines]


def _names(record: EpisodeRecord, capsule: Capsule) -> bool:
    return any(name == capsule.name for name, _ in record.skills)


def _is_read_in(capsule: Capsule, record: EpisodeRecord) -> bool:
    """Tell whether a session's tool reads this file whatever it does; of a tool nobody knows it is presumed."""
    known = instruction_format(path_of_name(capsule.name))
    if known is None or not capsule.covers_project or record.trust != "mine":
        return False
    tool = TOOLS.get(record.format, "")
    return not tool or tool == known.tool or (known.tool == "Codex" and tool not in _NOT_AGENTS_MD)


def never_loaded(library: Library, records: Iterable[EpisodeRecord]) -> tuple[str, ...]:
    """Name the live skills that no session loaded; none where no log tells which skills its sessions loaded."""
    loaded = {name for record in records for name, _ in record.skills}
    return tuple(name for name in library.live_names() if is_skill_name(name) and name not in loaded and loaded)
