"""What commands say to type next: following it ends at what a person decides, and never goes in circles."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Final

import pytest

from tests.story import tell
from tests.terminal import MINIMAL, SPLIT_KEY, Beginning, Terminal
from tests.worlds.sessions import write_sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.terminal import Answer

STARTS: Final = ("status", "signals", "signals --quality", "evolve", "candidates", "advise")
MOST_STEPS: Final = 6
_NEXT: Final = re.compile(r"^(?:next|hint) +(germline .+?)(?: {4}.*)?$", re.MULTILINE)
_A_PERSON: Final = re.compile(r"(?:^|\s)[A-Z]+(?:\s|,|$)|^(?:session|candidate show|adopt --dry-run)\b")
"""What a person fills in (PATH, SKILL, TEXT, V), or reads to decide: a session, a candidate, hand edits."""


def followed(germline: Terminal, first: str) -> list[str]:
    """Type a command, and what each answer says to type next, until that needs a person, which is not typed."""
    typed = [first]
    while len(typed) <= MOST_STEPS:
        following = next_of(germline(*shlex.split(typed[-1])))
        if not following:
            return typed
        typed.append(following)
        if _A_PERSON.search(following):
            return typed
    return typed


def next_of(answer: Answer) -> str:
    """Give the first command that an answer says to type next, "" for none."""
    commands = _NEXT.findall(answer.out) or _NEXT.findall(answer.err)
    return commands[-1].removeprefix("germline ") if commands else ""


def nothing(germline: Terminal) -> None:
    """Leave the folder as it is."""
    del germline


def without_logs(germline: Terminal) -> None:
    germline.with_skill()


def without_skill(germline: Terminal) -> None:
    write_sessions(germline.folder / "logs", 8, 0)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.does("scan", "logs")


def without_outcomes(germline: Terminal) -> None:
    without_skill(germline)
    germline.write("skills/sql-analyst/SKILL.md", MINIMAL)
    germline.does("import", "skills")


def held(germline: Terminal) -> None:
    tell(germline.folder)
    germline.does("project", "--discard")


def nothing_eligible(germline: Terminal) -> None:
    germline.with_skill()
    lines = [
        {"type": kind, "episode": f"e{at}", **fields}
        for at in range(6)
        for kind, fields in (
            ("episode", {"task": f"t{at}", "run": "r"}),
            ("step", {"tool": "sql", "text": "SELECT 1", "error": True, "error_text": "no such table: visits"}),
            ("outcome", {"value": at % 2, "source": "tests"}),
        )
    ]
    germline.write("logs/a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    germline.does("scan", "logs")
    germline.does("evolve")


STATES: Final[dict[str, Callable[[Terminal], None]]] = {
    "no registry": nothing,
    "no logs": without_logs,
    "no skill": without_skill,
    "no outcomes": without_outcomes,
    "candidates held": held,
    "nothing eligible": nothing_eligible,
}


@pytest.fixture(scope="module", params=STATES)
def beginning(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Beginning:
    germline = Terminal(tmp_path_factory.mktemp("next"))
    if request.param == "candidates held":
        germline = Terminal(germline.folder, GERMLINE_REGISTRY=str(germline.folder / "registry.db"))
    STATES[request.param](germline)
    return Beginning(germline)


@pytest.mark.parametrize("first", STARTS)
def test_what_is_said_to_type_next_ends_with_a_person_and_never_goes_in_circles(
    beginning: Beginning, first: str
) -> None:
    typed = followed(beginning.again(), first)
    assert len(typed) == len(set(typed)) <= MOST_STEPS, typed
    assert len(typed) > 1, typed
    assert _A_PERSON.search(typed[-1]), typed
