"""An HTML page for tests: read strictly, so that what a browser would mend is a fault here."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

VOID = {"meta", "br", "col", "hr"}


class Element(NamedTuple):
    """An element with its attributes and the text directly in it and below it."""

    tag: str
    attributes: dict[str, str]
    texts: list[str]

    @property
    def text(self) -> str:
        return "".join(self.texts)


class Page(HTMLParser):
    """Reads a page; `faults` names what is not closed, closed twice, or stands where it may not."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.elements: list[Element] = []
        self.faults: list[str] = []
        self._open: list[Element] = []
        self.feed(source)
        self.close()
        self.faults += [f"{element.tag} is not closed" for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"{tag} has an attribute twice: {names}")
        element = Element(tag, {name: value or "" for name, value in attrs}, [])
        if tag == "a" and any(ancestor.tag == "a" for ancestor in self._open):
            self.faults.append("a link within a link")
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1].tag if self._open else 'nothing'}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Give the elements of a tag with these attributes; `class_` is one of several."""
        return [
            element
            for element in self.elements
            if tag in {"", element.tag}
            and all(
                value in element.attributes.get("class", "").split()
                if name == "class_"
                else element.attributes.get(name) == value
                for name, value in attributes.items()
            )
        ]

    def ids(self) -> list[str]:
        return [element.attributes["id"] for element in self.elements if "id" in element.attributes]

    def targets(self) -> set[str]:
        return {
            element.attributes["href"].removeprefix("#")
            for element in self.elements
            if "href" in element.attributes
        }
