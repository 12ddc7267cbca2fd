"""The page as a whole: templates, where no text can become markup, and what they may ask for."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from events.types.score import Score
from registry.query.event_summaries import summary
from registry.skill_md.front_matter import description_of
from registry.skill_md.render import label
from tui import __version__
from tui.facts import candidates, evidence, scores, usage
from tui.reads.evidence import place_words
from tui.report import anchors, charts, parts
from tui.text import durations, numbers, words
from tui.text.rows import clean

if TYPE_CHECKING:
    from tui.report.reads import ReportContent

GENERATOR: Final = "germline report"
"""How the page says what wrote it; what does not say so is never written over unasked."""
_HERE: Final = Path(__file__).parent
_PARTS: Final = {
    "trends": "Trends",
    "versions": "Timeline",
    "blame": "Blame",
    "usage": "Which lines earn their place",
    "candidates": "Verdicts",
    "evidence": "Evidence",
}
_TAB_CHARS: Final = 4
_NAMED: Final = 3


def page_of(report: ReportContent) -> str:
    """Write the page; it loads nothing, runs nothing, and its one style sheet is named by its hash."""
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    return (
        environment()
        .get_template("page.html")
        .render(
            report=report,
            title=_title(report),
            style=Markup(style),  # noqa: S704 - our own file
            digest=b64encode(sha256(style.encode()).digest()).decode(),
            generator=f"{GENERATOR} {__version__}",
            version=__version__,
        )
    )


@cache
def environment() -> Environment:
    """Set up the templates: what is written into them is made visible and escaped, unless a template made it."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"lines": _lines, "px": charts.px}
    for module in (durations, numbers, words, candidates, evidence, scores, usage, anchors, parts):
        made.globals |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    made.globals |= {"PARTS": _PARTS, "label": label, "place_words": place_words, "summary": summary}
    made.globals |= {"description": description_of, "is_score": _is_score}
    made.globals |= charts.drawn_by(made)
    return made


def _finalized(value: object) -> object:
    """Make a text visible; what a template made, and what is no text, is left as it is."""
    return _visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _visible(text: str) -> str:
    """Show what a text would hide or steer the reader with."""
    if text.isascii() and text.isprintable():
        return text
    return clean(text.expandtabs(_TAB_CHARS)).encode("utf-8", "replace").decode()


def _lines(text: str) -> Markup:
    """Keep the lines of a text, which must stay lines, and nothing else that would steer what shows it."""
    return Markup("<br>").join(_visible(line) for line in text.split("\n"))


def _is_score(measured: object) -> bool:
    return isinstance(measured, Score)


def _title(report: ReportContent) -> str:
    names = ", ".join(skill.capsule.name for skill in report.skills[:_NAMED])
    more = f" and {len(report.skills) - _NAMED} more" if len(report.skills) > _NAMED else ""
    return f"{names}{more}: why every line is there" if names else "an empty registry"
