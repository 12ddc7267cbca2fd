"""Look a question up in the knowledge of this skill: passages with their sources, or "not covered".

Usage: python3 scripts/knowledge_lookup.py "the question" [most passages, 3 if left out]
Exit codes: 0 where a passage answers, 1 where none does. Needs Python 3.8 and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = "references/knowledge"
LEAST_COVERED = 0.5
"""The share of a question's words, weighted by how rare each is, that one passage must have (a guess)."""
MOST_PASSAGES = 3
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about all an and any are as at be been by can could did do does each for from give had has have how i "
        "if in into is it its list many me much my name of on one or out show should tell that the their them "
        "there these they this to under us use used was we were what when where which who why will with would "
        "you your",
    )
)
"""Words that say nothing of what is asked."""


def passages(root: Path) -> list[dict[str, Any]]:
    """List the passages that are kept, each with its text, its place and its source."""
    kept = json.loads((root / FOLDER / "sources.json").read_text(encoding="utf-8"))
    listed = []
    for source in kept["sources"]:
        lines = (root / source["path"]).read_text(encoding="utf-8").split("\n")
        for passage in source["passages"]:
            text = "\n".join(lines[passage["first"] - 1 : passage["last"]])
            listed.append({**passage, "text": text, "source": source})
    return listed


def words_of(question: str) -> list[str]:
    """List the words of a question that say what it is about."""
    words = re.findall(r"[^\W_]+", question.lower())
    return list(dict.fromkeys(word for word in words if word not in COMMON))


def lookup(
    listed: Sequence[dict[str, Any]], question: str, most: int = MOST_PASSAGES
) -> tuple[list[dict[str, Any]], list[str]]:
    """Give the passages that cover a question, best first, and the words of it that no passage has."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE passages USING fts5(title, body, tokenize = 'porter unicode61')")
    rows = [(at, passage["title"], passage["text"]) for at, passage in enumerate(listed)]
    table.executemany("INSERT INTO passages (rowid, title, body) VALUES (?, ?, ?)", rows)
    match = "SELECT rowid FROM passages WHERE passages MATCH ?"
    words = words_of(question)
    having = {word: {row for (row,) in table.execute(match, (f'"{word}"',))} for word in words}
    weights = {word: log(1 + len(rows) / (1 + len(places))) for word, places in having.items()}
    whole = sum(weights.values())
    covered = {
        at: sum(weight for word, weight in weights.items() if at in having[word]) / whole
        for at in set().union(*having.values())
    }
    any_word = " OR ".join(f'"{word}"' for word in words) or '""'
    by_rank = {at: number for number, (at,) in enumerate(table.execute(f"{match} ORDER BY rank", (any_word,)))}
    enough = (at for at, share in covered.items() if share >= LEAST_COVERED)
    best = sorted(enough, key=lambda at: (-covered[at], by_rank[at]))
    return [listed[at] for at in best[:most]], [word for word in words if not having[word]]


def has_changed(root: Path, passage: dict[str, Any]) -> bool:
    """Tell whether the source of a passage lies above this skill and no longer holds it."""
    source = passage["source"]
    for folder in root.parents:
        place = folder / source["source"]
        if place.is_file():
            raw = place.read_bytes()
            text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
            return hashlib.sha256(raw).hexdigest() != source["sha256"] and passage["text"] not in text
    return False


def answer(root: Path, question: str, most: int = MOST_PASSAGES) -> tuple[list[str], int]:
    """Write what is known about a question, as lines, with the exit code."""
    best, missing = lookup(passages(root), question, most)
    if not best:
        nowhere = f"; nowhere in its sources: {', '.join(missing)}" if missing else ""
        return [f"not covered: no passage answers this{nowhere}. Say so, and do not guess."], 1
    lines = []
    for passage in best:
        source = passage["source"]
        place = f"{source['path']}:{passage['first']}-{passage['last']}"
        lines.append(f"== {place}, from {source['source']}, read {source['read']}")
        if has_changed(root, passage):
            lines.append(f"changed: {source['source']} no longer says this; read it before you rely on it")
        lines.append(passage["text"])
    return lines, 0


def main(words: Sequence[str]) -> int:
    """Print what is known about a question; returns the exit code."""
    if not words:
        lines, code = [__doc__ or ""], 2
    else:
        most = int(words[1]) if len(words) > 1 else MOST_PASSAGES
        lines, code = answer(Path(__file__).resolve().parent.parent, words[0], most)
    sys.stdout.write("\n".join([*lines, ""]))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
