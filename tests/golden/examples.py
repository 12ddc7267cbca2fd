"""An example of each event with every field filled in, made from the fields' own types: the same every time."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = 'Ein "Beispiel"\n\tmit → Ümlaut, \\ and 🧬'
"""Whatever JSON writes in its own way."""


def example(kind: type[Frozen]) -> Frozen:
    """Fill in every field, the optional ones too."""
    values = {name: _value(field.annotation, name) for name, field in kind.model_fields.items()}
    return kind.model_validate(values)


def _value(kind: Any, name: str) -> Any:  # noqa: ANN401 - a value of any type: one line each
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value(arguments[0], name)
    if origin is Literal:
        return arguments[0]
    if origin in {Union, types.UnionType}:
        present = [argument for argument in arguments if argument is not types.NoneType]
        return _value(present[len(name) % len(present)], name)  # "before" and "after" come out as different ones
    if origin is tuple:
        inner = [argument for argument in arguments if argument is not Ellipsis]
        return tuple(_value(member, name) for member in (_members(inner[0]) if Ellipsis in arguments else inner))
    if isinstance(kind, type) and issubclass(kind, Frozen):
        return example(kind)
    known: dict[Any, Any] = {str: f"{name}: {TEXT}", bool: True, int: len(name), float: 1 / (1 + len(name))}
    return known[kind]


def _members(kind: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Give every member of a union, so that a tuple of it holds one of each; else the type itself."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, types.UnionType}:
        yield from get_args(kind)
    else:
        yield kind
