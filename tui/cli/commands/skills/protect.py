"""Protection: lines that no candidate and no adoption may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import NotFoundError, UsageError
from registry.decide.commands import Protect, Release
from registry.skill_md.render import projected_lines
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Reason, require_reason
from tui.documents.events import event_rows
from tui.documents.folders import ProtectDocument, ReleaseDocument
from tui.session.open_registry import find_registry, open_registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.store.envelope import Envelope
    from registry.registry import Registry
    from registry.state.line import ProjectedLine
    from tui.cli.output.invocation import Invocation

_WHY: Final = "protection is given and taken for a reason"
Lines = Annotated[
    str, typer.Argument(metavar="SKILL:LINE[-LAST]", help="Lines of the live version: sql-analyst:7-9.")
]


def protect(
    ctx: typer.Context, lines: Lines, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Forbid edits of lines, until they are released.

    No candidate and no adoption changes them. Needs --reason.
    """
    call = invocation(ctx)
    require_reason(reason, _WHY, f"germline protect {lines} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        skill, named = _named(registry, lines)
        ids: dict[str, list[int]] = {}
        for line in named:
            ids.setdefault(line.gene, []).append(line.id)
        asked = [Protect(skill, gene, tuple(mine), reason) for gene, mine in ids.items()]
        _carry_out(
            call,
            registry,
            asked,
            (ProtectDocument, "protected", f"{lines} is protected: {reason}"),
            dry_run,
            as_json,
        )


def release(
    ctx: typer.Context, lines: Lines, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """End the protection of lines.

    All of the sections that they stand in may change again. Needs --reason.
    """
    call = invocation(ctx)
    require_reason(reason, _WHY, f"germline release {lines} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        skill, named = _named(registry, lines)
        genes = [gene for gene in registry.capsule(skill).genes if gene.id in {line.gene for line in named}]
        asked = [Release(skill, gene.id, reason) for gene in genes if gene.is_protected]
        if not asked:
            raise UsageError(f"{lines} is not protected", hint=f"germline show {skill} --blame")
        _carry_out(
            call,
            registry,
            asked,
            (ReleaseDocument, "released", f"the sections of {lines} may change again"),
            dry_run,
            as_json,
        )


def _named(registry: Registry, lines: str) -> tuple[str, list[ProjectedLine]]:
    """Find the lines that a person named; front matter and the stamp cannot be protected."""
    skill, _, span = lines.rpartition(":")
    first, _, last = span.partition("-")
    if not skill or not first.isdecimal() or (last and not last.isdecimal()):
        raise UsageError(f"{lines!r} names no lines", hint="write SKILL:LINE or SKILL:FIRST-LAST: sql-analyst:7-9")
    every = projected_lines(registry.capsule(skill))
    numbers = range(int(first), int(last or first) + 1)
    chosen = [line for line in every if line.number in numbers]
    if not numbers or len(chosen) < len(numbers):
        raise NotFoundError(
            f"{skill} has lines 1 to {len(every)}, not {span}", hint=f"germline show {skill} --blame"
        )
    if any(not line.gene for line in chosen):
        raise UsageError(
            f"{lines} reaches into the front matter, which is no section", hint="name lines of its body"
        )
    return skill, chosen


def _carry_out(
    call: Invocation,
    registry: Registry,
    asked: Iterable[Protect | Release],
    answer: tuple[type[ProtectDocument | ReleaseDocument], str, str],
    dry_run: bool,  # noqa: FBT001 - handed on from the command's own option
    as_json: bool,  # noqa: FBT001 - the same
) -> None:
    document, done, sentence = answer

    def append() -> list[Envelope]:
        with registry.log.transaction():
            return [envelope for ask in asked for envelope in registry.execute(ask).envelopes]

    events = append_or_rehearse(call, registry, append, document, dry_run=dry_run, as_json=as_json)
    if events is None:
        return
    if as_json:
        call.answer(document(events=event_rows(events)))
    else:
        call.say(f"{done:<10} {sentence}")


COMMANDS: Final = {"protect": protect, "release": release}
