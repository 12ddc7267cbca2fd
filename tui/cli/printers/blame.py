"""Blame: each line of a skill beside the event that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.clock import SystemClock
from events.types.score import Score
from registry.actions.publish import expected_files
from registry.query.provenance import blame, line_tiers
from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.render import label
from registry.skill_md.skill_files import main_file
from registry.state.line_claims import is_unclaimed
from tui.cli.output.color import width
from tui.facts.scores import of_skill
from tui.text.durations import age
from tui.text.numbers import share, signed
from tui.text.terminal_text import clip, one_line
from tui.text.words import actor_words, gutter_word, kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.envelope import Envelope
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from tui.cli.output.invocation import Invocation


UNCLAIMED: Final = "?"
"""What marks a line that logs could not refute."""


def print_blame(call: Invocation, library: Library, capsule: Capsule) -> None:
    """Print each line behind the event it comes from, how old that is, its tier or what kind it was, and its Δ."""
    paint, now = call.paint, SystemClock().now()
    call.note(heading(capsule))
    genes = {gene.id: gene for gene in capsule.genes}
    doubtful = False
    blamed = blame(library, capsule)
    for (line, envelope), tier in zip(blamed, line_tiers(library, blamed), strict=True):
        bare = is_unclaimed(genes.get(line.gene), line, envelope.event)
        doubtful |= bare
        delta = _delta(envelope)
        origin = f"{envelope.position:>5} {age(envelope.at, now):>4} {gutter_word(kind_of(envelope), tier):<9}"
        gutter = paint(origin, "accent" if delta else "dim") + f"{delta:>6}"
        text = clip(one_line(line.text), width() - 36)
        call.say(f"{gutter} {line.number:>4} {UNCLAIMED if bare else '│'} {text}".rstrip())
    if doubtful:
        call.note(f"{UNCLAIMED}  no claim covers the line: germline why {label(capsule)}:LINE")


def _delta(envelope: Envelope) -> str:
    """Write what the version of a line gained, where that was measured."""
    event = envelope.event
    before, after = getattr(event, "before", None), getattr(event, "after", None)
    if not getattr(event, "candidate", "") or not isinstance(before, Score) or not isinstance(after, Score):
        return ""
    return signed(after.value - before.value)


def heading(capsule: Capsule) -> str:
    """Say which version it is, why it came, and what was measured of it."""
    whole = of_skill(capsule.score)
    score = f"score {share(whole.value)}" if whole else "not measured"
    unproven = ", unproven" if capsule.unproven else ""
    return f"{label(capsule)}, {capsule.cause}, {score}{unproven}"


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
