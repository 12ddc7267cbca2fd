"""Log globs: which logs are whose by the settings, `[skills.NAME] logs = […]`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class LogGlobs:
    """Globs of log paths by skill, absolute: only these logs teach it, and they teach only who names them.

    `*` and `?` stay within a name, `**` goes through folders, and a folder means all that lies below it.
    """

    of: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def of_these(self, names: Iterable[str]) -> LogGlobs:
        """Keep those of some skills."""
        known = set(names)
        return LogGlobs({name: globs for name, globs in self.of.items() if name in known})

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {name: re.compile("|".join(map(_pattern, globs)) or r"(?!)") for name, globs in self.of.items()}

    @cached_property
    def _known(self) -> dict[str, frozenset[str]]:
        return {}

    def owners(self, source: str) -> frozenset[str]:
        """Name the skills that a log is listed for; there are none where it is listed for no skill."""
        if source not in self._known:
            names = (name for name, pattern in self._patterns.items() if pattern.fullmatch(source))
            self._known[source] = frozenset(names)
        return self._known[source]


def _pattern(glob: str) -> str:
    """Write a glob as a regular expression that matches whole paths, and all below a path."""
    parts = re.split(r"(\*\*/?|\*|\?|\[!?[^\]/]+\])", glob.rstrip("/"))
    return "".join(map(_part, parts)) + "(?:/.*)?"


def _part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if part.startswith("[") and part.endswith("]"):
        within = re.escape(part[1:-1].removeprefix("!")).replace(r"\-", "-")
        return f"[^/{within}]" if part[1] == "!" else f"[{within}]"
    return re.escape(part)
