from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.html_page import Page
from tests.reported import SECRET, TASK, tell_hostile
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def terminal(own_folder: Path) -> Terminal:
    folder = own_folder
    return Terminal(folder, GERMLINE_REGISTRY=str(tell_hostile(folder)))


@pytest.fixture(scope="module")
def page(terminal: Terminal) -> Page:
    terminal.does("report", "-o", "whole.html")
    return Page((terminal.folder / "whole.html").read_text(encoding="utf-8"))


def test_the_page_is_well_formed_and_every_link_leads_somewhere(page: Page) -> None:
    assert not page.faults
    assert len(page.ids()) == len(set(page.ids()))
    assert page.targets() <= set(page.ids())
    assert len(page.targets()) > 30


def test_the_page_loads_nothing_and_runs_nothing(page: Page) -> None:
    assert not page.all("script") + page.all("img") + page.all("iframe") + page.all("link") + page.all("form")
    assert not [
        name
        for element in page.elements
        for name in element.attributes
        if name.startswith("on") or name == "style"
    ]
    assert not {"src", "action", "srcset", "xlink:href"} & {
        name for element in page.elements for name in element.attributes
    }
    (style,) = page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    digest = b64encode(sha256(style.text.encode()).digest()).decode()
    assert policy.attributes["content"].startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")


def test_hostile_text_of_logs_and_skills_is_shown_and_never_obeyed(page: Page) -> None:
    assert "<script" not in page.source
    assert page.source.count("</style>") == 1
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.source
    for place in ("hostile.blame", "hostile.evidence", "hostile.candidates", "hostile.trends"):
        (section,) = page.all("section", id=place)
        assert "<script>document" in section.text, place
    assert any(header.text == TASK for header in page.all("th", scope="row"))


def test_a_learned_line_opens_its_claim_effect_verdict_and_evidence(page: Page) -> None:
    (line,) = page.all("li", id="sql-analyst.l.12")
    assert "supported" in line.text
    assert "+.017" in line.text
    labels = ("claim", "effect", "score", "verdict", "evidence", "came")
    assert all(label in line.text for label in labels)
    assert "the next action is sql:SHOW" in line.text
    assert "Table 'poker.results' doesn't exist" in line.text
    assert ".442 → .459" in line.text


def test_every_line_of_the_skill_stands_in_its_blame(page: Page, terminal: Terminal) -> None:
    shown = terminal.does("show", "sql-analyst", "--json").json["lines"]
    blame = [line for line in page.all("li") if line.attributes.get("id", "").startswith("sql-analyst.l.")]
    assert [line.attributes["id"] for line in blame] == [f"sql-analyst.l.{row['line']}" for row in shown]
    assert all(row["text"].strip() in line.text for row, line in zip(shown, blame, strict=True))


def test_what_was_redacted_or_erased_is_said_and_the_secret_is_nowhere(page: Page) -> None:
    assert SECRET not in page.source
    (evidence,) = page.all("section", id="hostile.evidence")
    assert "1 redaction: " in evidence.text
    assert page.all("mark", class_="removed")
    assert re.search(r"1 piece erased on 2026-\d\d-\d\d because asked by", evidence.text)
    assert "of a person" not in evidence.text
    assert "/home/ada" not in page.source


def test_the_page_does_not_tell_of_the_machine_it_was_written_on(terminal: Terminal, page: Page) -> None:
    assert str(terminal.folder) not in page.source
    assert "imported from hostile" in page.all("main")[0].text


def test_rejected_and_held_candidates_stand_beside_the_promoted(page: Page) -> None:
    (verdicts,) = page.all("section", id="sql-analyst.candidates")
    for verdict in ("✗ rejected", "· held", "✓ promoted", "too few episodes: 61, of which 12 sealed"):
        assert verdict in verdicts.text


def test_scores_of_two_evaluators_stand_in_two_panels_with_a_seam_between(page: Page) -> None:
    (trends,) = page.all("section", id="hostile.trends")
    assert "they have axes of their own and are not comparable" in trends.text
    names = [chart.attributes["aria-label"] for chart in page.all("svg") if "hostile, score" in chart.text]
    assert len(names) == 2
    assert "evaluator 5ea1ed00" in names[0]
    assert "evaluator 0ddba110" in names[1]
    assert len(page.all("tr", class_="seam")) == 2  # in the table of scores, and in that of versions


