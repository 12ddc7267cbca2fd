"""HTML, put together so that no text can become markup: only what `element` makes is taken as it is."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from tui.views.rows import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID: Final = frozenset({"meta", "br", "col", "hr"})
_TAB_CHARS: Final = 4


class Markup(str):
    """A text that is HTML already; `element` and `joined` alone make it, beside the style sheet of the page."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: str | float | None) -> Markup:
    """Write an element; children that are not `Markup` are text, and what does not show in them is made visible.

    Names of attributes are written with `_` for `-`, one behind `class_`; None leaves an attribute or a child
    out. Links lead to places of the page, and nowhere else.
    """
    told = "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{_text(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    assert str(attributes.get("href") or "#").startswith("#")  # noqa: S101 - a page that leads nowhere else
    if tag in _VOID:
        return Markup(f"<{tag}{told}>")
    return Markup(f"<{tag}{told}>{joined(children)}</{tag}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Join pieces; texts among them are escaped."""
    return Markup("".join([one if isinstance(one, Markup) else _text(one) for one in children if one is not None]))


def _text(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = clean(text.expandtabs(_TAB_CHARS)).encode("utf-8", "replace").decode()
    return escape(text)


def link(anchor: str, *children: str, known: frozenset[str]) -> Markup:
    """Write a link to a place of the page; without the place it is what it says alone."""
    return element("a", *children, href=f"#{anchor}") if anchor in known else joined(children)


def moment(at: str, shown: str = "") -> Markup:
    """Write a time (RFC 3339, UTC), to the minute where nothing else is to be shown."""
    return element("time", shown or f"{at[:10]} {at[11:16]}", datetime=at, title=f"{at[:19]}Z")


def table(caption: str, heads: Iterable[str], rows: Iterable[Markup], *, class_: str | None = None) -> Markup:
    """Write a table in a region of its own, which scrolls where the page is too narrow for it.

    Shapes: rows are `tr` elements with as many cells as there are heads; heads that are "" name nothing.
    """
    titles = (element("th", title, scope="col") for title in heads)
    told = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *titles)),
        element("tbody", *rows),
    )
    classes = f"wide {class_}" if class_ else "wide"
    return element("div", told, class_=classes, role="region", tabindex="0", aria_label=caption)


def row(first: str, *cells: str, id_: str | None = None, class_: str | None = None) -> Markup:
    """Write a row of a table; its first cell names it."""
    return element(
        "tr", element("th", first, scope="row"), *(element("td", one) for one in cells), id=id_, class_=class_
    )


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Write facts behind their labels; a label that is "" goes on with the one before."""
    told = (
        joined((element("dt", label) if label else None, element("dd", said))) for label, said in pairs if said
    )
    return element("dl", *told)
