"""Which skills an episode ran under, and in which version, as far as a log tells.

In this order: what a field of the log says, or a folder that `germline pick`
gave; the hash of a body in the transcript, which can be resolved with all versions at hand
(strategies/episodes/skill_version.py); else a skill that was used, its version "" until somebody looks up what
was on its path. Nothing is guessed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import re2

from registry.projection.live_versions import body_hash
from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strategies.episodes.episode import Step

SKILL_FILE: Final = "SKILL.md"
SKILL_TOOLS: Final = frozenset(["skill", "load_skill", "activate_skill", "use_skill"])
"""Tools by which an agent loads a skill, in lower case; `Skill` is Claude Code's."""

_PATH: Final = re2.compile(r"""(?:^|[\s"'=:(])((?:[\w.@~+-]|\\\\|[/:])*[/\\])?([\w.@+-]+)[/\\]+SKILL\.md\b""")
_BASE_LEAD: Final = "Base directory for this skill: "
_BASE: Final = re2.compile(_BASE_LEAD + r"([^\n]+)\n+")
_INJECTED: Final = re2.compile(
    r"(?s)<skill>\s*<name>\s*([\w.:@+-]+)\s*</name>(?:\s*<path>\s*([^<\n]+?)\s*</path>)?(.*?)</skill>"
)
# Not re2: its many small replacements in a long text take time that grows with the square of it. A newline in the
# place of ^ takes a third of the time: the search then goes from one to the next.
_LINE_NUMBER: Final = re.compile(r"\n *\d+[→\t]")
_REMINDER: Final = ("\n<system-reminder>", "</system-reminder>")
"""How the note begins and ends that Claude Code puts below every file it reads."""
_PICKED: Final = re2.compile(r"[/\\]\.germline[/\\]+versions[/\\]+([\w.+-]+)@(\d{1,9}(?:\+[0-9a-f]{8})?)[/\\]")
"""A folder that `germline pick` gave: it holds that version and no other."""
PARTS: Final = ('"offset":', '"limit":', '"view_range":')
"""What a call says that reads a part of a file: the hash of a part is that of no body."""
_ARGUMENTS: Final = "\n\nARGUMENTS: "
"""What Claude Code puts behind a body that was called with arguments."""

BODY: Final = "body:"
"""What opens a version that is not a number yet, but the hash of the body that the log shows."""

_FILES_KEPT: Final = 32
"""How many files are remembered with what was made of them: session after session reads the same few skills."""

Version = tuple[str, str]
"""The name of a skill, and its version as text, "" where it is not known."""


class SkillUse(NamedTuple):
    """A skill that an agent loaded: its name, and its path and its body where the log tells them."""

    name: str
    path: str = ""
    body: str = ""


class _Arguments(msgspec.Struct):
    """The names under which tools take the name of a skill."""

    skill: str = ""
    name: str = ""
    skill_name: str = ""
    command: str = ""


_NAMED: Final = msgspec.json.Decoder(_Arguments)


def ran_under(explicit: Iterable[Version], uses: Iterable[SkillUse]) -> tuple[Version, ...]:
    """Give each skill once, with the version that the best source tells; `explicit` is what a field says."""
    versions = dict(explicit)
    loaded = list(uses)
    for use in loaded:
        if (picked := _PICKED.search(f"/{use.path}/")) and str(picked[1]) == use.name:
            versions[use.name] = versions.get(use.name) or str(picked[2])
    for use in loaded:
        if use.body.strip() and not versions.get(use.name):
            versions[use.name] = BODY + body_hash(use.body)
    for use in loaded:
        versions.setdefault(use.name, "")
    return tuple(versions.items())


def skills_used(steps: Iterable[Step]) -> tuple[SkillUse, ...]:
    """Give the skills that steps show, in order: tools that load one, files that are read, bodies put in."""
    return tuple(use for step in steps for use in _of_step(step))


def _of_step(step: Step) -> Iterator[SkillUse]:
    if step.kind != "call":
        yield from skills_injected(step.text)
    elif step.tool.lower() in SKILL_TOOLS:
        name = _named(step.text)
        if name and not step.error:
            yield from skills_injected(step.result) if _BASE_LEAD in step.result else [SkillUse(name)]
    elif SKILL_FILE in step.text and not step.error and not step.writes:
        yield from _read_files(step)


def skills_injected(text: str) -> Iterator[SkillUse]:
    """Give the skills whose bodies a harness put into the conversation: Claude Code's and Codex's forms."""
    base = _BASE.search(text) if _BASE_LEAD in text else None
    if base:
        folder = str(base[1]).strip()
        body = text[base.end() :].partition(_ARGUMENTS)[0]
        yield SkillUse(_last_part(folder), folder, body)
    for match in _INJECTED.finditer(text) if "<skill>" in text else ():
        yield SkillUse(str(match[1]), match[2] or "", match[3])


def _read_files(step: Step) -> Iterator[SkillUse]:
    """Give the skills whose file a call names; the body is the result where the call reads one file, whole."""
    paths = {str(match[2]): f"{match[1] or ''}{match[2]}" for match in _PATH.finditer(step.text)}
    whole = len(paths) == 1 and not any(part in step.text for part in PARTS)
    for name, path in paths.items():
        yield SkillUse(name, path, _file_in(step.result) if whole else "")


@lru_cache(maxsize=_FILES_KEPT)
def _file_in(shown: str) -> str:
    """Give the content of a file, from what a tool shows of it."""
    opens, closes = _REMINDER
    if shown.rstrip().endswith(closes):
        shown = shown.rpartition(opens)[0] or shown
    return _LINE_NUMBER.sub("\n", f"\n{shown}")[1:]


def _named(argument: str) -> str:
    try:
        given = _NAMED.decode(argument)
    except UNREADABLE:
        return argument.strip()
    name = given.skill or given.skill_name or given.name or given.command
    return name.removeprefix("/").rpartition(":")[2]


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
