"""The text of a SKILL.md: cut into pieces that tile it exactly, and stamped with what it was projected from."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from events.errors import SkillFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt

FENCE = "---"


class Section(NamedTuple):
    """A heading with all that follows it up to the next one; title "" for text before the first heading."""

    title: str
    lines: tuple[str, ...]


class CutSkill(NamedTuple):
    """A skill's text in pieces: joined in order they are the file. Lines keep their endings.

    `front` holds both `---` lines, and blank lines above the first; empty where there is no front matter.
    """

    front: tuple[str, ...]
    sections: tuple[Section, ...]


class FrontMatterStamp(NamedTuple):
    """Front matter lines to put `at` an index, in place of the `replaces` lines that stand there."""

    at: int
    lines: tuple[str, ...]
    replaces: int


def cut(text: str) -> CutSkill:
    """Cut a skill's text into front matter and sections, one for each heading.

    Headings are those of CommonMark, ATX and setext, that stand outside lists, quotes, HTML and fenced code.
    """
    lines = split_lines(text)
    end = front_end(lines)
    body = lines[end:]
    heads = headings("".join(body))
    if body and (not heads or heads[0][0] > 0):
        heads.insert(0, (0, ""))
    starts = [at for at, _ in heads]
    spans = pairwise((*starts, len(body))) if heads else ()
    sections = tuple(
        Section(title, tuple(body[start:stop])) for (_, title), (start, stop) in zip(heads, spans, strict=True)
    )
    return CutSkill(tuple(lines[:end]), sections)


def split_lines(text: str) -> list[str]:
    r"""Split a text at "\n" alone, endings kept: joined again they are the text."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def front_end(lines: Sequence[str]) -> int:
    """Return the index after the closing `---`, 0 where no front matter opens or it never closes."""
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if start == len(lines) or lines[start].rstrip() != FENCE:
        return 0
    return next((at + 1 for at in range(start + 1, len(lines)) if lines[at].rstrip() == FENCE), 0)


def headings(body: str) -> list[tuple[int, str]]:
    """List the top-level headings of Markdown without front matter, as (line index, title)."""
    text = re.sub(r"\r(?!\n)", " ", body).replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    tokens = _markdown().parse(text)
    return [
        (token.map[0], " ".join(tokens[at + 1].content.split()))
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


@cache
def _markdown() -> MarkdownIt:
    """Make the parser of blocks, once: that takes twice as long as parsing a skill."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 30 ms to import, and reading commands never cut

    markdown = MarkdownIt("commonmark")
    markdown.core.ruler.enableOnly(["block"])  # no inline parse; newlines are prepared by `headings`
    return markdown


def stamp(front: tuple[str, ...], label: str) -> FrontMatterStamp:
    """Say where front matter takes `germline: "<label>"` among its metadata, as text.

    An earlier stamp is replaced; everything else stays as it is.

    Raises: SkillFormatError if there is no front matter, or its metadata is no block of `key: value` lines.
    """
    if not front:
        raise SkillFormatError(
            "SKILL.md has no front matter to carry the germline stamp",
            rule="front-matter",
            hint="begin the file with ---, name:, description: and a closing ---",
        )
    ending = "\r\n" if front[-2].endswith("\r\n") else "\n"
    quoted = label.replace("\\", "\\\\").replace('"', '\\"')
    entry = f'germline: "{quoted}"{ending}'
    at = _metadata_at(front)
    if at is None:
        return FrontMatterStamp(len(front) - 1, (f"metadata:{ending}", f"  {entry}"), 0)
    end = _block_end(front, at + 1)
    indent = _child_indent(front[at + 1 : end])
    old = _child_at(front, at + 1, end, indent)
    if old is None:
        return FrontMatterStamp(end, (indent + entry,), 0)
    stop = next((i for i in range(old + 1, end) if _indent(front[i]) <= indent and front[i].strip()), end)
    return FrontMatterStamp(old, (indent + entry,), stop - old)


def _metadata_at(front: tuple[str, ...]) -> int | None:
    """Find the line that opens the metadata block."""
    places = [at for at, line in enumerate(front) if re.match(r"""["']?metadata["']?\s*:""", line)]
    if len(places) > 1:
        raise _unstampable("there are two metadata keys", "keep one of them")
    if places and not re.fullmatch(r"metadata:\s*(#.*)?", front[places[0]].rstrip()):
        raise _unstampable(
            f"metadata is not written as a block: {front[places[0]].strip()[:80]!r}",
            "write `metadata:` on a line of its own and each entry indented below it as `key: value`",
        )
    return places[0] if places else None


def _block_end(front: tuple[str, ...], start: int) -> int:
    """Return the index after the last indented line that belongs to a block."""
    end = start
    for at in range(start, len(front) - 1):
        line = front[at]
        if line.strip() and not line[0].isspace():
            if line.startswith("-"):
                raise _unstampable("metadata is a list", "write each entry as `key: value`")
            if not line.startswith("#"):
                break
        elif line.strip():
            end = at + 1
    return end


def _child_indent(block: Sequence[str]) -> str:
    """Return the indentation of a block's entries, two spaces where it has none."""
    first = next((line for line in block if line.strip() and not line.lstrip().startswith("#")), None)
    if first is None:
        return "  "
    indent = _indent(first)
    if "\t" in indent or not re.match(r"[^\s\-\[\]{}&*!|>][^:]*:(\s|$)", first.lstrip()):
        raise _unstampable(
            f"metadata holds something else than entries: {first.strip()[:80]!r}",
            "write each entry indented by two spaces as `key: value`",
        )
    return indent


def _child_at(front: tuple[str, ...], start: int, end: int, indent: str) -> int | None:
    mark = re.compile(re.escape(indent) + r"""["']?germline["']?\s*:""")
    return next((at for at in range(start, end) if mark.match(front[at])), None)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _unstampable(what: str, mend: str) -> SkillFormatError:
    return SkillFormatError(f"SKILL.md cannot be stamped: {what}", rule="metadata", hint=mend)
