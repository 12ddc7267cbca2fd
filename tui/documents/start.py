"""The document of `start`: what costs most, what worked next, and the line that each would bring."""

from typing import TYPE_CHECKING, Literal

from events.types.claims import Claim
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.sessions import SessionText
from tui.documents.signals import WorkedNext

if TYPE_CHECKING:
    from tui.reads.start import Excerpt, StartPage, StartThing


class ExcerptStep(Part):
    """A step of a session, counted from 1, with its texts."""

    number: int
    texts: tuple[SessionText, ...]


class ExcerptRow(Part):
    """A few steps of one session as they happened."""

    session: str
    steps: tuple[ExcerptStep, ...]

    @classmethod
    def of(cls, excerpt: "Excerpt") -> "ExcerptRow":
        """Describe an excerpt."""
        steps = (
            ExcerptStep(number=number, texts=tuple(SessionText(kind=part.label, text=part.text) for part in parts))
            for number, parts in excerpt.steps
        )
        return cls(session=excerpt.session, steps=tuple(steps))


class ThingRow(Part):
    """A thing that costs: a command that fails with an error, or what a person says again and again (`wish`).

    `--take` and `--refuse` name it by its `id`. `line` is what would be taken into `home`, "" where nothing is
    clear; `file` is what would be imported first, null where it is in the registry. Units: minutes. `tokens` are
    an estimate, null where no log tells.
    """

    number: int
    id: str
    action: str
    template: str
    wish: str
    sessions: tuple[str, ...]
    failed: int
    corrections: int
    minutes: float
    tokens: int | None
    worked_next: WorkedNext | None
    line: str
    tier: Literal["seen"] | None
    claim: Claim | None
    home: str
    file: str | None
    excerpt: ExcerptRow | None

    @classmethod
    def of(cls, number: int, thing: "StartThing") -> "ThingRow":
        """Describe a thing."""
        lesson, fix = thing.lesson, thing.lesson.fix
        return cls.described(
            lesson,
            number=number,
            id=thing.id,
            wish=lesson.wish.quote if lesson.wish else "",
            failed=lesson.cost.failed,
            corrections=lesson.cost.corrections,
            minutes=round(lesson.cost.minutes, 1),
            tokens=lesson.cost.tokens,
            worked_next=WorkedNext.of(fix) if fix is not None else None,
            tier="seen" if fix is not None and lesson.line else None,
            home=thing.home.name,
            file=thing.home.file or None,
            excerpt=ExcerptRow.of(thing.excerpt) if thing.excerpt else None,
        )


class StartDocument(Document):
    """Say what costs most here, and what worked next.

    `things` have a line, the costliest first; those `without_line` cost much too, and nothing helps clearly.
    """

    schema_: Literal["germline/start/1"] = "germline/start/1"
    dry_run: Rehearsed = False
    registry: str
    created: bool = False
    sessions: int = 0
    failed: int = 0
    things: tuple[ThingRow, ...] = ()
    without_line: tuple[ThingRow, ...] = ()
    taken: Absent[str] = ABSENT
    refused: Absent[str] = ABSENT
    skill: Absent[str] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT
    next: str = ""

    @classmethod
    def of(cls, page: "StartPage", registry: str, *, created: bool, after: str) -> "StartDocument":
        """Describe a page."""
        return cls(
            registry=registry,
            created=created,
            sessions=page.sessions,
            failed=page.failed,
            things=tuple(ThingRow.of(number, thing) for number, thing in enumerate(page.things, 1)),
            without_line=tuple(ThingRow.of(0, thing) for thing in page.without_line),
            next=after,
        )
