from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import tui.report
from tests.html_page import Page
from tui.report.charts import HEIGHT, WIDTH, ChartLine, Point, line_chart, thinned
from tui.report.page import environment
from tui.views.score_bars import Axis

HOSTILE = "</style></pre><script>alert(1)</script>\" onload='x' & \u202egnp.exe \x00 \ud800"
TEMPLATES = Path(tui.report.__file__).with_name("templates")
CSS = Path(tui.report.__file__).with_name("report.css").read_text(encoding="utf-8")


def written(template: str, **values: object) -> str:
    """Write a template with the environment of the page."""
    return environment().from_string(template).render(**values)


def test_text_stays_text_wherever_it_stands() -> None:
    page = Page(written('<p title="{{ text }}">{{ text }}</p>', text=HOSTILE))
    assert not page.faults
    assert [element.tag for element in page.elements] == ["p"]
    assert set(page.elements[0].attributes) == {"title"}
    assert page.elements[0].text.startswith("</style></pre><script>alert(1)</script>\" onload='x' & ")


def test_what_would_steer_the_reader_is_made_visible() -> None:
    markup = written("<p>{{ text }}</p><pre>{{ text | lines }}</pre>", text=HOSTILE)
    assert "\u202e" not in markup
    assert "\x00" not in markup
    assert markup.encode("utf-8")


def test_markup_that_was_put_into_a_text_is_text_again() -> None:
    assert "&lt;b&gt;" in written("{{ text }}", text=f"so {Markup('<b>bold</b>')}")


def test_a_name_that_a_template_gets_wrong_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        written("{{ nobody }}")


def test_a_link_leads_to_a_place_of_the_page_or_is_no_link() -> None:
    link = '{% from "parts.html" import link %}{{ link(anchor, text, known) }}'
    assert written(link, anchor="a.v.1", text="one", known={"a.v.1"}) == '<a href="#a.v.1">one</a>'
    assert written(link, anchor="a.v.2", text="<two>", known=()) == "&lt;two&gt;"


def test_every_link_of_the_templates_leads_to_a_place_of_the_page() -> None:
    sources = [path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html")]
    links = [link for source in sources for link in re.findall(r'href="[^"]', source)]
    assert links
    assert set(links) == {'href="#'}


def test_a_chart_stays_inside_its_frame_and_says_in_words_what_it_draws() -> None:
    points = [Point(version, value, value - 0.2, value + 0.2) for version, value in ((1, 0.0), (7, 1.0))]
    lines = [ChartLine("sealed", points), ChartLine("audit", points[:1])]
    chart = Page(line_chart(environment(), lines, Axis(0.0, 1.0), say="score <by> version", figure=str))
    assert not chart.faults
    assert chart.all("title")[0].text == "score <by> version" == chart.all("svg")[0].attributes["aria-label"]
    for shape in chart.all("polygon") + chart.all("polyline"):
        for x, y in (pair.split(",") for pair in shape.attributes["points"].split()):
            assert 0 <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT
    assert chart.all("rect")  # the audit is told by its shape, not by its colour alone
    assert [element.text for element in chart.all("text")][-2:] == ["@1", "@7"]


def test_a_single_version_is_a_point_in_the_middle() -> None:
    chart = Page(
        line_chart(
            environment(), [ChartLine("plain", [Point(3, 0.5, 0.5, 0.5)])], Axis(0.0, 1.0), say="x", figure=str
        )
    )
    (dot,) = chart.all("circle")
    assert 0 < float(dot.attributes["cx"]) < WIDTH


def test_thinning_keeps_the_first_and_the_last_point() -> None:
    points = [Point(version, 0.5, 0.5, 0.5) for version in range(1, 10_001)]
    kept = thinned(points)
    assert len(kept) == 240
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert thinned(points[:9]) == points[:9]


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_every_colour_can_be_read_on_every_ground_it_stands_on(theme: str) -> None:
    colours = palette(theme)
    for ground in ("bg", "panel"):
        for tone in ("text", "dim", "accent", "good", "bad", "warn"):
            assert contrast(colours[tone], colours[ground]) >= 4.5, (tone, ground)
    for ground in ("mark", "passed", "failed", "mixed"):
        assert contrast(colours["text"], colours[ground]) >= 4.5, ground


def palette(theme: str) -> dict[str, str]:
    """Read the colours of a theme: the first block is light, the second dark, the third for paper."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    block = blocks[("light", "dark", "print").index(theme)]
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block))


def contrast(colour: str, other: str) -> float:
    """Give the contrast of two colours (WCAG 2.2, relative luminance)."""
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
