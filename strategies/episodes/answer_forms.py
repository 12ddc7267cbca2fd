"""The forms of a final answer: what a line could ask for, taken from text that is not kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import re2

from strategies.episodes.episode import SUBMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.episodes.episode import Episode

LONGEST_CHARS: Final = 20_000
"""Characters of an answer that are looked at: its form shows early (a guess)."""

_NUMBER: Final = re2.compile(r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?\s*%?")
_LIST: Final = re2.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+\S")
_TABLE: Final = re2.compile(r"(?m)^\s*\|.*\|\s*$")
_LINK: Final = re2.compile(r"https?://\S")

FORMS: Final = ("number", "json", "code", "list", "table", "link", "text")
"""Every form there is; `text` is what each answer has, so that an answer without any other form still exists.

No form says how long an answer is: length goes with how hard the task was.
"""


def forms_of(answer: str) -> tuple[str, ...]:
    """Tell the forms of a final answer, in the order of FORMS; none for an empty one."""
    text = answer.strip()[:LONGEST_CHARS]
    return tuple(_forms(text)) if text else ()


def final_answer(episode: Episode) -> str:
    """Give the final answer: the agent's last message where no call follows it, or what it hands in.

    In action–observation files the answer is an action, which other claims are about.
    """
    own = [step for step in episode.steps if step.actor == "agent" and step.kind != "note"]
    if not own or episode.answer:
        return ""
    return own[-1].text if own[-1].kind == "message" or own[-1].action == SUBMIT else ""


def _forms(text: str) -> Iterator[str]:
    if _NUMBER.fullmatch(text):
        yield "number"
    if _parses(text):
        yield "json"
    if "```" in text:
        yield "code"
    if _several(_LIST.findall(text)):
        yield "list"
    if _several(_TABLE.findall(text)):
        yield "table"
    if _LINK.search(text):
        yield "link"
    yield "text"


def _parses(text: str) -> bool:
    """Tell whether a text is a JSON object or array; a bare number or word is no form of its own."""
    if text[0] not in "{[":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _several(matches: Sequence[str]) -> bool:
    return len(matches) > 1
