"""Directives: error texts that tell an agent to do something that only a person should decide on (F5).

Tools do give advice ("Read it first before writing to it"). What counts here is advice to install, delete,
publish, force or switch something off, and any command in so many words; a report that this failed is none.
"""

from __future__ import annotations

import re
from typing import Final

_GRAVE: Final = r"""
    (?:un|re)?install(?:ing)? | delet(?:e|ing) | remov(?:e|ing) | rm | eras(?:e|ing) | destroy(?:ing)?
    | wip(?:e|ing) | purg(?:e|ing) | truncat(?:e|ing) | (?:force[\s-])?push(?:ing)? | forc(?:e|ing)
    | commit(?:ting)? | publish(?:ing)? | deploy(?:ing)? | upload(?:ing)? | download(?:ing)? | send(?:ing)?
    | disabl(?:e|ing) | bypass(?:ing)? | skip(?:ping)? | overrid(?:e|ing) | suppress(?:ing)?
    | (?:turn|switch|shut)(?:ing|ting)?\s(?:off|down) | sudo | su | curl | wget | npx | uvx | pipx | chmod | chown
    | grant(?:ing)? | approv(?:e|ing) | reset(?:ting)? | kill(?:ing)? | revert(?:ing)? | merg(?:e|ing)
    | --?no-\w+ | no-verify | --?force\b | --?yes\b | --?skip\S*
"""
_GRAVE_WORD: Final = re.compile(rf"(?<![\w-])(?:{_GRAVE})(?!\w)", re.IGNORECASE | re.VERBOSE)
_FAILED_BEFORE: Final = re.compile(
    r"\b(?:fail\w*|errors?|cannot|can't|can\ not|could\ ?n[o']t|unable|not|refus\w+|den(?:y|ied)|permi\w+"
    r"|attempt\w*|trying|tried|while|when|during|rejected|invalid|unknown|unrecogni[sz]ed|missing|nothing|already|was|were)\b"
    r"[^\w,;.:!?]+(?:(?:to|be|been|the|an?|at|in|on|from)\s+){0,2}$",
    re.IGNORECASE,
)
_FAILED_AFTER: Final = re.compile(
    r"(?:\s+<\*>\s*:|\s*:|(?:\s+(?!and\b)\w+){0,2}\s+(?:fail\w*|rejected|denied|refused|aborted|error|was|is|are"
    r"|has|not|conflict\w*|timed)\b)",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(
    r"""
    (?: ^ | [.;:!?,]\s+ | \b(?:please|then|just|simply|instead|must|should|shall|need\ to|have\ to|has\ to
        |ought\ to|required\ to|try\ to|is\ to|by|first|next|now)\s+ )
    (?: re-?)? (?: run | execute | invoke | call | type | paste | open\ https? | visit | follow | append
        | write\ to | add\ (?:the|this|a) | set\ up | exec )
    (?! \s+ (?: <\*>\s*: | of\b | to\b | fail | was\b | is\b | has\b | error ) | \s*: ) (?:ning|ing)? \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE_END: Final = re.compile(r"[;,.!?…](?:\s|$)|\s[-–—|]+\s")


def tells_what_to_do(text: str) -> bool:
    """Tell whether an error text asks for something grave, or for a command to be run."""
    grave = any(
        not _FAILED_BEFORE.search(text[: word.start()]) and not _FAILED_AFTER.match(text, word.end())
        for word in _GRAVE_WORD.finditer(text)
    )
    return grave or _COMMAND.search(text) is not None


def first_clause(text: str) -> str:
    """Give an error text up to the end of its first clause: what failed comes first, advice after it."""
    end = _CLAUSE_END.search(text)
    return text[: end.start()].rstrip() if end else text
