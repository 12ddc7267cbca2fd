"""The rules that a changed skill must keep, and what reads its front matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import skills_ref  # type: ignore[import-untyped]  # ships no types

from events.errors import SkillFormatError
from registry.skill_md.front_matter import FrontMatterEntry, read_front
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.rules import advise, check_skill, require_valid

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """---
# a comment
name: sql-analyst
description: >-
  Answers questions
  over databases.
license: "MIT"
compatibility: Needs sqlite3, and a
  shell
metadata:
  author: 'It''s me'

  version: "1.0"
  # note
  notes: |
    one
      two
allowed-tools:
  - Bash
  - Read
---

# Body
---
text
"""


def rules(front: str, *, body: str = "", encoding: str = "utf-8") -> list[str]:
    text = f"---\n{front}---\n{body}"
    return [breach.rule for breach in check_skill(text, "x", encoding=encoding)]


def head(line: str) -> str:
    return f"name: x\ndescription: d\n{line}\n"


def test_a_good_skill_breaks_no_rule_and_passes_the_reference_validator(tmp_path: Path) -> None:
    assert check_skill(GOOD, "sql-analyst") == []
    require_valid(GOOD, "sql-analyst")
    folder = tmp_path / "sql-analyst"
    folder.mkdir()
    (folder / "SKILL.md").write_text(GOOD)
    assert skills_ref.validate(folder) == []


def test_front_matter_is_read_as_yaml_reads_it() -> None:
    read = read_front(GOOD.split("---\n")[1].splitlines(keepends=True), 2)
    assert read.refused == ()
    values = {entry.key: entry.value for entry in read.entries}
    metadata = values.pop("metadata")
    assert values == {
        "name": "sql-analyst",
        "description": "Answers questions over databases.",
        "license": "MIT",
        "compatibility": "Needs sqlite3, and a shell",
        "allowed-tools": ("Bash", "Read"),
    }
    assert metadata == (
        FrontMatterEntry("author", "It's me", 11),
        FrontMatterEntry("version", "1.0", 13),
        FrontMatterEntry("notes", "one\n  two\n", 15),
    )


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("hooks: none", "key"),
        ("metadata: {a: b}", "flow"),
        ("metadata: [a]", "flow"),
        ("metadata: text", "metadata"),
        ('metadata: ""', "metadata"),
        ("metadata:", "plain-scalar"),
        ("metadata:\n  a:\n    b: c", "plain-scalar"),
        ("metadata:\n  - a", "yaml"),
        ("metadata:\n  a: b\n  a: c", "duplicate-key"),
        ("metadata:\n  version: 1.0", "plain-scalar"),
        ("metadata:\n  on: x", "key"),
        ("metadata:\n  a: b\n c: d", "yaml"),
        ("license: MIT\nlicense: MIT", "duplicate-key"),
        ("license: &a MIT", "anchor"),
        ("license: *a", "anchor"),
        ("license: !!str MIT", "tag"),
        ("license: yes", "plain-scalar"),
        ("license: 2024-01-31", "plain-scalar"),
        ("license: 12:30", "plain-scalar"),
        ("license: a: b", "plain-scalar"),
        ("license: a # b", "plain-scalar"),
        ("license: @me", "plain-scalar"),
        ("license: %me", "plain-scalar"),
        ("license: a\n\n  b", "yaml"),
        ("license: |2\n  a", "plain-scalar"),
        ("license: |\n\n  a", "block-scalar"),
        ("license: >\n  a\n    b", "block-scalar"),
        ("license: |", "block-scalar"),
        ('license: "a" b', "quoted-scalar"),
        ('license: "a\n  b"', "quoted-scalar"),
        ('license: "\\x41"', "quoted-scalar"),
        ("license: 'it's'", "quoted-scalar"),
        ("license:\tMIT", "tab"),
        ("license: a\u2028b", "control-character"),
        ("license: a\x07b", "control-character"),
        ("license: a --- b", "fence"),
        ("# --- old", "fence"),
        ("license", "yaml"),
        ("...", "yaml"),
        ("  license: MIT", "plain-scalar"),
        ("license: ''", "license"),
        ("allowed-tools:\n- Bash\n  - Read", "yaml"),
        ("allowed-tools: [Bash]", "flow"),
        (f"compatibility: {'a ' * 251}", "compatibility"),
    ],
)
def test_front_matter_that_consumers_read_differently_is_refused(line: str, rule: str) -> None:
    assert rule in rules(head(line))


@pytest.mark.parametrize(
    "line",
    [
        "license: Apache-2.0",
        "license: see https://example.org/#top",
        "license:\n  on the next line",
        "allowed-tools: Bash(git:*), Read",
        "allowed-tools:\n- Bash\n- Read",
        "metadata:\n    a: b\n    c: 'yes'",
        'compatibility: "a \\"b\\" \\\\ c # d: e"',
    ],
)
def test_front_matter_that_every_consumer_reads_alike_is_accepted(line: str, tmp_path: Path) -> None:
    assert rules(head(line)) == []
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\n{head(line)}---\n")
    assert skills_ref.validate(folder) == []


@pytest.mark.parametrize(
    ("front", "rule"),
    [
        ("description: d\n", "name"),
        ("name: x\n", "description"),
        ("name: z\ndescription: d\n", "name"),
        ("name: -x\ndescription: d\n", "plain-scalar"),
        ("name: X\ndescription: d\n", "name"),
        ("name: a--b\ndescription: d\n", "name"),
        (f"name: {'a' * 65}\ndescription: d\n", "name"),
        ("name: x\ndescription: '  '\n", "description"),
        ("name: x\ndescription: see <b>\n", "description"),
        (f"name: x\ndescription: {'d' * 1025}\n", "description"),
    ],
)
def test_name_and_description_keep_their_limits(front: str, rule: str) -> None:
    assert rule in rules(front)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\n---\nname: x\ndescription: d\n---\n", "start"),
        ("--- \nname: x\ndescription: d\n---\n", "fence"),
        ("---\nname: x\ndescription: d\n---  \n", "fence"),
        ("---\r\nname: x\r\ndescription: d\r\n---\r\n", "line-ending"),
        ("---\nname: x\ndescription: d\n---\nbody\r\n", "line-ending"),
        ("# no front matter\n", "front-matter"),
        ("---\nname: x\n", "front-matter"),
    ],
)
def test_the_file_begins_and_ends_its_lines_as_every_consumer_expects(text: str, rule: str) -> None:
    assert [breach.rule for breach in check_skill(text, "x")] == [rule]


def test_only_plain_utf8_may_be_projected_again() -> None:
    assert rules(head("license: MIT"), encoding="latin-1") == ["encoding"]
    assert rules(head("license: MIT"), encoding="utf-8-sig") == ["encoding"]


def test_every_breach_says_how_to_mend_it() -> None:
    text = "\n--- \nname: X\nhooks: [a]\nlicense: &a b\n\tx\n---\r\n"
    breaches = check_skill(text, "x", encoding="latin-1")
    assert len(breaches) > 6
    assert all(breach.mend and breach.message for breach in breaches)


def test_the_refusal_names_the_rule_and_how_many_more_there_are() -> None:
    with pytest.raises(SkillFormatError, match=r"'description'.*, and 1 more") as refusal:
        require_valid("---\nname: x\ndescription: <\nhooks: a\n---\n", "x")
    assert refusal.value.rule == "description"
    assert refusal.value.hint


def test_long_bodies_deep_references_and_hidden_characters_are_only_advised_against() -> None:
    front = "---\nname: x\ndescription: d\n---\n"
    assert advise(front + "[ok](./references/a.md) [ok](https://a/b/c/d) [ok](#a/b/c)\n" * 300) == []
    assert [advice.rule for advice in advise(front + "\n" * 500)] == ["body-size"]
    assert [advice.rule for advice in advise(front + "word " * 5_000)] == ["body-size"]
    assert [advice.rule for advice in advise(front + "[a](a/b/c.md)")] == ["reference-depth"]
    assert [advice.rule for advice in advise(front + "a\u200bb")] == ["hidden-characters"]
    assert check_skill(front + "a\u200bb", "x") == []


@pytest.mark.parametrize(
    "char",
    [
        "\u200b",
        "\u200d",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\u00ad",
        "\U000e0041",
        "\ufe0f",
        "\U000e0100",
        "\x1b",
        "\u2028",
    ],
)
def test_a_character_that_does_not_show_is_found_where_it_stands(char: str) -> None:
    characters = hidden_characters(f"fine\nab{char}c")
    assert [(character.line, character.column, character.code) for character in characters] == [(2, 3, ord(char))]


@pytest.mark.parametrize("text", ["", "tab\tand\r\n", "naïve – “quoted” 日本語", "⚠️ ❤️ ↔️ ‼️ 1️⃣ 👍🏽"])
def test_ordinary_text_and_emoji_hide_nothing(text: str) -> None:
    assert hidden_characters(text) == []
