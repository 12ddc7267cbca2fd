"""Where learned lines go in instructions: the section that speaks of the tool, in the marks of its own list."""

from __future__ import annotations

import pytest

from events.types.claims import AfterError
from registry.decide.promote import edited
from registry.skill_md.render import skill_text
from strategies.propose.placement import appended, home_of
from tests.registries import capsule_of

DO = AfterError(template="no such table: <*>", do="sql:PRAGMA")


def learned(text: str, *lines: str) -> str:
    base = capsule_of(text, "CLAUDE.md")
    home = home_of(base, "f", "", (DO,))
    assert home is not None
    return skill_text(edited(base, (appended(base, home, lines or ("New.",)),)))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("# T\n\n- a\n- b\n", "# T\n\n- a\n- b\n- New.\n"),
        ("# T\n\n* a\n", "# T\n\n* a\n* New.\n"),
        ("# T\n\n+   a\n", "# T\n\n+   a\n+   New.\n"),
        ("# T\n\n1. a\n2. b\n", "# T\n\n1. a\n2. b\n3. New.\n"),
        ("# T\n\n9) a\n", "# T\n\n9) a\n10) New.\n"),
        ("# T\n\n- a\n  - nested\n", "# T\n\n- a\n  - nested\n- New.\n"),
        ("# T\n\n- a\n    - deep\n      and on\n", "# T\n\n- a\n    - deep\n      and on\n- New.\n"),
        ("# T\n\n- a\n\n", "# T\n\n- a\n- New.\n\n"),
        ("# T\n\n- a\n\nProse.\n", "# T\n\n- a\n\nProse.\n\n- New.\n"),
        ("# T\n\nProse.\n", "# T\n\nProse.\n\nNew.\n"),
        ("# T\n", "# T\n\nNew.\n"),
        ("# T", "# T\n\nNew."),
        ("# T\n\n```\n- code\n```\n", "# T\n\n```\n- code\n```\n\n- New.\n"),
        ("# T\r\n\r\n- a\r\n\r\n", "# T\r\n\r\n- a\r\n- New.\r\n\r\n"),
        ("# T\r\n\r\n- a", "# T\r\n\r\n- a\r\n- New."),
        ("Before.\n\n# T\n", "Before.\n\n# T\n\nNew.\n"),
        ("\n# T\n", "\n# T\n\nNew.\n"),
        ("No title\n", "No title\n\nNew.\n"),
        (
            "# T\n\n## SQL\n\nRead.\n\n## Style\n\nShort.\n",
            "# T\n\n## SQL\n\nRead.\n\nNew.\n\n## Style\n\nShort.\n",
        ),
        ("# T\n\n## DB\n\nUse sql.\n\n## End\n", "# T\n\n## DB\n\nUse sql.\n\nNew.\n\n## End\n"),
        ("# T\n\n## Shell\n\n```sql\nx\n```\n\n## End\n", "# T\n\n## Shell\n\n```sql\nx\n```\n\n## End\n\nNew.\n"),
        ("---\npaths: x\n---\n# T\n\n- a\n", "---\npaths: x\n---\n# T\n\n- a\n- New.\n"),
    ],
)
def test_a_line_is_put_where_and_as_a_person_would(text: str, after: str) -> None:
    assert learned(text) == after


def test_several_lines_go_on_as_one_list() -> None:
    assert learned("# T\n\n1. a\n", "One.", "Two.") == "# T\n\n1. a\n2. One.\n3. Two.\n"
    assert learned("# T\n\n- a\n", "- One.", "Two.") == "# T\n\n- a\n- One.\n- Two.\n"
