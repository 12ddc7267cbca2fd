"""How well and how fast skills are found for a task: BM25 of `germline find` beside plain overlap of words.

Skills are made of an action on an object in a domain, and bodies that share most of their words with those of
others; a question is a person's task in words of which the description has two thirds and the body some, amid
words about something else. With --skillret the folder `data` of SkillRet (arXiv 2605.05726) is measured instead:
`skills`, `queries` and `qrels`, each of them with a `test.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from math import log2
from pathlib import Path
from statistics import mean, quantiles
from time import process_time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from events.sqlite.word_index import WordIndex
from strategies.scope.find_skills import WEIGHTS, find_skills, task_words, words_by_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

DEPTH: Final = 10
SHOWN: Final = 3
ACTIONS: Final = (
    *(("convert", "transform", "turn"), ("validate", "check", "verify"), ("extract", "pull", "collect")),
    *(("summarise", "condense", "shorten"), ("deploy", "release", "ship"), ("migrate", "move", "port")),
    *(("merge", "combine", "join"), ("encrypt", "protect", "seal"), ("benchmark", "measure", "time")),
    *(("translate", "localise", "render"), ("schedule", "plan", "queue"), ("debug", "diagnose", "trace")),
)
OBJECTS: Final = (
    *(("spreadsheet", "workbook", "sheet"), ("invoice", "bill", "receipt"), ("database", "tables", "schema")),
    *(("image", "picture", "photo"), ("container", "docker", "pod"), ("email", "mail", "inbox")),
    *(("contract", "agreement", "terms"), ("changelog", "history", "releases"), ("calendar", "meeting", "event")),
    *(("dashboard", "chart", "plot"), ("pipeline", "workflow", "job"), ("password", "credential", "secret")),
    *(("transcript", "recording", "speech"), ("survey", "questionnaire", "form"), ("ledger", "accounts", "books")),
)
DOMAINS: Final = (
    *(("hospital", "clinic", "patients"), ("warehouse", "stock", "inventory"), ("school", "teachers", "lessons")),
    *(("airline", "flights", "passengers"), ("bank", "loans", "payments"), ("newsroom", "editors", "articles")),
    *(("farm", "crops", "harvest"), ("museum", "exhibits", "visitors"), ("court", "judges", "rulings")),
)
COMMON: Final = (
    "always keep a backup before changes are written and report what was done",
    "ask when requirements are unclear and prefer small steps over large ones",
    "write output beside the input and never overwrite what a person made",
    "log each step with its duration so that a failure can be explained later",
)
NOISE: Final = (
    "my manager wants this by friday and I have no idea where to begin",
    "please be careful, the last attempt lost some rows and nobody noticed",
    "I am on a train with a slow laptop, so keep it simple",
    "the team argued about the format for a week already",
)


class Question(NamedTuple):
    """A task, and the skills that are right for it."""

    task: str
    right: frozenset[str]


class Library(NamedTuple):
    """Skills by name, as description and lines, and questions with known answers."""

    skills: Mapping[str, tuple[str, list[str]]]
    questions: Sequence[Question]


def generated(seed: int, skills: int, questions: int) -> Library:
    """Make a library whose skills differ in action, object and domain, and questions in other words.

    Where there are more skills than that, several are right for one question.
    """
    draws = random.Random(seed)
    places = [(a, o, d) for a in range(len(ACTIONS)) for o in range(len(OBJECTS)) for d in range(len(DOMAINS))]
    made, named, alike = {}, {}, defaultdict[tuple[int, int, int], set[str]](set)
    drawn = draws.sample(places, min(skills, len(places))) + draws.choices(places, k=max(skills - len(places), 0))
    for number, (action, thing, domain) in enumerate(drawn):
        words = [ACTIONS[action], OBJECTS[thing], DOMAINS[domain]]
        (first, also), (second, other), (third, place) = (draws.sample(row, 2) for row in words)
        name = f"{first}-{second}-{number}"
        lines = [f"# {first} {second}", *draws.sample(COMMON, 3), f"`{draws.choice(words[1])}-tool {third}`"]
        lines += [f"- {' '.join(draws.sample([word for row in draws.sample(OBJECTS, 3) for word in row], 5))}"]
        lines += [f"- {' '.join(draws.choice(row) for row in words)}"]
        made[name] = (f"Use it to {first} or {also} the {second} or {other} of a {third} ({place}).", lines)
        named[name] = words
        alike[action, thing, domain].add(name)
    right = {name: frozenset(names) for names in alike.values() for name in names}
    asked = draws.choices(sorted(made), k=questions)
    tasks = [
        Question(
            f"{draws.choice(NOISE)}. {draws.choice(named[name][0])} the {draws.choice(named[name][1])} "
            f"for our {draws.choice(named[name][2])}, then tell {draws.choice(draws.choice(DOMAINS))} about it.",
            right[name],
        )
        for name in asked
    ]
    return Library(made, tasks)


def skillret(folder: Path) -> Library:
    """Read the files of SkillRet: skills, queries and which of them fit."""
    skills = {
        row["id"]: (f"{row['name']} {row['description']}", str(row.get("body", "")).splitlines())
        for row in _rows(folder / "skills")
    }
    right: dict[str, set[str]] = {}
    for row in _rows(folder / "qrels"):
        if row["relevance"] > 0:
            right.setdefault(row["query_id"], set()).add(row["skill_id"])
    questions = [Question(row["query"], frozenset(right.get(row["id"], ()))) for row in _rows(folder / "queries")]
    return Library(skills, questions)


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / "test.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def by_overlap(library: Library) -> Callable[[str], list[str]]:
    """Rank by how many words are shared: what a simple tool does."""
    words = {
        name: set(task_words("\n".join((name, text, *lines)))) for name, (text, lines) in library.skills.items()
    }

    def ranked(task: str) -> list[str]:
        asked = set(task_words(task))
        return sorted(words, key=lambda name: (-len(asked & words[name]), name))[:DEPTH]

    return ranked


def by_words(library: Library, weights: Mapping[str, float]) -> Callable[[str], list[str]]:
    """Rank as `germline find` does, with these weights of fields."""
    index = WordIndex(tuple(WEIGHTS))
    texts = {name: words_by_field(name, text, lines) for name, (text, lines) in library.skills.items()}
    index.fill(texts, source="bench", upto=1)
    if weights == WEIGHTS:
        return lambda task: [document.name for document in find_skills(index, task, DEPTH)]
    return lambda task: [document.name for document in index.best(task_words(task), weights, DEPTH)]


def measured(rank: Callable[[str], list[str]], questions: Iterable[Question]) -> str:
    """Give NDCG@10, the share with a right skill among the first three, and milliseconds."""
    gains, hits, times = [], [], []
    for question in questions:
        began = process_time()
        names = rank(question.task)
        times.append((process_time() - began) * 1_000)
        gain = sum(1 / log2(at + 2) for at, name in enumerate(names) if name in question.right)
        most = sum(1 / log2(at + 2) for at in range(min(len(question.right), DEPTH)))
        gains.append(gain / most if most else 0.0)
        hits.append(bool(question.right & set(names[:SHOWN])))
    return f"{mean(gains):.3f}    {mean(hits):.3f}    {mean(times):6.2f}   {quantiles(times, n=20)[-1]:6.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--skillret", type=Path)
    options = parser.parse_args()
    library = (
        skillret(options.skillret)
        if options.skillret
        else generated(options.seed, options.skills, options.questions)
    )
    print(f"{len(library.skills):,} skills, {len(library.questions):,} questions, seed {options.seed}")
    print(f"{'':24} NDCG@10  hit@3     mean ms   p95 ms (CPU)")
    print(f"{'overlap of words':24} {measured(by_overlap(library), library.questions)}")
    print(f"{'all fields alike':24} {measured(by_words(library, dict.fromkeys(WEIGHTS, 1.0)), library.questions)}")
    print(f"{'germline find':24} {measured(by_words(library, WEIGHTS), library.questions)}")


if __name__ == "__main__":
    main()
