"""Text of strangers in a candidate: what instructs instead of reporting, in its lines, claims and files.

Logs hold web pages, tool output and words of other users. A line, a template or an action class of a candidate may
come from there, so besides what instructs (injection_rules.py) it may hold nothing that no report of a tool says.
What is found asks for a person: it is no proof, so it refuses nothing, but nothing promotes past it either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from registry.skill_md.invisible_chars import hidden_characters
from strategies.gate.file_findings import findings_in_changes
from strategies.gate.injection_rules import ENCODED, OVERRIDE, PERSIST, SECRETS, instructing
from strategies.gate.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.frozen import Frozen
    from strategies.gate.file_findings import FileChange

QUARANTINE: Final = "quarantine"
"""How the reason begins where a candidate waits for a person because of what it carries."""

SHOWN_CHARS: Final = 80
"""How much of a text a reason quotes."""

_SHOWN_OF_A_FILE: Final = 5
"""Findings in files that a reason spells out; all of them are on the page of the candidate."""

_OVERRIDES: Final = r"""
    \b(?:ignore|disregard|forget|override|bypass)\b .{0,40}
    \b(?:previous|prior|earlier|preceding|above|all|any|your|these|those|system|the)\b .{0,20}
    \b(?:instruction|prompt|rule|guideline|direction|guardrail)s?\b
