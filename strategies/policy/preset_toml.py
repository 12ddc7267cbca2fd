"""Presets as people write them: one TOML file, one preset, at least as strict as the written rule."""

from __future__ import annotations

import json
import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from events.errors import PresetError, RefusedError
from strategies.policy.auto import AUTO
from strategies.policy.presets import PRESETS, EditBudget, Preset, Weights

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CHARACTERS: Final = 16_000
"""A preset is some 20 lines; what it says is kept in an event for ever (a guess with room for comments)."""
_HINT: Final = "germline preset show balanced --toml   prints one to begin with"
_STRICT: Final = "a preset may be stricter than the written rule, never looser"
_BOUNDS: Final = {
    "less_than_equal": ("at most", "le"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "greater_than": ("above", "gt"),
}
"""Pydantic's names of broken bounds: in words, and where the number is."""
_SAID: Final = {
    "missing": "{field} is missing",
    "extra_forbidden": "{field} is no part of a preset",
    "string_pattern_mismatch": "{field} is {value}: a lowercase letter, then letters, digits and hyphens",
}
"""Pydantic's names of other mistakes, in words."""
_FIELDS: Final = (*Preset.model_fields, *Weights.model_fields, *EditBudget.model_fields)


def preset_of(text: str, source: str) -> Preset:
    """Read a preset from TOML; `source` names it in errors.

    Raises: PresetError for what is no TOML, no preset, or looser than the written rule; RefusedError for the name
    of one that germline brings.
    """
    if len(text) > MOST_CHARACTERS:
        raise PresetError(f"{source} is too long for a preset", field="", bound=f"{MOST_CHARACTERS:,} characters")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PresetError(f"{source} is no TOML: {error}", field="", hint=_HINT) from error
    try:
        # By way of JSON, so that a TOML list can be a tuple while "0.01" is still no number.
        preset = Preset.model_validate_json(json.dumps(_of_today(table), default=str), strict=True)
    except ValidationError as error:
        raise _refusal(error, source) from None
    if preset.name == AUTO or preset.name in PRESETS:
        raise RefusedError(
            f"{source} defines {preset.name}, which is germline's own", hint="give it a name of its own"
        )
    return preset


def _of_today(table: dict[str, Any]) -> dict[str, Any]:
    """Leave out what earlier versions let a preset say: the endpoints that may promote, now outcomes alone."""
    endpoints = table.get("endpoints")
    if endpoints is None:
        return table
    drafts = isinstance(endpoints, list) and "recovered" in endpoints
    return {"drafts_seen": drafts} | {name: value for name, value in table.items() if name != "endpoints"}


def written(preset: Preset) -> str:
    """Write a preset as the TOML that defines it."""
    fields = preset.model_dump(mode="json")
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items() if not isinstance(value, dict)]
    for name, table in fields.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


class _Wrong(NamedTuple):
    """One thing that is wrong: the field, the kind of mistake as pydantic names it, in words, and the bound."""

    field: str
    kind: str
    message: str
    bound: str = ""


def _refusal(error: ValidationError, source: str) -> PresetError:
    """Say all that is wrong; the error names the first of them, and the first bound that was broken."""
    wrong = list(_wrongs(error))
    first, bound = wrong[0], next((mistake.bound for mistake in wrong if mistake.bound), "")
    hint = _STRICT if bound else _HINT
    if unknown := next((mistake.field for mistake in wrong if mistake.kind == "extra_forbidden"), ""):
        near = get_close_matches(unknown.rpartition(".")[2], _FIELDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(Preset.model_fields)}"
    text = "; ".join(mistake.message for mistake in wrong)
    return PresetError(f"{source}: {text}", field=first.field, bound=bound, hint=hint)


def _wrongs(error: ValidationError) -> Iterator[_Wrong]:
    for mistake in error.errors(include_url=False):
        field, kind, value = (
            ".".join(map(str, mistake["loc"])),
            mistake["type"],
            json.dumps(mistake["input"], default=str),
        )
        if kind in _BOUNDS:
            words, name = _BOUNDS[kind]
            bound = f"{words} {mistake['ctx'][name]:g}"
            yield _Wrong(field, kind, f"{field} is {value}, and may be {bound}", bound)
        elif kind == "value_error":
            yield _Wrong(field, kind, f"{field}: {mistake['ctx']['error']}")
        elif kind in _SAID:
            yield _Wrong(field, kind, _SAID[kind].format(field=field, value=value))
        else:
            yield _Wrong(field, kind, f"{field} is {value}: {mistake['msg'][0].lower()}{mistake['msg'][1:]}")
