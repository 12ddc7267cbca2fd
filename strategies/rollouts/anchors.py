"""Whether a declarative check holds on what an agent left: for anchors, and for the layer of checks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

from strategies.rollouts.checks import CommandExits, FileExists, FirstLine, JsonShape, Matches, OneOf, told
from strategies.rollouts.sandbox import program
from strategies.rollouts.work import look_with
from strategies.rollouts.workspace import place_below

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.rollouts.checks import Check, JsonType
    from strategies.rollouts.work import Work

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


class Finding(NamedTuple):
    """Whether a check holds, why it does not, and what its command did that it should not have."""

    holds: bool
    note: str = ""
    tampering: tuple[str, ...] = ()


class Kept(NamedTuple):
    """Which anchors do not hold, by name, and what their commands did that they should not have."""

    failed: tuple[str, ...]
    tampering: tuple[str, ...]


def keeps_anchors(anchors: Iterable[Check], work: Work) -> Kept:
    """Check every anchor; raises what running a command raises."""
    found = [(told(anchor), examine(anchor, work)) for anchor in anchors]
    return Kept(
        tuple(name for name, one in found if not one.holds),
        tuple(f"anchor {name}: {tried}" for name, one in found for tried in one.tampering),
    )


def examine(check: Check, work: Work) -> Finding:
    """Tell whether a check holds; raises what running a command raises."""
    if isinstance(check, FileExists):
        place = place_below(work.folder, check.path)
        return Finding(place is not None and place.is_file(), f"{check.path} is not there")
    if isinstance(check, CommandExits):
        return _command(check, work)
    text = work.text(check.path)
    if text is None:
        return Finding(holds=False, note=f"{check.path} cannot be read")
    if isinstance(check, Matches):
        return Finding(re2.search(check.pattern, text) is not None, "the pattern is not found")
    if isinstance(check, FirstLine):
        first = text.partition("\n")[0].rstrip("\r")
        return Finding(first == check.line, f"the first line is {first[:80]!r}")
    return _one_of(check, text) if isinstance(check, OneOf) else _json(check, text)


def _command(check: CommandExits, work: Work) -> Finding:
    argv = (program(check.argv[0], work.policy), *check.argv[1:])
    look = look_with(work, argv, check.uses, check.limit_s)
    ended = look.ran.ended == "exited" and not look.tampering
    note = f"exit code {look.ran.code}, {check.exit_code} expected"
    return Finding(ended and look.ran.code == check.exit_code, look.ran.error or note, look.tampering)


def _one_of(check: OneOf, text: str) -> Finding:
    value: object = text.strip()
    if check.key:
        value = _at(_parsed(text), check.key)
    said = value if isinstance(value, str) else json.dumps(value) if value is not _ABSENT else "nothing"
    return Finding(said in check.values, f"it is {said[:80]!r}")


def _json(check: JsonShape, text: str) -> Finding:
    whole = _parsed(text)
    if whole is _ABSENT:
        return Finding(holds=False, note="it is no JSON")
    for key, kind in check.required.items():
        value = _at(whole, key)
        if value is _ABSENT:
            return Finding(holds=False, note=f"{key} is missing")
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
            return Finding(holds=False, note=f"{key} is no {kind}")
    return Finding(holds=True)


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
