"""Makes a task set of small shell, SQL and file tasks of a shop, with real graders; the same every time.

    python examples/rollouts/tasks.py FOLDER [--each N]

writes FOLDER/tasks.jsonl and the graders beside it. Each kind of task has one thing that its text does not say,
and a skill could: what counts as failed, that amounts are cents, whose day comes first.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

HERE: Final = Path(__file__).resolve().parent
EACH: Final = 12
"""Tasks of each of the six kinds."""
LIMIT_S: Final = 20

Task = dict[str, Any]


def answer_is(text: str) -> list[Task]:
    """Grade the one line of answer.txt."""
    return [
        {"kind": "checks", "name": "right", "checks": [{"kind": "one_of", "path": "answer.txt", "values": [text]}]}
    ]


def by_script(name: str, *, scores: str = "exit_code") -> Task:
    """Grade by a script of this folder."""
    return {"kind": "python", "name": name, "script": f"graders/{name}.py", "scores": scores}


def requests(draws: random.Random, number: int) -> Task:
    """Count failed requests: those with a status of 500 or more."""
    codes = [draws.choice((200, 200, 200, 301, 404, 404, 500, 503)) for _ in range(40)]
    codes += [200, 302, 403, 502]
    lines = [f"GET /item/{draws.randrange(900)} {code}" for code in codes]
    return {
        "prompt": f"How many requests failed on day {number}? The log is access.log; "
        "write the number to answer.txt.",
        "files": {"access.log": "\n".join(lines) + "\n"},
        "graders": answer_is(str(sum(code >= 500 for code in codes))),
        "anchors": [{"kind": "matches", "name": "a number", "path": "answer.txt", "pattern": r"^\d+\s*$"}],
        "tags": ["shell"],
    }


def largest(draws: random.Random, number: int) -> Task:
    """Name the largest file of a folder that is not hidden; a hidden one is larger."""
    sizes = draws.sample(range(20, 400), 4)
    files = {f"data/part-{at}.txt": "x" * size for at, size in enumerate(sizes)}
    files["data/.cache"] = "x" * 500
    right = max((path for path in files if "/." not in path), key=lambda path: len(files[path]))
    return {
        "prompt": f"Which is the largest file below data/ in delivery {number}? Write its path to answer.txt.",
        "files": files,
        "graders": answer_is(right),
        "anchors": [{"kind": "matches", "name": "a path", "path": "answer.txt", "pattern": "^data/"}],
        "tags": ["shell"],
    }


def orders(draws: random.Random) -> str:
    """Make the shop's database, as SQL."""
    people = ["Ada@shop.example", "ada@shop.example", "bob@shop.example", "Bob@Shop.example", "cy@shop.example"]
    sold = [
        (draws.choice(people), draws.randrange(500, 90_000), draws.choice(("paid", "paid", "refunded")))
        for _ in range(29)
    ]
    rows = [*sold, *((who, 1234, "paid") for who in people)]
    told = [f"({at}, '{who}', {cents}, '{status}')" for at, (who, cents, status) in enumerate(rows, 1)]
    table = "CREATE TABLE orders (id INTEGER, email TEXT, amount INTEGER, status TEXT);"
    return "\n".join([table, *(f"INSERT INTO orders VALUES {one};" for one in told)])  # noqa: S608 - our own rows


def euros(draws: random.Random, number: int) -> Task:
    """Add up paid orders: amounts are in cents."""
    return {
        "prompt": f"What do the paid orders of week {number} come to, in euros? The database is shop.sql; "
        "write the sum to answer.txt, with two decimals.",
        "files": {"shop.sql": orders(draws)},
        "graders": [by_script("total")],
        "anchors": [{"kind": "matches", "name": "an amount", "path": "answer.txt", "pattern": r"^\d+\.\d\d\s*$"}],
        "tags": ["sql"],
    }


def customers(draws: random.Random, number: int) -> Task:
    """Count customers: addresses that differ in case alone are one."""
    database = orders(draws)
    return {
        "prompt": f"How many different customers ordered in week {number}? The database is shop.sql; "
        "write the number to answer.txt.",
        "files": {"shop.sql": database},
        "graders": answer_is("3"),
        "anchors": [{"kind": "matches", "name": "a number", "path": "answer.txt", "pattern": r"^\d+\s*$"}],
        "tags": ["sql"],
    }


def dates(draws: random.Random, number: int) -> Task:
    """Write dates oldest first: the day comes first in what the shop writes."""
    days = [(draws.randrange(1, 13), draws.randrange(1, 13), 2020 + at % 5) for at in range(8)]
    days += [(3, 7, 2019), (11, 2, 2018)]
    right = "\n".join(sorted(f"{year}-{month:02}-{day:02}" for day, month, year in days))
    return {
        "prompt": f"Write the dates of events.txt, list {number}, to dates.txt as YYYY-MM-DD, oldest first.",
        "files": {"events.txt": "\n".join(f"{day:02}/{month:02}/{year}" for day, month, year in days) + "\n"},
        "graders": [
            {
                "kind": "checks",
                "name": "right",
                "checks": [{"kind": "one_of", "path": "dates.txt", "values": [right]}],
            }
        ],
        "anchors": [{"kind": "matches", "name": "a date", "path": "dates.txt", "pattern": r"^\d{4}-\d\d-\d\d"}],
        "tags": ["files"],
    }


def summary(draws: random.Random, number: int) -> Task:
    """Describe a table as JSON, with sorted keys."""
    rows = [
        f"{at},{draws.choice(('Ada', 'Bob', 'Cy'))},{draws.randrange(18, 90)}"
        for at in range(draws.randrange(5, 30))
    ]
    return {
        "prompt": f"Summarise people.csv of branch {number} in summary.json: "
        "its rows, its columns and the file's name.",
        "files": {"people.csv": "\n".join(["id,name,age", *rows]) + "\n"},
        "graders": [by_script("keys", scores="printed")],
        "anchors": [
            {
                "kind": "json",
                "name": "its shape",
                "path": "summary.json",
                "required": {"rows": "integer", "columns": "array", "file": "string"},
            }
        ],
        "tags": ["files"],
    }


KINDS: Final[dict[str, Callable[[random.Random, int], Task]]] = {
    "requests": requests,
    "largest": largest,
    "euros": euros,
    "customers": customers,
    "dates": dates,
    "summary": summary,
}


def write_tasks(folder: Path, *, each: int = EACH) -> Path:
    """Write the task set and its graders into a folder, and return the path of the set."""
    copytree(HERE / "graders", folder / "graders", dirs_exist_ok=True)
    tasks = []
    for kind, make in KINDS.items():
        for number in range(1, each + 1):
            draws = random.Random(f"{kind} {number}")
            tasks.append({"id": f"{kind}-{number:02}", "limit_s": LIMIT_S, **make(draws, number)})
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=EACH, help="tasks of each of the six kinds")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    print(write_tasks(asked.folder, each=asked.each))
