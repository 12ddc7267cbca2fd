"""What a skill brings along that comes in: secrets, lines that instruct an agent, what its scripts reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from registry.evidence.redaction import secret_lines
from registry.skill_md.skill_files import main_file
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from registry.skill_md.folder import SkillFolder
    from tui.cli.output.invocation import Invocation

_FINDINGS_SHOWN: Final = 10
"""Lines that instruct which are told one by one; --json lists all."""
_SHOWN_CHARS: Final = 80


def with_secrets_told(skill: SkillFolder) -> SkillFolder:
    """Add a warning for each place that holds what looks like a secret, without showing it."""
    own = ((main_file(skill.name), skill.text.encode(errors="replace")),)
    files = (*own, *((file.entry.path, file.content) for file in skill.files))
    places = [
        (path, line, rule)
        for path, body in files
        if b"\0" not in body
        for line, rule in secret_lines(body.decode(errors="replace"))
    ]
    mend = f"change it where it is valid, take it out, then: germline adopt {skill.name}"
    notes = (f"secret: {path}, line {line}: what looks like a {rule} ({mend})" for path, line, rule in places)
    return replace(skill, warnings=(*skill.warnings, *notes))


def note_findings(call: Invocation, skill: SkillFolder) -> None:
    """Say what instructs an agent in what was imported, and what its scripts reach: a person judges both."""
    from strategies.gate.file_findings import findings_in_skill, notices  # noqa: PLC0415 - `init` needs none of it

    findings = findings_in_skill(skill)
    instructing = [finding for finding in findings if finding.level == "quarantine"]
    for finding in instructing[:_FINDINGS_SHOWN]:
        where = f"{skill.name}: {finding.path}:{finding.line}"
        call.note(f"warning    {where} holds {finding.what}: {one_line(finding.text)[:_SHOWN_CHARS]!r}")
    if len(instructing) > _FINDINGS_SHOWN:
        call.note(f"warning    {skill.name}: {len(instructing) - _FINDINGS_SHOWN} more such lines")
    for notice in notices(findings):
        call.note(f"notice     {skill.name}: {notice}")
