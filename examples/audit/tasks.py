"""24 small tasks without graders, in four domains, each with a workspace; the same every time.

    python examples/audit/tasks.py FOLDER [--domain sales|weblog|shop|config]

Each task is FOLDER/<id>/task.md, which says what is wanted and in which form, and FOLDER/<id>/workspace/. What the
figures of a workspace mean (cents, cancelled orders, health checks, deleted rows) no task says: a skill may.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

REGIONS: Final = ("north", "south", "east", "west")
PATHS: Final = ("/", "/cart", "/pay", "/search", "/healthz")
CITIES: Final = ("Bonn", "Kiel", "Ulm")


class AuditTask(NamedTuple):
    """A task: what the agent has to find out (`deed`), and what its prompt asks for."""

    domain: str
    deed: str
    wanted: str
    path: str
    header: tuple[str, ...]
    notes: str = ""

    @property
    def id(self) -> str:
        """The name of its folder."""
        return f"{self.domain}-{self.deed}"

    @property
    def prompt(self) -> str:
        """The text of task.md."""
        form = "the keys" if self.path.endswith(".json") else "the header"
        text = f"{self.wanted}\n\nWrite `{self.path}` with {form} `{','.join(self.header)}`."
        if self.notes:
            text += f"\n\nWrite `{self.notes}` as well: one line that names the files you read."
        return f"{text}\n"


_READ: Final = tomllib.loads((Path(__file__).parent / "tasks.toml").read_text(encoding="utf-8"))["tasks"]
TASKS: Final = tuple(AuditTask(**row | {"header": tuple(row["header"])}) for row in _READ)


def workspace_of(task: AuditTask, folder: Path) -> None:
    """Write the files that a task begins with; each task has data of its own."""
    draws = random.Random(task.id)
    writers = {"sales": _orders, "weblog": _log, "shop": _shop, "config": _settings}
    writers[task.domain](draws, folder)


def _orders(draws: random.Random, folder: Path) -> None:
    rows = ["order_id,region,amount,status,ordered_on"]
    for number in range(1, 41):
        day = f"{draws.randrange(1, 13):02}/{draws.randrange(1, 13):02}/2026"
        status = draws.choice(["paid", "paid", "paid", "cancelled"])
        rows.append(f"{number},{draws.choice(REGIONS)},{draws.randrange(500, 30_000)},{status},{day}")
    _write(folder / "data/orders.csv", "\n".join(rows) + "\n")


def _log(draws: random.Random, folder: Path) -> None:
    lines = []
    for _ in range(60):
        path, code = draws.choice(PATHS), draws.choice([200, 200, 200, 404, 500, 503])
        when = f"02/Nov/2026:{draws.randrange(8, 12):02}:{draws.randrange(60):02}:00 +0000"
        size = draws.randrange(100, 900)
        lines.append(f'10.0.0.{draws.randrange(1, 9)} - - [{when}] "GET {path} HTTP/1.1" {code} {size}')
    _write(folder / "logs/access.log", "\n".join(lines) + "\n")


def _shop(draws: random.Random, folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    database = sqlite3.connect(folder / "data/shop.db")
    database.executescript(
        "CREATE TABLE customers (id INTEGER, name TEXT, city TEXT, deleted_at TEXT);"
        "CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER, deleted_at TEXT);"
    )
    gone = [None, None, None, "2026-10-01"]
    customers = [(at, f"customer {at:02}", draws.choice(CITIES), draws.choice(gone)) for at in range(1, 16)]
    orders = [
        (at, draws.randrange(1, 13), draws.randrange(500, 30_000), draws.choice(gone)) for at in range(1, 31)
    ]
    database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", customers)
    database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    database.commit()
    database.close()


def _settings(draws: random.Random, folder: Path) -> None:
    keys = ("limit.rate", "limit.size", "limit.users", "mail.from", "mail.host", "server.host", "server.port")
    for name in ("10-base", "20-site", "9-local"):
        chosen = keys if name == "10-base" else draws.sample(keys, 3)
        settings = {key: f"{key.rpartition('.')[2]}-{draws.randrange(100)}" for key in chosen}
        settings["_note"] = f"settings of {name}"
        _write(folder / f"config/{name}.json", json.dumps(settings, indent=1) + "\n")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def write_tasks(folder: Path, domain: str = "") -> list[AuditTask]:
    """Write the tasks, of one domain where it is named, and give them."""
    tasks = [task for task in TASKS if domain in {"", task.domain}]
    for task in tasks:
        _write(folder / task.id / "task.md", task.prompt)
        workspace_of(task, folder / task.id / "workspace")
    return tasks


def main() -> None:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--domain", default="", choices=["", *dict.fromkeys(task.domain for task in TASKS)])
    asked = parser.parse_args()
    print(f"{len(write_tasks(asked.folder, asked.domain))} tasks in {asked.folder}")


if __name__ == "__main__":
    main()
