"""A check on a terminal, as Markdown for a page of CI, and as SARIF for what shows findings beside code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tui import __version__
from tui.cli.output.facts import say_folded
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from tui.cli.output.invocation import Invocation
    from tui.documents.status import CheckDocument
    from tui.reads.check import CheckFinding, CheckRule

RULES: Final[dict[CheckRule, str]] = {
    "verify": "The registry holds what it promises.",
    "drift": "Skill files on disk are what germline wrote.",
    "held": "An edit was held back, and waits for a person.",
    "knowledge": "What skills know is what its sources say.",
    "unproven": "No skill holds more lines than allowed that nothing supports.",
    "expired": "Lines that are only seen go when their time is over.",
    "harm": "No version is live under which outcomes fell, and no line that logs refute.",
}


def print_check(call: Invocation, document: CheckDocument) -> None:
    """Print one sentence, then each finding with the command that goes on from it."""
    mark = call.paint("✓", "good") if document.ok else call.paint("✗", "bad")
    call.say(f"{mark} {_sentence(document)}")
    for finding in document.findings:
        tone = "bad" if finding.level == "error" else "warn"
        say_folded(call, f"{finding.rule:<10} ", f"{_named(finding)}{finding.what}", tone=tone)
        call.say(f"{'':<10} {finding.mend}")


def print_check_markdown(call: Invocation, document: CheckDocument) -> None:
    """Print the same as Markdown: what logs and files hold is text in it, never markup."""
    call.say(f"### {'✓' if document.ok else '✗'} germline check\n\n{_sentence(document)}")
    if document.findings:
        call.say("\n| rule | where | what | next |\n|---|---|---|---|")
    for finding in document.findings:
        cells = (finding.rule, _place(finding), finding.what, finding.mend)
        call.say(f"| {' | '.join(f'`{_cell(cell)}`' if cell else '' for cell in cells)} |")


def sarif_of(document: CheckDocument) -> dict[str, Any]:
    """Write findings as SARIF 2.1.0 (OASIS)."""
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "germline", "version": __version__, "rules": rules}},
                "results": [_result(finding) for finding in document.findings],
            }
        ],
    }


def _result(finding: CheckFinding) -> dict[str, Any]:
    message = f"{_named(finding)}{finding.what}. Next: {finding.mend}"
    result: dict[str, Any] = {"ruleId": finding.rule, "level": finding.level, "message": {"text": message}}
    if finding.path:
        place: dict[str, Any] = {"artifactLocation": {"uri": finding.path}}
        if finding.line:
            place["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _sentence(document: CheckDocument) -> str:
    wrong = sum(finding.level == "error" for finding in document.findings)
    most = "" if document.most_unproven is None else f", at most {document.most_unproven:,} in each may be"
    looked = (
        f"{count(document.skills, 'skill')}, {count(document.events, 'event')}; "
        f"{count(document.unproven, 'line')} that nothing supports{most}"
    )
    if any(finding.rule == "verify" for finding in document.findings):
        return (
            f"The registry does not hold what it promises: {count(wrong, 'problem')}; nothing else was looked at."
        )
    if wrong:
        return f"{count(wrong, 'thing')} to mend: {looked}."
    warned = f"Nothing is wrong, {count(len(document.findings), 'thing')} to look at"
    return f"{warned if document.findings else 'All is as it should be'}: {looked}."


def _named(finding: CheckFinding) -> str:
    return f"{finding.skill}: " if finding.skill else ""


def _place(finding: CheckFinding) -> str:
    return f"{finding.path}:{finding.line}" if finding.line else finding.path


def _cell(text: str) -> str:
    """Write a text as code in a table: no pipe ends the cell, no backtick the code."""
    return one_line(text).replace("`", "'").replace("|", "\\|")
