"""Whether a declarative check holds on what an agent left: for anchors, and for the layer of checks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

from strategies.rollouts.run.leftovers import look_with
from strategies.rollouts.tasks.check_types import (
    CommandExits,
    FileExists,
    FirstLine,
    JsonShape,
    Matches,
    OneOf,
    check_name,
)
from strategies.rollouts.tasks.workspace import place_below
from strategies.sandbox.confined_run import program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.rollouts.run.leftovers import AgentWork
    from strategies.rollouts.tasks.check_types import Check, JsonType

_TYPES: Final[dict[JsonType, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_ABSENT: Final = object()


class CheckResult(NamedTuple):
    """Whether a check holds, why it does not, and what its command did that it should not have."""

    holds: bool
    note: str = ""
    tampering: tuple[str, ...] = ()


class BrokenAnchors(NamedTuple):
    """Which anchors do not hold, by name, and what their commands did that they should not have."""

    failed: tuple[str, ...]
    tampering: tuple[str, ...]


def keeps_anchors(anchors: Iterable[Check], work: AgentWork) -> BrokenAnchors:
    """Check every anchor; raises what running a command raises."""
    results = [(check_name(anchor), examine(anchor, work)) for anchor in anchors]
    return BrokenAnchors(
        tuple(name for name, result in results if not result.holds),
        tuple(f"anchor {name}: {tried}" for name, result in results for tried in result.tampering),
    )


def examine(check: Check, work: AgentWork) -> CheckResult:
    """Tell whether a check holds; raises what running a command raises."""
    if isinstance(check, FileExists):
        place = place_below(work.folder, check.path)
        there = place is not None and os.path.isfile(place)  # noqa: PTH113 - pathlib's raises where nobody may look
        return CheckResult(there, f"{check.path} is not there")
    if isinstance(check, CommandExits):
        return _command(check, work)
    text = work.text(check.path)
    if text is None:
        return CheckResult(holds=False, note=f"{check.path} cannot be read")
    if isinstance(check, Matches):
        return CheckResult(re2.search(check.pattern, text) is not None, "the pattern is not found")
    if isinstance(check, FirstLine):
        first = text.partition("\n")[0].rstrip("\r")
        return CheckResult(first == check.line, f"the first line is {first[:80]!r}")
    return _one_of(check, text) if isinstance(check, OneOf) else _json_shape(check, text)


def _command(check: CommandExits, work: AgentWork) -> CheckResult:
    argv = (program(check.argv[0], work.policy), *check.argv[1:])
    look = look_with(work, argv, check.uses, check.limit_s)
    ended = look.ran.ended == "exited" and not look.tampering
    note = f"exit code {look.ran.code}, {check.exit_code} expected"
    return CheckResult(ended and look.ran.code == check.exit_code, look.ran.error or note, look.tampering)


def _one_of(check: OneOf, text: str) -> CheckResult:
    value: object = text.strip()
    if check.key:
        value = _at(_parsed(text), check.key)
    text_value = value if isinstance(value, str) else json.dumps(value) if value is not _ABSENT else "nothing"
    return CheckResult(text_value in check.values, f"it is {text_value[:80]!r}")


def _json_shape(check: JsonShape, text: str) -> CheckResult:
    whole = _parsed(text)
    if whole is _ABSENT:
        return CheckResult(holds=False, note="it is no JSON")
    for key, kind in check.required.items():
        value = _at(whole, key)
        if value is _ABSENT:
            return CheckResult(holds=False, note=f"{key} is missing")
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
            return CheckResult(holds=False, note=f"{key} is no {kind}")
    return CheckResult(holds=True)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _ABSENT


def _at(value: object, key: str) -> object:
    """Give what a dotted key names: a member of an object, or by its number an element of an array."""
    for part in key.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return value
