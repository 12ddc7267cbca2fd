"""What a task asks for, read from its prompt and its workspace by rule: files, formats, values, steps."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import Deliverable, TaskRequirements

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from strategies.audit.evaluators.evaluator_types import TableColumns

_EXTENSIONS: Final = "csv|tsv|jsonl|json|txt|md|html|xml|yaml|yml|toml|sql|py|sh|ini|cfg|log|db|sqlite"
FILE_NAME: Final = re.compile(
    rf"(?<![\w/.\-~$])(?:\./)*((?:(?!\.{{1,2}}/)[\w.\-]+/)*[\w\-][\w.\-]*\.(?:{_EXTENSIONS}))(?![\w/])"
)
"""A relative path of a file, by its ending; none that leads out of the working directory."""
_MOST_NAME_CHARS: Final = 150
"""A longer name is no file that a task asks for (a guess)."""
_MAKES: Final = re.compile(
    r"\b(?:write|save|create|produce|store|output|export|put|generate|record|place|deliver|leave|make|build|"
    r"called|named|contains?)\b",
    re.IGNORECASE,
)
_CHANGES: Final = re.compile(
    r"\b(?:update|edit|modify|fix|correct|append|overwrite|rewrite|in place)\b", re.IGNORECASE
)
_NEGATED: Final = re.compile(r"\b(?:not|never|don't|without|no)\b", re.IGNORECASE)
_DEMANDS: Final = re.compile(
    r"\b(?:must|should|shall|needs?|only|never|always|exactly|ensure|do not|don't|at least|at most|required?|"
    r"sorted|one of|each|every)\b",
    re.IGNORECASE,
)
_ITEM: Final = r"[`\"']?[A-Za-z_][\w.%\-]*[`\"']?"
_LIST: Final = re.compile(rf"({_ITEM}(?:\s*,\s*(?:(?:and|or)\s+)?{_ITEM}|\s+(?:and|or)\s+{_ITEM})*)")
_NAMES: Final = re.compile(
    r"\b(header|columns?|fields?|keys?)(?:\s+(?:line|row|names?))?"
    r"(?:\s+(?:is|are|be|must be|should be|exactly|named|called|of|in this order))*\s*[:=]?\s*",
    re.IGNORECASE,
)
_VALUES: Final = re.compile(
    rf"(?:({_ITEM})\s+(?:column\s+|key\s+|field\s+)?(?:is|must be|should be|has to be|holds|being)?\s*)?"
    rf"(?:exactly\s+)?(?:one of|either)\s*[:]?\s*(?:the (?:words|values)\s+)?",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"^\s*\d+[.)]\s+(.+)$", re.MULTILINE)
_ORDER: Final = re.compile(r"^(?:first|then|next|after that|afterwards|finally|lastly)\b", re.IGNORECASE)
_PLAIN_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "the a an in of and or to is are be must should with for each every order row rows line lines file as it "
        "its which that this these those from by on at you your their same first last",
    )
)
_MOST_SENTENCES: Final = 60
_LEAST_WORDS: Final = 3


def interpreted(
    task: str, prompt: str, files: Collection[str], tables: Sequence[TableColumns]
) -> TaskRequirements:
    """Read what a task asks for; `files` are the paths of its workspace."""
    sentences = list(_sentences(prompt))
    deliverables = tuple(_deliverables(sentences, files))
    paths = {file.path for file in deliverables}
    steps = _NUMBERED.findall(prompt) or [sentence for sentence in sentences if _ORDER.match(sentence)]
    return TaskRequirements(
        task=task,
        requirements=tuple(sentence for sentence in sentences if _demands(sentence, paths))[:_MOST_SENTENCES],
        deliverables=deliverables,
        workflow=tuple(map(str.strip, steps)) if len(steps) > 1 else (),
        tables=tuple(tables),
    )


def _sentences(prompt: str) -> Iterator[str]:
    for line in prompt.splitlines():
        plain = re.sub(r"^\s*(?:[-*+]|\d+[.)]|#+)\s+", "", line).strip()
        yield from (part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"(])", plain) if part.strip())


def _demands(sentence: str, paths: Collection[str]) -> bool:
    if len(sentence.split()) < _LEAST_WORDS:
        return False
    return bool(_DEMANDS.search(sentence) or _MAKES.search(sentence)) or any(path in sentence for path in paths)


def _deliverables(sentences: Iterable[str], files: Collection[str]) -> Iterator[Deliverable]:
    """Give the files that a task asks for, with what is stated of each until the next one is named."""
    made: dict[str, Deliverable] = {}
    current = ""
    for sentence in sentences:
        places = ((match.group(1), match.start()) for match in FILE_NAME.finditer(sentence))
        named = [(path, at) for path, at in places if len(path) <= _MOST_NAME_CHARS]
        wanted = [(path, at) for path, at in named if _is_wanted(sentence[:at], sentence, path, files)]
        for path, _ in wanted:
            made.setdefault(path, Deliverable(path=path, format=PurePosixPath(path).suffix[1:].lower()))
        described = [path for path, _ in wanted] if named else [current] * bool(current)
        edges = [0, *(at for _, at in wanted[1:]), len(sentence)]
        for path, (start, end) in zip(described, pairwise(edges), strict=False):
            made[path] = _described(made[path], sentence[start:end])
        if named:
            current = wanted[-1][0] if wanted else ""
    yield from made.values()


def _is_wanted(before: str, sentence: str, path: str, files: Collection[str]) -> bool:
    if _NEGATED.search(before) or PurePosixPath(path).name.startswith("."):
        return False
    return bool((_CHANGES if path in files else _MAKES).search(before if path in files else sentence))


def _described(file: Deliverable, sentence: str) -> Deliverable:
    """Add what a part of a sentence says of a file: its header or keys, and which values it may hold."""
    header, values = file.header, dict(file.values)
    for match in _NAMES.finditer(sentence):
        names = _listed(sentence[match.end() :])
        if not header and (len(names) > 1 or (names and sentence[match.end()] in "`\"'")):
            header = names
    for match in _VALUES.finditer(sentence):
        listed, key = _listed(sentence[match.end() :]), _bare(match.group(1) or "")
        if len(listed) > 1 and (key in header or key == "" or match.group(1)[0] in "`\"'"):
            values.setdefault(key, listed)
    return file.model_copy(update={"header": header, "values": values})


def _listed(text: str) -> tuple[str, ...]:
    """Read the names that a text begins with: a quoted row, or a list with commas; none where words come."""
    quoted = re.match(r"[`\"']([^`\"']*[,\t][^`\"']*)[`\"']", text)
    if quoted:
        return tuple(part.strip() for part in re.split(r"[,\t]", quoted.group(1)))
    match = _LIST.match(text)
    parts = re.split(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", match.group(1)) if match else []
    names = tuple(_bare(part) for part in parts)
    return () if any(name.lower() in _PLAIN_WORDS for name in names) else names


def _bare(name: str) -> str:
    return name.strip("`\"'").rstrip(".")
