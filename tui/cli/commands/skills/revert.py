"""Going back: an earlier version's text, brought back by a new event."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from registry.actions.publish import publish, require_unedited
from registry.decide.commands import RevertVersion
from registry.skill_md.render import label
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Reason, Skill, require_reason
from tui.documents.events import event_rows
from tui.documents.folders import RevertDocument
from tui.session.open_registry import find_registry, open_registry


def revert(
    ctx: typer.Context,
    skill: Skill,
    *,
    to: Annotated[str, typer.Option("--to", metavar="VERSION", help="The version to go back to: 2, production.")],
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Go back to the text of an earlier version, by a new event.

    Nothing is erased: the version that is left stays in the history. Needs --reason. The files are written again.
    """
    call = invocation(ctx)
    require_reason(reason, "going back needs a reason", f"germline revert {skill} --to {to} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        command = RevertVersion(skill, registry.version_of(skill, to), reason)
        require_unedited(registry, skill)
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), RevertDocument, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
        paths = publish(registry, skill)
        capsule = registry.capsule(skill)
    if as_json:
        document = RevertDocument(
            skill=skill,
            to=command.to_version,
            version=capsule.version,
            written=paths,
            events=event_rows(receipt.envelopes),
        )
        call.answer(document)
        return
    call.say(f"reverted   {skill} says again what version {command.to_version} said; it is {label(capsule)} now")
    say_folded(
        call, "written    ", f"{', '.join(paths) or 'nothing: the files were right already'}, in {capsule.source}"
    )
    call.say(f"next       germline diff {skill} {capsule.version - 1} {capsule.version}    germline log {skill}")


COMMANDS: Final = {"revert": revert}
