"""What knowledge changes for an agent: 40 questions on a database schema, with it, without it, and past its end.

A schema of generated tables is packed by `germline knowledge add`; the scripted agent may only say what its lookup
prints. Without knowledge it has the task alone, which names no column. Printed are, for each kind of question, how
many answers are right, wrong, and "not covered"; then the same after a table changed, before the skill reads it
again and afterwards.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.folder import read_skill
from strategies.knowledge.corpus import Corpus, KeptCopy, corpus_of, keep, states_of, with_corpus, with_sources
from strategies.knowledge.knowledge_lookup import answer
from strategies.knowledge.pack_knowledge import LOOKUP_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from registry.skill_md.folder import SkillFolder

QUESTIONS: Final = 40
SCHEMA: Final = "db/schema.sql"
NOT_COVERED: Final = "not covered"
CHANGED: Final = "changed"
DAY: Final = "2026-11-24"
SKILL: Final = (
    "---\nname: shop\ndescription: Answers questions on the shop with SQL.\n---\n\n## Rules\n\nOne query.\n"
)
THINGS: Final = (
    *(
        "customer",
        "invoice",
        "shipment",
        "supplier",
        "refund",
        "voucher",
        "basket",
        "courier",
        "warranty",
        "branch",
    ),
    *("employee", "campaign", "review", "subscription", "terminal", "discount", "pallet", "contract", "complaint"),
    "payment",
)
FACTS: Final = ("status", "priority", "channel", "currency", "category", "region")
VALUES: Final = ("amber", "birch", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "jasper")
OUTSIDE: Final = (
    "spaceship",
    "orchard",
    "violin",
    "glacier",
    "lighthouse",
    "comet",
    "saddle",
    "teapot",
    "reef",
    "yak",
)


class Question(NamedTuple):
    """A question, and the values that answer it; none where the schema does not say."""

    text: str
    right: tuple[str, ...]


class Score(NamedTuple):
    """How many answers were right, wrong, and refused as not covered or changed."""

    right: int
    wrong: int
    refused: int


def schema(draws: random.Random) -> dict[tuple[str, str], tuple[str, ...]]:
    """Draw which values each column of each table may hold."""
    return {(thing, fact): tuple(draws.sample(VALUES, 3)) for thing in THINGS for fact in draws.sample(FACTS, 2)}


def as_sql(columns: Mapping[tuple[str, str], Sequence[str]]) -> bytes:
    """Write a schema as its statements."""
    tables = []
    for thing in dict.fromkeys(thing for thing, _ in columns):
        own = [f"  {fact} TEXT, -- {', '.join(values)}" for (of, fact), values in columns.items() if of == thing]
        tables.append("\n".join([f"CREATE TABLE {thing}s (", "  id INTEGER PRIMARY KEY,", *own, ");"]))
    return "\n\n".join([*tables, ""]).encode()


def questions(columns: Mapping[tuple[str, str], tuple[str, ...]], draws: random.Random) -> list[Question]:
    """Ask 40 questions: 30 on columns that are there, 5 on tables and 5 on columns that are not."""
    inside = [
        Question(f"Which values can the {fact} of a {thing} have?", columns[thing, fact])
        for thing, fact in draws.sample(sorted(columns), 30)
    ]
    tables = [
        Question(f"Which values can the tuning of a {thing} have?", ()) for thing in draws.sample(OUTSIDE, 5)
    ]
    missing = [(thing, fact) for thing in THINGS for fact in FACTS if (thing, fact) not in columns]
    others = [
        Question(f"Which values can the {fact} of a {thing} have?", ()) for thing, fact in draws.sample(missing, 5)
    ]
    return [*inside, *tables, *others]


def packed(root: Path, source: bytes, corpus: Corpus | None = None) -> SkillFolder:
    """Write a skill that knows a schema below a project that holds the schema."""
    (root / "db").mkdir(exist_ok=True)
    (root / SCHEMA).write_bytes(source)
    place = root / "skills" / "shop"
    write_skill(place, {"SKILL.md": FileContent(SKILL.encode(), 0o644)})
    kept = keep(SCHEMA, source, DAY)
    if not isinstance(kept, KeptCopy):
        raise TypeError(kept.why)
    known = with_sources(corpus or Corpus(), [kept])
    skill = with_corpus(read_skill(place), known, {kept.source.path: kept.text}, LOOKUP_SCRIPT.read_bytes())
    files = {file.entry.path: FileContent(file.content, 0o644) for file in skill.files}
    write_skill(place, {**files, "SKILL.md": FileContent(skill.text.encode(), 0o644)})
    return replace(skill, source=str(place))


def scripted_answer(question: Question, skill: SkillFolder | None) -> tuple[str, ...] | str:
    """Answer as the script of an agent does: the values behind the column in the first passage that has it.

    Without knowledge nothing is there to read, so it guesses the values it saw most.
    """
    if skill is None:
        return VALUES[:3]
    lines, code = answer(Path(skill.source), question.text)
    if code:
        return NOT_COVERED
    if any(line.startswith(f"{CHANGED}:") for line in lines):
        return CHANGED
    fact = re.findall(r"the (\w+) of", question.text)[0]
    match = re.search(rf"^  {fact} TEXT, -- (.*)$", "\n".join(lines[1:2]), re.MULTILINE)
    return tuple(match[1].split(", ")) if match else NOT_COVERED


def score(asked: Sequence[Question], skill: SkillFolder | None) -> Score:
    """Grade the answers: refusing is right where the schema does not say, and where it changed no answer is."""
    given = [(question, scripted_answer(question, skill)) for question in asked]
    right = sum(
        set(reply) == set(question.right)
        if isinstance(reply, tuple)
        else reply == NOT_COVERED and not question.right
        for question, reply in given
    )
    refused = sum(isinstance(reply, str) for _, reply in given)
    wrong = sum(isinstance(reply, tuple) and set(reply) != set(question.right) for question, reply in given)
    return Score(right, wrong, refused)


def figures(seed: int) -> Iterator[tuple[str, int, Score]]:
    """Yield each row of the table: what was asked, how often, and how it was answered."""
    draws = random.Random(seed)
    columns = schema(draws)
    asked = questions(columns, draws)
    inside, outside = [q for q in asked if q.right], [q for q in asked if not q.right]
    with tempfile.TemporaryDirectory() as folder:
        skill = packed(Path(folder), as_sql(columns))
        yield "without knowledge, inside", len(inside), score(inside, None)
        yield "without knowledge, outside", len(outside), score(outside, None)
        yield "with knowledge, inside", len(inside), score(inside, skill)
        yield "with knowledge, outside", len(outside), score(outside, skill)
        changed = {
            key: tuple(reversed(VALUES))[:3] if at % 4 == 0 else values
            for at, (key, values) in enumerate(columns.items())
        }
        (Path(folder) / SCHEMA).write_bytes(as_sql(changed))
        now = [Question(q.text, q.right and changed[key_of(q)]) for q in inside]
        yield "the schema changed, not read again", len(now), score(now, skill)
        (state,) = states_of(corpus_of(skill), lambda source: (Path(folder) / source).read_bytes())
        tables = {thing for at, (thing, _) in enumerate(columns) if at % 4 == 0}
        yield (
            f"  stale passages {len(state.stale)} of {len(state.source.passages)}, changed {len(tables)}",
            0,
            Score(0, 0, 0),
        )
        again = packed(Path(folder), as_sql(changed), corpus_of(skill))
        yield "the schema changed, read again", len(now), score(now, again)


def key_of(question: Question) -> tuple[str, str]:
    """Name the table and the column that a question asks about."""
    fact, thing = re.findall(r"the (\w+) of a (\w+)", question.text)[0]
    return thing, fact


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    print(f"{'questions':<40} {'asked':>5} {'right':>5} {'wrong':>5} {'refused':>7}")
    for name, number, result in figures(parser.parse_args().seed):
        print(
            f"{name:<40} "
            + (f"{number:>5} {result.right:>5} {result.wrong:>5} {result.refused:>7}" if number else "")
        )


if __name__ == "__main__":
    main()
