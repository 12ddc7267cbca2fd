"""Annotated copies: a skill with the reason of each learned line beside it, for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.actions.publish import expected_files
from registry.query.provenance import blame
from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.skill_files import main_file
from tui.text.words import actor_words

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.envelope import Envelope
    from registry.query.library import Library
    from registry.state.capsule import Capsule


def write_annotated(library: Library, capsule: Capsule, folder: Path) -> tuple[str, ...]:
    """Write a version to a folder, with an HTML comment after each line that a candidate brought."""
    files = expected_files(library.log, capsule)
    pieces = []
    for line, origin in blame(library, capsule):
        pieces.append(line.text)
        reason = _reason(library, origin) if line.gene and line.text.strip() else ""
        if reason:
            pieces.append(f"<!-- {reason} -->\n")
    body = "".join(pieces).encode(capsule.encoding, errors="replace")
    return write_skill(folder, {**files, main_file(capsule.name): FileContent(body, capsule.mode)})


def _reason(library: Library, origin: Envelope) -> str:
    """Say in a comment why a line is there; "" for what no candidate brought. A comment may not hold `--`."""
    candidate = library.candidate(getattr(origin.event, "candidate", ""))
    if candidate is None:
        return ""
    proposed = candidate.proposed
    text = f"event {origin.position}, {proposed.strategy}, {actor_words(origin.actor)}: {proposed.reason}"
    return text.replace("--", "- -").replace(">", "›")
