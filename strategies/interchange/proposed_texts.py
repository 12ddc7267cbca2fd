"""Proposals of other tools, read as the text that they would give a skill.

Sources: the staging folder of SkillOpt's sleep mode (`manifest.json` beside `proposed_SKILL.md`, or one
`proposed_SKILL.NAME.md` for each skill; docs/sleep/multi-skill-staging.md); the best candidate of a GEPA run; a
patch, as `git diff` and the inbox of Gemini CLI write it.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from events.errors import RefusedError, UnreadableLogError
from registry.skill_md.skill_files import MAX_SKILL_BYTES, SKILL_FILE
from registry.skill_md.text import front_end, split_lines
from strategies.files.whole_file import read_up_to
from strategies.interchange.gepa_run import STATE, best_candidate
from strategies.interchange.patch_file import PATCHES, patched

if TYPE_CHECKING:
    from pathlib import Path

_MANIFEST: Final = "manifest.json"
_LARGEST_STATE: Final = 256 * 1024 * 1024


def proposed_text(path: Path, skill: str, live: str) -> str | None:
    """Give the text that a tool proposes for a skill; None where the place is no proposal of a known tool.

    Units: `live` is the text of the skill now: a patch must fit it, and front matter that a proposal leaves out
    stays as it is there.
    Raises: NotFoundError, StorageError, UnreadableLogError, and RefusedError where it is for something else.
    """
    if path.suffix in PATCHES and not path.is_dir():
        return patched(path, _text(path), skill, live)
    if (path / SKILL_FILE).is_file():
        return None  # a rewritten copy of the folder, whatever else is in it
    if (path / _MANIFEST).is_file():
        return _with_front(_text(_staged(path, skill)), live)
    if (path / STATE).is_file():
        return _with_front(_of_gepa(path / STATE, skill), live)
    return None


def _read(path: Path, most: int) -> bytes:
    raw = read_up_to(path, most, hint="name a patch, or a tool's folder")
    if len(raw) > most:
        raise RefusedError(f"{path} is larger than {most:,} bytes", hint="propose the skill's text alone")
    return raw


def _text(path: Path) -> str:
    try:
        return _read(path, MAX_SKILL_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableLogError(f"{path} is no UTF-8 text: byte {error.start:,}") from error


def _with_front(text: str, live: str) -> str:
    """Put the live front matter before a text that has none."""
    if front_end(split_lines(text)):
        return text
    lines = split_lines(live)
    front = "".join(lines[: front_end(lines)])
    return f"{front}\n{text}" if front and not text.startswith("\n") else front + text


def _staged(folder: Path, skill: str) -> Path:
    """Find the text that a night of SkillOpt staged for a skill."""
    try:
        manifest = json.loads(_text(folder / _MANIFEST))
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"{folder / _MANIFEST} is no JSON: {error}") from error
    manifest = manifest if isinstance(manifest, dict) else {}
    listed = manifest.get("skills")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    files = {str(row.get("skill_name")): str(row.get("proposed_file")) for row in rows}
    if manifest.get("has_skill"):
        live = PurePosixPath(str(manifest.get("live_skill_path", "")))
        files.setdefault(live.parent.name, "proposed_SKILL.md")
    if skill not in files:
        staged = ", ".join(sorted(files)) or "none"
        raise RefusedError(
            f"{folder} stages nothing for {skill}; what it stages is for: {staged}",
            hint="germline candidate propose SKILL --from FOLDER --reason TEXT, with a skill that is staged",
        )
    return folder / PurePosixPath(files[skill]).name


def _of_gepa(state: Path, skill: str) -> str:
    """Give the text of the best candidate, which has one component, or one that is called like the skill."""
    texts = best_candidate(_read(state, _LARGEST_STATE), str(state))
    if len(texts) == 1:
        return next(iter(texts.values()))
    if skill not in texts:
        raise RefusedError(
            f"the candidates of {state} have the components {', '.join(sorted(texts))}, and none is {skill}",
            hint="write the one that you mean into a file, and propose that",
        )
    return texts[skill]
