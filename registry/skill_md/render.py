"""Rendering: a capsule's state as the lines and bytes of its SKILL.md, and what those bytes say they are."""

from __future__ import annotations

import re
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Final

from registry.skill_md.disk import PERMISSIONS
from registry.skill_md.skill_files import main_file
from registry.skill_md.text import stamp
from registry.state.line import ProjectedLine, SkillLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.state.capsule import Capsule

_STAMP: Final = re.compile(
    r"""^[^\S\n]+germline:\s*["']?([a-z0-9-]+)@(\d{1,9})(?:\+[0-9a-f]{8})?["']?\s*$""", re.MULTILINE
)


_PROJECTED_LINE: Final = partial(tuple.__new__, ProjectedLine)
"""Makes a projected line from a row without a call into Python."""


def projected_lines(capsule: Capsule) -> tuple[ProjectedLine, ...]:
    """List the lines of SKILL.md, each with its one origin event; the stamp belongs to the version's event.

    Raises: SkillFormatError where the front matter has no place for the stamp.
    """
    lines = list(capsule.front)
    if capsule.stamped:
        place = stamp(tuple([line.text for line in lines]), label(capsule))
        stamped = [SkillLine(0, text, capsule.position, capsule.version) for text in place.lines]
        lines[place.at : place.at + place.replaces] = stamped
    genes = [""] * len(lines)
    for gene in capsule.genes:
        lines += gene.lines
        genes += [gene.id] * len(gene.lines)
    return tuple(map(_PROJECTED_LINE, zip(count(1), genes, *zip(*lines, strict=True), strict=False)))


def label(capsule: Capsule) -> str:
    """Name a capsule with its version, as stamp and screens do: `sql-analyst@3`, of an arm `sql-analyst@3+0f…`."""
    return f"{capsule.name}@{capsule.version}{'+' if capsule.arm else ''}{capsule.arm}"


def stamped_version(text: str, name: str) -> int | None:
    """Read which version of a skill a SKILL.md says it is, None where it bears no stamp of that skill."""
    return next((int(match[2]) for match in _STAMP.finditer(text) if match[1] == name), None)


def encoding_of(capsule: Capsule) -> str:
    """Tell how the text is encoded: as it was imported, and a SKILL.md in UTF-8 from the first change on."""
    return "utf-8" if capsule.stamped else capsule.encoding


def skill_text(capsule: Capsule) -> str:
    """Join the projected lines into the text of SKILL.md."""
    return "".join([line.text for line in projected_lines(capsule)])


def skill_bytes(capsule: Capsule) -> bytes:
    """Encode SKILL.md: an import that nobody edited gives the same bytes."""
    return skill_text(capsule).encode(encoding_of(capsule))


def expected_hashes(capsule: Capsule) -> dict[str, tuple[str, int]]:
    """Say what the folder of a capsule holds once it is projected: by path, SHA-256 (hex) and mode bits."""
    hashes = {main_file(capsule.name): (sha256(skill_bytes(capsule)).hexdigest(), capsule.mode & PERMISSIONS)}
    hashes.update({file.entry.path: (file.entry.blob, file.entry.mode & PERMISSIONS) for file in capsule.files})
    return hashes


def projected_hash(capsule: Capsule) -> str:
    """Hash what a version projects, as the event that makes it promises."""
    return files_hash(expected_hashes(capsule))


def files_hash(files: Mapping[str, tuple[str, int]]) -> str:
    """Hash files by their path, which gives SHA-256 (hex) and mode bits, into one SHA-256 (hex).

    Of each file: its path, 0x00, its mode in octal, 0x00, its SHA-256 in hexadecimal, a line feed.
    """
    rows = [f"{path}\0{mode:o}\0{digest}\n" for path, (digest, mode) in sorted(files.items())]
    return sha256("".join(rows).encode()).hexdigest()
