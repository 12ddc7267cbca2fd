"""What is wrong with a task, in words: where it is, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from events.errors import did_you_mean
from strategies.rollouts.tasks.check_types import Check
from strategies.rollouts.tasks.task import GraderSpec, RolloutTask, Solution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel, ValidationError

    Place = tuple[int | str, ...]

_HINT: Final = "docs/rollouts.md shows a whole task set"


def _models_of(union: object) -> tuple[type[BaseModel], ...]:
    """Take an annotated union apart."""
    return get_args(get_args(union)[0])


_KINDS: Final[dict[str, type[BaseModel]]] = {
    str(model.model_fields["kind"].default): model for model in (*_models_of(GraderSpec), *_models_of(Check))
}


def mistake(error: ValidationError) -> tuple[str, str]:
    """Tell the first mistake of a task, and a hint."""
    first = error.errors(include_url=False)[0]
    place, kind, context = _place(first["loc"]), first["type"], first.get("ctx", {})
    if kind == "extra_forbidden":
        known = _fields(first["loc"])
        return f"{place} is not known", did_you_mean(str(first["loc"][-1]), known)
    if kind == "missing":
        return f"{place} is missing", f"add it; {_HINT}"
    if kind == "union_tag_not_found":
        return f"{place} has no kind", f"say which: {_tags(context)}"
    if kind == "union_tag_invalid":
        return f"{place}: the kind {context.get('tag')!r} is not known", f"one of {_tags(context)}"
    text = first["msg"].removeprefix("Value error, ")
    value = repr(first["input"])
    return f"{place} is {value[:80]}: {text[:1].lower()}{text[1:]}", _HINT


def _place(location: Place) -> str:
    """Write where the mistake is as a person would: `graders[0].limit_s`, without the names of kinds."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part not in _KINDS or place[-1:] != "]":
            place += f".{part}" if place else part
    return place or "it"


def _fields(location: Place) -> list[str]:
    """List what may be in the place of the unknown field."""
    kinds = [part for part in location[:-1] if isinstance(part, str)]
    model: type[BaseModel] = RolloutTask
    if kinds:
        model = _KINDS.get(kinds[-1], Solution if kinds[-1] == "solution" else RolloutTask)
    return [name for name in model.model_fields if name != "folder"]


def _tags(context: Mapping[str, object]) -> str:
    return str(context.get("expected_tags", "")).replace("'", "") or ", ".join(_KINDS)
