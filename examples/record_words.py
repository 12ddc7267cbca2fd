"""The words that the recorded tasks are made of: things with their columns, topics of branches, code names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Column:
    """A column as a question names it, and what database designers call it instead."""

    word: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Thing:
    """What a table holds: its words, a column of text, one of numbers, and the table that refers to it."""

    word: str
    plural: str
    others: tuple[str, ...]
    kind: Column
    kinds: tuple[str, ...]
    number: Column
    child: str
    child_plural: str


COUNTRIES: Final = ("France", "Japan", "Kenya", "Norway")

# fmt: off - a thing in four lines reads as the table that it is
THINGS: Final = (
    Thing(
        "singer",
        "singers",
        ("artist", "performer"),
        Column("country", ("nation", "home_country", "origin")),
        COUNTRIES,
        Column("age", ("age_years", "years_old")),
        "concert",
        "concerts",
    ),
    Thing(
        "airport",
        "airports",
        ("airfield", "aerodrome"),
        Column("city", ("town", "served_city", "location")),
        ("Lyon", "Osaka", "Nairobi", "Bergen"),
        Column("elevation", ("height_m", "altitude")),
        "flight",
        "flights",
    ),
    Thing(
        "student",
        "students",
        ("pupil", "learner"),
        Column("major", ("subject", "field", "programme")),
        ("history", "physics", "music", "law"),
        Column("credits", ("points", "ects")),
        "exam",
        "exams",
    ),
    Thing(
        "book",
        "books",
        ("title", "publication"),
        Column("genre", ("category", "shelf", "class")),
        ("poetry", "crime", "travel", "science"),
        Column("pages", ("page_count", "length")),
        "loan",
        "loans",
    ),
    Thing(
        "player",
        "players",
        ("athlete", "member"),
        Column("position", ("role", "field_position", "post")),
        ("keeper", "wing", "centre", "back"),
        Column("height", ("height_cm", "size_cm")),
        "match",
        "matches",
    ),
    Thing(
        "hotel",
        "hotels",
        ("lodging", "guesthouse"),
        Column("region", ("area", "district", "zone")),
        ("coast", "lake", "alps", "valley"),
        Column("rooms", ("room_count", "capacity")),
        "booking",
        "bookings",
    ),
    Thing(
        "employee",
        "employees",
        ("staff", "worker"),
        Column("department", ("dept", "division", "unit")),
        ("sales", "design", "legal", "support"),
        Column("salary", ("pay", "wage")),
        "shift",
        "shifts",
    ),
    Thing(
        "ship",
        "ships",
        ("vessel", "boat"),
        Column("flag", ("registry", "flag_state", "nation")),
        COUNTRIES,
        Column("tonnage", ("gross_tons", "weight_t")),
        "voyage",
        "voyages",
    ),
)
# fmt: on


def words(text: str) -> tuple[str, ...]:
    """Part a line of words."""
    return tuple(text.split())


NAMES: Final = words(
    "Ada Bo Cleo Dan Eva Finn Gro Hal Ida Jon Kai Lea Max Nia Ole Pia Quin Ron Sia Tom Una Vic",
)

ADJECTIVES: Final = words(
    "amber brisk calm dusty eager faint gentle hollow ivory jolly keen lunar mellow noble opal plain quiet "
    "rapid silver tidy umber vivid woven young zesty",
)
ANIMALS: Final = words(
    "otter heron lynx raven badger falcon marten plover stoat tern viper weasel bison crane dingo egret "
    "ferret gecko ibis jackal",
)

TOPICS: Final = tuple(
    f"{first} {second}"
    for second in words("page form cache filter table button")
    for first in words("login search invoice report upload export profile payment")
)

FILES: Final = words("notes.txt plan.md config.ini todo.txt guide.md")
