"""File history: which event each line of a file beside SKILL.md comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from events.errors import NotFoundError
from events.types.capsule_events import CapsuleImported, CapsuleReverted, FileChanged
from registry.query.tier_sentences import line_sentence, tier_sentence
from registry.state.line_match import match
from registry.state.tiers import proven_by_runs
from tui.reads.skill_paths import lines_of

if TYPE_CHECKING:
    from events.store.envelope import Envelope
    from events.types.frozen import Frozen
    from events.types.tiers import TierFigures
    from registry.query.library import Library
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from registry.state.tiers import LineTier
    from tui.reads.skill_paths import Named


class FileLine(NamedTuple):
    """A line of a file with the event that wrote it, the version it came with, and the candidate behind it."""

    text: str
    origin: Envelope
    row: VersionRow
    candidate: Candidate | None = None

    @property
    def figures(self) -> TierFigures | None:
        """What speaks for the line: its candidate's tier, or the runs that promoted what changes files alone."""
        known = self.candidate
        if known is None or known.fell:
            return None
        runs = known.scored.rollouts if known.scored and known.verdict == "promote" else None
        return known.tier or (proven_by_runs(runs) if runs and not known.reviewed else None)

    @property
    def tier(self) -> LineTier:
        """The tier of the line, or whose word it rests on."""
        if self.figures is not None:
            return self.figures.tier
        return "imported" if self.origin.type == "CapsuleImported" else "by hand"

    @property
    def sentence(self) -> str:
        """What speaks for the line, in a sentence, or that nothing does."""
        return tier_sentence(self.figures) if self.figures else line_sentence(self.tier, None)


def explain_file_line(library: Library, named: Named, number: int) -> FileLine:
    """Find the origin of one line of a file; raises NotFoundError where the file has no such line."""
    lines, origins = _blamed(library, named)
    if number > len(lines):
        raise NotFoundError(
            f"{named.path} of {named.capsule.name}@{named.capsule.version} has {len(lines)} lines; "
            f"there is no line {number}",
            hint=f"germline log {named.capsule.name}",
        )
    (origin,) = library.log.at([origins[number - 1]])
    row = next(row for row in library.versions(named.capsule.name) if row.position >= origin.position)
    proposal: str = getattr(origin.event, "candidate", "")
    return FileLine(lines[number - 1], origin, row, library.candidate(proposal) if proposal else None)


def _blamed(library: Library, named: Named) -> tuple[list[str], list[int]]:
    """Walk through all that a file has held; a line that stays keeps the event it came with.

    Going back to an earlier content gives its lines back the events they had.
    """
    seen: dict[str, list[int]] = {}
    lines: list[str] = []
    origins: list[int] = []
    stream = f"capsule:{named.capsule.name}"
    for envelope in library.log.read(stream=stream, types=("CapsuleImported", "FileChanged", "CapsuleReverted")):
        content = _content_after(envelope.event, named.path)
        if content is None:
            continue
        new = lines_of(library, content, named.path) if content else []
        kept = {new_at: origins[old_at] for old_at, new_at in match(lines, new)}
        lines = new
        origins = seen.get(content) or [kept.get(at, envelope.position) for at in range(len(new))]
        seen[content] = origins
    return lines, origins


def _content_after(event: Frozen, path: str) -> str | None:
    """Name the content that an event leaves a file with: "" for no file, None where it says nothing of it."""
    if isinstance(event, FileChanged):
        return (event.entry.blob if event.entry else "") if event.path == path else None
    if isinstance(event, CapsuleImported | CapsuleReverted):
        return next((entry.blob for entry in event.files if entry.path == path), "")
    return None
