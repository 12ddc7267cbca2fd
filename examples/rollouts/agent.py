"""An agent that is a program: it follows the rules of a skill to the letter, and guesses what none of them says.

    python -I -S agent.py SKILL_DIR PROMPT_FILE ROUND

works in the current folder. As with a model, any change of what it reads changes its guesses; the same skill, task
and round give the same ones. Few imports, because an interpreter is started for every run.
"""

from __future__ import annotations

import os
import sys


def read(path: str) -> str:
    """Read a text; "" where there is none."""
    try:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123 - pathlib would double the start of a run
            return stream.read()
    except FileNotFoundError:
        return ""


def write(path: str, text: str) -> None:
    """Write a file of the workspace."""
    with open(path, "w", encoding="utf-8") as stream:  # noqa: PTH123 - the same
        stream.write(text)


class Mind:
    """What the agent knows: the rules it was given, and the dice for the rest."""

    def __init__(self, skill: str, prompt: str, number: str) -> None:
        self.skill = skill
        self.prompt = prompt
        self.seed = f"{number}\0{prompt}\0{skill}"

    def choose(self, question: str, *options: tuple[str, str]) -> str:
        """Take the option whose rule the skill states, as (rule, answer); else guess among the answers."""
        for rule, answer in options:
            if rule in self.skill.lower():
                return answer
        import hashlib  # noqa: PLC0415 - who finds a rule needs no dice, and it is slow to load

        dice = hashlib.sha256(f"{question}\0{self.seed}".encode()).digest()
        return options[int.from_bytes(dice[:6], "big") % len(options)][1]

    def remembered(self) -> str | None:
        """Give the answer that the skill has for exactly this task, if it has one."""
        _, known, rest = self.skill.partition(f'If asked "{self.prompt}", answer `')
        return rest.partition("`")[0] if known else None


def shell(*words: str) -> str:
    """Run a program of the machine, as an agent would."""
    told, tells = os.pipe()
    child = os.posix_spawnp(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, tells, 1)])
    os.close(tells)
    with open(told, encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        text = stream.read()
    os.waitpid(child, 0)
    return text.strip()


def failed_requests(mind: Mind) -> None:
    """Count requests by their status."""
    least = mind.choose(
        "failed", ("status of 500 or more", "5"), ("status of 400 or more", "4"), ("status of 300 or more", "3")
    )
    write("answer.txt", shell("grep", "-c", "-E", f" [{least}-9][0-9][0-9]$", "access.log"))


def largest_file(mind: Mind) -> None:
    """Find the largest file of a folder."""
    hidden = mind.choose("hidden", ("leave hidden files out", ""), ("hidden files count", "."))
    found = shell("find", "data", "-type", "f", "-printf", "%s %p\n").splitlines()
    seen = [line for line in found if hidden or "/." not in line]
    largest = max(seen, key=lambda line: int(line.split(" ", 1)[0]))
    write("answer.txt", largest.split(" ", 1)[1])


def rows(sql: str) -> list[tuple[object, ...]]:
    """Ask the shop's database."""
    import sqlite3  # noqa: PLC0415 - as above

    database = sqlite3.connect(":memory:")
    database.executescript(read("shop.sql"))
    return list(database.execute(sql))


def paid_total(mind: Mind) -> None:
    """Add up what was paid."""
    unit = mind.choose("unit", ("amounts are in cents", "100.0"), ("amounts are in euros", "1.0"))
    ((total,),) = rows(f"SELECT sum(amount) / {unit} FROM orders WHERE status = 'paid'")  # noqa: S608 - our own words
    write("answer.txt", f"{total:.2f}")


def customers(mind: Mind) -> None:
    """Count who bought something."""
    what = mind.choose(
        "same",
        ("same customer whatever the case", "DISTINCT lower(email)"),
        ("as many customers as addresses", "DISTINCT email"),
        ("as many customers as orders", "email"),
    )
    ((number,),) = rows(f"SELECT count({what}) FROM orders")  # noqa: S608 - our own words
    write("answer.txt", str(number))


def dates(mind: Mind) -> None:
    """Write dates oldest first."""
    order = mind.choose("order", ("day comes first", "dmy"), ("month comes first", "mdy"))
    found = []
    for line in read("events.txt").splitlines():
        one, two, year = line.split("/")
        day, month = (one, two) if order == "dmy" else (two, one)
        found.append(f"{year}-{month}-{day}")
    write("dates.txt", "\n".join(sorted(found)) + "\n")


def summary(mind: Mind) -> None:
    """Describe a table as JSON."""
    import json  # noqa: PLC0415 - as above

    head, *lines = read("people.csv").splitlines()
    fields = {"rows": len(lines), "columns": head.split(","), "file": "people.csv"}
    order = mind.choose(
        "keys", ("sort the keys", "sorted"), ("keys as they come", "given"), ("keys backwards", "backwards")
    )
    keys = {"sorted": sorted(fields), "given": list(fields), "backwards": sorted(fields, reverse=True)}[order]
    write("summary.json", json.dumps({key: fields[key] for key in keys}))


DEEDS = {
    "failed": failed_requests,
    "largest": largest_file,
    "euros": paid_total,
    "customers": customers,
    "dates": dates,
    "Summarise": summary,
}
"""What it can do, by a word of the task."""


def main() -> None:
    """Do one task."""
    skill_dir, prompt_file, number = sys.argv[1:]
    prompt = read(prompt_file).strip()
    mind = Mind(read(os.path.join(skill_dir, "SKILL.md")), prompt, number)  # noqa: PTH118 - as above
    known = mind.remembered()
    if known is not None:
        write("answer.txt", known)
    else:
        next(deed for word, deed in DEEDS.items() if word in prompt)(mind)
    print("done")


if __name__ == "__main__":
    main()
