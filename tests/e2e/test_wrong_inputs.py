"""Wrong inputs, as newcomers type them: what each is answered, read aloud once; none changes the registry."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.command_lines import told_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal import Terminal

WRONG = {
    # wrong numbers
    "evolve sql-analyst --cycles x": "--cycles x: this must be a whole number",
    "evolve sql-analyst --cycles 0": "--cycles 0: this must be at least 1",
    "evolve sql-analyst --cycles=-1": "--cycles=-1: this must be at least 1",
    "evolve sql-analyst --seed 1.5": "--seed 1.5: this must be a whole number",
    "log --limit many": "--limit many: this must be a whole number",
    "outcome e1 --value 2 --source tests": "--value 2: this must be at most 1",
    "outcome e1 --value good --source tests": "--value good: this must be a number",
    "why sql-analyst:0": "'0' is no line number",
    "why sql-analyst:x": "'x' is no line number",
    "why sql-analyst:999": "sql-analyst@3 has 26 lines; there is no line 999",
    "show sql-analyst@99": "sql-analyst has no version 99; it has 1 to 3",
    "show sql-analyst@0": "sql-analyst has no version 0; it has 1 to 3",
    "diff sql-analyst 1 99": "sql-analyst has no version 99",
    "score sql-analyst@99": "sql-analyst has no version 99",
    "revert sql-analyst --to 99 --reason x": "sql-analyst has no version 99",
    "revert sql-analyst --to 3 --reason x": "sql-analyst@3 is the live version",
    "protect sql-analyst:999 --reason x": "sql-analyst has lines 1 to 26, not 999",
    # wrong times
    "log --since yesterday": "'yesterday' is no time",
    "log --since 5x": "'5x' is no time",
    "signals --since never": "'never' is no time",
    "show sql-analyst@2020-01-01": "sql-analyst had no version at 2020-01-01: it begins 2026-11-01T18:00",
    # unknown names
    "evolve nosuch": "no skill named nosuch is in the registry",
    "evolve sql-analyt": "did you mean sql-analyst?",
    "show nosuch": "germline status lists the skills",
    "show sql-analyst@prod": "sql-analyst has no version prod; it has 1 to 3 and the names production",
    "why nowhere/SKILL.md:3": "nowhere/SKILL.md belongs to no skill in the registry",
    "log nosuch": "no skill named nosuch",
    "log --type Foo": "there is no event type Foo",
    "log --type CapsuleVersion": "did you mean CapsuleVersioned?",
    "preset show turbo": "there are balanced, innovate",
    "preset use turbo --reason x": "there is no preset turbo",
    "preset preview turbo": "there is no preset turbo",
    "preset show hardn": "did you mean harden?",
    "evolve --preset turbo": "there is no preset turbo",
    "evolve --proposer claud": "no proposer is named claud",
    "evolve --engine spark": "'spark' is not one of 'local', 'dask'",
    "candidate show zzz": "no candidate zzz was proposed",
    "candidate reject zzz --reason x": "no candidate zzz was proposed",
    "gate explain zzz": "no candidate zzz was proposed",
    "signals --kind nosuch": "no kind of signal is called 'nosuch'",
    "signals --state nosuch": "'nosuch' is not one of 'open', 'waiting', 'answered'",
    "signals zzzz": "no signal zzzz was raised",
    "session zzzz": "no episode zzzz is known",
    "outcome e1 --value 1 --source nobody": "'nobody' is not one of 'ci'",
    "evidence erase zzzz --reason x": "no evidence zzzz is known",
    "usage nosuch": "no skill named nosuch",
    "skill retire nosuch --reason x": "no skill named nosuch",
    "pick nosuch": "no skill named nosuch",
    "project nosuch": "no skill named nosuch",
    "adopt nosuch": "no skill named nosuch",
    "statsu": "did you mean germline status?",
    "frobnicate": "there is no command frobnicate",
    "help nosuch": "there is no command nosuch",
    "status --jsn": "No such option: --jsn",
    "status extra": "unexpected extra argument",
    # empty words
    "show ''": "argument 1 of germline show is empty: a variable that is not set?",
    "evolve ''": "argument 1 of germline evolve is empty",
    "import ''": "argument 1 of germline import is empty",
    "scan ''": "argument 1 of germline scan is empty",
    "diff sql-analyst ''": "argument 2 of germline diff is empty",
    "show sql-analyst@": "names no version after the @",
    "alias set sql-analyst '' 1": "argument 3 of germline alias is empty",
    "revert sql-analyst --to 1 --reason ''": "going back needs a reason",
    # files
    "scan nowhere": "nowhere: no such file or folder",
    "scan notes.txt": "not a log of a known format",
    "scan steps.jsonl --format codx": "no log format 'codx'",
    "import nowhere": "nowhere: no such file or folder",
    "import notes.txt": "no agent reads it as instructions",
    "gate pairs nowhere.csv": "there is no file nowhere.csv",
    "verify --against notes.txt": "notes.txt holds no checkpoint",
    "tasks list nowhere.toml": "cannot read nowhere.toml",
    "import-gep notes.txt": "does not read as GEP",
    "outcome --csv nowhere.csv": "there is no file nowhere.csv",
    "report -o /nowhere/x.html": "there is no folder /nowhere",
    "report nosuch": "the report is written to a file, and none was named",
    # what cannot be, and what lacks a word
    "why sql-analyst": "'sql-analyst' names no line",
    "release sql-analyst:9 --reason x": "sql-analyst:9 is not protected",
    "release sql-analyst:3 --reason x": "reaches into the front matter",
    "release sql-analyst --reason x": "names no lines",
    "preset use harden": "switching needs a reason",
    "candidate approve c4c4c4c4": "a decision needs a reason",
    "candidate approve c1c1c1c1 --reason x": "candidate c1c1c1c1c1c1 has its verdict already: promote",
    "alias set sql-analyst production 99": "production is a protected name",
    "alias set sql-analyst 1 1": "'1' cannot name a version",
    "skill restore sql-analyst --reason x": "sql-analyst is not retired",
    "--registry nowhere.db status": "there is no registry at nowhere.db",
    "--registry notes.txt status": "notes.txt is not a registry",
}  # fmt: skip
"""What is typed, and words of the answer."""

ENDS = {"candidate approve c1c1c1c1 --reason x": 1, "--registry notes.txt status": 3}
"""The exit codes that are not 2."""
LONGEST = 420
"""Characters of an answer that a person reads whole (a guess)."""


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    terminal = told_in(own_folder)
    terminal.write("notes.txt", "hello\nworld\n")
    return terminal


def test_each_wrong_input_is_answered_in_plain_words_with_a_next_step(germline: Terminal) -> None:
    head = germline.events()
    for line, message in WRONG.items():
        answer = germline(*shlex.split(line))
        error = answer.err[answer.err.index("error") :]
        assert message in answer.err, line
        assert answer.code == ENDS.get(line, 2), line
        assert answer.out == "", line
        assert "hint   " in error, line
        assert len(error) <= LONGEST, line
        assert not re.search(r"Input should|Traceback|itself failed|[0-9a-f]{64}", answer.err), line
    assert germline.events() == head


@pytest.mark.parametrize(
    "line",
    ["show nosuch --json", "log --type Foo --json", "evolve sql-analyst --cycles x --json", "frobnicate --json"],
)
def test_an_error_under_json_is_json(germline: Terminal, line: str) -> None:
    answer, plain = germline(*shlex.split(line)), germline(*shlex.split(line.removesuffix(" --json")))
    error = json.loads(answer.err)
    assert (answer.out, error["schema"], error["exit_code"]) == ("", "germline/error/1", answer.code)
    assert f"error  {error['error']}\nhint   {error['hint']}\n" == plain.err


def test_settings_that_do_not_read_are_told_by_status(tmp_path: Path) -> None:
    germline = told_in(tmp_path)
    germline.write("germline.toml", "[scan\npaths =")
    answer = germline("status")
    assert (answer.code, "germline.toml is no TOML" in answer.err) == (2, True)


def test_a_file_without_a_byte_is_called_empty(germline: Terminal) -> None:
    germline.write("empty.jsonl", "")
    assert "empty.jsonl is empty" in germline.does("scan", "empty.jsonl").out
