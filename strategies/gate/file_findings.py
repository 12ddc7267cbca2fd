"""What a person must see in the files of a skill, line by line: text that instructs, and what scripts reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.types.parts import FileEdit
from registry.evidence.redaction import secret_lines
from registry.skill_md.render import skill_text
from registry.skill_md.skill_files import main_file
from strategies.gate.injection_rules import instructing
from strategies.gate.script_reach import is_script, reaches

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from events.store.sql_log import EventLog
    from events.types.parts import FileEntry
    from registry.skill_md.folder import SkillFolder
    from registry.state.capsule import Capsule

MOST_CHARS: Final = 1_000_000
MOST_LINES: Final = 20_000
"""How much of a file is looked at, which takes two seconds; a person is told of the rest."""
_SHOWN_CHARS: Final = 200
"""How much of a line a finding quotes."""
_LINES_NAMED: Final = 5
_ENDS: Final = (".", "!", "?", ":", ";", "|", "`", ">", "}", ",")
"""How a line ends whose sentence does not go on in the next."""
_UNLIMITED: Final = ("bash", "*")
"""Tools that a skill may be granted without saying what for: any command, any tool."""


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One line of a file, counted from 1, and what it is: 0 where it is about the file as a whole.

    What instructs an agent is for quarantine; a `notice` asks a person to look before anything promotes it.
    """

    path: str
    line: int
    level: Literal["quarantine", "notice"]
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a candidate would bring or change: its bytes before and after, empty where there are none."""

    path: str
    mode: int
    before: bytes
    after: bytes


def file_changes(
    log: EventLog, base: Capsule, edits: Iterable[FileEdit], *, unkept: Mapping[str, bytes] | None = None
) -> tuple[FileChange, ...]:
    """Fetch what a candidate makes of the files of its base; a content that the store lost counts as empty.

    `unkept` are contents by hash that are not in the store yet.
    """
    known = {file.entry.path: file.entry for file in base.files}

    def content(entry: FileEntry | None) -> bytes:
        return ((unkept or {}).get(entry.blob) or log.get_blob(entry.blob) or b"") if entry else b""

    return tuple(
        FileChange(
            path=edit.path,
            mode=edit.entry.mode if edit.entry else 0,
            before=content(known.get(edit.path)),
            after=content(edit.entry),
        )
        for edit in edits
    )


def findings_in_changes(changes: Iterable[FileChange]) -> tuple[FileFinding, ...]:
    """Look at the lines that files would gain."""
    return tuple(
        finding
        for change in changes
        for finding in findings_in_file(change.path, change.after, change.mode, known=lines_of(change.before))
    )


def findings_in_rewrite(log: EventLog, base: Capsule, rewritten: SkillFolder) -> tuple[FileFinding, ...]:
    """Look at what a skill would gain by a rewritten copy: lines of its text and files, and tools it allows."""
    path = main_file(base.name)
    text = rewritten.text.encode(errors="replace")
    known = {file.entry.path: file.entry for file in base.files}
    edits = [
        FileEdit(path=file.entry.path, entry=file.entry)
        for file in rewritten.files
        if known.get(file.entry.path) != file.entry
    ]
    unkept = {file.entry.blob: file.content for file in rewritten.files}
    changes = (
        FileChange(path, 0, skill_text(base).encode(errors="replace"), text),
        *file_changes(log, base, edits, unkept=unkept),
    )
    before = {line.text for line in base.front}
    granted = [
        finding for finding in _granted(rewritten.front, path) if finding.text not in map(str.strip, before)
    ]
    return (*granted, *findings_in_changes(changes), *_secrets(changes))


def findings_in_skill(skill: SkillFolder) -> tuple[FileFinding, ...]:
    """Look at everything that a skill folder brings: front matter and body, references and scripts."""
    body = skill.text
    text = main_file(skill.name)
    findings = [*_granted(skill.front, text), *findings_in_file(text, body.encode(errors="replace"), 0)]
    for file in skill.files:
        findings += findings_in_file(file.entry.path, file.content, file.entry.mode)
    return tuple(findings)


def findings_in_file(
    path: str, content: bytes, mode: int, *, known: Collection[str] = ()
) -> Iterator[FileFinding]:
    """Look at the lines of a file, but for those that are `known`; one that is no text is itself a finding."""
    if not is_text(content):
        yield FileFinding(path, 0, "notice", "is no text", f"{len(content):,} bytes that nobody looked into")
        return
    text = content.decode(errors="replace")
    lines = [
        line.strip() for line in text[:MOST_CHARS].removeprefix("\ufeff").split("\n", MOST_LINES)[:MOST_LINES]
    ]
    script = is_script(path, lines[0], mode)
    before = ""
    for number, line in enumerate(lines, start=1):
        if line in known:
            before = ""
            continue
        reasons = instructing(line)
        broken = instructing(f"{before} {line}") if before and line and not reasons else ()
        for what in reasons or broken:
            yield FileFinding(
                path, number, "quarantine", what, (f"{before} {line}" if broken else line)[:_SHOWN_CHARS]
            )
        for what in reaches(line) if script else ():
            yield FileFinding(path, number, "notice", what, line[:_SHOWN_CHARS])
        before = "" if reasons or broken or script or line.endswith(_ENDS) else line
    if len(text) > MOST_CHARS or text.count("\n") >= MOST_LINES:
        most = f"{MOST_LINES:,} lines and {MOST_CHARS:,} characters"
        yield FileFinding(path, 0, "notice", "is too long", f"what follows its first {most} was not looked at")


def notices(findings: Iterable[FileFinding]) -> Iterator[str]:
    """Sum up what a person should look at, one text for each file and kind, with its lines."""
    noticed: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        if finding.level == "notice":
            noticed.setdefault((finding.path, finding.what), []).append(finding.line)
    for (path, what), lines in noticed.items():
        where = f", line {', '.join(map(str, lines[:_LINES_NAMED]))}" if any(lines) else ""
        more = f" and {len(lines) - _LINES_NAMED} more" if len(lines) > _LINES_NAMED else ""
        yield f"{path} {what}{where}{more}"


def is_text(content: bytes) -> bool:
    """Tell whether a file holds text that a person can read."""
    return b"\0" not in content[:8_000]


def lines_of(content: bytes) -> frozenset[str]:
    """List the lines of a file, without their indentation."""
    return (
        frozenset(line.strip() for line in content.decode(errors="replace").split("\n"))
        if content
        else frozenset()
    )


def _secrets(changes: Iterable[FileChange]) -> Iterator[FileFinding]:
    """Find new lines that hold what looks like a secret, without showing it."""
    for change in changes:
        if is_text(change.after):
            text = change.after.decode(errors="replace")
            lines, known = text.split("\n"), lines_of(change.before)
            for number, rule in secret_lines(text):
                if lines[number - 1].strip() not in known:
                    what = "holds what looks like a secret"
                    yield FileFinding(change.path, number, "notice", what, f"a {rule}")


def _granted(front: Iterable[str], path: str) -> Iterator[FileFinding]:
    """Find the tools that the front matter of a file allows without a bound."""
    for number, line in enumerate(front, start=1):
        key, _, value = line.partition(":")
        if key.strip() != "allowed-tools":
            continue
        tools = [tool.strip(" \"'[]").lower() for tool in value.strip().split(",")]
        if any(tool in _UNLIMITED or tool in {"bash(*)", "bash(:*)"} for tool in tools):
            yield FileFinding(path, number, "notice", "allows any command", line.strip())
