"""What was planted in the skills of examples/audit: passages that harm, that do nothing, that must not be lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLE: Final = Path(__file__).resolve().parents[2] / "examples" / "audit"


@dataclass(frozen=True)
class PlantedSkill:
    """A skill and its domain; passages are words of a line of it, `other_files` those that are off its topic.

    `aside` tells that it was looked at last of all. `folder` is that of a skill of another world, None for one of
    the example.
    """

    name: str
    domain: str
    harmful: tuple[str, ...]
    load_bearing: tuple[str, ...]
    noise: tuple[str, ...] = ()
    other_files: tuple[str, ...] = ()
    aside: bool = False
    folder: Path | None = None

    @property
    def place(self) -> Path:
        """The folder of the skill as it is given."""
        return self.folder or EXAMPLE / "skills" / self.name

    @property
    def agent(self) -> Path:
        """The scripted agent of its world."""
        return self.folder.parents[1] / "agent.py" if self.folder else EXAMPLE / "agent.py"

    def left(self, text: str) -> tuple[str, ...]:
        """List the harmful passages that a text still has."""
        return tuple(words for words in self.harmful if words in text)

    def lost(self, text: str) -> tuple[str, ...]:
        """List the load-bearing passages that a text has no more."""
        return tuple(words for words in self.load_bearing if words not in text)


_SKILLS: Final = (
    PlantedSkill(
        "sales-report",
        "sales",
        harmful=("`data/order.csv`", "/srv/reports/sales"),
        load_bearing=("Amounts are in cents", "Cancelled orders are not counted", "the day comes first"),
        noise=("CSV stands for", "Think of a spreadsheet", "Python is a popular"),
    ),
    PlantedSkill(
        "office-helper",
        "sales",
        harmful=("in whole euros",),
        load_bearing=("Amounts are in cents", "Cancelled orders are not counted", "The day comes first"),
        noise=("friendly greeting", "Thank people", "One idea a slide", "large letters", "Congratulate"),
        other_files=("references/mails.md", "references/slides.md"),
    ),
    PlantedSkill(
        "log-triage",
        "weblog",
        harmful=("scripts/tidy.py", "/var/cache/triage"),
        load_bearing=("status is 500 or more", "leave them out"),
        noise=("A web server writes", "Be brief"),
    ),
    PlantedSkill(
        "shop-sql",
        "shop",
        harmful=("customer_name", "/home/ana", "upper case"),
        load_bearing=("Amounts are in cents", "never count deleted"),
        noise=("SQL is a language", "Debian 8"),
    ),
    PlantedSkill(
        "log-digest",
        "weblog",
        harmful=("logs/acces.log", "/data/digests"),
        load_bearing=("500 or more has failed", "ignore them"),
        noise=("HTTP is the protocol", "`url`"),
        aside=True,
    ),
    PlantedSkill(
        "config-tidy",
        "config",
        harmful=("scripts/clean.py", "/etc/service", "upper case"),
        load_bearing=("a later number wins", "begin with an underscore"),
        noise=("JSON is short for",),
        aside=True,
    ),
)
SKILLS: Final[Mapping[str, PlantedSkill]] = {skill.name: skill for skill in _SKILLS}
PLACEBO: Final = PlantedSkill("calm-desk", "sales", harmful=(), load_bearing=())
"""A skill whose passages change nothing that the agent does, on the tasks of the domain `sales`."""