def test_cells_of_the_heat_map_lead_to_their_runs(page: Page) -> None:
    cells = [(cell.attributes["class"], cell.text) for cell in page.all("td") if cell.text in {"✓", "✗", "±"}]
    assert cells[:3] == [("failed", "✗"), ("passed", "✓"), ("mixed", "±")]
    (runs,) = page.all("li", id="hostile.r.0.3")
    assert "1 of 2 runs passed" in runs.text
    assert "world" in runs.text


def test_obedience_is_told_by_version(page: Page) -> None:
    (trends,) = page.all("section", id="hostile.trends")
    assert "share of episodes that obeyed its claims by version" in trends.text


def test_whoever_cannot_see_or_point_reads_the_same(page: Page) -> None:
    for chart in page.all("svg"):
        assert chart.attributes["role"] == "img"
        assert chart.attributes["aria-label"]
    for region in page.all("div", class_="wide"):
        assert (region.attributes["tabindex"], region.attributes["role"]) == ("0", "region")
        assert region.attributes["aria-label"]
    levels = [int(heading.tag[1]) for heading in page.elements if re.fullmatch(r"h[1-6]", heading.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.all("html", lang="en")


def test_the_answer_for_scripts_says_what_was_written_and_left_out(terminal: Terminal) -> None:
    report = terminal.does("report", "sql-analyst", "--last", "1", "-o", "one.html", "--json").json
    assert report["schema"] == "germline/report/1"
    assert report["size_bytes"] == (terminal.folder / "one.html").stat().st_size
    (skill,) = report["skills"]
    assert (skill["skill"], skill["versions"], skill["versions_summed"]) == ("sql-analyst", 1, 2)
    page = Page((terminal.folder / "one.html").read_text(encoding="utf-8"))
    assert not page.faults
    assert page.targets() <= set(page.ids())
    assert "2 versions before" in page.all("tr", class_="summed")[0].text


def test_a_report_is_written_anew_and_nothing_else_is_written_over(terminal: Terminal) -> None:
    terminal.does("report", "ticket-triage", "-o", "again.html")
    (terminal.folder / "again.html").chmod(0o640)
    assert terminal.does("report", "ticket-triage", "-o", "again.html").out.startswith(
        "wrote      again.html: 1 skill"
    )
    assert (terminal.folder / "again.html").stat().st_mode & 0o777 == 0o640
    letter = terminal.write("letter.html", "<p>germline report, dear</p>")
    refused = terminal("report", "-o", "letter.html")
    assert refused.code == 2
    assert "letter.html is there already, and is no report" in refused.err
    assert letter.read_text() == "<p>germline report, dear</p>"
    terminal.does("report", "-o", "letter.html", "--yes")
    assert 'name="generator"' in letter.read_text()


def test_a_dry_run_writes_nothing(terminal: Terminal) -> None:
    answer = terminal.does("report", "-o", "not-there.html", "--dry-run")
    assert answer.out.startswith("would write not-there.html: 3 skills")
    assert not (terminal.folder / "not-there.html").exists()
    assert not list(terminal.folder.glob(".*germline-writing*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report",), "the report is written to a file, and none was named"),
        (("report", "-o", "no/such/a.html"), "there is no folder no/such"),
        (("report", "-o", "skills"), "skills is no file"),
        (("report", "--all", "--last", "3", "-o", "a.html"), "--all and --last contradict each other"),
        (("report", "sql-analist", "-o", "a.html"), "no skill named sql-analist"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    terminal: Terminal, words: tuple[str, ...], message: str
) -> None:
    answer = terminal(*words)
    assert answer.code in {1, 2}
    assert message in answer.err
    assert answer.hint
    assert not (terminal.folder / "a.html").exists()


def test_a_registry_without_skills_has_a_page_as_well(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.does("init")
    terminal.does("report", "-o", "empty.html")
    page = Page((tmp_path / "empty.html").read_text(encoding="utf-8"))
    assert not page.faults
    assert "No skill was imported yet" in page.all("main")[0].text
