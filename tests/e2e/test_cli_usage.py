"""Usage on the command line: which lines earn their place, one of them, and a reading that is corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.terminal import SPLIT_KEY, Beginning, Terminal
from tests.worlds.instructions import write_world

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("usage")  # one beginning for all of them


@pytest.fixture(scope="module")
def scanned(own_folder: Path) -> Beginning:
    germline = Terminal(own_folder / "scanned")
    write_world(germline.folder, 1, 300)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.does("import", "CLAUDE.md")
    germline.does("scan", "sessions.jsonl")
    return Beginning(germline)


@pytest.fixture
def germline(scanned: Beginning) -> Terminal:
    return scanned.again()


@pytest.fixture(scope="module")
def measured(scanned: Beginning) -> Any:  # noqa: ANN401 - a document
    """Give what `usage --json` answers at the beginning: every line is measured, so once."""
    return scanned.again().does("usage", "CLAUDE.md", "--json").json


def test_the_first_sentence_counts_the_lines_and_those_that_hurt_come_first(
    germline: Terminal,
    measured: Any,  # noqa: ANN401 - a document
) -> None:
    answer = measured
    (file,) = answer["files"]
    counts = file["verdicts"]
    assert sum(counts.values()) == len(file["lines"]) == 60
    assert answer["summary"].startswith("Of 60 lines, ")
    assert f"{counts['unwitnessed']} cannot be judged by logs" in answer["summary"]
    claimed = sum(line["witness"]["kind"] == "claim" for line in file["lines"])
    assert file["evolvability"] == claimed / 60
    assert claimed == 60 - counts["unwitnessed"]
    shown = germline.does("usage").out
    assert shown.startswith(answer["summary"])
    assert "20 more lines of which no log could tell: --all" in shown
    assert f"something can show {claimed / 60:.0%} of 60 lines to be wrong ({claimed} by a claim)" in " ".join(
        shown.split()
    )
    assert (
        shown.index("✗ hurts") < shown.index("✓ helps") < shown.index("? unknown") < shown.index("· unwitnessed")
    )
    assert "more lines" not in germline.does("usage", "--all").out


def test_one_line_is_shown_with_its_reading_and_what_would_tell(
    germline: Terminal,
    measured: Any,  # noqa: ANN401 - a document
) -> None:
    (file,) = measured["files"]
    unknown = next(row for row in file["lines"] if row["verdict"] == "unknown" and row["claim_from"] == "words")
    shown = germline.does("usage", "./CLAUDE.md", "--line", str(unknown["line"])).out
    assert "(read from its words)" in " ".join(shown.split())
    assert f"in {unknown['applied']:,} of them: {unknown['obeyed']} obeyed" in shown
    assert "to tell" in shown
    heading = germline("usage", "CLAUDE.md", "--line", "1")
    assert (heading.code, "line 1 of CLAUDE.md states nothing" in heading.err) == (2, True)


def test_a_reading_is_corrected_by_an_event_and_said_again_adds_nothing(
    germline: Terminal,
    measured: Any,  # noqa: ANN401 - a document
) -> None:
    (file,) = measured["files"]
    line = next(row["line"] for row in file["lines"] if row["text"] == "Be concise.")
    place = ("usage", "CLAUDE.md", "--line", str(line), "--claim")
    before = germline.events()
    rehearsed = germline.does(*place, "use rg, not grep", "--dry-run", "--json").json
    assert [event["type"] for event in rehearsed["events"]] == ["ReadingCorrected"]
    assert germline.events() == before
    corrected = germline.does(*place, "use rg, not grep", "--json").json
    assert corrected["line"]["claim"] == {"kind": "instead", "do": "Bash:rg", "avoid": "Bash:grep"}
    assert (corrected["line"]["claim_from"], corrected["previous"]) == ("person", None)
    assert corrected["line"]["applied"] > 0
    assert germline.does(*place, "use rg, not grep", "--json").json["events"] == []
    assert germline.does(*place, "none", "--json").json["line"]["verdict"] == "unwitnessed"
    assert "read as nothing that logs hold" in germline.does("log", "--json").out
    refused = germline(*place, "be nice")
    assert (refused.code, "names no order or choice" in refused.err) == (2, True)
    germline.does("verify")
