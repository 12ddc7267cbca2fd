"""Cutting and stamping the text of a SKILL.md."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from events.errors import SkillFormatError
from registry.skill_md.text import CutSkill, cut, stamp

if TYPE_CHECKING:
    from pathlib import Path

FRONT = ("---\n", "name: sql-analyst\n", "description: Answers questions.\n", "---\n")


def joined(pieces: CutSkill) -> str:
    return "".join(pieces.front) + "".join(line for section in pieces.sections for line in section.lines)


def titles(text: str) -> list[str]:
    return [section.title for section in cut(text).sections]


def stamped(front: tuple[str, ...], label: str = "sql-analyst@2") -> tuple[str, ...]:
    place = stamp(front, label)
    return front[: place.at] + place.lines + front[place.at + place.replaces :]


def test_each_heading_opens_a_section_and_text_before_it_is_the_preamble() -> None:
    pieces = cut("".join(FRONT) + "\nhello\n\n# One\na\n## Two ##\nb\n\nThree\n===\nc\n")
    assert pieces.front == FRONT
    assert [(section.title, section.lines[0]) for section in pieces.sections] == [
        ("", "\n"),
        ("One", "# One\n"),
        ("Two", "## Two ##\n"),
        ("Three", "Three\n"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "# A\n```\n# no\n```\n# B\n",
        "# A\n~~~~ python\n# no\n~~~\n# no\n~~~~\n# B\n",
        "# A\n  ````\n# no\n```\n  ````\n# B\n",
        "# A\n- item\n\n      # no, code in a list\n\n# B\n",
        "# A\n    # no, indented code\n\n# B\n",
        "# A\n<div>\n# no\n</div>\n\n# B\n",
        "# A\n<!--\n\n# no\n\n-->\n# B\n",
        "# A\n> # no\n> said\n\n- # no\n\n# B\n",
        "# A\r\n```\r\n# no\r\n```\r\n# B\r\n",
        "# A\n#no\n####### no\n\\# no\n# B\n",
        "# A\nnot a line end \r# no\n# B\n",
        "# A\n# B\n```\n# no: this fence never closes\n",
    ],
)
def test_what_only_looks_like_a_heading_never_splits(body: str) -> None:
    assert titles("".join(FRONT) + body) == ["A", "B"]
    assert joined(cut("".join(FRONT) + body)) == "".join(FRONT) + body


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "---\n",
        "---\nname: x\n",
        "no front\n---\nname: x\n---\n",
        "# One\n---\n# Two",
        "a\u2028b\n\x0c# x",
    ],
)
def test_text_without_front_matter_is_cut_all_the_same(text: str) -> None:
    pieces = cut(text)
    assert pieces.front == ()
    assert joined(pieces) == text


def test_front_matter_may_hold_dashes_and_end_without_a_newline() -> None:
    text = "---\ndescription: a --- b\n ---\n---"
    assert cut(text) == CutSkill(tuple(text.splitlines(keepends=True)), ())


def test_a_huge_fence_is_cut_at_once() -> None:
    text = "".join(FRONT) + "# A\n```\n" + "# no\n" * 50_000 + "```\n# B\n"
    assert titles(text) == ["A", "B"]


def test_every_markdown_file_of_the_real_skills_is_tiled_exactly(recorded_data: Path) -> None:
    files = sorted((recorded_data / "skills").rglob("*.md"))
    assert len(files) > 10
    for file in files:
        text = file.read_bytes().decode()
        assert joined(cut(text)) == text


def test_the_stamp_opens_a_metadata_block_before_the_closing_line() -> None:
    assert stamped(FRONT) == (*FRONT[:-1], "metadata:\n", '  germline: "sql-analyst@2"\n', "---\n")


def test_the_stamp_joins_a_metadata_block_that_is_there() -> None:
    front = ("---\n", "metadata:\n", "    author: me\n", "    # note\n", "\n", "name: x\n", "---\n")
    assert stamped(front)[2:5] == ("    author: me\n", "    # note\n", '    germline: "sql-analyst@2"\n')


def test_the_stamp_fills_an_empty_metadata_block() -> None:
    front = ("---\n", "metadata: # mine\n", "name: x\n", "---\n")
    assert stamped(front)[2] == '  germline: "sql-analyst@2"\n'


def test_an_earlier_stamp_is_replaced_and_the_rest_stays() -> None:
    once = stamped(FRONT, "sql-analyst@2")
    twice = stamped(once, "sql-analyst@3")
    assert twice == tuple(line.replace("@2", "@3") for line in once)


def test_an_earlier_stamp_over_several_lines_is_replaced_whole() -> None:
    front = ("---\n", "metadata:\n", "  germline: >-\n", "    old@1\n", "  author: me\n", "---\n")
    assert stamped(front) == ("---\n", "metadata:\n", '  germline: "sql-analyst@2"\n', "  author: me\n", "---\n")


def test_the_stamp_takes_the_line_endings_of_the_file() -> None:
    front = tuple(line.replace("\n", "\r\n") for line in FRONT)
    assert all(line.endswith("\r\n") for line in stamped(front))
    assert stamped((*FRONT[:-1], "---"))[-2:] == ('  germline: "sql-analyst@2"\n', "---")


@pytest.mark.parametrize(
    "block",
    [
        ("metadata: {author: me}\n",),
        ("metadata: text\n",),
        ('"metadata":\n', "  a: b\n"),
        ("metadata:\n", "- a\n"),
        ("metadata:\n", "  - a\n"),
        ("metadata:\n", "\ta: b\n"),
        ("metadata:\n", "  a: b\n", "metadata:\n", "  c: d\n"),
    ],
)
def test_metadata_that_is_no_block_of_entries_is_refused_with_a_hint(block: tuple[str, ...]) -> None:
    with pytest.raises(SkillFormatError) as refusal:
        stamp((*FRONT[:-1], *block, "---\n"), "sql-analyst@2")
    assert refusal.value.rule == "metadata"
    assert refusal.value.hint


def test_there_is_no_stamp_without_front_matter() -> None:
    with pytest.raises(SkillFormatError) as refusal:
        stamp((), "sql-analyst@2")
    assert refusal.value.rule == "front-matter"


def test_reading_a_registry_does_not_import_the_markdown_parser() -> None:
    code = "import sys, registry.skill_md.text, registry.skill_md.folder; sys.exit('markdown_it' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
