"""An agent that is a program: it does what the prompt says, as the skill says, and guesses what neither says.

    python -I -S agent.py SKILL_DIR PROMPT_FILE ROUND

works in the current folder and prints a session as `claude -p --output-format stream-json` does, so that its
steps are seen. As with a model, nothing is certain: a statement of the skill is mostly followed, a slip is
sometimes noticed, a form that is asked for is sometimes forgotten, and any change of what it reads changes its
luck; the same skill, task and round give the same run.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Row = tuple[object, ...]

_LEFT_OUT = r"{0}.*(not|never|out|exclude|ignore|skip)|(not|never|exclude|ignore|skip).*{0}"
FACTS: Mapping[str, tuple[str, float]] = {
    # by name: the words that state it, and how often somebody guesses it who was not told
    "cents": (r"\bcents\b", 0.6),
    "cancelled": (_LEFT_OUT.format("cancell?ed"), 0.5),
    "day first": (r"\bday\b.*\bfirst\b|dd/mm", 0.6),
    "failed": (r"\b(500|5xx)\b", 0.6),
    "health": (_LEFT_OUT.format("health"), 0.5),
    "deleted": (_LEFT_OUT.format("deleted") + "|deleted.*gone", 0.5),
    "numeric": (r"\b(number|numeric)\w*\b.*\b(order|sort|later|wins?)\b|\border\b.*\bnumber", 0.6),
    "notes": (r"\bunderscore|`_\w*`", 0.55),
}
"""What figures of the workspaces mean, which no prompt says."""
FOLLOWED = 0.92
"""How often a statement of the skill is followed."""
KEPT = 0.88
"""How often a form that the prompt asks for is kept, where the skill says nothing of it."""
KEPT_REMINDED = 0.98
RECOVERED = 0.7
"""How often the agent finds its way after what it was told to use is not there."""
OPENED = 0.3
"""How often a file is opened that the skill points to: most of them are about something else."""
LIKELY = 0.75
"""From where on it happens in each steady round: what is stated and asked for, but no guess and no recovery."""
_REMINDER = re.compile(
    r"(?i)\b(exactly|letter for letter|verbatim|as the task|as asked|all (the )?files|"
    r"(every|each) (file|output|deliverable)|before you (finish|end|answer)|check that|must exist|also write|"
    r"as well)\b"
)
_DEFERS = re.compile(r"(?i)\b(the task|the prompt|asked for|asks for|stated)\b")
_PUTS = re.compile(r"(?i)\b(write|save|put|store|output)\b")
_TAKES = re.compile(r"(?i)\b(read|take|open|load|use|cache|find|input)\b")
_QUOTED = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"^[~/\w][\w./~-]*\.(?:csv|json|db|log|md)$")


class Session:
    """The log of a run, a JSON record for each step; `words` counts what the agent said."""

    def __init__(self) -> None:
        self.calls = 0
        self.words = 0
        self._print(
            {"type": "system", "subtype": "init", "session_id": "audit", "tools": ["Bash", "Read", "Write"]}
        )

    def _print(self, record: Mapping[str, object]) -> None:
        print(json.dumps(record))

    def step(self, tool: str, arguments: Mapping[str, str], result: str, *, failed: bool = False) -> None:
        """Log a call and its result."""
        self.calls += 1
        self.words += sum(len(value) for value in arguments.values()) // 4 + 20
        name = f"toolu_{self.calls:04}"
        call = {"type": "tool_use", "id": name, "name": tool, "input": dict(arguments)}
        answer = {"type": "tool_result", "tool_use_id": name, "content": result, "is_error": failed}
        self._print({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
        self._print({"type": "user", "message": {"role": "user", "content": [answer]}})

    def end(self, text: str) -> None:
        """Log the answer and how much was said."""
        said = {"type": "text", "text": text}
        self._print({"type": "assistant", "message": {"role": "assistant", "content": [said]}})
        usage = {"output_tokens": self.words + len(text) // 4}
        self._print({"type": "result", "subtype": "success", "is_error": False, "result": text, "usage": usage})


class Skill:
    """A skill as the agent reads it: statements, one a line, and the dice for everything else."""

    def __init__(self, folder: str, prompt: str, number: str) -> None:
        self.folder = folder
        text = read(f"{folder}/SKILL.md")
        body = text.split("\n---\n", 1)[-1] if text.startswith("---") else text
        self.lines = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith("#")]
        self.steady = number.endswith("steady")
        self._seed = f"{number}\0{prompt}\0{body}"

    def chance(self, question: str, often: float) -> bool:
        """Throw the dice of a question; in a steady round what is likely happens, and nothing else."""
        if self.steady:
            return often > LIKELY
        import hashlib  # noqa: PLC0415 - few choices are left to the dice, and it is slow to load

        dice = hashlib.sha256(f"{question}\0{self._seed}".encode()).digest()
        return int.from_bytes(dice[:6], "big") / 2**48 < often

    def knows(self, fact: str) -> bool:
        """Act by a fact: as the skill states it, else by a guess."""
        words, guessed = FACTS[fact]
        stated = any(re.search(words, line, re.IGNORECASE) for line in self.lines)
        return self.chance(fact, 0.97 if stated else guessed)

    def paths(self, verb: re.Pattern[str], suffix: str) -> list[str]:
        """List the paths that statements with such a verb name, and that are not left to the task."""
        return [
            path
            for line in self.lines
            if verb.search(line) and not _DEFERS.search(line)
            for path in _QUOTED.findall(line)
            if _PATH.match(path) and path.endswith(suffix)
        ]

    def states(self, words: str) -> bool:
        """Tell whether a statement has these words, and it is followed."""
        return any(re.search(words, line, re.IGNORECASE) for line in self.lines) and self.chance(words, FOLLOWED)

    def keeps(self, question: str) -> bool:
        """Tell whether a form that the prompt asks for is kept."""
        reminded = any(_REMINDER.search(line) for line in self.lines)
        return self.chance(question, KEPT_REMINDED if reminded else KEPT)


def read(path: str) -> str:
    """Read a text; "" where there is none."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


