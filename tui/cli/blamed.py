"""Blame: each line of a skill beside the event that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.clock import SystemClock
from events.fields import is_score
from registry.claimed import claims_of, is_unclaimed
from registry.provenance import blame
from registry.rendering import label, skill_text
from registry.sheet import Sheet
from tui.cli.paint import clip, one_line, width
from tui.cli.reading import heading
from tui.cli.shapes import model_json, score_json, why_unmeasured
from tui.figures import age, signed

if TYPE_CHECKING:
    from events.envelope import Envelope, Origin
    from registry.capsule import Capsule
    from registry.gene import Gene
    from registry.library import Library
    from registry.line import ProjectedLine
    from tui.cli.invocation import Invocation

UNCLAIMED: Final = "?"
"""What marks a line that logs could not refute."""


def print_blame(call: Invocation, library: Library, capsule: Capsule) -> None:
    """Print each line behind the event it comes from, how old that is, what kind it was, and its Δ."""
    paint, now = call.paint, SystemClock().now()
    call.note(heading(Sheet.of(capsule)))
    genes = {gene.id: gene for gene in capsule.genes}
    doubtful = False
    for line, envelope in blame(library, capsule):
        bare = is_unclaimed(genes.get(line.gene), line, envelope.event)
        doubtful |= bare
        delta = _delta(envelope)
        origin = f"{envelope.position:>5} {age(envelope.at, now):>4} {kind_of(envelope):<9}"
        gutter = paint(origin, "accent" if delta else "dim") + f"{delta:>6}"
        text = clip(one_line(line.text), width() - 36)
        call.say(f"{gutter} {line.number:>4} {UNCLAIMED if bare else '│'} {text}".rstrip())
    if doubtful:
        call.note(f"{UNCLAIMED}  no claim covers the line: germline why {label(capsule)}:LINE")


def _delta(envelope: Origin) -> str:
    """Write what the version of a line gained, where that was measured."""
    event = envelope.event
    before, after = getattr(event, "before", None), getattr(event, "after", None)
    if not getattr(event, "candidate", "") or not is_score(before) or not is_score(after):
        return ""
    return signed(after.value - before.value)


def kind_of(envelope: Origin | Envelope) -> str:
    """Name what kind of change an event was, in one word: a strategy, or what a person did."""
    event = envelope.event
    if strategy := getattr(event, "strategy", None):
        return str(strategy)
    cause = getattr(event, "cause", "")
    by_hand = {"CapsuleImported": "import", "GeneBorn": "import", "CapsuleReverted": "revert"}
    if cause:
        return {"promotion": "stamp", "adoption": "by hand"}.get(cause, cause)
    return by_hand.get(envelope.type, "by hand")


def _claimed(gene: Gene | None, line: ProjectedLine, envelope: Origin) -> bool | None:
    """Tell whether a claim covers a line; None for what no candidate brought, and for what states nothing."""
    if gene is not None and claims_of(gene, line):
        return True
    return False if is_unclaimed(gene, line, envelope.event) else None


def skill_json(library: Library, capsule: Capsule) -> dict[str, object]:
    """Give a skill with the origin of each of its lines as JSON."""
    genes = {gene.id: gene for gene in capsule.genes}
    return {
        "skill": capsule.name,
        "version": capsule.version,
        "position": capsule.position,
        "at": capsule.at,
        "cause": capsule.cause,
        "source": capsule.source,
        "unproven": capsule.unproven,
        "score": score_json(capsule.score),
        "unmeasured": why_unmeasured(capsule.score),
        "delta": model_json(capsule.delta),
        "aliases": dict(capsule.aliases),
        "files": [
            {
                "path": file.entry.path,
                "sha256": file.entry.blob,
                "mode": oct(file.entry.mode),
                "event": file.origin,
            }
            for file in capsule.files
        ],
        "genes": [
            {
                "gene": gene.id,
                "version": gene.version,
                "title": gene.title,
                "keeper": gene.keeper or None,
                "claims": [live.claim.model_dump(mode="json") for live in gene.claims],
                "triggers": [trigger.model_dump(mode="json") for trigger in gene.triggers],
            }
            for gene in capsule.genes
        ],
        "lines": [
            {
                "line": line.number,
                "text": line.text.rstrip("\r\n"),
                "event": envelope.position,
                "at": envelope.at,
                "kind": kind_of(envelope),
                "since_version": line.version,
                "claimed": _claimed(genes.get(line.gene), line, envelope),
            }
            for line, envelope in blame(library, capsule)
        ],
        "text": skill_text(capsule),
    }
