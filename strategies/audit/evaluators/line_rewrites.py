"""Lines of a skill, rewritten: a name corrected, a path or version left to the task, a snippet swapped."""

from __future__ import annotations

import re
from typing import Final

from strategies.audit.evaluators.passage_terms import VERSION, path_terms

FOLLOW_TASK: Final = "follow the task"
CORRECT_NAME: Final = "correct a name"
SWAP_SNIPPET: Final = "swap for a verified snippet"
MOVE_CONSTRAINT: Final = "move a constraint beside its step"
STRIP_TUTORIAL: Final = "strip tutorial prose"
PRUNE_OFF_TOPIC: Final = "prune off-topic files and sections"
DROP_REPEAT: Final = "drop a repeated passage"
REMOVE: Final = "remove a harmful passage"
REMIND_VERBATIM: Final = "verbatim reminder"
ADD_CONTRACT: Final = "contract of inputs and outputs"
ADD_RULE: Final = "add a missing rule"

THE_PATH: Final = "the path that the task gives"
THE_VERSION: Final = "the version that the task or its files name"
_MOST_SNIPPET_CHARS: Final = 200
_MOST_NAME_CHARS: Final = 60


def with_path_of_task(text: str, path: str) -> str:
    """Leave a path to the task."""
    return _put(text, path, THE_PATH)


def with_version_of_task(text: str, version: str) -> str:
    """Leave a version to the task."""
    return _put(text, version, THE_VERSION)


def with_name(text: str, wrong: str, right: str) -> str:
    """Write a name as it is."""
    return re.sub(rf"(?<![\w./-]){re.escape(wrong)}(?![\w/-])", lambda _: right, text)


def with_snippet(text: str, failed: str, snippet: str) -> str:
    """Put a snippet that worked in the place of one that failed; "" where it is none for a single line."""
    if "\n" in snippet.strip() or len(snippet) > _MOST_SNIPPET_CHARS or "`" in snippet or failed not in text:
        return ""
    return text.replace(failed, snippet.strip())


def names_fixed_place(text: str) -> tuple[str, ...]:
    """List the paths of a line that are places of one machine: absolute, of a home folder, of a drive."""
    return tuple(
        path for path in dict.fromkeys(path_terms(text)) if path.startswith(("/", "~")) or path[1:3] == ":\\"
    )


def versions_named(text: str) -> tuple[tuple[str, str], ...]:
    """List the names with a version behind them in a text, in lower case, and the version."""
    named = list[tuple[str, str]]()
    for match in VERSION.finditer(text):
        before = text[max(match.start() - _MOST_NAME_CHARS, 0) : match.start()]
        name = re.search(r"([A-Za-z][A-Za-z_-]*)[\s=@~<>v:-]{0,4}$", before)
        if name:
            named.append((name.group(1).lower().strip("-_"), match.group().lstrip("v")))
    glued = re.findall(r"\b([A-Za-z]+)(\d+\.\d+(?:\.\d+)*)\b", text)
    return (*named, *((name.lower(), version) for name, version in glued))


def _put(text: str, term: str, instead: str) -> str:
    marked = f"`{term}`"
    return text.replace(marked, instead) if marked in text else text.replace(term, instead)
