"""The JSON schema of a recorded shape, in the subset that structured output takes; and lists without misfits.

Source: `transform_schema` of anthropic 2.12. It takes types, properties, `anyOf`, `enum`, `const` and references;
objects are closed; whatever else a schema says becomes part of the description, where the model may follow it and
our own validation holds it to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from events.types.frozen import Frozen

_KEPT: Final = ("$ref", "type", "enum", "const", "description")
_IMPLIED: Final = frozenset(
    {*_KEPT, "$defs", "anyOf", "oneOf", "allOf", "properties", "required", "items", "title"}
)
"""Keys that are carried over, or that go without saying: a title repeats the name of what it is under."""
_DROPPED: Final = frozenset({"additionalProperties", "discriminator", "default"})

_WRITTEN: Final[dict[type[Frozen], dict[str, JsonValue]]] = {}
"""Those that were asked for: pydantic takes milliseconds for each, and a run asks the same again and again."""


def answer_schema(shape: type[Frozen]) -> dict[str, JsonValue]:
    """Write the schema of a shape as structured output takes it; it is the same object each time.

    Every property is required: a field that the model may leave out is one that it forgets.
    Raises: ValueError for a shape that holds a mapping, which no closed object can be.
    """
    if shape not in _WRITTEN:
        _WRITTEN[shape] = _strict(shape.model_json_schema())
    return _WRITTEN[shape]


def without_misfits(given: JsonValue, shape: type[Frozen]) -> JsonValue:
    """Leave out the items of a list that are none of a shape; not if all are, so that the first says why."""
    return ([item for item in given if _fits(item, shape)] or given) if isinstance(given, list) else given


def _fits(item: object, shape: type[Frozen]) -> bool:
    try:
        shape.model_validate(item)
    except ValidationError:
        return False
    return True


def _strict(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    strict: dict[str, JsonValue] = {key: schema[key] for key in _KEPT if key in schema}
    if "enum" in strict or "const" in strict:
        strict.pop("type", None)  # it says no more than they do
    if "$ref" not in schema:
        _add_parts(strict, schema)
        rest = {key: value for key, value in schema.items() if key not in _IMPLIED | _DROPPED}
        if rest:
            words = ", ".join(f"{key}: {value}" for key, value in rest.items())
            strict["description"] = f"{strict.get('description', '')} {{{words}}}".strip()
    if isinstance(defined := schema.get("$defs"), dict):
        strict["$defs"] = _each(defined)
    return strict


def _add_parts(strict: dict[str, JsonValue], schema: dict[str, JsonValue]) -> None:
    """Carry over what a schema is made of."""
    for key, name in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if isinstance(variants := schema.get(key), list):
            strict[name] = [_strict(variant) for variant in variants if isinstance(variant, dict)]
    if isinstance(items := schema.get("items"), dict):
        strict["items"] = _strict(items)
    if schema.get("type") == "object":
        if isinstance(schema.get("additionalProperties"), dict):
            raise ValueError(f"structured output takes no mapping: {schema}")
        properties = schema.get("properties")
        strict["properties"] = _each(properties) if isinstance(properties, dict) else {}
        strict["required"] = list(strict["properties"]) if isinstance(strict["properties"], dict) else []
        strict["additionalProperties"] = False


def _each(schemas: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _strict(schema) for name, schema in schemas.items() if isinstance(schema, dict)}
