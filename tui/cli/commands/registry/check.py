"""A check for CI: one exit code for files, lines and the log, in the format that reads it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from events.errors import CheckFailedError, UsageError
from strategies.evolve.loop import Plan
from strategies.policy.active_preset import bound_by
from tui.cli.commands.registry.verify import problems_of, verified
from tui.cli.config.config import read_config
from tui.cli.output.invocation import invocation, json_text
from tui.cli.output.options import AsJson
from tui.cli.printers.check import print_check, print_check_markdown, sarif_of
from tui.documents.status import CheckDocument
from tui.reads.check import (
    CheckFinding,
    drift_findings,
    due_findings,
    knowledge_findings,
    unproven_findings,
    unproven_lines,
)
from tui.session.open_registry import find_registry, is_fixed, open_library, open_registry, project_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tui.session.open_registry import Where

CheckFormat = Literal["text", "markdown", "sarif", "json"]


def check(
    ctx: typer.Context,
    *,
    unproven: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="At most N lines of a skill since its import that nothing supports."
        ),
    ] = None,
    written: Annotated[
        CheckFormat, typer.Option("--format", metavar="F", help="How to print it: text, markdown, sarif or json.")
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Check files, lines and the log, for CI: exit code 3 says no.

    Files that are not what germline wrote, lines that nothing supports above a limit, seen lines whose time is
    over, lines that logs refute, versions under which outcomes fell and nobody went back, and all that `verify`
    looks at; sources of knowledge that changed are named. Nothing is appended and no file is written.
    """
    call = invocation(ctx)
    if as_json and written not in {"text", "json"}:
        raise UsageError(
            f"--json and --format {written} ask for two things", hint=f"germline check --format {written}"
        )
    document = _checked(find_registry(call.registry), project_folder(call.registry), unproven)
    if as_json or written == "json":
        call.answer(document)
    elif written == "sarif":
        call.say(json_text(sarif_of(document), indent=2))
    elif written == "markdown":
        print_check_markdown(call, document)
    else:
        print_check(call, document)
    if not document.ok:
        raise typer.Exit(CheckFailedError.exit_code)


def _checked(path: Where, project: Path, most: int | None) -> CheckDocument:
    """Verify the log first: what does not hold there says nothing of skills."""
    integrity, beside, _ = verified(path, None, "")
    findings = [
        CheckFinding(
            rule="verify",
            level="error",
            skill="",
            path="",
            line=0,
            what=f"event {problem.position}: {problem.what}" if problem.position else problem.what,
            mend="germline verify",
        )
        for problem in problems_of(integrity, beside)
    ]
    unproven: dict[str, list[int]] = {}
    if not findings:
        due = [_not_looked_for(path)] if is_fixed(path) else _due(path)
        with open_library(path) as library:
            findings += [*drift_findings(library), *knowledge_findings(library, project)]
            unproven = {name: unproven_lines(library, name) for name in library.live_names()}
            findings += unproven_findings(library, unproven, most) if most is not None else ()
        findings += due
    return CheckDocument(
        ok=all(finding.level != "error" for finding in findings),
        skills=len(unproven),
        events=integrity.events,
        unproven=sum(map(len, unproven.values())),
        most_unproven=most,
        findings=tuple(findings),
    )


def _due(path: Where) -> list[CheckFinding]:
    """Look for what is due to go, in a rehearsal."""
    config = read_config()
    with open_registry(path, dry_run=True) as registry:
        plan = Plan(
            preset=bound_by(registry).preset,
            seed=config.seed,
            write=False,
            review=True,
            policy=config.policy,
            logs=config.skill_logs(registry),
        )
        return list(due_findings(registry, plan))


def _not_looked_for(path: Where) -> CheckFinding:
    return CheckFinding(
        rule="harm",
        level="warning",
        skill="",
        path="",
        line=0,
        what=f"what is due to go was not looked for: you may not write to {path} or its folder",
        mend="germline check, as who may",
    )


COMMANDS: Final = {"check": check}
