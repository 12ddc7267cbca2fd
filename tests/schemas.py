"""The schemas of docs/schemas/, and what of JSON Schema they use: enough to check an answer against its own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "schemas"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
KEYWORDS: Final = {
    *("$schema", "$id", "title", "description", "type", "const", "enum"),
    *("properties", "required", "additionalProperties", "items"),
}
"""All that a schema here may say; a further word would be checked by nobody."""


@cache
def schema_of(name: str) -> dict[str, Any]:
    """Read the schema of an answer by its name: `candidate-show`."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def breaches(answer: Mapping[str, Any]) -> list[str]:
    """Say where an answer is not as its schema says, at its first level also where it says more."""
    schema = schema_of(answer["schema"].split("/")[1])
    unknown = [f"{key}: in no schema" for key in answer if key not in schema["properties"]]
    return [*unknown, *_breaches(answer, schema, "")]


def _breaches(value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    kinds = schema.get("type", list(_TYPES))
    if not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{where}: {value!r} is no {kinds}"
    if isinstance(value, dict):
        yield from (f"{where}.{key}: missing" for key in schema.get("required", ()) if key not in value)
        known = schema.get("properties", {})
        for key, one in value.items():
            yield from _breaches(one, known.get(key, schema.get("additionalProperties", {})), f"{where}.{key}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _breaches(one, schema.get("items", {}), f"{where}[{at}]")


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def words_of(schema: object) -> Iterator[str]:
    """Name every keyword that a schema uses, those of its parts too."""
    if isinstance(schema, dict):
        for word, part in schema.items():
            yield word
            if word == "properties":
                for one in part.values():
                    yield from words_of(one)
            elif word in {"items", "additionalProperties"}:
                yield from words_of(part)
