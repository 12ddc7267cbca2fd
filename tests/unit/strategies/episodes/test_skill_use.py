"""Which skills an episode ran under, by what its transcript shows."""

from __future__ import annotations

import json

import pytest

from registry.projection.live_versions import body_hash
from strategies.episodes.episode import Step
from strategies.episodes.skill_use import BODY, SkillUse, ran_under, skills_used
from strategies.files.log_records import Span

BODY_TEXT = "# SQL analyst\n\nLook at the tables first.\n"
FILE = f"---\nname: sql-analyst\ndescription: x\n---\n\n{BODY_TEXT}"
HASH = body_hash(FILE)


def call(tool: str, argument: object, result: str = "", *, error: bool = False, writes: bool = False) -> Step:
    text = argument if isinstance(argument, str) else json.dumps(argument)
    return Step(
        index=0,
        turn=0,
        kind="call",
        actor="agent",
        tool=tool,
        text=text,
        result=result,
        error=error,
        writes=writes,
        span=Span(0, 1, 1),
    )


def message(text: str) -> Step:
    return Step(index=0, turn=0, kind="message", actor="user", text=text, span=Span(0, 1, 1))


def test_body_is_known_without_front_matter_and_space_at_line_ends() -> None:
    assert HASH == body_hash(BODY_TEXT) == body_hash("# SQL analyst  \n\nLook at the tables first.")
    assert body_hash(BODY_TEXT.replace("first", "last")) != HASH


@pytest.mark.parametrize(
    ("step", "use"),
    [
        (call("Skill", {"skill": "sql-analyst"}, "Launching skill"), ("sql-analyst", "", False)),
        (call("Skill", {"command": "/pack:sql-analyst"}), ("sql-analyst", "", False)),
        (call("load_skill", "sql-analyst"), ("sql-analyst", "", False)),
        (
            call(
                "Read",
                {"file_path": "/s/sql-analyst/SKILL.md"},
                "".join(f"{number:6}→{line}\n" for number, line in enumerate(FILE.splitlines(), 1)),
            ),
            ("sql-analyst", "/s/sql-analyst", True),
        ),
        (
            call("shell", {"command": ["bash", "-lc", "cat ~/s/sql-analyst/SKILL.md"]}, FILE),
            ("sql-analyst", "~/s/sql-analyst", True),
        ),
        (
            message(f"Base directory for this skill: /s/sql-analyst\n\n{BODY_TEXT}\n\nARGUMENTS: x"),
            ("sql-analyst", "/s/sql-analyst", True),
        ),
        (
            message(f"<skill>\n<name>sql-analyst</name>\n<path>/s/x/SKILL.md</path>\n{FILE}\n</skill>"),
            ("sql-analyst", "/s/x/SKILL.md", True),
        ),
    ],
)
def test_skill_is_seen_where_it_is_loaded(step: Step, use: tuple[str, str, bool]) -> None:
    (skill_use,) = skills_used([step])
    name, path, known = use
    assert (skill_use.name, skill_use.path, body_hash(skill_use.body) == HASH) == (name, path, known)


@pytest.mark.parametrize(
    "step",
    [
        call("Skill", {"skill": "sql-analyst"}, "Unknown skill", error=True),
        call("Read", {"file_path": "/s/sql-analyst/SKILL.md"}, "no such file", error=True),
        call("Write", {"file_path": "/s/sql-analyst/SKILL.md"}, "ok", writes=True),
        call("Read", {"file_path": "/s/README.md"}, FILE),
        message("please write me a SKILL.md"),
        message("<skill>"),
    ],
)
def test_skill_that_was_not_loaded_is_not_used(step: Step) -> None:
    assert skills_used([step]) == ()


def test_two_skill_files_in_one_call_have_no_body_of_their_own() -> None:
    uses = skills_used([call("bash", "cat a/SKILL.md b/SKILL.md", FILE)])
    assert uses == (SkillUse("a", "a"), SkillUse("b", "b"))


def test_field_of_the_log_goes_before_the_body_and_the_body_before_the_name() -> None:
    uses = [SkillUse("a"), SkillUse("a", "", BODY_TEXT), SkillUse("b", "/b", BODY_TEXT), SkillUse("c")]
    assert ran_under([("a", "7")], uses) == (("a", "7"), ("b", BODY + HASH), ("c", ""))


def test_a_note_that_the_tool_puts_below_a_file_is_no_part_of_it() -> None:
    shown = "\n".join(f"{number:6}→{line}" for number, line in enumerate(FILE.splitlines(), 1))
    read = call(
        "Read",
        {"file_path": "/s/sql-analyst/SKILL.md"},
        f"{shown}\n\n<system-reminder>\nMind.\n</system-reminder>\n",
    )
    (skill_use,) = skills_used([read])
    assert body_hash(skill_use.body) == HASH
    quoting = FILE.replace("first.", "first.\n<system-reminder>\nMind.\n</system-reminder>\nThen answer.")
    (skill_use,) = skills_used([call("Read", {"file_path": "/s/sql-analyst/SKILL.md"}, quoting)])
    assert body_hash(skill_use.body) == body_hash(quoting)


def test_the_comments_of_an_annotated_copy_are_no_part_of_the_body() -> None:
    assert body_hash(FILE.rstrip() + "\n<!-- event 7, repair, mined: x -->\n") == HASH
    assert body_hash(FILE.rstrip() + "\n<!-- a remark -->\n") != HASH


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/w/.germline/versions/sql-analyst@12/sql-analyst", "12"),
        ("/w/.germline/versions/sql-analyst@12/sql-analyst/SKILL.md", "12"),
        ("C:\\w\\.germline\\versions\\sql-analyst@12\\sql-analyst", "12"),
        ("/w/.germline/versions/other@12/sql-analyst", BODY + HASH),
        ("/w/skills/sql-analyst", BODY + HASH),
    ],
)
def test_a_folder_that_pick_gave_says_which_version_it_holds(path: str, version: str) -> None:
    assert ran_under([], [SkillUse("sql-analyst", path, BODY_TEXT)]) == (("sql-analyst", version),)