"""
_ADDRESSES: Final = r"""
    \byou \s (?:are \s now|(?:must|will|should) \s (?:now|always|never)|act \s as)\b
    | \b(?:dear|attention|hey|note \s to|message \s to|as) [:,]? \s (?:an? \s|the \s|all \s|any \s)?
      (?:ai|llm|language \s model|assistant|agent|claude|codex|copilot|chatgpt|gemini)s?\b
    | \b(?:system \s prompt|developer \s message|(?:new|hidden) \s instructions?|from \s now \s on)\b
    | \b(?:always|never) \s (?:run|execute|call|use|start|begin|send|read|add|write|include|reply|answer)\b
    | <\|?/?(?:im_start|im_end|system|assistant|instructions?)\|?> | \[/?inst\]
    | [#]{2,} \s* (?:system|instruction)
"""
_WANTS_WRITING: Final = r"""
    \b(?:add|append|insert|write|save|store|put|include|remember|copy|paste)\b .{0,40}
    \b(?:this|the \s following|these|below)\b .{0,20}
    \b(?:line|rule|instruction|sentence|text|note|step)s?\b
    | \b(?:add|append|insert|write|save|store|put|copy)\b \s+ \S .{0,60} \b(?:to|into|in)\b .{0,20}
      \b(?:skills?|memory|claude\.md|agents\.md|skill\.md|instructions)\b
"""
_ASKS_FOR_SECRETS: Final = r"""
    (?:
      \b(?:send|e-?mail|forward|print|share|transmit|paste|give|provide|echo|cat)\b .{0,40}
      \b(?:your|all|their|its|my|contents? \s of)\b
      | \b(?:reveal|leak|exfiltrate|upload)\b
    )
    .{0,30}
    (?:
      \b(?:secrets?|pass(?:word|phrase)s?|credentials?|tokens?|cookies?|id_rsa)\b
      | \b(?:api|access|private|ssh) [\s_-]? keys?\b
      | \benv(?:ironment)? \s var(?:iable)?s?\b | \.env\b
    )
"""
_ADDRESS: Final = r"""
    \b[a-z][a-z0-9+.-]{1,20}:// | \bwww\.\w | \b(?:javascript|mailto):\w | \bdata:[a-z]+/
    | \w-*\.[a-z]{2,6}/\w
"""
_INTERPRETERS: Final = "(?:ba|z|da|k|fi)?sh|python[0-9.]*|perl|ruby|node|php|base64|xxd|xargs|tee|openssl|nc|sudo"
_PIPELINE: Final = rf"""
    \s \| \s* (?:sudo \s+)? (?:{_INTERPRETERS}) (?![\w:|\]])
    | \b(?:curl|wget) \s+ [-\w'"<$] | \$\( \s* [a-z][\w-]* \s | && \s* (?:curl|wget|rm|sudo)\b
    | \brm \s+ -[a-z]*[rf] | \bchmod \s+ [+0-7] | \binvoke-(?:expression|webrequest)\b
"""
_ENCODED: Final = r"""
    \bbase64 \s+ (?:-d|--decode)\b | b64decode | \batob \s* \( | frombase64string | (?:\\x[0-9a-f]{2}){6,}
"""

_FORMS: Final = tuple(
    (what, re.compile(form, re.IGNORECASE | re.VERBOSE))
    for what, form in (
        (OVERRIDE, _OVERRIDES),
        ("text addressed to an agent", _ADDRESSES),
        (PERSIST, _WANTS_WRITING),
        (SECRETS, _ASKS_FOR_SECRETS),
        ("an address", _ADDRESS),
        ("a shell pipeline", _PIPELINE),
        (ENCODED, _ENCODED),
    )
)
"""What no report of a tool says, by what it is called in a reason.

Real tools tell an agent what to do about an error, too ("Read it first before writing to it."): that is not among
it, but what reaches beyond the error is."""

_WORDS_OF_A_NAME: Final = re.compile(r"[_./:-]+|(?<=[a-z0-9])(?=[A-Z])")


def unlike_report(text: str) -> tuple[str, ...]:
    """Name what in a text instructs rather than reports, or does not show; nothing for what is harmless.

    It is stricter than `instructing`: an address or a pipeline is common in a skill, but not in an error.
    """
    return tuple(dict.fromkeys((*instructing(text), *(what for what, form in _FORMS if form.search(text)))))


def instructing_name(name: str) -> tuple[str, ...]:
    """Name what in the words of a tool or a command instructs: `ignore_previous_instructions`."""
    return unlike_report(" ".join(_WORDS_OF_A_NAME.split(name)))


def quarantined(proposed: CandidateProposed) -> tuple[str, ...]:
    """Say why a candidate must not be promoted without a person; nothing where all that it carries is harmless."""
    return suspicious(proposed.new_lines, (*proposed.claims, *proposed.removes, *proposed.triggers))


def suspicious(lines: Iterable[str], parts: Iterable[Frozen]) -> tuple[str, ...]:
    """Say what in lines, and in the claims and triggers that go with them, a person must see first."""
    warnings = (
        f"{what} in {_shown(text)}"
        for text, is_name in _carried(lines, parts)
        for what in (instructing_name(text) if is_name else unlike_report(text))
    )
    return tuple(dict.fromkeys(warnings))


def quarantine_rule(proposed: CandidateProposed, files: Sequence[FileChange] = ()) -> Rule:
    """Ask that nothing a candidate carries instructs: what does goes to a person, whatever it scored."""
    return for_a_person(
        "untrusted text",
        (*quarantined(proposed), *_of_files(files)),
        "nothing that instructs",
        asked="lines, templates, actions and files that report, and hide nothing",
    )


def for_a_person(name: str, warnings: Sequence[str], none: str, *, asked: str) -> Rule:
    """Make the rule that sends a candidate to a person where there are warnings; `none` says there are none."""
    listed = "; ".join(warnings)
    return Rule(name, listed or none, asked, not warnings, f"{QUARANTINE}: {listed}", decisive=True)


def _of_files(files: Sequence[FileChange]) -> Iterator[str]:
    """Say what instructs in files, the first in words, the others by their number."""
    findings = [finding for finding in findings_in_changes(files) if finding.level == "quarantine"]
    for finding in findings[:_SHOWN_OF_A_FILE]:
        yield f"{finding.what} in {finding.path}:{finding.line}, {_shown(finding.text)}"
    if len(findings) > _SHOWN_OF_A_FILE:
        yield f"{len(findings) - _SHOWN_OF_A_FILE} more in files"


def _carried(lines: Iterable[str], parts: Iterable[Frozen]) -> Iterator[tuple[str, bool]]:
    """List the texts that a promotion would write into a skill or a gene, and whether each is a name."""
    yield from ((line.strip(), False) for line in lines if line.strip())
    for part in parts:
        yield from _texts_in(part)


def _texts_in(part: Frozen) -> Iterator[tuple[str, bool]]:
    """List what a claim or a trigger was made of: its template, and the names of actions."""
    for field, value in part.model_dump(exclude={"kind", "fingerprint"}).items():
        for text in _strings(value):
            yield text, field != "template"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for inner in value:
            yield from _strings(inner)


def _shown(text: str) -> str:
    """Quote the beginning of a text as Python writes it, so that what does not show is seen."""
    return ascii(text[:SHOWN_CHARS]) if hidden_characters(text) else repr(text[:SHOWN_CHARS])
