"""The report in a headless Chromium; a page within a page, since no window is as narrow as a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.reported import tell_hostile
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT_S = 100
WIDTHS = (320, 360, 1280)
PROBE = """
addEventListener("load", () => {
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    const out = [...page.querySelectorAll("body *")].filter(one => !one.closest(".wide, .skip, .heat caption")
      && one.getBoundingClientRect().right > root.clientWidth + 1);
    frame.dataset.wide = root.scrollWidth - root.clientWidth;
    frame.dataset.out = out.length;
    frame.dataset.styled = getComputedStyle(page.querySelector(".blame")).listStyleType;
    const tables = [...page.querySelectorAll(".wide:not(.heat)")].filter(one => one.clientWidth);
    frame.dataset.cut = tables.filter(one => one.scrollWidth > one.clientWidth + 1).length;
    for (const one of tables) one.scrollLeft = 999;
    frame.dataset.nameless = tables.filter(one => one.querySelector("tbody th").getBoundingClientRect().left
      < one.getBoundingClientRect().left).length;
    frame.dataset.obeyed = root.dataset.owned ?? "no";
  }
});
"""


class Seen(NamedTuple):
    """What a browser made of the page at one width."""

    wide: str
    out: str
    cut: str
    nameless: str
    styled: str
    obeyed: str


class Browsed(NamedTuple):
    """A report, what was seen of it at each width, and what the console said."""

    report: Path
    seen: dict[int, Seen]
    console: str


@pytest.fixture(scope="module")
def chromium() -> str:
    executable = next((path for name in NAMES if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    return executable


@pytest.fixture(scope="module")
def browsed(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Browsed:
    """Open the page at all widths in one go."""
    folder = tmp_path_factory.mktemp("browser")
    Terminal(folder, GERMLINE_REGISTRY=str(tell_hostile(folder))).does("report", "-o", "report.html")
    page = escape((folder / "report.html").read_text(encoding="utf-8"))
    frames = "".join(f'<iframe width="{width}" height="700" srcdoc="{page}"></iframe>' for width in WIDTHS)
    outer = folder / "outer.html"
    outer.write_text(
        f"<!doctype html><meta charset=utf-8><body>{frames}<script>{PROBE}</script>", encoding="utf-8"
    )
    dom, console = dumped(chromium, outer, folder)
    opened = re.findall(r'<iframe width="(\d+)"[^>]*?((?: data-[a-z]+="[^"]*")+)>', dom)
    seen = {
        int(width): Seen(**dict(re.findall(r'data-([a-z]+)="([^"]*)"', attributes)))
        for width, attributes in opened
    }
    return Browsed(folder / "report.html", seen, console)


def dumped(chromium: str, page: Path, folder: Path, at: str = "") -> tuple[str, str]:
    """Load a page and give what became of it; the sandbox of the browser needs rights that a container lacks."""
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--log-level=0"]
    words += ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    words += [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900"]
    ended = subprocess.run(
        [*words, "--dump-dom", f"{page.as_uri()}{at}"],
        capture_output=True,
        timeout=TIMEOUT_S,
        check=True,
        text=True,
    )
    return ended.stdout, "\n".join(line for line in ended.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_reaches_beyond_the_page(browsed: Browsed, width: int) -> None:
    seen = browsed.seen[width]
    assert (seen.wide, seen.out) == ("0", "0")


def test_on_a_desk_every_table_shows_all_of_its_columns(browsed: Browsed) -> None:
    assert browsed.seen[1280].cut == "0"


def test_on_a_phone_rows_keep_their_names_in_view_while_a_table_scrolls(browsed: Browsed) -> None:
    assert browsed.seen[320].cut != "0"
    assert browsed.seen[320].nameless == "0"


def test_the_style_sheet_counts_and_hostile_text_is_not_obeyed(browsed: Browsed) -> None:
    assert {(seen.styled, seen.obeyed) for seen in browsed.seen.values()} == {("none", "no")}


def test_a_link_into_what_is_folded_unfolds_it(chromium: str, browsed: Browsed) -> None:
    opened, _ = dumped(chromium, browsed.report, browsed.report.parent, "#hostile.r.0.3")
    assert "<details open" not in browsed.report.read_text(encoding="utf-8")
    assert opened.count("<details open") == 1
    assert '<details open=""><summary>The runs behind the cells' in opened


def test_the_console_has_nothing_to_say(browsed: Browsed) -> None:
    assert browsed.console == ""
