"""The page as a whole: what it is, the skills one after the other, and what belongs to no skill."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.front_matter import read_front
from registry.rendering import label
from tui import __version__
from tui.figures import count
from tui.report.anchors import anchors_of, skill_at
from tui.report.blame import blame_of
from tui.report.candidates import candidates_of
from tui.report.evidence import evidence_of
from tui.report.figures import delta_cell, score_cell, toned
from tui.report.heat import heat_of
from tui.report.markup import Markup, element, joined, moment, row, table
from tui.report.timeline import events_of, versions_of
from tui.report.trends import obedience_of, scores_of, sizes_of

if TYPE_CHECKING:
    from registry.capsule import Capsule
    from tui.report.reads import ReportTold, SkillTold

GENERATOR: Final = "germline report"
"""How the page says what wrote it; what does not say so is never written over unasked."""
_STYLE: Final = Path(__file__).with_name("report.css")
_PARTS: Final = {
    "trends": "Trends",
    "versions": "Timeline",
    "blame": "Blame",
    "candidates": "Verdicts",
    "evidence": "Evidence",
}


def page_of(told: ReportTold) -> str:
    """Write the page; it loads nothing, runs nothing, and its one style sheet is named by its hash."""
    style = _STYLE.read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="generator", content=f"{GENERATOR} {__version__}"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", _title(told)),
        element("style", Markup(style)),
    )
    skills = (_skill(one, told.now) for one in told.skills)
    main = element("main", _overview(told), *skills, _of_all(told), id="main")
    skip = element("a", "to the skills", href="#main", class_="skip")
    body = element("body", skip, _header(told), main)
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _title(told: ReportTold) -> str:
    names = ", ".join(one.capsule.name for one in told.skills[:3])
    more = f" and {len(told.skills) - 3} more" if len(told.skills) > 3 else ""  # noqa: PLR2004 - as many as are named
    return f"{names}{more}: why every line is there" if names else "an empty registry"


def _header(told: ReportTold) -> Markup:
    state = f"The registry at event {told.head.position:,}, hash {told.head.hash[:16]}; preset {told.preset}. "
    written = joined(("Written ", moment(told.now), f" UTC by germline {__version__}; ages are as of then."))
    return element("header", element("h1", _title(told)), element("p", state, written, class_="dim"))


def _overview(told: ReportTold) -> Markup:
    """List the skills, each a link to its section."""
    if not told.skills:
        return element("p", "No skill was imported yet: ", element("kbd", "germline import PATH"))
    heads = ("skill", "version", "score", "Δ", "lines", "claimed", "verdicts")
    return table("skills", heads, [_overview_row(one) for one in told.skills])


def _overview_row(told: SkillTold) -> Markup:
    capsule, size = told.capsule, told.trends.sizes[-1]
    return row(
        element("a", capsule.name, href=f"#{skill_at(capsule.name)}"),
        f"@{capsule.version}",
        score_cell(capsule.score),
        delta_cell(capsule.delta),
        f"{size.lines:,}",
        f"{size.claimed:,}",
        f"{told.candidates_total:,}",
    )


def _skill(told: SkillTold, now: str) -> Markup:
    known, capsule, name = anchors_of(told), told.capsule, told.capsule.name
    ways = (element("a", title, href=f"#{skill_at(name, part)}") for part, title in _PARTS.items())
    shown = (
        "" if told.summed is None else f"The last {count(len(told.versions), 'version')}; those before are summed."
    )
    trends = (
        element("h4", "Score by version"),
        scores_of(name, told.trends, known),
        element("h4", "Tasks by version"),
        heat_of(name, told.trends.tasks),
        element("h4", "Obedience by version"),
        obedience_of(name, told.trends, known),
        element("h4", "Size by version"),
        sizes_of(name, told.trends, known),
    )
    return element(
        "section",
        element("h2", label(capsule)),
        element("p", _description(capsule)),
        element("p", *_standing(told)),
        element("nav", *ways, aria_label=f"parts of {name}"),
        _part(name, "trends", element("p", shown, class_="dim") if shown else None, *trends),
        _part(
            name,
            "versions",
            versions_of(told, known),
            events_of(name, told.events, total=told.events_total, source=capsule.source),
        ),
        _part(name, "blame", element("p", _LEARNED, class_="dim"), blame_of(told, known, now)),
        _part(name, "candidates", candidates_of(told, known)),
        _part(name, "evidence", evidence_of(told)),
        id=skill_at(name),
    )


_LEARNED: Final = "Event, strategy, age, Δ (? unproven: nobody measured it), line. A learned line opens."


def _part(skill: str, name: str, *children: str | None) -> Markup:
    return element("section", element("h3", _PARTS[name]), *children, id=skill_at(skill, name), class_="part")


def _standing(told: SkillTold) -> list[str]:
    """Say what of a skill is unproven, retired or named, beside how much it was changed."""
    capsule = told.capsule
    said: list[str] = []
    if capsule.aliases:
        said.append(", ".join(f"{alias} is @{version}" for alias, version in capsule.aliases) + ". ")
    if capsule.files:
        said.append(f"{count(len(capsule.files), 'file')} beside SKILL.md. ")
    if capsule.unproven:
        said.append(toned("Unproven: a person's override that nobody measured yet. ", "warn"))
    return [*said, toned("Retired. ", "warn")] if capsule.retired else said


def _description(capsule: Capsule) -> str:
    front = read_front([line.text for line in capsule.front][1:-1], 2)
    return next((e.value for e in front.entries if e.key == "description" and isinstance(e.value, str)), "")


def _of_all(told: ReportTold) -> Markup:
    """List the events that belong to no skill, and say how all this can be checked."""
    return element(
        "section",
        element("h2", "The registry"),
        events_of("", told.events, total=len(told.events)),
        element("p", "Check it: ", element("kbd", "germline verify"), ". Ask any line: ", element("kbd", _WHY)),
    )


_WHY: Final = "germline why SKILL:LINE"
