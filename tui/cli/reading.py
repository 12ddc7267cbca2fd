"""Reading: a skill at any version, and the origin of each of its lines."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.score import Score
from registry.claimed import claims_of, is_unclaimed
from registry.provenance import blame
from registry.rendering import label, skill_text
from tui.bootstrap import find_registry, open_library
from tui.cli.invocation import invocation
from tui.cli.names import split_skill
from tui.cli.options import AsJson
from tui.cli.paint import clip, harmless, one_line, width
from tui.cli.shapes import model_json, score_json, why_unmeasured
from tui.figures import age, share, signed
from tui.plain import takes_unicode

if TYPE_CHECKING:
    from events.envelope import Envelope, Origin
    from registry.capsule import Capsule, ProjectedLine
    from registry.gene import Gene
    from registry.library import Library
    from tui.cli.invocation import Invocation

UNCLAIMED: Final = "?"
"""What marks a line that logs could not refute."""

Blame = list[tuple["ProjectedLine", "Origin"]]


def show(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="As in x, x@12, x@production, x@2026-11-01.")
    ],
    *,
    with_blame: Annotated[bool, typer.Option("--blame", help="Put the origin of each line beside it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a skill at any version; with --blame, line by line."""
    call = invocation(ctx)
    name, ref = split_skill(skill)
    with open_library(find_registry(call.registry)) as library:
        capsule = library.capsule(name, ref)
        if as_json:
            call.answer("show", _json(library, capsule))
        elif with_blame:
            _print_blame(call, capsule, blame(library, capsule))
        else:
            call.note(_heading(capsule))
            text = skill_text(capsule)
            watched = sys.__stdout__ is not None and sys.__stdout__.isatty()
            if watched or takes_unicode(sys.stdout):
                sys.stdout.write(harmless(text) if watched else text)
            else:
                sys.stdout.buffer.write(text.encode())  # into a file it goes as it is, whatever the locale


def _heading(capsule: Capsule) -> str:
    score = f"score {share(capsule.score.value)}" if isinstance(capsule.score, Score) else "not measured"
    unproven = ", unproven" if capsule.unproven else ""
    return f"{label(capsule)}, {capsule.cause}, {score}{unproven}"


def _print_blame(call: Invocation, capsule: Capsule, rows: Blame) -> None:
    """Print each line behind the event it comes from, how old that is, what kind it was, and its Δ."""
    paint, now = call.paint, SystemClock().now()
    call.note(_heading(capsule))
    genes = {gene.id: gene for gene in capsule.genes}
    doubtful = False
    for line, envelope in rows:
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
    if not getattr(event, "candidate", "") or not isinstance(before, Score) or not isinstance(after, Score):
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


def _json(library: Library, capsule: Capsule) -> dict[str, object]:
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


COMMANDS: Final = {"show": show}
