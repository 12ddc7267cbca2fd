"""Paths into JSON, as a mapping writes them: `a.b`, `a.0.c` (an element), `a[].b` (of every element)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from strategies.files.json_offsets import JsonPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.json_offsets import JsonDocument

_EACH: Final = "[]"
_MOST_NAMES: Final = 32
_INDEX: Final = re.compile(r"-?\d{1,9}")
Node = TypeVar("Node")

SYNTAX: Final = "a path is names and numbers with dots between, and [] for every element: a.b, a.0.c, a[].b"


class JsonPath:
    """One path. A name that itself holds dots is written as it is: the shortest name that is there counts."""

    def __init__(self, text: str) -> None:
        """Read it; raises ValueError for what is no path."""
        self.text = text
        self._names: list[str] = []
        for written in text.split(".") if text else []:
            name = written.removesuffix(_EACH)
            if (not name and written != _EACH) or name.endswith(_EACH):
                raise ValueError(SYNTAX)
            self._names += [name] * bool(name) + [_EACH] * (name != written)
        if len(self._names) > _MOST_NAMES:
            raise ValueError(f"a path of more than {_MOST_NAMES} names")

    def values(self, value: object) -> list[object]:
        """Give what lies at the path in decoded JSON; without `[]` it is one value, or none."""
        return list(_Values().at(value, self._names))

    def parts(self, document: JsonDocument, part: JsonPart) -> list[JsonPart]:
        """Give the parts of a document at the path, of an array each element; raises one of UNREADABLE."""
        reach = _Parts(document)
        return [inner for at in reach.at(part, self._names) for inner in (reach.each(at) or [at])]


class _Reach(Generic[Node]):
    """How to go down from a value, whatever values are made of."""

    def member(self, node: Node, name: str) -> Node | None:
        raise NotImplementedError

    def each(self, node: Node) -> list[Node] | None:
        raise NotImplementedError

    def at(self, node: Node, names: list[str]) -> Iterator[Node]:
        if not names:
            yield node
            return
        elements = self.each(node)
        if names[0] == _EACH:
            for element in elements or ():
                yield from self.at(element, names[1:])
        elif elements is not None:
            if _INDEX.fullmatch(names[0]) and -len(elements) <= int(names[0]) < len(elements):
                yield from self.at(elements[int(names[0])], names[1:])
        else:
            upto = names.index(_EACH) if _EACH in names else len(names)
            for end in range(1, upto + 1):
                below = self.member(node, ".".join(names[:end]))
                if below is not None:
                    yield from self.at(below, names[end:])
                    return


class _Values(_Reach[object]):
    def member(self, node: object, name: str) -> object | None:
        return node.get(name) if isinstance(node, dict) else None

    def each(self, node: object) -> list[object] | None:
        return node if isinstance(node, list) else None


class _Parts(_Reach[JsonPart]):
    def __init__(self, document: JsonDocument) -> None:
        self._document = document

    def member(self, node: JsonPart, name: str) -> JsonPart | None:
        return self._document.members(node).get(name) if node.opens_with(b"{") else None

    def each(self, node: JsonPart) -> list[JsonPart] | None:
        return list(self._document.elements(node)) if node.opens_with(b"[") else None
