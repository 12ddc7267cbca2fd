"""Questions over small SQLite databases whose names are not quite what the question says."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from examples.record_agent import RESULT_CAP_CHARS, Difficulty, Seen, Task, Temper, likeliest
from examples.record_words import NAMES, THINGS, Column, Thing

if TYPE_CHECKING:
    import random

NEAR: Final = ("{n}", "{p}", "tbl_{n}", "{n}_list")
FAR: Final = ("{n}_info", "{n}_data", "all_{p}", "{n}_table")
LIMITS: Final[dict[Difficulty, int]] = {"easy": 6, "medium": 7, "hard": 8}
MISSING: Final = re.compile(r"no such (table|column): (?:\w+\.)?(\w+)")
WHERE: Final = "SELECT count(*) FROM {table} WHERE {kind} = '{value}'"
MAX: Final = "SELECT max({number}) FROM {table}"
JOIN: Final = (
    "SELECT count(*) FROM {child} JOIN {table} ON {child}.{link} = {table}.id WHERE {owner}name = '{person}'"
)
ROW: Final = "INSERT INTO {} VALUES {}"
DETOURS: Final = ("EXPLAIN", "PRAGMA", "CREATE", "ALTER")


@dataclass(frozen=True)
class Question:
    """A task with the query that the agent would write, the true names, and the script of the database."""

    task: Task
    thing: Thing
    pattern: str
    names: dict[str, str]
    values: dict[str, str]
    script: str


def variants(word: str, plural: str, others: tuple[str, ...]) -> list[str]:
    """List the table names that come to mind for a thing, likely ones first."""
    return [form.format(n=word, p=plural) for form in (*NEAR, *FAR)] + list(others)


def column_variants(column: Column, word: str) -> list[str]:
    """List the column names that come to mind for an attribute."""
    return [column.word, f"{word}_{column.word}", f"{column.word}_name", *column.others]


def make_question(codename: str, difficulty: Difficulty, number: int, dice: random.Random) -> Question:
    """Make the database and the question of one task."""
    thing = THINGS[number % len(THINGS)]
    names = true_names(thing, difficulty, dice)
    people = dice.sample(NAMES, dice.randint(9, 14))
    value, person = dice.choice(thing.kinds), dice.choice(people)
    forms = {
        "count": (f"how many {thing.plural} are there?", "SELECT count(*) FROM {table}"),
        "where": (f"how many {thing.plural} have the {thing.kind.word} {value}?", WHERE),
        "max": (f"what is the highest {thing.number.word} of any {thing.word}?", MAX),
        "join": (f"how many {thing.child_plural} belong to the {thing.word} named {person}?", JOIN),
    }
    among = {"easy": ("count", "max"), "medium": ("where", "max"), "hard": ("where", "join")}[difficulty]
    asked, pattern = forms[dice.choice(among)]
    prompt = f"In the database {codename.replace('-', ' ')}: {asked}"
    task = Task(f"sql-{codename}", difficulty, prompt, LIMITS[difficulty])
    values = {"value": value, "person": person}
    return Question(task, thing, pattern, names, values, write_script(thing, names, people, difficulty, dice))


def true_names(thing: Thing, difficulty: Difficulty, dice: random.Random) -> dict[str, str]:
    """Draw how this database calls its tables and columns: the harder, the farther from the question."""
    forms = {
        "easy": list(NEAR),
        "medium": [*NEAR, *FAR],
        "hard": [*FAR, *thing.others, *(f"{other}_info" for other in thing.others)],
    }[difficulty]
    renamed = 0 if difficulty == "easy" else dice.randint(0, 3)
    return {
        "table": dice.choice(forms).format(n=thing.word, p=thing.plural),
        "child": dice.choice((thing.child, thing.child_plural, f"{thing.child}_log")),
        "kind": dice.choice(column_variants(thing.kind, thing.word)[1:]) if renamed else thing.kind.word,
        "number": dice.choice(column_variants(thing.number, thing.word)[1:]) if renamed else thing.number.word,
        "link": dice.choice((f"{thing.word}_id", f"{thing.word}_no")) if renamed else f"{thing.word}_id",
        "owner": "",
    }


def write_script(
    thing: Thing, names: dict[str, str], people: list[str], difficulty: Difficulty, dice: random.Random
) -> str:
    """Write the database as SQL; hard ones sometimes keep an old copy of the table, with fewer rows."""
    table, child = names["table"], names["child"]
    columns = f"(id INTEGER PRIMARY KEY, name TEXT, {names['kind']} TEXT, {names['number']} INTEGER)"
    rows = [(n, who, dice.choice(thing.kinds), dice.randint(20, 900)) for n, who in enumerate(people, 1)]
    tables = {table: rows}
    if difficulty == "hard" and dice.random() < 0.3:
        tables[f"{thing.word}_old"] = rows[:-3]
    script = [f"CREATE TABLE {name} {columns}" for name in tables]
    script += [ROW.format(name, row) for name, kept in tables.items() for row in kept]
    script.append(f"CREATE TABLE {child} (id INTEGER PRIMARY KEY, name TEXT, {names['link']} INTEGER)")
    script += [
        ROW.format(child, (n, f"{thing.child} {n}", dice.randint(1, len(rows)))) for n in range(1, 3 * len(rows))
    ]
    script += [f"CREATE TABLE {other} (id INTEGER, note TEXT)" for other in ("audit_log", "settings")]
    return ";\n".join(script) + ";"


class Database:
    """One question's database in memory, with what the agent believes about its names."""

    tool = "sql"

    def __init__(self, question: Question, dice: random.Random) -> None:
        self.question, self.dice = question, dice
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(question.script)
        self.answer = ""
        self.gold = self.run(self.fill_with(question.names | {"owner": "table"}, question.pattern)).text
        thing = question.thing
        self.belief = {
            "table": dice.choice((thing.word, thing.plural)),
            "child": dice.choice((thing.child, thing.child_plural)),
            "kind": thing.kind.word,
            "number": thing.number.word,
            "link": f"{thing.word}_id",
            "owner": dice.choice(("", "", "table")),
        }
        self.tried = {name: [value] for name, value in self.belief.items()}
        self.missing = "table"

    def close(self) -> None:
        """Let the database go."""
        self.connection.close()

    def fill_with(self, names: dict[str, str], pattern: str) -> str:
        """Write a query with given names; `owner` is the role of the table that qualifies a name."""
        owner = f"{names[names['owner']]}." if names["owner"] else ""
        return pattern.format(**(names | self.question.values | {"owner": owner}))

    def fill(self, pattern: str) -> str:
        """Write a query with the names that the agent believes in now."""
        return self.fill_with(self.belief, pattern)

    def head(self, command: str) -> str:
        """Name the statement."""
        return command.split(maxsplit=1)[0]

    def writes(self, command: str) -> bool:
        """Tell whether the statement changes the schema."""
        return self.head(command) in {"CREATE", "ALTER"}

    def run(self, command: str) -> Seen:
        """Run a statement; a row is a line, its values parted by bars, as sqlite's own shell prints them."""
        try:
            with closing(self.connection.execute(command)) as rows:
                text = "\n".join("|".join("" if v is None else str(v) for v in row) for row in rows)
        except sqlite3.Error as error:
            return Seen(failed=True, text=str(error))
        return Seen(failed=False, text=text)

    def learn(self, command: str, seen: Seen) -> None:
        """Remember an answer, or find the missing name among those shown."""
        if self.head(command) == "SELECT":
            self.answer = seen.text
        elif self.head(command) == "PRAGMA":
            shown = [line.split("|")[1] for line in seen.text.splitlines()]
            fresh = [n for n in shown if not n.startswith("sqlite_") and n not in self.tried[self.missing]]
            if fresh:
                self.believe(likeliest(self.words(), fresh, self.dice))

    def words(self) -> tuple[str, ...]:
        """List the words that the missing name may hold, in the order of trust."""
        thing = self.question.thing
        return {
            "table": (thing.word, *thing.others),
            "child": (thing.child,),
            "kind": (thing.kind.word, *thing.kind.others),
            "number": (thing.number.word, *thing.number.others),
            "link": (thing.word,),
        }[self.missing]

    def believe(self, name: str) -> None:
        """Take a name for the missing one."""
        self.belief[self.missing] = name
        self.tried[self.missing].append(name)

    def guess(self) -> None:
        """Take another name that comes to mind, without looking."""
        thing = self.question.thing
        ideas = {
            "table": variants(thing.word, thing.plural, thing.others),
            "child": variants(thing.child, thing.child_plural, ()),
            "kind": column_variants(thing.kind, thing.word),
            "number": column_variants(thing.number, thing.word),
            "link": [f"{thing.word}_{end}" for end in ("id", "no", "key", "ref")],
        }[self.missing]
        fresh = [idea for idea in ideas if idea not in self.tried[self.missing]]
        if fresh:
            self.believe(self.dice.choice(fresh))

    def react(self, pattern: str, seen: Seen, temper: Temper) -> list[str]:
        """Answer an error; a failed detour is not tried again, for the query itself still waits."""
        again = [] if pattern.startswith(DETOURS) else [pattern]
        if temper == "repeat":
            return again
        if temper == "dither":
            return [f"EXPLAIN {pattern}", *again] if again else again
        found = MISSING.match(seen.text)
        if found is None:  # ambiguous column name: it wants the name of a table in front
            self.belief["owner"] = "table" if temper == "mend" else self.dice.choice(("table", "child"))
            return again
        self.missing = next((key for key, name in self.belief.items() if name == found[2]), self.missing)
        if temper == "guess":
            self.guess()
            return again
        return [self.detour(found[1], temper), *again]

    def detour(self, what: str, temper: Temper) -> str:
        """Write the statement that shows the missing name, or the one that makes it up."""
        owner = "child" if self.missing == "link" else "table"
        if temper == "mend":
            return "PRAGMA table_list" if what == "table" else f"PRAGMA table_info({{{owner}}})"
        if what == "column":
            return f"ALTER TABLE {{{owner}}} ADD COLUMN {{{self.missing}}}"
        columns = "name, {link}" if self.missing == "child" else "name, {kind}, {number}"
        return f"CREATE TABLE {{{self.missing}}} (id INTEGER PRIMARY KEY, {columns})"

    def report(self) -> str:
        """Give the answer."""
        return f"The answer is {self.answer[:RESULT_CAP_CHARS] or 'empty'}."

    def passed(self) -> bool:
        """Compare the agent's answer with the true query's, run before the agent began."""
        return self.answer == self.gold