class StuckError(Exception):
    """The agent gives up; the text is its answer."""


class Run:
    """One task: what the prompt asks for, and the work on it."""

    def __init__(self, skill: Skill, prompt: str) -> None:
        self.skill, self.prompt, self.session = skill, prompt, Session()
        named = re.search(r"Write `([^`]+)` with the (?:header|keys) `([^`]+)`", prompt)
        if named is None:
            raise StuckError("the prompt names no file to write")
        self.path, self.header = named[1], named[2].split(",")
        notes = re.search(r"Write `([^`]+)` as well", prompt)
        self.notes = notes[1] if notes else ""
        source = re.search(r"`((?:data|logs|config)/[^`]*)`", prompt)
        self.source = source[1] if source else ""

    def prepare(self) -> None:
        """Run the scripts that the skill says to run, and read the other files it points to."""
        for line in self.skill.lines:
            for path in _QUOTED.findall(line):
                place = f"{self.skill.folder}/{path}"
                if path.startswith("scripts/") and re.search(r"(?i)\brun\b", line) and Path(place).is_file():
                    if self.skill.chance(path, FOLLOWED):
                        script, call = [sys.executable, "-I", place], {"command": f"python3 {path}"}
                        import subprocess  # noqa: PLC0415 - few skills bring a script

                        done = subprocess.run(script, capture_output=True, text=True, check=False)
                        said = (done.stdout + done.stderr).strip()
                        self.session.step("Bash", call, said, failed=done.returncode != 0)
                elif path.endswith(".md") and Path(place).is_file() and self.skill.chance(path, OPENED):
                    self.session.step("Read", {"file_path": path}, read(place)[:2000])

    def located(self) -> str:
        """Find the input: where the skill says, else where the prompt says; a wrong path may be the end."""
        suffix = Path(self.source).suffix
        for path in self.skill.paths(_TAKES, suffix) if suffix else []:
            if path == self.source or not self.skill.chance(path, FOLLOWED):
                continue
            if Path(path).exists():
                return path
            self.session.step("Read", {"file_path": path}, f"cat: {path}: No such file or directory", failed=True)
            if not self.skill.chance(f"recover {path}", RECOVERED):
                raise StuckError(f"I could not read {path}.")
            listed = " ".join(sorted(file.name for file in Path(self.source).parent.iterdir()))
            self.session.step("Bash", {"command": f"ls {Path(self.source).parent}"}, listed)
        if not Path(self.source).exists():
            self.session.step("Read", {"file_path": self.source}, f"cat: {self.source}: No such file", failed=True)
            raise StuckError(f"{self.source} is not there.")
        return self.source

    def check_names(self, known: Iterable[str]) -> None:
        """Use the columns that the skill spells out; one that is not there may be the end."""
        known = set(known)
        for line in self.skill.lines:
            if not re.search(r"(?i)\bcolumns?\b", line) or _DEFERS.search(line):
                continue
            wrong = [name for name in _QUOTED.findall(line) if re.fullmatch(r"\w+", name) and name not in known]
            if wrong and self.skill.chance(line, FOLLOWED):
                call = {"command": f"sqlite3 data .dump {wrong[0]}"}
                self.session.step("Bash", call, f"no such column: {wrong[0]}", failed=True)
                if not self.skill.chance(f"recover {wrong[0]}", RECOVERED):
                    raise StuckError(f"There is no column {wrong[0]}.")

    def write(self, rows: Sequence[Row]) -> None:
        """Write what was asked for, in the form that the agent kept in mind."""
        target = next((path for path in self.skill.paths(_PUTS, Path(self.path).suffix)), self.path)
        if target != self.path and not self.skill.chance(target, FOLLOWED):
            target = self.path
        header = self.header if self.skill.keeps("header") else [name.capitalize() for name in self.header]
        if self.skill.states(
            r"(upper ?case|capital letters).*\b(header|keys?|columns?)|(header|keys?|columns?).*upper ?case"
        ):
            header = [name.upper() for name in header]
        if target.endswith(".json"):
            text = json.dumps(dict(zip(header, rows[0], strict=True))) + "\n"
        else:
            stream = io.StringIO()
            csv.writer(stream, lineterminator="\n").writerows([header, *rows])
            text = stream.getvalue()
        self.put(target, text)
        if self.notes and self.skill.keeps("notes"):
            self.put(self.notes, f"Read {self.source}.\n")

    def put(self, path: str, text: str) -> None:
        """Write a file; where that is refused, the agent may think of the place that the prompt names."""
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            self.session.step(
                "Write", {"file_path": path, "content": text}, f"{path}: {error.strerror}", failed=True
            )
            if path == self.path or not self.skill.chance(f"recover {path}", RECOVERED):
                raise StuckError(f"I could not write {path}.") from error
            self.put(self.path, text)
        else:
            self.session.step("Write", {"file_path": path, "content": text}, f"File created at {path}")

    def money(self, cents: float) -> str:
        """Write an amount of money as the agent understands it."""
        amount = cents / 100 if self.skill.knows("cents") else float(cents)
        decimals = 0 if self.skill.states(r"whole euros|without decimals|no decimals") else 2
        return f"{amount:.{decimals}f}"


def totals(rows: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Put numbers together by a key, sorted by it."""
    groups = defaultdict(list)
    for key, number in rows:
        groups[key].append(number)
    return dict(sorted(groups.items()))


def counted(keys: Iterable[str]) -> list[Row]:
    """Count how often each key is there."""
    return [(key, len(ones)) for key, ones in totals((key, 1) for key in keys).items()]


def sales(run: Run) -> list[Row]:
    """Report on orders."""
    text = read(run.located())
    orders = list(csv.DictReader(io.StringIO(text)))
    run.session.step("Read", {"file_path": run.source}, text[:300])
    run.check_names(orders[0])
    if run.skill.knows("cancelled"):
        orders = [row for row in orders if row["status"] != "cancelled"]
    if "by month" in run.prompt:
        part = 3 if run.skill.knows("day first") else 0
        months = totals(
            (f"{row['ordered_on'][-4:]}-{row['ordered_on'][part : part + 2]}", float(row["amount"]))
            for row in orders
        )
        return [(month, run.money(sum(amounts))) for month, amounts in months.items()]
    if "100 euros" in run.prompt:
        least = 10_000 if run.skill.knows("cents") else 100
        large = [row for row in orders if int(row["amount"]) >= least]
        return [(row["order_id"], run.money(float(row["amount"]))) for row in large]
    regions = totals((row["region"], float(row["amount"])) for row in orders)
    if "Count" in run.prompt:
        return [(region, len(amounts)) for region, amounts in regions.items()]
    if "average" in run.prompt:
        return [(region, run.money(sum(amounts) / len(amounts))) for region, amounts in regions.items()]
    if "highest" in run.prompt:
        best = max(regions, key=lambda region: sum(regions[region]))
        return [(best, run.money(sum(regions[best])))]
    return [(region, run.money(sum(amounts))) for region, amounts in regions.items()]


def weblog(run: Run) -> list[Row]:
    """Report on requests."""
    text = read(run.located())
    run.session.step("Bash", {"command": f"head -3 {run.source}"}, text[:300])
    pattern = re.compile(r'(\S+) - - \[[^:]+:(\d\d)\S* \S+\] "GET (\S+) \S+" (\d+) (\d+)')
    requests = [match.groups() for match in pattern.finditer(text)]
    if run.skill.knows("health"):
        requests = [row for row in requests if row[2] != "/healthz"]
    least = 500 if run.skill.knows("failed") else 400
    failed = [row for row in requests if int(row[3]) >= least]
    if "how many" in run.prompt:
        return [(len(requests), len(failed))]
    if "failed" in run.prompt:
        return counted(row[2] for row in failed)
    if "visitors" in run.prompt:
        hours = sorted({row[1] for row in requests})
        return [(hour, len({row[0] for row in requests if row[1] == hour})) for hour in hours]
    if "bytes" in run.prompt:
        sizes = totals((row[2], int(row[4])) for row in requests)
        return [(path, int(sum(each))) for path, each in sizes.items()]
    column = 1 if "hour" in run.prompt else 2
    return counted(row[column] for row in requests)


def shop(run: Run) -> list[Row]:
    """Report on customers and their orders."""
    import sqlite3  # noqa: PLC0415 - a third of the tasks need it

    database = sqlite3.connect(f"file:{run.located()}?mode=ro", uri=True)
    schema = [row[0] for row in database.execute("SELECT sql FROM sqlite_master ORDER BY name")]
    run.session.step("Bash", {"command": f"sqlite3 {run.source} .schema"}, "\n".join(schema))
    run.check_names(re.findall(r"\w+", " ".join(schema)))
    keep_all = not run.skill.knows("deleted")
    people = database.execute("SELECT id, name, city, deleted_at FROM customers").fetchall()
    customers = {row[0]: row[1:3] for row in people if keep_all or row[3] is None}
    bought = database.execute("SELECT customer_id, amount, deleted_at FROM orders").fetchall()
    orders = [row for row in bought if row[0] in customers and (keep_all or row[2] is None)]
    if "no order" in run.prompt:
        buyers = {row[0] for row in orders}
        return sorted(row for number, row in customers.items() if number not in buyers)
    if "how many orders" in run.prompt:
        return [(len(orders), run.money(sum(row[1] for row in orders) / len(orders)))]
    if "Count the customers" in run.prompt:
        return counted(row[1] for row in customers.values())
    if "List the customers" in run.prompt:
        spent = totals((customers[row[0]][0], row[1]) for row in orders)
        return [(name, run.money(sum(amounts))) for name, amounts in spent.items()]
    cities = totals((customers[row[0]][1], row[1]) for row in orders)
    if "Count the orders" in run.prompt:
        return [(city, len(amounts)) for city, amounts in cities.items()]
    return [(city, run.money(sum(amounts))) for city, amounts in cities.items()]


def config(run: Run) -> list[Row]:
    """Report on merged settings."""
    folder = run.located()
    names = sorted(file.name for file in Path(folder).iterdir())
    run.session.step("Bash", {"command": f"ls {folder}"}, " ".join(names))
    if run.skill.knows("numeric"):
        names.sort(key=lambda name: int(name.partition("-")[0]))
    files = {name: json.loads(read(f"{folder}/{name}")) for name in names}
    if run.skill.knows("notes"):
        files = {
            name: {key: value for key, value in given.items() if key[0] != "_"} for name, given in files.items()
        }
    merged = {key: (value, name) for name, given in files.items() for key, value in given.items()}
    run.check_names(merged)
    times = totals((key, 1) for given in files.values() for key in given)
    if "port and the host" in run.prompt:
        return [(merged["server.port"][0], merged["server.host"][0])]
    if "first word" in run.prompt:
        return counted(key.partition(".")[0] for key in merged)
    if "file that" in run.prompt:
        return [(key, merged[key][1]) for key in sorted(merged)]
    if "more than one" in run.prompt:
        return [(key, merged[key][0]) for key in sorted(merged) if len(times[key]) > 1]
    wanted = "limit." if "limit." in run.prompt else ""
    return [(key, merged[key][0]) for key in sorted(merged) if key.startswith(wanted)]


DOMAINS: Mapping[str, Callable[[Run], list[Row]]] = {
    "data/orders.csv": sales,
    "logs/access.log": weblog,
    "data/shop.db": shop,
    "config/": config,
}
"""What it can work on, by the input that a prompt names."""


def work(skill_dir: str, prompt_file: str, number: str) -> None:
    """Do one task, in the current folder."""
    prompt = read(prompt_file)
    run = Run(Skill(skill_dir, prompt, number), prompt)
    try:
        run.prepare()
        run.write(DOMAINS[run.source](run))
    except StuckError as stuck:
        run.session.end(str(stuck))
    else:
        run.session.end(f"Done: {run.path}.")


if __name__ == "__main__":
    work(*sys.argv[1:])
